import { FailureKind } from "../state/failure.js";
import { element } from "./dom.js";
import { ProgressPart } from "./progress_part.js";
import { FAILURES, numbers, sentence } from "./words.js";

const NEEDS_MODEL = [FailureKind.NO_MODEL, FailureKind.OTHER_TASK, FailureKind.OTHER_MODEL];

/**
 * What a person can do about a failure.
 *
 * @typedef {object} Remedies
 * @property {() => void} retry loads the model again
 * @property {() => void} useWasm runs all models on WebAssembly
 * @property {() => void} openFile opens a model
 */

/** The part of a panel that says why there is no result: it is loading, something failed, or there is nothing to read yet. */
export class StatusPart {
  #target;
  #remedies;
  #progress;
  #shown = null;

  /**
   * @param {HTMLElement} target
   * @param {Remedies} remedies
   */
  constructor(target, remedies) {
    this.#target = target;
    this.#remedies = remedies;
    this.#progress = new ProgressPart(target, "Loading the model");
  }

  /**
   * @param {import("../state/model_state.js").ModelState} model
   * @param {import("../state/failure.js").Failure | null} failure
   * @param {string | null} empty what to say where nothing failed; null where there is a result
   */
  show(model, failure, empty) {
    if (model.kind === "loading") return this.#showLoading(model);
    const failed = model.kind === "failed" ? model.failure : failure;
    const key = failed ?? empty;
    if (key === this.#shown) return;
    this.#shown = key;
    if (failed) this.#target.replaceChildren(this.#box(failed, model.kind === "failed"));
    else this.#target.replaceChildren(...(empty === null ? [] : [element("p", { class: "empty" }, empty)]));
  }

  #showLoading({ name, received, total }) {
    this.#shown = undefined;
    const amount = total > 0 && received < total ? `: ${numbers.bytes(received)} of ${numbers.bytes(total)}` : "…";
    this.#progress.show(`Loading ${name}${amount}`, received, total);
  }

  #box(failed, isOfModel) {
    const box = failureBox(failed);
    const actions = this.#actions(failed.kind, isOfModel).map(([name, act]) => element("button", { type: "button", onclick: act }, name));
    if (actions.length > 0) box.append(element("div", { class: "actions" }, ...actions));
    return box;
  }

  #actions(kind, isOfModel) {
    const { retry, useWasm, openFile } = this.#remedies;
    if (kind === FailureKind.ACCELERATOR) return [["Use WebAssembly", useWasm], ["Try again", retry]];
    if (NEEDS_MODEL.includes(kind)) return [["Open a file…", openFile]];
    return isOfModel || kind === FailureKind.ENGINE || kind === FailureKind.MEMORY ? [["Try again", retry]] : [];
  }
}

/**
 * Says what went wrong.
 *
 * @param {import("../state/failure.js").Failure} failure
 * @returns {HTMLElement}
 */
export function failureBox({ kind, detail }) {
  const title = element("strong", {}, FAILURES[kind] ?? FAILURES[FailureKind.ENGINE]);
  return element("div", { class: "failure-box", role: "alert" }, title, ...(detail ? [element("span", {}, sentence(detail))] : []));
}
