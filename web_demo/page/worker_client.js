import { CanceledError, FailedError, failure, FailureKind } from "./state/failure.js";

/**
 * Calls the methods of the worker, see `Service`.
 *
 * The page sends `{id, method, args}`, and `{cancel: id}` for what it no longer needs. The worker sends `{id, step}` any number of times,
 * and then `{id, result}`, `{id, failure, isFatal}` or `{id, isCanceled}`.
 *
 * A worker that broke is replaced by the next call.
 */
export class WorkerClient {
  #createWorker;
  #accelerator;
  #worker = null;
  #pending = new Map();
  #lastId = 0;

  /**
   * @param {(accelerator: string) => Worker} createWorker starts a worker whose runtime has an accelerator
   * @param {string} accelerator one of `Accelerator`
   */
  constructor(createWorker, accelerator) {
    this.#createWorker = createWorker;
    this.#accelerator = accelerator;
  }

  /** Starts the worker before the first call, so that it can load what it needs. */
  start() {
    this.#worker ??= this.#start();
  }

  /**
   * Starts another worker for another accelerator: a runtime is loaded once a worker.
   *
   * @param {string} accelerator one of `Accelerator`
   */
  use(accelerator) {
    if (accelerator === this.#accelerator) return;
    this.#accelerator = accelerator;
    this.#end(new CanceledError());
  }

  /**
   * Calls a method.
   *
   * @param {string} method
   * @param {object} args what `postMessage` can copy
   * @param {import("./state/presenter.js").Control} control
   * @returns {Promise<any>}
   * @throws {FailedError} when it failed
   * @throws {CanceledError} when it was canceled, and the worker has ended it
   */
  call(method, args, { signal, report }) {
    if (signal.aborted) return Promise.reject(new CanceledError());
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const id = ++this.#lastId;
    signal.addEventListener("abort", () => this.#pending.has(id) && worker.postMessage({ cancel: id }), { once: true });
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, report });
      worker.postMessage({ id, method, args });
    });
  }

  #start() {
    const worker = this.#createWorker(this.#accelerator);
    worker.onmessage = ({ data }) => this.#receive(data);
    worker.onerror = (event) => {
      event.preventDefault();
      const detail = `expected the page's worker to run, received ${event.message || "no answer"}; load the page again`;
      this.#end(new FailedError(failure(FailureKind.ENGINE, detail)));
    };
    return worker;
  }

  #receive({ id, step, result, failure: known, isFatal, isCanceled }) {
    const call = this.#pending.get(id);
    if (!call) return;
    if (step) return call.report(...step);
    this.#pending.delete(id);
    if (isCanceled) call.reject(new CanceledError());
    else if (known) call.reject(new FailedError(known));
    else call.resolve(result);
    if (isFatal) this.#end(new FailedError(known));
  }

  #end(reason) {
    this.#worker?.terminate();
    this.#worker = null;
    const calls = [...this.#pending.values()];
    this.#pending.clear();
    for (const call of calls) call.reject(reason);
  }
}
