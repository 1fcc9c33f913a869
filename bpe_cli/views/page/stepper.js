"use strict";
(() => {
  // Without this script all steps stand one below the other; with it one is shown at a time.
  const steps = [...document.querySelectorAll(".step")], bar = document.getElementById("slides");
  if (!bar || steps.length < 2) return;
  const [back, on, all] = bar.querySelectorAll("button");
  const slider = bar.querySelector("input"), place = bar.querySelector("output");
  const ofAddress = () => steps.findIndex((step) => "#" + step.id === location.hash);
  let now = Math.max(0, ofAddress());

  function show(number) {
    now = Math.min(Math.max(number, 0), steps.length - 1);
    steps.forEach((step, each) => step.classList.toggle("now", each === now));
    slider.value = now;
    slider.setAttribute("aria-valuetext", steps[now].querySelector("h2").textContent);
    place.value = `${now + 1} / ${steps.length}`;
    back.disabled = now === 0;
    on.disabled = now === steps.length - 1;
  }
  const MOVES = {ArrowRight: () => now + 1, ArrowLeft: () => now - 1, PageDown: () => now + 1, PageUp: () => now - 1,
                 Home: () => 0, End: () => steps.length - 1};
  document.addEventListener("keydown", (event) => {
    const move = MOVES[event.key];
    if (!move || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    if (!document.body.classList.contains("slides")) return;
    const box = event.target instanceof Element ? event.target.closest("[role=region],[name=scheme]") : null;
    if (box && (box.localName === "input" || box.scrollWidth > box.clientWidth)) return; // the keys are its own
    event.preventDefault();
    show(move());
  });
  back.addEventListener("click", () => show(now - 1));
  on.addEventListener("click", () => show(now + 1));
  slider.addEventListener("input", () => show(Number(slider.value)));
  all.addEventListener("click", () => {
    const slides = document.body.classList.toggle("slides");
    all.setAttribute("aria-pressed", String(!slides));
  });
  addEventListener("hashchange", () => { if (ofAddress() >= 0) show(ofAddress()); });
  slider.max = steps.length - 1;
  bar.hidden = false;
  document.body.classList.add("slides");
  show(now);
})();
