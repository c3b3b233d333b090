"use strict";
(() => {
  const root = document.currentScript.previousElementSibling;
  const [buttons, parts] = [".choice button", ".panel"].map((name) => [...root.querySelectorAll(name)]);
  buttons.forEach((button, chosen) => button.addEventListener("click", () => {
    buttons.forEach((each, number) => each.setAttribute("aria-pressed", String(number === chosen)));
    parts.forEach((each, number) => { each.hidden = number !== chosen; });
  }));
})();
