import { CanceledError, failureOf } from "./failure.js";

/**
 * What long work is given.
 *
 * @typedef {object} Control
 * @property {AbortSignal} signal aborted when newer work has replaced this one
 * @property {(...step: any[]) => void} report tells about a step
 */

/**
 * Holds the state of a panel, and tells observers when it changes.
 *
 * States are immutable. A presenter knows nothing of the document: it runs on Node as well.
 *
 * @template S
 */
export class Presenter {
  #state;
  #observers = new Set();

  /** @param {S} initial */
  constructor(initial) {
    this.#state = Object.freeze({ ...initial });
  }

  /** @returns {S} what the panel shows */
  get state() {
    return this.#state;
  }

  /**
   * Calls an observer with the present state and with each new one.
   *
   * @param {(state: S) => void} observer
   * @returns {() => void} ends that
   */
  observe(observer) {
    this.#observers.add(observer);
    observer(this.#state);
    return () => this.#observers.delete(observer);
  }

  /**
   * Shows another state; for presenters only.
   *
   * @param {Partial<S>} changes
   */
  show(changes) {
    this.#state = Object.freeze({ ...this.#state, ...changes });
    for (const observer of this.#observers) observer(this.#state);
  }

  /**
   * Runs work, and then one of the callbacks; for presenters only. Nothing is called once newer work of the lane has replaced it.
   *
   * @template R
   * @param {import("./lane.js").Lane} lane
   * @param {string} kind the kind of failures that do not tell it themselves
   * @param {(control: Control) => R | Promise<R>} work
   * @param {object} callbacks
   * @param {(result: R) => void} callbacks.done
   * @param {(failure: import("./failure.js").Failure) => void} callbacks.failed
   * @param {(...step: any[]) => void} [callbacks.progressed]
   */
  run(lane, kind, work, { done, failed, progressed = () => {} }) {
    lane.start(async (signal) => {
      const report = (...step) => {
        if (!signal.aborted) progressed(...step);
      };
      const outcome = await attempt(kind, () => work({ signal, report }));
      if (signal.aborted || outcome.isCanceled) return;
      if (outcome.failure) failed(outcome.failure);
      else done(outcome.result);
    });
  }
}

async function attempt(kind, work) {
  try {
    return { result: await work() };
  } catch (error) {
    if (error instanceof CanceledError) return { isCanceled: true };
    return { failure: failureOf(error, kind) };
  }
}
