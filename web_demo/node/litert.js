import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { runInThisContext } from "node:vm";

import { LiteRt } from "../litert_engine.js";
import { litertFolder } from "./litert_folder.js";

const BUILD = "litert_wasm_compat_internal"; // without relaxed SIMD, whose results depend on the processor

/**
 * Loads LiteRT.js.
 *
 * @returns {Promise<LiteRt>}
 * @throws {KerasBertError} when it is missing, or does not load
 */
export async function loadLiteRt() {
  const folder = litertFolder();
  const builds = join(folder, "wasm", "/");
  standInForWorker(builds);
  const library = await import(pathToFileURL(join(folder, "dist", "index.js")));
  const wasmBinary = readFileSync(`${builds}${BUILD}.wasm`);
  return withoutWarnings(() => LiteRt.load(library, builds, { build: `${BUILD}.js`, wasmBinary }));
}

/** Gives Node what LiteRT.js uses of a worker, and its glue code of a CommonJS module. */
function standInForWorker(builds) {
  globalThis.self = globalThis;
  globalThis.importScripts = (path) => runInThisContext(readFileSync(path, "utf8"), { filename: path });
  globalThis.require = createRequire(join(builds, BUILD));
  globalThis.__dirname = builds;
  globalThis.__filename = `${builds}${BUILD}.js`;
}

/** Runs work of LiteRT.js, which warns that Node has no WebGPU. */
async function withoutWarnings(work) {
  const { warn } = console;
  console.warn = () => {};
  try {
    return await work();
  } finally {
    console.warn = warn;
  }
}
