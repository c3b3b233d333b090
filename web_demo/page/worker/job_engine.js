import { Accelerator } from "../state/accelerator.js";
import { CanceledError, FailedError, failureOf, FailureKind } from "../state/failure.js";

/**
 * The engine of a model for one job: each run waits for the job's turn, and a job that was canceled runs no more.
 *
 * @implements {import("../../core/model/engine.js").Engine}
 */
export class JobEngine {
  #engine;
  #turns;
  #job;

  /**
   * @param {import("../../core/model/engine.js").Engine & {accelerator: string}} engine which jobs share
   * @param {import("./turns.js").Turns} turns
   * @param {import("./turns.js").Job} job
   */
  constructor(engine, turns, job) {
    this.#engine = engine;
    this.#turns = turns;
    this.#job = job;
  }

  get title() {
    return this.#engine.title;
  }

  run(signature, inputs) {
    return this.#turns.take(this.#job, () => this.#run(signature, inputs));
  }

  /** The shared engine stays open. */
  close() {}

  async #run(signature, inputs) {
    try {
      return await this.#engine.run(signature, inputs);
    } catch (error) {
      const failed = withAccelerator(error, this.#engine.accelerator);
      if (failed instanceof FailedError && failed.failure.kind === FailureKind.ACCELERATOR) failed.isFatal = true; // its device may be lost
      throw failed;
    }
  }
}

/**
 * Tells failures of an accelerator from those of a model: a person can then choose WebAssembly.
 *
 * @param {unknown} error of the runtime
 * @param {string} accelerator what the model ran on, or was to run on
 * @returns {unknown}
 */
export function withAccelerator(error, accelerator) {
  if (accelerator === Accelerator.WASM || error instanceof FailedError || error instanceof CanceledError) return error;
  return new FailedError(failureOf(error, FailureKind.ACCELERATOR), { cause: error });
}
