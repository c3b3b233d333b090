// The child of `benchmarks.latency.early_exit_web`: runs models of a site in headless Chromium in turn, and prints one line of JSON.
//
//   node run.mjs '{"modules": folder, "chromium": file, "site": folder, "accelerator": "wasm", "models": paths in the site by name, \
//       "texts": file, "rounds": n, "repeats": n}'
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { runInWorker } from "../../common/site_worker.mjs";

const { models, texts, rounds, repeats, ...given } = JSON.parse(process.argv[2]);
const task = { models, texts: JSON.parse(await readFile(texts, "utf8")), rounds, repeats, accelerator: given.accelerator };
console.log(JSON.stringify(await runInWorker(given, fileURLToPath(new URL("worker.js", import.meta.url)), task)));
