"use strict";
(() => {
  // A token is a link to its row and a row has a link to its token: that is all this needs to know.
  const bar = document.getElementById("bar");
  const partner = (link) => document.getElementById(decodeURIComponent(link.hash.slice(1)));
  const tokenOf = (node) => node instanceof Element ? node.closest(".text a") : null;
  const rowOf = (node) => node instanceof Element ? node.closest(".rows [id]") : null;
  const tokenOfRow = (row) => row && partner(row.localName === "a" ? row : row.querySelector("a"));
  const details = bar.appendChild(document.createTextNode(""));
  let marked = [], pinned = null;

  function show(token) {
    for (const node of marked) node.classList.remove("on");
    marked = [];
    bar.hidden = !token;
    if (!token) return;
    const row = partner(token);
    const around = token.closest(".g"); // a token that shares a character is in several places
    const parts = around ? [...around.querySelectorAll("a")].filter((each) => each.hash === token.hash) : [token];
    marked = row ? [...parts, row] : parts;
    for (const node of marked) node.classList.add("on");
    details.data = token.title;
  }
  const settle = () => show(pinned ?? tokenOf(document.activeElement));

  // One stop of the Tab key for a text, and one for its rows; the arrows do the rest.
  function setStops() {
    for (const box of document.querySelectorAll(".text, .rows")) {
      let first = true;
      for (const link of box.querySelectorAll("a")) {
        if (!first) link.tabIndex = -1;
        first = false;
      }
    }
  }
  setStops();
  function move(link, step) {
    const box = link.closest(".text, .rows");
    if (step === "first" || step === "last") {
      const links = box.querySelectorAll("a");
      return links[step === "first" ? 0 : links.length - 1];
    }
    const walker = document.createTreeWalker(box, NodeFilter.SHOW_ELEMENT,
      (node) => node.localName === "a" ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_SKIP);
    walker.currentNode = link;
    const next = () => step.endsWith("back") ? walker.previousNode() : walker.nextNode();
    if (!step.startsWith("line")) return next();
    const from = link.getBoundingClientRect(), middle = (from.left + from.right) / 2;
    let line = null, best = null, nearest = Infinity;
    for (let other = next(); other; other = next()) {
      const place = other.getBoundingClientRect();
      if (line === null && Math.abs(place.top - from.top) < from.height / 2) continue;
      line ??= place.top;
      if (Math.abs(place.top - line) >= from.height / 2) break;
      const distance = Math.abs((place.left + place.right) / 2 - middle);
      if (distance < nearest) [nearest, best] = [distance, other];
    }
    return best;
  }
  const STEPS = {ArrowRight: "on", ArrowLeft: "back", ArrowDown: "line on", ArrowUp: "line back", Home: "first",
                 End: "last"};
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return pinned = null, show(null);
    const link = event.target instanceof Element ? event.target.closest(".text a, .rows a") : null;
    const step = STEPS[event.key];
    if (!link || !step || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const other = move(link, step);
    if (!other) return;
    link.tabIndex = -1;
    other.tabIndex = 0;
    other.focus();
  });

  document.addEventListener("mouseover", (event) => {
    const row = rowOf(event.target);
    const token = tokenOf(event.target) ?? tokenOfRow(row);
    token ? show(token) : settle();
  });
  document.addEventListener("focusin", (event) => {
    pinned = null;
    const row = rowOf(event.target);
    show(tokenOf(event.target) ?? tokenOfRow(row));
  });
  document.addEventListener("click", (event) => {
    const token = tokenOf(event.target);
    // A tap shows the details where one is; a second one, Enter or a click with Ctrl goes to the row.
    if (token && event.detail && token !== pinned && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      show(pinned = token);
    } else if (!token && !bar.contains(event.target)) {
      pinned = null;
      settle();
    }
  });

  async function copy(source) {
    try {
      await navigator.clipboard.writeText(source.textContent);
    } catch { // no permission, or not a secure page
      const range = document.createRange();
      range.selectNodeContents(source);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      return document.execCommand("copy");
    }
    return true;
  }
  function setCopying() {
    for (const button of document.querySelectorAll("[data-copy]")) {
      button.hidden = false;
      const label = button.textContent;
      button.addEventListener("click", async () => {
        button.textContent = await copy(document.getElementById(button.dataset.copy)) ? "Copied" : "Could not copy";
        setTimeout(() => button.textContent = label, 2000);
      });
    }
  }
  setCopying();

  // The playground has other tokens now.
  document.addEventListener("tokens", () => {
    pinned = null;
    show(null);
    setStops();
    setCopying();
  });
})();
