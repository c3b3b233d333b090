import { passageAround } from "../state/text_parts.js";
import { BarList } from "./bar_list.js";
import { byId, element, setText, showValue } from "./dom.js";
import { highlightedText } from "./highlighted_text.js";
import { counted, milliseconds, numbers, percent } from "./words.js";

const EMPTY = "Labels or entities appear here while you type.";
const EXAMPLES = [
  "wake me at half past six tomorrow",
  "The soup was simply dull, but the waiter made us laugh.",
  "Ada Lovelace wrote to Charles Babbage in London.",
];
const MOST_SHOWN = 20_000; // UTF-16 units of a text with entities

/** *Classify & tag*: labels, a score or entities while a person types. */
export class ClassifyPanel {
  #presenter;
  #announcer;
  #text = byId("classify-text");
  #result = byId("classify-result");
  #bars;
  #shown = null;

  /**
   * @param {import("../state/classify_presenter.js").ClassifyPresenter} presenter
   * @param {import("./announcer.js").Announcer} announcer
   */
  constructor(presenter, announcer) {
    this.#presenter = presenter;
    this.#announcer = announcer;
    this.#text.addEventListener("input", () => presenter.write(this.#text.value));
    byId("classify-clear").addEventListener("click", () => this.#fill(""));
    byId("classify-tokens-button").addEventListener("click", () => presenter.showTokens(!presenter.state.showsTokens));
    const examples = EXAMPLES.map((text) => element("button", { type: "button", onclick: () => this.#fill(text) }, text));
    byId("classify-examples").append(...examples);
  }

  /**
   * @param {import("../state/classify_presenter.js").ClassifyState} state
   * @returns {string | null} what to say where there is no result
   */
  show(state) {
    showValue(this.#text, state.text);
    const { classified, isRunning } = state;
    const part = this.#result.parentElement;
    part.hidden = classified === null;
    part.classList.toggle("is-stale", isRunning && classified !== null && classified.text !== state.text);
    if (classified && classified !== this.#shown) this.#showResult(classified);
    this.#shown = classified;
    this.#showTokens(state);
    return classified ? null : EMPTY;
  }

  #fill(text) {
    this.#presenter.write(text);
    this.#text.focus();
  }

  #showResult(classified) {
    const { result, tokens, layers, readTokens } = classified;
    if (result.kind === "labels") this.#showBars(result.bars);
    else this.#replace(result.kind === "score" ? scoreOf(result) : entitiesOf(classified));
    const ran = layers === null ? [] : [`${layers.ran} of ${counted(layers.all, "layer")}`];
    setText(byId("classify-facts"), [counted(tokens, "token"), ...ran, milliseconds(classified.milliseconds)].join(" · "));
    this.#showCut(readTokens);
    this.#announcer.announce(spoken(result));
  }

  #showCut(readTokens) {
    byId("classify-cut").hidden = readTokens === null;
    if (readTokens === null) return;
    setText(byId("classify-cut"), `Only the first ${counted(readTokens, "token")} were read. The model takes no more.`);
  }

  #showBars(bars) {
    if (!this.#bars) {
      this.#result.replaceChildren();
      this.#bars = new BarList(this.#result, "Labels");
    }
    this.#bars.show(bars);
  }

  #replace(nodes) {
    this.#bars = null;
    this.#result.replaceChildren(...nodes);
  }

  #showTokens({ showsTokens, tokens }) {
    const button = byId("classify-tokens-button");
    const list = byId("classify-tokens");
    button.setAttribute("aria-expanded", String(showsTokens));
    setText(button, showsTokens ? "Hide tokens" : "Show tokens");
    list.hidden = !showsTokens || tokens === null;
    if (tokens !== null && list.tokens !== tokens) list.replaceChildren(...tokens.map((token) => element("li", {}, token)));
    list.tokens = tokens;
  }
}

function scoreOf({ value }) {
  return [element("p", { class: "score" }, numbers.similarity(value))];
}

function entitiesOf({ text, result: { highlights } }) {
  const { end } = passageAround(text, 0, 0, MOST_SHOWN);
  const nodes = [element("div", { class: "highlighted", dir: "auto" }, ...highlightedText(text.slice(0, end), highlights))];
  if (highlights.length === 0) nodes.push(note("No entities in this text."));
  if (end < text.length) nodes.push(note(`The first ${numbers.whole(end)} of ${counted(text.length, "character")} are shown.`));
  return nodes;
}

function note(text) {
  return element("p", { class: "note" }, text);
}

function spoken(result) {
  if (result.kind === "score") return `Score: ${numbers.similarity(result.value)}`;
  if (result.kind === "labels") {
    const chosen = result.bars.filter((bar) => bar.isChosen);
    return chosen.map(({ name, probability }) => `${name}, ${percent(probability)}`).join("; ") || "No label";
  }
  return result.highlights.length === 1 ? "1 entity" : `${numbers.whole(result.highlights.length)} entities`;
}
