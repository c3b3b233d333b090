// The command line of a site: its modules in headless Chromium do what `node web_demo/run.mjs` does.
//
//   node run.mjs '{"modules": folder, "chromium": file, "site": folder, "model": path in the site, "accelerator": "wasm" | "webgpu"}' \
//       predict | search TEXTS < lines
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { ModelFile } from "../../../web_demo/core/file/model_file.js";
import { TextImport } from "../../../web_demo/core/search/text_import.js";
import { readExample } from "../../../web_demo/node/example_lines.js";
import { inputLines, note, printText } from "../../../web_demo/node/streams.js";
import { runInWorker } from "../../common/site_worker.mjs";

const WORKER = fileURLToPath(new URL("worker.js", import.meta.url));
const TOP = 10;

const given = JSON.parse(process.argv[2]);
const [command, textsFile] = process.argv.slice(3);

async function readTask() {
  const file = ModelFile.of(new Uint8Array(await readFile(join(given.site, given.model))), given.model);
  const examples = (await inputLines()).map((line, number) => readExample(file.metadata.type, line, number).fields());
  const texts = textsFile ? TextImport.read(await readFile(textsFile), textsFile).texts() : [];
  return { accelerator: given.accelerator, model: given.model, command, examples, texts, top: TOP };
}

const { lines, title, browser, indexed, vectorBytes, times } = await runInWorker(given, WORKER, await readTask());
await printText(lines.map((line) => `${line}\n`).join(""));
note(`note: ${title}, ${browser}`);
if (times) {
  note(`note: indexed ${indexed} texts in ${(times.index / 1000).toFixed(2)} s; their vectors take ${vectorBytes} bytes`);
  const [vector, search] = [times.vector, times.search].map((time) => time.toFixed(2));
  note(`note: answered ${lines.length} queries: ${vector} ms for a vector, ${search} ms for its search`);
}
