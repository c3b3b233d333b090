import { Accelerator } from "./accelerator.js";
import { FailureKind } from "./failure.js";
import { Lane } from "./lane.js";
import { ModelPresenter } from "./model_presenter.js";
import { ACCEPTED } from "./task_types.js";

/**
 * What a measurement found.
 *
 * @typedef {object} SpeedReport
 * @property {string} model the model's name
 * @property {import("./model_state.js").Engine} engine what ran it
 * @property {{load: number, first: number, p50: number, p95: number, runs: number}} latency times in milliseconds
 * @property {number} tokens tokens of each run, padding included
 * @property {number} bytes the size of the file
 * @property {number | null} same texts with the same answer as WebAssembly's; null on WebAssembly itself
 * @property {number} compared all compared texts
 * @property {number | null} wasmMedian the median on WebAssembly, measured just before; null on WebAssembly itself
 */

/**
 * The panel *Speed*.
 *
 * @typedef {object} SpeedState
 * @property {import("./model_state.js").ModelState} model
 * @property {number} done runs that are over, while it measures
 * @property {number} total all runs, while it measures; 0 otherwise
 * @property {SpeedReport | null} report
 * @property {import("./failure.js").Failure | null} failure
 */

/**
 * Measures a model on an accelerator, and compares its answers with those of WebAssembly.
 *
 * @extends {ModelPresenter<SpeedState>}
 */
export class SpeedPresenter extends ModelPresenter {
  #measuring = new Lane();

  /**
   * @param {import("../worker_client.js").WorkerClient} client
   * @param {import("./model_library.js").ModelLibrary} library
   */
  constructor(client, library) {
    super({ done: 0, total: 0, report: null }, client, library, ACCEPTED.speed);
  }

  /** Starts a measurement. */
  measure() {
    if (this.state.model.kind !== "ready") return;
    this.show({ done: 0, total: 1, report: null, failure: null });
    const isCompared = this.accelerator !== Accelerator.WASM;
    this.run(this.#measuring, FailureKind.ENGINE, (control) => this.ask("measure", { isCompared }, control), {
      done: (report) => this.show({ done: 0, total: 0, report: Object.freeze(report) }),
      failed: (failure) => this.show({ done: 0, total: 0, failure }),
      progressed: (done, total) => this.show({ done, total }),
    });
  }

  /** Ends a measurement without a report. */
  stop() {
    this.#measuring.drop();
    this.show({ done: 0, total: 0 });
  }

  modelReady() {
    this.show({ report: null });
  }

  modelLeft() {
    this.#measuring.drop();
    this.show({ report: null, done: 0, total: 0 });
  }
}
