import { FailureKind } from "../state/failure.js";
import { byId, element, setText } from "./dom.js";
import { engineText, numbers, TASKS } from "./words.js";

/** Chooses the model of a panel, and says what really runs it. */
export class ModelBar {
  #presenter;
  #select;
  #facts;
  #open;
  #listed = "";

  /**
   * @param {HTMLElement} target
   * @param {string} panel the panel's name
   * @param {import("../state/model_presenter.js").ModelPresenter} presenter
   * @param {() => void} openFile asks for a file
   */
  constructor(target, panel, presenter, openFile) {
    this.#presenter = presenter;
    target.append(byId("model-bar-template").content.cloneNode(true));
    this.#select = target.querySelector("select");
    this.#facts = target.querySelector(".model-facts");
    this.#open = target.querySelector(".model-open");
    this.#select.id = `model-${panel}`;
    target.querySelector("label").htmlFor = this.#select.id;
    this.#select.addEventListener("change", () => presenter.choose(this.#select.value));
    this.#open.addEventListener("click", openFile);
  }

  /** Lists the models anew. */
  async refresh() {
    const entries = await this.#presenter.choices().catch(() => []);
    const key = JSON.stringify(entries);
    if (key === this.#listed) return;
    this.#listed = key;
    this.#select.replaceChildren(...entries.map(option));
    this.#select.disabled = entries.length === 0;
    if (entries.length === 0) this.#select.append(element("option", { value: "" }, "No model"));
    this.#choose(this.#presenter.chosen ?? "");
  }

  /**
   * @param {import("../state/model_state.js").ModelState} model
   * @param {import("../state/failure.js").Failure | null} failure of work with the model
   */
  show(model, failure) {
    this.#choose(model.name);
    setText(this.#facts, failure?.kind === FailureKind.ACCELERATOR ? "" : factsOf(model));
    if (model.kind === "ready" && !this.#has(model.name)) this.refresh();
    this.#facts.classList.toggle("warning", model.kind === "ready" && model.engine.isPartial);
    if (model.kind === "ready") this.#facts.title = model.engine.title;
  }

  #choose(name) {
    if (this.#select.value !== name && this.#has(name)) this.#select.value = name;
  }

  #has(name) {
    return [...this.#select.options].some((each) => each.value === name);
  }
}

function option({ name, title, place }) {
  return element("option", { value: name }, place === "site" ? title : `${title} (opened)`);
}

function factsOf(model) {
  if (model.kind !== "ready") return "";
  return [TASKS[model.entry.type], numbers.bytes(model.entry.bytes), engineText(model.engine)].join(" · ");
}
