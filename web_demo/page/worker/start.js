import { DatabaseStore } from "../storage/database_store.js";
import { LiteRtEngines } from "./litert_engines.js";
import { readModel } from "./reading.js";
import { samplesFrom } from "./samples.js";
import { serve } from "./serve.js";
import { Service } from "./service.js";

const SITE = new URL("../../", import.meta.url);

/**
 * Starts the service of a worker, whose name is the accelerator.
 *
 * @param {DedicatedWorkerGlobalScope} scope
 * @returns {(message: object) => void} receives the page's messages
 */
export function start(scope) {
  const store = new DatabaseStore(SITE);
  const engines = new LiteRtEngines(new URL("litert/", SITE), scope.name);
  engines.prepare();
  const sample = samplesFrom(new URL("samples.json", SITE).href);
  return serve(scope, new Service({ engines, read: readModel, store, sample }));
}
