import { element, setText } from "./dom.js";
import { percent } from "./words.js";

const MOST = 50; // bars; a page with more is slow to read and to draw

/** Labels with bars. Rows are kept while numbers change, so that bars can grow and nothing jumps. */
export class BarList {
  #list;
  #rest = element("p", { class: "note" });

  /**
   * @param {HTMLElement} target where it is added
   * @param {string} name the name of the list
   */
  constructor(target, name) {
    this.#list = element("ul", { class: "bars", "aria-label": name });
    target.append(this.#list, this.#rest);
  }

  /** @param {import("../state/classify_presenter.js").LabelBar[]} bars */
  show(bars) {
    const shown = bars.slice(0, MOST);
    while (this.#list.children.length > shown.length) this.#list.lastChild.remove();
    while (this.#list.children.length < shown.length) this.#list.append(emptyRow());
    shown.forEach((bar, place) => fill(this.#list.children[place], bar));
    this.#rest.hidden = bars.length <= MOST;
    if (!this.#rest.hidden) setText(this.#rest, `and ${bars.length - MOST} less likely labels`);
  }
}

function emptyRow() {
  const caption = element("div", { class: "caption" }, element("span", { dir: "auto" }), element("span"));
  return element("li", {}, caption, element("div", { class: "track", "aria-hidden": "true" }, element("div")));
}

function fill(row, { name, probability, isChosen }) {
  const [label, number] = row.querySelectorAll(".caption span");
  setText(label, name);
  setText(number, percent(probability));
  row.classList.toggle("is-chosen", isChosen);
  if (isChosen) row.setAttribute("aria-current", "true");
  else row.removeAttribute("aria-current");
  row.querySelector(".track div").style.setProperty("--share", probability.toFixed(4));
}
