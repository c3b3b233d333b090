import { element } from "./dom.js";

/** Messages above the panels, which stay until they are closed or replaced. */
export class Notices {
  #target;
  #shown = new Map();

  /** @param {HTMLElement} target */
  constructor(target) {
    this.#target = target;
  }

  /**
   * Shows a message in place of an earlier one of the same kind.
   *
   * @param {string} kind
   * @param {string} text
   * @param {{isFailure?: boolean, action?: {name: string, act: () => void}}} [options]
   */
  show(kind, text, { isFailure = false, action } = {}) {
    const clear = () => this.clear(kind);
    const close = element("button", { type: "button", class: "remove", "aria-label": "Close this message", onclick: clear }, "×");
    const buttons = action ? [element("button", { type: "button", onclick: action.act }, action.name), close] : [close];
    const notice = element("div", { class: isFailure ? "notice failure" : "notice" }, element("p", {}, text), ...buttons);
    this.clear(kind);
    this.#shown.set(kind, notice);
    this.#target.append(notice);
  }

  /** @param {string} kind */
  clear(kind) {
    this.#shown.get(kind)?.remove();
    this.#shown.delete(kind);
  }
}
