import { byId, element, setText, showValue } from "./dom.js";
import { ProgressPart } from "./progress_part.js";
import { failureBox } from "./status_part.js";
import { counted, milliseconds, numbers } from "./words.js";

const EMPTY = "Results appear while you type. They need not share a word with your query.";
const LONGEST_HIT = 2000; // UTF-16 units shown of a text

/** *Search*: texts by meaning, while a person types. */
export class SearchPanel {
  #presenter;
  #announcer;
  #query = byId("search-query");
  #column = byId("search-column");
  #hits = byId("search-hits");
  #progress;
  #shown = null;
  #choice = null;
  #failure = null;

  /**
   * @param {import("../state/search_presenter.js").SearchPresenter} presenter
   * @param {import("./announcer.js").Announcer} announcer
   */
  constructor(presenter, announcer) {
    this.#presenter = presenter;
    this.#announcer = announcer;
    this.#progress = new ProgressPart(byId("search-progress"), "Reading the texts", { name: "Stop", act: () => presenter.cancel() });
    this.#query.addEventListener("input", () => presenter.write(this.#query.value));
    byId("search-import").addEventListener("click", () => byId("search-file").click());
    byId("search-file").addEventListener("change", (event) => this.#import(event.target));
    byId("search-sample").addEventListener("click", () => presenter.useSample());
    byId("search-choice").addEventListener("submit", (event) => this.#choose(event));
    byId("search-choice-cancel").addEventListener("click", () => this.#cancelChoice());
    byId("search-choice").addEventListener("keydown", (event) => event.key === "Escape" && this.#cancelChoice());
  }

  /**
   * @param {import("../state/search_presenter.js").SearchState} state
   * @returns {string | null} what to say where there is no result
   */
  show(state) {
    showValue(this.#query, state.query);
    this.#showTexts(state);
    this.#showChoice(state.choice);
    this.#showImportFailure(state.importFailure);
    setText(byId("search-facts"), factsOf(state));
    if (state.matches !== this.#shown) this.#showHits(state.matches);
    this.#hits.dataset.query = state.matched; // for tests: what the results are for
    this.#shown = state.matches;
    return state.matches.length > 0 ? null : EMPTY;
  }

  #showTexts({ corpus, done, total, model }) {
    const isBuilding = total > 0;
    if (!isBuilding) this.#progress.clear();
    else if (done === 0) this.#progress.show("Reading…", 0, 0);
    else this.#progress.show(`${numbers.whole(done)} of ${counted(total, "text")}, searched already`, done, total);
    byId("search-import").disabled = model.kind !== "ready";
    byId("search-sample").disabled = model.kind !== "ready" || isBuilding || corpus?.name === "";
    byId("search-corpus").hidden = isBuilding;
    byId("search-corpus").replaceChildren(...corpusNodes(corpus));
  }

  #showChoice(choice) {
    if (choice === this.#choice) return;
    this.#choice = choice;
    byId("search-choice").hidden = choice === null;
    if (choice === null) return;
    const columns = choice.columns.map((name, number) => element("option", { value: String(number) }, name || `Column ${number + 1}`));
    this.#column.replaceChildren(...columns);
    this.#column.value = String(choice.likeliest);
    this.#column.focus();
  }

  #showImportFailure(failure) {
    if (failure === this.#failure) return;
    this.#failure = failure;
    byId("search-failure").replaceChildren(...(failure ? [failureBox(failure)] : []));
  }

  #showHits(matches) {
    this.#hits.replaceChildren(...matches.map(hit));
    const [best] = matches;
    if (best) this.#announcer.announce(`${counted(matches.length, "result")}. First: ${best.text.slice(0, LONGEST_HIT)}`);
  }

  #import(input) {
    const [file] = input.files;
    if (file) this.#presenter.importFile(file.name, file);
    input.value = ""; // so that the same file can be chosen again
  }

  #choose(event) {
    event.preventDefault();
    this.#presenter.chooseColumn(Number(this.#column.value));
    this.#query.focus();
  }

  #cancelChoice() {
    this.#presenter.chooseColumn(null);
    byId("search-import").focus();
  }
}

function factsOf({ matches, milliseconds: time }) {
  return time === null ? "" : `${counted(matches.length, "result")} · ${milliseconds(time)}`;
}

function corpusNodes(corpus) {
  if (!corpus) return ["No texts yet"];
  const facts = `${counted(corpus.count, "text")} · ${numbers.bytes(corpus.bytes)} of vectors`;
  return [element("strong", {}, corpus.name || "Sample phrases"), element("span", { class: "note" }, facts)];
}

function hit({ text, score }) {
  const shown = text.length > LONGEST_HIT ? `${text.slice(0, LONGEST_HIT)}…` : text;
  const similarity = numbers.similarity(score);
  const number = element("span", { class: "score-value" }, element("span", { class: "unseen" }, "similarity "), similarity);
  return element("li", {}, element("span", { class: "text", dir: "auto" }, shown), number);
}
