/** The tabs of the page. Arrow keys, Home and End move between them. */
export class Tabs {
  #tabs;
  #changed;

  /**
   * @param {HTMLElement} list the element with the role `tablist`
   * @param {(panel: string) => void} changed called with the name of the panel that is shown
   */
  constructor(list, changed) {
    this.#tabs = [...list.querySelectorAll("[role=tab]")];
    this.#changed = changed;
    for (const tab of this.#tabs) tab.addEventListener("click", () => this.show(nameOf(tab)));
    list.addEventListener("keydown", (event) => this.#move(event));
  }

  /** @returns {string} the name of the panel that is shown */
  get current() {
    return nameOf(this.#tabs.find((tab) => tab.getAttribute("aria-selected") === "true"));
  }

  /** @param {string} name the panel to show */
  show(name) {
    for (const tab of this.#tabs) {
      const isShown = nameOf(tab) === name;
      tab.setAttribute("aria-selected", String(isShown));
      tab.tabIndex = isShown ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = !isShown;
    }
    this.#changed(name);
  }

  #move(event) {
    const place = this.#tabs.indexOf(document.activeElement);
    const last = this.#tabs.length - 1;
    const next = { ArrowRight: place === last ? 0 : place + 1, ArrowLeft: place === 0 ? last : place - 1, Home: 0, End: last }[event.key];
    if (place < 0 || next === undefined) return;
    event.preventDefault();
    this.#tabs[next].focus();
    this.show(nameOf(this.#tabs[next]));
  }
}

function nameOf(tab) {
  return tab.id.slice("tab-".length);
}
