import { element, setText } from "./dom.js";

/** A text with a progress bar. */
export class ProgressPart {
  #text = element("span");
  #bar = element("progress");
  #line;
  #target;

  /**
   * @param {HTMLElement} target where it is shown
   * @param {string} name the name of the bar
   * @param {{name: string, act: () => void} | null} [action] a button beside the bar
   */
  constructor(target, name, action = null) {
    this.#target = target;
    this.#bar.setAttribute("aria-label", name);
    const buttons = action ? [element("button", { type: "button", class: "small", onclick: action.act }, action.name)] : [];
    this.#line = element("div", { class: "progress-line" }, this.#text, ...buttons);
  }

  /**
   * @param {string} text
   * @param {number} done
   * @param {number} total 0 if unknown
   */
  show(text, done, total) {
    setText(this.#text, text);
    if (total > 0) {
      this.#bar.max = total;
      this.#bar.value = done;
    } else {
      this.#bar.removeAttribute("value");
    }
    if (!this.#bar.isConnected) this.#target.replaceChildren(this.#line, this.#bar);
  }

  /** Shows nothing. */
  clear() {
    if (this.#bar.isConnected) this.#target.replaceChildren();
  }
}
