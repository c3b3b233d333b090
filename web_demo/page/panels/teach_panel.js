import { canClassify } from "../state/teach_presenter.js";
import { BarList } from "./bar_list.js";
import { byId, element, setText, showValue } from "./dom.js";
import { offer } from "./download.js";
import { counted, percent } from "./words.js";

const NO_LABELS = "Add two or more labels, or the sample labels, and give each of them some examples.";
const MORE_NEEDED = "Give two labels at least one example each.";
const NO_TEXT = "Type a text to see which label it gets.";

const FILE_NAME = "taught.tflite";

/** *Teach*: labels of the person's own, from a few examples each. */
export class TeachPanel {
  #presenter;
  #announcer;
  #text = byId("teach-text");
  #label = byId("teach-label");
  #list = byId("teach-labels");
  #bars = new BarList(byId("teach-bars"), "Labels");
  #save = byId("teach-save");
  #cards = new Map();
  #saved = null;
  #shown = null;

  /**
   * @param {import("../state/teach_presenter.js").TeachPresenter} presenter
   * @param {import("./announcer.js").Announcer} announcer
   */
  constructor(presenter, announcer) {
    this.#presenter = presenter;
    this.#announcer = announcer;
    this.#text.addEventListener("input", () => presenter.write(this.#text.value));
    byId("teach-form").addEventListener("submit", (event) => this.#addLabel(event));
    this.#save.addEventListener("click", () => presenter.makeFile());
    byId("teach-sample").addEventListener("click", () => presenter.addSample());
  }

  /**
   * @param {import("../state/teach_presenter.js").TeachState} state
   * @returns {string | null} what to say where there is no result
   */
  show(state) {
    showValue(this.#text, state.text);
    this.#showLabels(state.labels);
    this.#save.disabled = state.model.kind !== "ready" || state.isMaking || !canClassify(state);
    if (state.file && state.file !== this.#saved) offer(state.file, FILE_NAME);
    this.#saved = state.file;
    byId("teach-bars").hidden = state.bars === null;
    if (state.bars && state.bars !== this.#shown) this.#showBars(state.bars);
    this.#shown = state.bars;
    return state.bars ? null : explanation(state);
  }

  #showBars(bars) {
    this.#bars.show(bars);
    this.#announcer.announce(`${bars[0].name}, ${percent(bars[0].probability)}`);
  }

  /** Cards of labels that stay are kept, with what the person is typing in them. */
  #showLabels(labels) {
    for (const [name, card] of this.#cards) {
      if (labels.some((label) => label.name === name)) continue;
      card.item.remove();
      this.#cards.delete(name);
    }
    labels.forEach(({ name, examples }, place) => {
      if (!this.#cards.has(name)) this.#cards.set(name, this.#card(name));
      const card = this.#cards.get(name);
      if (this.#list.children[place] !== card.item) this.#list.insertBefore(card.item, this.#list.children[place] ?? null);
      if (card.examples !== examples) this.#showExamples(card, name, examples);
    });
  }

  #card(name) {
    const count = element("span", { class: "count" });
    const list = element("ul", { "aria-label": `Examples of ${name}` });
    const quiet = { autocomplete: "off", spellcheck: "false" }; // some browsers check spelling on a server
    const input = element("input", { type: "text", dir: "auto", "aria-label": `Example for ${name}`, placeholder: "Example", ...quiet });
    const add = (event) => {
      event.preventDefault();
      this.#presenter.addExample(name, input.value);
      input.value = "";
      input.focus();
    };
    const remove = () => {
      this.#presenter.removeLabel(name);
      this.#label.focus();
    };
    const title = element("h3", { dir: "auto" }, name, " ", count);
    const head = element("div", { class: "head" }, title, removeButton(`Remove the label ${name}`, remove));
    const form = element("form", { class: "line", onsubmit: add }, input, element("button", { type: "submit" }, "Add"));
    return { item: element("li", {}, head, list, form), list, count, input, examples: null };
  }

  #showExamples(card, name, examples) {
    card.examples = examples;
    setText(card.count, counted(examples.length, "example"));
    card.list.replaceChildren(...examples.map((example) => this.#example(card, name, example)));
  }

  #example(card, name, example) {
    const remove = () => {
      this.#presenter.removeExample(name, example);
      card.input.focus();
    };
    return element("li", {}, element("bdi", {}, example), removeButton(`Remove the example ${example}`, remove));
  }

  #addLabel(event) {
    event.preventDefault();
    const name = this.#label.value;
    this.#presenter.addLabel(name);
    this.#label.value = "";
    this.#cards.get(name.trim())?.input.focus();
  }
}

function removeButton(name, act) {
  return element("button", { type: "button", class: "remove", "aria-label": name, onclick: act }, "×");
}

function explanation(state) {
  if (state.labels.length === 0) return NO_LABELS;
  return canClassify(state) ? NO_TEXT : MORE_NEEDED;
}
