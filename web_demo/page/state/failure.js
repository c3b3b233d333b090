import { KerasBertError } from "../../core/error.js";

/** The kinds of failures, each with a sentence of its own on the page. */
export const FailureKind = Object.freeze({
  /** There is no model for the task of the panel. */
  NO_MODEL: "no_model",
  /** The model is for another task. */
  OTHER_TASK: "other_task",
  /** The file is no model of kerasbert, damaged, or of a newer format. */
  UNREADABLE_MODEL: "unreadable_model",
  /** The model's file could not be fetched. */
  DOWNLOAD: "download",
  /** The runtime rejects the model, or failed. */
  ENGINE: "engine",
  /** The chosen accelerator is not here, rejects the model, or was lost. */
  ACCELERATOR: "accelerator",
  /** The memory does not suffice. */
  MEMORY: "memory",
  /** A file of texts cannot be read. */
  UNREADABLE_TEXTS: "unreadable_texts",
  /** An index is another file, damaged, or of another version. */
  UNREADABLE_INDEX: "unreadable_index",
  /** An index was made with another model. */
  OTHER_MODEL: "other_model",
  /** The browser's storage is full or cannot be used. */
  STORAGE: "storage",
});

/**
 * What went wrong. It is sent from the worker to the page.
 *
 * @typedef {object} Failure
 * @property {string | null} kind one of `FailureKind`; decides the sentence that a person reads first. Null on its way from the worker, if
 *   the caller knows it.
 * @property {string} detail what was expected and what was received; may be empty
 */

/**
 * @param {string} kind
 * @param {string} [detail]
 * @returns {Failure}
 */
export function failure(kind, detail = "") {
  return Object.freeze({ kind, detail });
}

/** An error whose failure is known. */
export class FailedError extends Error {
  /**
   * @param {Failure} known
   * @param {{cause?: unknown}} [options]
   */
  constructor(known, options) {
    super(known.detail, options);
    this.name = "FailedError";
    this.failure = known;
  }
}

/** Work ended early because it was no longer needed. */
export class CanceledError extends Error {
  constructor() {
    super("canceled");
    this.name = "CanceledError";
  }
}

/**
 * Describes an error of some work.
 *
 * @param {unknown} error
 * @param {string | null} kind for errors that do not tell their kind themselves; null if only the page knows it
 * @returns {Failure}
 */
export function failureOf(error, kind) {
  if (error instanceof FailedError) return error.failure.kind ? error.failure : failure(kind, error.failure.detail);
  if (error instanceof KerasBertError) return failure(kind, error.message);
  if (isOutOfMemory(error)) return failure(FailureKind.MEMORY);
  if (isOutOfStorage(error)) return failure(FailureKind.STORAGE, "expected room in the browser's storage, received none; delete something");
  return failure(kind, String(error));
}

// V8 and SpiderMonkey throw a RangeError where an array does not fit into memory; WebAssembly's memory throws one as well.
function isOutOfMemory(error) {
  return error instanceof RangeError && /memory|allocation|array (buffer )?length/i.test(error.message);
}

function isOutOfStorage(error) {
  return error?.name === "QuotaExceededError";
}
