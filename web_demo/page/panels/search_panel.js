import { FailureKind } from "../state/failure.js";
import { byId, element, setText, showValue } from "./dom.js";
import { ProgressPart } from "./progress_part.js";
import { failureBox } from "./status_part.js";
import { counted, milliseconds, numbers } from "./words.js";

const EMPTY = "Results appear while you type. They need not share a word with your query.";
const NEEDS_MODEL = "It needs another model. Choose or open that one to search it.";
const LONGEST_HIT = 2000; // UTF-16 units shown of a text

/** *Search*: texts by meaning, while a person types. */
export class SearchPanel {
  #presenter;
  #announcer;
  #query = byId("search-query");
  #column = byId("search-column");
  #hits = byId("search-hits");
  #progress;
  #opening = new ProgressPart(byId("search-progress"), "Reading the index");
  #corpus = null;
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
    byId("search-close").addEventListener("click", () => this.#closeIndex());
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

  #showTexts({ corpus, done, total, opening, model }) {
    const isBuilding = total > 0;
    this.#showProgress(done, total, opening);
    byId("search-import").disabled = model.kind !== "ready";
    byId("search-sample").disabled = model.kind !== "ready" || isBuilding || corpus?.name === "";
    byId("search-sample").hidden = Boolean(corpus?.index);
    byId("search-close").disabled = model.kind !== "ready" || isBuilding;
    byId("search-close").hidden = !corpus?.index;
    byId("search-corpus").hidden = isBuilding || opening !== "";
    byId("search-corpus").replaceChildren(...corpusNodes(corpus));
    const isOpened = corpus !== this.#corpus && corpus?.index?.failure === null; // a failure tells itself
    if (isOpened) this.#announcer.announce(`Opened ${corpus.name}, ${counted(corpus.count, "row")}`);
    this.#corpus = corpus;
  }

  #showProgress(done, total, opening) {
    if (opening) return this.#opening.show(`Reading ${opening}…`, 0, 0);
    this.#opening.clear();
    if (total === 0) this.#progress.clear();
    else if (done === 0) this.#progress.show("Reading…", 0, 0);
    else this.#progress.show(`${numbers.whole(done)} of ${counted(total, "text")}, searched already`, done, total);
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

  #closeIndex() {
    this.#presenter.closeIndex();
    byId("search-import").focus(); // the button goes away
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
  const { count, bytes, index } = corpus;
  const facts = `${counted(count, index ? "row" : "text")} · ${numbers.bytes(bytes)} of vectors`;
  const named = [element("strong", {}, corpus.name || "Sample phrases"), element("span", { class: "note" }, facts)];
  return index ? [...named, ...indexNodes(index)] : named;
}

function indexNodes({ openedAs, failure }) {
  const model = openedAs ? ["the model ", element("bdi", {}, openedAs)] : ["a model that it does not name"];
  const made = element("span", { class: "note" }, "Made with ", ...model, ". It is in memory until you leave the page.");
  return needsModel(failure) ? [made, element("span", { class: "note warning" }, NEEDS_MODEL)] : [made];
}

function needsModel(failure) {
  return failure?.kind === FailureKind.OTHER_MODEL;
}

function hit({ text, score, place }) {
  const shown = text.length > LONGEST_HIT ? `${text.slice(0, LONGEST_HIT)}…` : text;
  const similarity = numbers.similarity(score);
  const number = element("span", { class: "score-value" }, element("span", { class: "unseen" }, "similarity "), similarity);
  const found = [element("span", { class: "text", dir: "auto" }, shown), ...(place ? [source(place)] : [])];
  return element("li", {}, element("div", { class: "found" }, ...found), number);
}

function source({ document: name, start, end }) {
  const characters = `characters ${numbers.whole(start)} to ${numbers.whole(end)}`;
  return element("span", { class: "source" }, ...(name ? [element("bdi", {}, name), " · "] : []), characters);
}
