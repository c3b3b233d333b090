// The child of `backends.web`: runs rows in LiteRT.js in headless Chromium, and prints one line of JSON.
//
//   node run.mjs '{"modules": folder, "chromium": file, "model": file, "rows": file, "accelerator": "wasm" | "webgpu"}'
//
// rows: JSON, {"inputs": {name: [[numbers of a row], ...]}, "length": n}. Answer: {"outputs": {name: {"shape": [...], "rows": [[...], ...]}},
// "seconds": [...], "adapter": text, "accelerated": bool, "browser": text, "log": what the page's console said}; or {"error": text}.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { extname, join, normalize, sep } from "node:path";
import { fileURLToPath } from "node:url";

const asked = JSON.parse(process.argv[2]);
const { chromium } = createRequire(join(asked.modules, "package.json"))("playwright-core");
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm", ".json": "application/json" };
const GPU = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];
const QUIET = ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

// Only what the page needs is served, and on the loopback address only.
async function answer(request, response) {
  const path = new URL(request.url, "http://localhost").pathname;
  let file = { "/": fileURLToPath(new URL("page.html", import.meta.url)), "/model": asked.model, "/rows": asked.rows }[path];
  if (!file && path.startsWith("/modules/")) {
    const wanted = normalize(join(asked.modules, "node_modules", decodeURIComponent(path.slice("/modules/".length))));
    if (wanted.startsWith(join(asked.modules, "node_modules") + sep)) file = wanted;
  }
  try {
    const body = await readFile(file);
    const type = path === "/" ? "text/html" : TYPES[extname(file)] ?? "application/octet-stream";
    const headers = { "Content-Type": type, "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };
    response.writeHead(200, headers).end(body);
  } catch {
    response.writeHead(404).end();
  }
}

function firstLine(error) {
  return String(error?.message ?? error).split("\n")[0];
}

async function run() {
  const server = createServer(answer);
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const options = asked.accelerator === "webgpu" ? GPU : ["--disable-gpu"];
  const browser = await chromium.launch({ executablePath: asked.chromium, headless: true, args: [...QUIET, ...options] });
  try {
    const page = await browser.newPage();
    const said = [];
    page.on("console", (message) => said.push(message.text()));
    page.on("pageerror", (error) => said.push(String(error)));
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    let found;
    try {
      found = await page.evaluate((accelerator) => window.runRows(accelerator), asked.accelerator);
    } catch (error) {
      // What ends the program inside the page says why on the console only.
      const reason = said.findLast((line) => /^F\d{4} |Check failed|ERROR/.test(line)) ?? "";
      found = { error: `${firstLine(error)} ${reason}`.trim() };
    }
    return { ...found, log: said.join("\n"), browser: `Chromium ${browser.version()}` };
  } finally {
    await browser.close();
    server.close();
  }
}

try {
  console.log("RESULT " + JSON.stringify(await run()));
} catch (error) {
  console.log("RESULT " + JSON.stringify({ error: firstLine(error) }));
}
