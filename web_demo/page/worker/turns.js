import { CanceledError } from "../state/failure.js";
import { pause } from "./pause.js";

const RESPONSIVE = 12; // milliseconds of work without a look at new messages

/**
 * Work that the page asked for.
 *
 * @typedef {object} Job
 * @property {boolean} isLong whether it takes many runs of a model; shorter work goes first
 * @property {AbortSignal} signal aborted when the page no longer needs it
 * @property {(...step: any[]) => void} report tells the page about a step
 */

/**
 * Lets jobs use the runtime one at a time, for a run each. Jobs that are not long go first, so that a search is answered while an index is
 * built. Messages are received between runs, so a job that was canceled ends at its next one.
 */
export class Turns {
  #isTaken = false;
  #short = [];
  #long = [];
  #lastPause = performance.now();

  /**
   * Runs work when it is the job's turn.
   *
   * @template R
   * @param {Job} job
   * @param {() => Promise<R>} work
   * @returns {Promise<R>}
   * @throws {CanceledError} when the job was canceled
   */
  async take(job, work) {
    await this.#enter(job);
    try {
      await this.breathe(job);
      return await work();
    } finally {
      this.#leave();
    }
  }

  /**
   * Receives messages, unless it was done just before.
   *
   * @param {Job} job
   * @returns {Promise<void>}
   * @throws {CanceledError} when the job was canceled
   */
  async breathe(job) {
    if (performance.now() - this.#lastPause >= RESPONSIVE) {
      await pause();
      this.#lastPause = performance.now();
    }
    if (job.signal.aborted) throw new CanceledError();
  }

  async #enter(job) {
    if (this.#isTaken) await new Promise((enter) => (job.isLong ? this.#long : this.#short).push(enter));
    this.#isTaken = true;
  }

  #leave() {
    const next = this.#short.shift() ?? this.#long.shift();
    if (next) next();
    else this.#isTaken = false;
  }
}
