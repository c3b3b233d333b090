import { setText } from "./dom.js";

const QUIET = 700; // milliseconds without a newer text

/** Tells results to screen readers once a person has stopped typing. */
export class Announcer {
  #region;
  #timer = 0;

  /** @param {HTMLElement} region a live region that is not seen */
  constructor(region) {
    this.#region = region;
  }

  /** @param {string} text replaces a text that was not told yet */
  announce(text) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => setText(this.#region, text), QUIET);
  }
}
