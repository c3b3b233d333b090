// The command line of a site: its modules in headless Chromium do what `node web_demo/run.mjs` does.
//
//   node run.mjs '{"modules": folder, "chromium": file, "site": folder, "model": path in the site, "accelerator": "wasm" | "webgpu"}' \
//       predict | search TEXTS < lines
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { extname, join, normalize, sep } from "node:path";
import { fileURLToPath } from "node:url";

import { ModelFile } from "../../../web_demo/core/file/model_file.js";
import { TextImport } from "../../../web_demo/core/search/text_import.js";
import { readExample } from "../../../web_demo/node/example_lines.js";
import { inputLines, note, printText } from "../../../web_demo/node/streams.js";

const TYPES = { ".js": "text/javascript", ".wasm": "application/wasm", ".json": "application/json" };
const GPU = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];
const QUIET = [
  "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
];
const WORKER = "/parity_worker.js"; // served beside the site, as the empty page is, since the site's own page starts its own worker only
const TOP = 10;

const given = JSON.parse(process.argv[2]);
const [command, textsFile] = process.argv.slice(3);
const { chromium } = createRequire(join(given.modules, "package.json"))("playwright-core");

function pathOf(url) {
  const { pathname } = new URL(url, "http://localhost");
  if (pathname === WORKER) return fileURLToPath(new URL("worker.js", import.meta.url));
  const path = normalize(join(given.site, decodeURIComponent(pathname)));
  return path.startsWith(given.site + sep) ? path : null;
}

// Only what the worker needs is served, and on the loopback address only.
async function answer(request, response) {
  if (request.url === "/") return response.writeHead(200, { "Content-Type": "text/html" }).end("<!doctype html>");
  try {
    const path = pathOf(request.url);
    const body = await readFile(path);
    response.writeHead(200, { "Content-Type": TYPES[extname(path)] ?? "application/octet-stream" }).end(body);
  } catch {
    response.writeHead(404).end();
  }
}

/** Runs in the page. */
function askWorker([worker, task]) {
  return new Promise((resolve, reject) => {
    const running = new Worker(worker);
    running.onmessage = ({ data }) => ("result" in data ? resolve(data.result) : reject(new Error(data.error)));
    running.onerror = (event) => reject(new Error(event.message));
    running.postMessage(task);
  });
}

async function runInBrowser(task) {
  const server = createServer(answer);
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const options = given.accelerator === "webgpu" ? GPU : ["--disable-gpu"];
  const browser = await chromium.launch({ executablePath: given.chromium, headless: true, args: [...QUIET, ...options] });
  try {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    return { ...(await page.evaluate(askWorker, [WORKER, task])), browser: `Chromium ${browser.version()}` };
  } finally {
    await browser.close();
    server.close();
  }
}

async function readTask() {
  const file = ModelFile.of(new Uint8Array(await readFile(join(given.site, given.model))), given.model);
  const examples = (await inputLines()).map((line, number) => readExample(file.metadata.type, line, number).fields());
  const texts = textsFile ? TextImport.read(await readFile(textsFile), textsFile).texts() : [];
  return { accelerator: given.accelerator, model: given.model, command, examples, texts, top: TOP };
}

const { lines, title, browser, indexed, vectorBytes, times } = await runInBrowser(await readTask());
await printText(lines.map((line) => `${line}\n`).join(""));
note(`note: ${title}, ${browser}`);
if (times) {
  note(`note: indexed ${indexed} texts in ${(times.index / 1000).toFixed(2)} s; their vectors take ${vectorBytes} bytes`);
  const [vector, search] = [times.vector, times.search].map((time) => time.toFixed(2));
  note(`note: answered ${lines.length} queries: ${vector} ms for a vector, ${search} ms for its search`);
}
