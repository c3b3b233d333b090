import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";

import { buildSite } from "./site.js";
import { StaticServer } from "./static_server.js";

const MODULES = process.env.KERASBERT_WEB_MODULES ?? join(homedir(), ".cache", "kerasbert", "web");
const CHROMIUM = process.env.KERASBERT_CHROMIUM ?? "/usr/bin/chromium";
const QUIET = [
  "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
  "--disable-default-apps", "--disable-domain-reliability",
  // What the browser asks its maker by itself, also about forms, would be among the requests that are checked.
  "--disable-features=AutofillServerCommunication,NetworkTimeServiceQuerying,OptimizationHints", "--gaia-url=http://127.0.0.1:9",
  "--component-updater=url-source=http://127.0.0.1:9/",
];

/** Flags for a browser without WebGPU, and for one whose WebGPU is computed by the CPU. */
export const WITHOUT_GPU = ["--disable-gpu"];
export const SOFTWARE_GPU = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];

/** What LiteRT.js prints where WebGPU was chosen in a browser without it. */
export const NO_DEVICE = /^console: Failed to create default WebGPU device/;

/** Milliseconds to wait for what a page is to show; enough for a slow machine. */
export const PATIENCE = Number(process.env.KERASBERT_PATIENCE ?? 180_000);

/**
 * A browser, a host with the site and a proxy that no request may reach, for the tests of a file.
 *
 * @param {string[]} [flags]
 */
export class TestBrowser {
  /** What was wrong: console errors, violations of the policy, requests to others. */
  problems = [];

  constructor(flags = WITHOUT_GPU) {
    this.flags = flags;
    before(() => this.#start());
    after(() => this.#stop());
  }

  /**
   * Opens the page in a profile of its own.
   *
   * @param {object} [options] those of a context, and `hash`
   * @returns {Promise<import("playwright-core").Page>}
   */
  async open({ hash = "", ...options } = {}) {
    const context = await this.newContext(options);
    return this.openIn(context, hash);
  }

  /** @returns {Promise<import("playwright-core").BrowserContext>} a profile of its own */
  async newContext(options = {}) {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    context.setDefaultTimeout(PATIENCE);
    context.on("request", (request) => this.#checkRequest(request.url()));
    context.on("page", (page) => this.#watch(page));
    await context.addInitScript(() => {
      addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => {
        console.error(`policy: ${violatedDirective} forbids ${blockedURI}`);
      });
    });
    return context;
  }

  /** Opens the page in a profile. */
  async openIn(context, hash = "") {
    const page = await context.newPage();
    await page.goto(this.url + hash);
    return page;
  }

  /** Fails if anything was wrong since the last call; `allowed` are the problems that a test caused on purpose. */
  assertClean(allowed = []) {
    const problems = this.problems.splice(0).filter((problem) => !allowed.some((each) => each.test(problem)));
    assert.deepEqual(problems, []);
  }

  async #start() {
    const { chromium } = createRequire(join(MODULES, "package.json"))("playwright-core");
    assert.ok(existsSync(CHROMIUM), `expected a browser at ${CHROMIUM}; set KERASBERT_CHROMIUM`);
    this.site = buildSite();
    this.server = new StaticServer(this.site.folder);
    this.url = await this.server.start();
    const proxy = await this.#startProxy();
    const args = [...QUIET, ...this.flags, `--proxy-server=${proxy}`];
    this.browser = await chromium.launch({ executablePath: CHROMIUM, headless: true, args });
  }

  async #stop() {
    await this.browser?.close();
    this.proxy?.close();
    this.server?.stop();
    this.site?.remove();
  }

  /** Every request of the browser to another host arrives here, whoever makes it. */
  async #startProxy() {
    const reached = (request) => this.problems.push(`request to another host: ${request.url}`);
    this.proxy = createServer((request, response) => {
      reached(request);
      response.writeHead(502).end();
    });
    this.proxy.on("connect", (request, socket) => {
      reached(request);
      socket.destroy();
    });
    await new Promise((done) => this.proxy.listen(0, "127.0.0.1", done));
    return `http://127.0.0.1:${this.proxy.address().port}`;
  }

  #checkRequest(url) {
    if (!url.startsWith(this.url) && !/^(blob|data):/.test(url)) this.problems.push(`request to ${url}`);
  }

  #watch(page) {
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) this.problems.push(`console: ${message.text()}`);
    });
    page.on("pageerror", (error) => this.problems.push(`error: ${error.message}`));
  }
}

/** Types a text into a field, as fast as a paste. */
export async function write(page, field, text) {
  await page.fill(field, text);
}

/** Waits until a part of the page has some text, and returns it. */
export async function textOf(page, selector, pattern = /\S/) {
  await page.waitForFunction(({ selector: each, source, flags }) => {
    return new RegExp(source, flags).test(document.querySelector(each)?.textContent ?? "");
  }, { selector, source: pattern.source, flags: pattern.flags });
  return page.textContent(selector);
}

/** Shows a panel. */
export async function showPanel(page, name) {
  await page.click(`#tab-${name}`);
  await page.waitForSelector(`#panel-${name}:not([hidden])`);
}

/** Waits until the index of the search is built. */
export async function indexBuilt(page) {
  await textOf(page, "#search-corpus", /\d texts/);
}
