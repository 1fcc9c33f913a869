"use strict";
(() => {
  // What is typed goes to the server, and its answer, a document, into the page. One request is under way at a time.
  const part = (id) => document.getElementById(id);
  const [first, second, specials, escapes, chat, text] =
    ["first", "second", "specials", "escapes", "chat", "text"].map(part);
  const [messages, template, open, tokens, state] = ["messages", "template", "open", "tokens", "state"].map(part);
  let asked = false, waiting = false;

  function request() {
    const tokenizers = [first, second].filter((each) => each.value !== "").map((each) => Number(each.value));
    const common = {tokenizers, specials: specials.checked, escapes: escapes.checked};
    if (!chat.checked) return {...common, text: text.value};
    return {
      ...common,
      messages: [...messages.children].map((each) =>
        ({role: each.querySelector("select").value, content: each.querySelector("textarea").value})),
      template: template.value || null,
      open: open.value === "" ? null : open.value === "true",
    };
  }

  // Half a character, which a browser lets one delete to, is no text that could be sent.
  const isWhole = (string) => !/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(string);

  function say(message, wrong = false) {
    state.textContent = message;
    state.classList.toggle("wrong", wrong);
  }

  // The kind is how the browser is to read the answer: as a document, in which no script runs, or as a file.
  function send(what, kind) {
    return new Promise((resolve, reject) => {
      const asking = request();
      const written = [asking.text ?? "", ...(asking.messages ?? []).map((each) => each.content)];
      if (!written.every(isWhole)) return reject(new Error("the text has half a character (a lone surrogate)"));
      const sending = new XMLHttpRequest();
      sending.open("POST", what);
      sending.setRequestHeader("Content-Type", "application/json");
      sending.responseType = kind;
      sending.addEventListener("error", () => reject(new Error("bpe does not answer: is it still running?")));
      sending.addEventListener("load", async () => {
        const answer = sending.response;
        if (sending.status === 200) return resolve(answer);
        const reason = kind === "blob" ? await answer.text() : answer?.body.textContent ?? "";
        reject(new Error(reason.trim() || `bpe refuses (${sending.status})`));
      });
      sending.send(JSON.stringify(asking));
    });
  }

  async function show() {
    if (asked) return void (waiting = true);
    asked = true;
    tokens.setAttribute("aria-busy", "true");
    try {
      const answer = await send("show", "document");
      const place = tokens.querySelector(".chips")?.scrollTop ?? 0;
      tokens.replaceChildren(...answer.body.children);
      for (const ids of tokens.querySelectorAll(".chips")) ids.scrollTop = place;
      document.dispatchEvent(new Event("tokens"));
      say("");
    } catch (error) {
      say(error.message, true);
    }
    tokens.setAttribute("aria-busy", "false");
    asked = false;
    if (waiting) {
      waiting = false;
      show();
    }
  }

  async function keep(what, name) {
    try {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(await send(what, "blob"));
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60000);
      say(`Saved as ${name}`);
    } catch (error) {
      say(error.message, true);
    }
  }

  // A conversation keeps its messages, and a text its text, while the other one is shown.
  function add(role = "user", content = "") {
    const message = part("message").content.firstElementChild.cloneNode(true);
    const [who, what, remove] = message.children;
    who.value = role;
    what.value = content;
    remove.addEventListener("click", () => {
      const next = message.nextElementSibling ?? message.previousElementSibling;
      message.remove();
      (next?.querySelector("textarea") ?? part("add")).focus();
      show();
    });
    messages.append(message);
    return what;
  }
  part("add").addEventListener("click", () => {
    const last = messages.lastElementChild?.querySelector("select").value;
    add(last === "user" ? "assistant" : "user").focus();
    show();
  });
  // Before the form hears of it, and asks.
  chat.addEventListener("input", () => {
    if (chat.checked && !messages.children.length) {
      add("system", "You are a helpful assistant.");
      add("user", text.value);
    }
    part("conversation").hidden = !chat.checked;
    text.hidden = chat.checked;
  });

  part("ask").addEventListener("input", show);
  part("ask").addEventListener("submit", (event) => event.preventDefault());
  part("keep-page").addEventListener("click", () => keep("page", "tokens.html"));
  part("keep-json").addEventListener("click", () => keep("json", "tokens.json"));

  // What is pointed at in the text comes into sight among the ids, without the page being scrolled.
  document.addEventListener("mouseover", () => {
    const id = tokens.querySelector(".chips .on");
    if (!id || id.matches(":hover")) return;
    const box = id.parentElement, above = id.offsetTop - box.offsetTop;
    if (above < box.scrollTop || above + id.offsetHeight > box.scrollTop + box.clientHeight)
      box.scrollTop = above - box.clientHeight / 2;
  });
  show();
})();
