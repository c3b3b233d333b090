/**
 * The model of a panel: `none` was chosen yet, or it is being loaded, is ready, or could not be loaded.
 *
 * @typedef {object} ModelState
 * @property {"none" | "loading" | "ready" | "failed"} kind
 * @property {string} name "" where there is none
 * @property {number} [received] bytes that have arrived, while it loads
 * @property {number} [total] all bytes, while it loads; 0 if unknown
 * @property {import("./model_library.js").ModelEntry} [entry] of a model that is ready
 * @property {Engine} [engine] of a model that is ready
 * @property {import("./failure.js").Failure} [failure] of a model that could not be loaded
 */

/**
 * What really runs a model.
 *
 * @typedef {object} Engine
 * @property {string} accelerator one of `Accelerator`
 * @property {boolean} isPartial whether some operators run on WebAssembly in spite of another accelerator
 * @property {string} title a few words for people
 */

/** No model was chosen yet. */
export const NO_MODEL = Object.freeze({ kind: "none", name: "" });

/**
 * @param {string} name
 * @param {number} [received]
 * @param {number} [total]
 * @returns {ModelState}
 */
export function loading(name, received = 0, total = 0) {
  return Object.freeze({ kind: "loading", name, received, total });
}

/**
 * @param {import("./model_library.js").ModelEntry} entry
 * @param {Engine} engine
 * @returns {ModelState}
 */
export function ready(entry, engine) {
  return Object.freeze({ kind: "ready", name: entry.name, entry, engine });
}

/**
 * @param {string} name
 * @param {import("./failure.js").Failure} failure
 * @returns {ModelState}
 */
export function failed(name, failure) {
  return Object.freeze({ kind: "failed", name, failure });
}
