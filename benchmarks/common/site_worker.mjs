// A worker of a site of `kerasbert web` in headless Chromium: it has the site's modules, models and LiteRT.js, and code of its own.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { extname, join, normalize, sep } from "node:path";

const TYPES = { ".js": "text/javascript", ".wasm": "application/wasm", ".json": "application/json" };
const GPU = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];
const QUIET = [
  "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
];
const WORKER = "/own_worker.js"; // served beside the site, as the empty page is, since the site's own page starts its own worker only

/**
 * Runs a task in a worker.
 *
 * @param {{modules: string, chromium: string, site: string, accelerator: "wasm" | "webgpu"}} given the folder of playwright-core, the
 *   browser, the folder of the site, and what runs models
 * @param {string} worker the file of the worker: it takes a task as a message, and answers with `result`, or with `error`, a text
 * @param {object} task
 * @returns {Promise<object>} the result, with `browser`
 */
export async function runInWorker(given, worker, task) {
  const { chromium } = createRequire(join(given.modules, "package.json"))("playwright-core");
  const server = createServer((request, response) => answer(given.site, worker, request, response));
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

// Only what the worker needs is served, and on the loopback address only.
async function answer(site, worker, request, response) {
  if (request.url === "/") return response.writeHead(200, { "Content-Type": "text/html" }).end("<!doctype html>");
  try {
    const path = pathOf(site, worker, request.url);
    const body = await readFile(path);
    response.writeHead(200, { "Content-Type": TYPES[extname(path)] ?? "application/octet-stream" }).end(body);
  } catch {
    response.writeHead(404).end();
  }
}

function pathOf(site, worker, url) {
  const { pathname } = new URL(url, "http://localhost");
  if (pathname === WORKER) return worker;
  const path = normalize(join(site, decodeURIComponent(pathname)));
  return path.startsWith(site + sep) ? path : null;
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
