import { CanceledError, failureOf } from "../state/failure.js";

/**
 * Answers the page's requests, see `WorkerClient` for the messages.
 *
 * @param {{postMessage: (message: object) => void}} port
 * @param {{call: (method: string, args: object, control: import("../state/presenter.js").Control) => Promise<any>}} service
 * @returns {(message: object) => void} receives a message
 */
export function serve(port, service) {
  const running = new Map();

  async function answer({ id, method, args }) {
    const controller = new AbortController();
    running.set(id, controller);
    const report = (...step) => port.postMessage({ id, step });
    try {
      const result = await service.call(method, args, { signal: controller.signal, report });
      port.postMessage({ id, result });
    } catch (error) {
      port.postMessage(error instanceof CanceledError ? { id, isCanceled: true } : { id, ...describe(error) });
    } finally {
      running.delete(id);
    }
  }

  return (message) => {
    if ("cancel" in message) running.get(message.cancel)?.abort();
    else answer(message);
  };
}

// The page knows best what a failure of its request means, unless the failure tells it itself.
function describe(error) {
  return { failure: failureOf(error, null), isFatal: isFatal(error) };
}

/** After a trap, WebAssembly's memory is in no defined state, and a lost device does not come back: the worker has to be replaced. */
function isFatal(error) {
  for (let each = error; each; each = each.cause) {
    if (each instanceof WebAssembly.RuntimeError || each.isFatal) return true;
  }
  return false;
}
