import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize, sep } from "node:path";

const TYPES = {
  ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".wasm": "application/wasm", ".json": "application/json",
  ".css": "text/css", ".svg": "image/svg+xml", ".png": "image/png", ".webmanifest": "application/manifest+json",
};

const PIECE = 2 ** 18; // bytes of a model that are sent at once

function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** A static host below a path, without any headers but the type: what the plainest of hosts does. */
export class StaticServer {
  #server;
  #prefix;

  /** The files that were asked for, in their order. */
  asked = [];

  /** Answers in place of files, by path: a content, or a status. */
  changed = new Map();

  /** Whether it does not answer at all. */
  isDown = false;

  /** Milliseconds before an answer. */
  delay = 0;

  /** How fast a model is sent. */
  bytesPerSecond = Infinity;

  /**
   * @param {string} folder
   * @param {string} [prefix] the path below which the site is
   */
  constructor(folder, prefix = "/some/path/") {
    this.folder = folder;
    this.#prefix = prefix;
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  /** @returns {Promise<string>} the address of the site */
  async start() {
    await new Promise((done) => this.#server.listen(0, "127.0.0.1", done));
    this.origin = `http://127.0.0.1:${this.#server.address().port}`;
    return this.origin + this.#prefix;
  }

  stop() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request, response) {
    if (this.isDown) return response.destroy();
    const path = this.#pathOf(request);
    this.asked.push(path);
    if (this.delay > 0) await pause(this.delay);
    const content = await this.#read(path);
    if (typeof content === "number") return response.writeHead(content).end();
    response.writeHead(200, { "Content-Type": TYPES[extname(path)] ?? "application/octet-stream" });
    if (path.endsWith(".tflite")) await this.#sendSlowly(response, content);
    return response.end(path.endsWith(".tflite") ? undefined : content);
  }

  async #sendSlowly(response, content) {
    for (let at = 0; at < content.length; at += PIECE) {
      response.write(content.subarray(at, at + PIECE));
      if (this.bytesPerSecond < Infinity) await pause((1000 * PIECE) / this.bytesPerSecond);
    }
  }

  #pathOf(request) {
    const { pathname } = new URL(request.url, this.origin);
    if (!pathname.startsWith(this.#prefix)) return "";
    return decodeURIComponent(pathname.slice(this.#prefix.length)) || "index.html";
  }

  async #read(path) {
    if (this.changed.has(path)) return this.changed.get(path);
    const file = normalize(join(this.folder, path));
    if (!path || !file.startsWith(this.folder + sep)) return 404;
    return readFile(file).catch(() => 404);
  }
}
