import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";

import { TestBrowser, textOf } from "./test_browser.js";

const POLICY = {
  "default-src": "'none'", "script-src": "'self' 'wasm-unsafe-eval'", "worker-src": "'self'", "connect-src": "'self'",
  "style-src": "'self'", "img-src": "'self'", "manifest-src": "'self'", "base-uri": "'none'", "form-action": "'none'",
  "require-trusted-types-for": "'script'", "trusted-types": "kerasbert",
};

const tests = new TestBrowser();
let other;

before(async () => {
  other = createServer((request, response) => response.writeHead(200, { "Access-Control-Allow-Origin": "*" }).end("reached"));
  await new Promise((done) => other.listen(0, "127.0.0.1", done));
});
after(() => other.close());

test("the page's policy allows this site only, nothing inline, and no code from texts", async () => {
  const page = await tests.open();
  const content = await page.getAttribute("meta[http-equiv=Content-Security-Policy]", "content");
  const directives = Object.fromEntries(content.split(";").map((each) => each.trim().split(/ (.*)/s).slice(0, 2)));
  assert.deepEqual(directives, POLICY);
  const attempts = await page.evaluate(async (address) => {
    const outcome = async (work) => {
      try {
        return String(await work());
      } catch {
        return "forbidden";
      }
    };
    const image = () => new Promise((resolve, reject) => {
      Object.assign(new Image(), { onload: resolve, onerror: reject, src: `${address}/x.png` });
    });
    // What runs in the test's own call may evaluate texts; what the page runs later may not.
    const evaluation = () => new Promise((resolve, reject) => {
      setTimeout(() => {
        try {
          resolve(eval("1 + 1"));
        } catch (error) {
          reject(error);
        }
      });
    });
    const styled = () => {
      const made = document.createElement("p");
      made.setAttribute("style", "color: rgb(1, 2, 3)");
      document.body.append(made);
      return getComputedStyle(made).color === "rgb(1, 2, 3)" ? "styled" : "forbidden";
    };
    return {
      evaluation: await outcome(evaluation),
      html: await outcome(() => (document.createElement("p").innerHTML = "<b>text</b>")),
      script: await outcome(() => (document.createElement("script").text = "1")),
      worker: await outcome(() => new Worker("worker.js")),
      anotherWorker: await outcome(() => trustedTypes.createPolicy("other", { createScriptURL: (url) => url })),
      request: await outcome(async () => (await fetch(address)).text()),
      image: await outcome(image),
      style: styled(),
    };
  }, `http://127.0.0.1:${other.address().port}`);
  assert.deepEqual(new Set(Object.values(attempts)), new Set(["forbidden"]), JSON.stringify(attempts));
  await page.waitForTimeout(200); // violations are told later
  tests.assertClean([/policy:|Content Security Policy|Trusted|violates|ERR_BLOCKED|request to http:\/\/127/]); // what was tried
  await page.context().close();
});

test("a name that a link carries is not run", async () => {
  const page = await tests.open({ hash: `#panel=classify&model=${encodeURIComponent("<img src=x onerror=alert(1)>")}&text=hello` });
  await textOf(page, "#notices", /<img src=x onerror=alert\(1\)>/);
  tests.assertClean();
  await page.context().close();
});
