import assert from "node:assert/strict";
import { test } from "node:test";

import { ACCEPTED } from "../../page/state/task_types.js";
import { countModels } from "./site.js";
import { showPanel, TestBrowser, textOf } from "./test_browser.js";

const MISSING = /Failed to load resource: the server responded with a status of 404/;

const tests = new TestBrowser();

/** Opens the page while the host lacks some files. */
async function openWithout(...paths) {
  for (const path of paths) tests.server.changed.set(path, 404);
  return tests.open();
}

test("a site whose list of models does not load says so, and tries again", async () => {
  const page = await openWithout("models/index.json");
  await textOf(page, "#panel-classify .failure-box", /could not be loaded from this site\..*status 404/);
  assert.equal(await page.textContent("#model-classify"), "No model");
  tests.server.changed.clear();
  await page.click("#panel-classify button:text-is('Try again')");
  await textOf(page, "#panel-classify .model-facts", /runs on/);
  assert.equal(await page.locator("#model-classify option").count(), countModels(tests.site, ACCEPTED.classify));
  tests.assertClean([MISSING]);
  await page.context().close();
});

test("a model that does not load is told in its panel, and the other panels work", async () => {
  const page = await openWithout("models/intents.tflite");
  await textOf(page, "#panel-classify .failure-box", /Expected the file models\/intents\.tflite of the model intents, received status 404/);
  await showPanel(page, "teach");
  await textOf(page, "#panel-teach .model-facts", /runs on/);
  await showPanel(page, "classify");
  await textOf(page, "#device-offline", /online only: expected models\/intents\.tflite, received status 404/);
  tests.server.changed.clear();
  tests.server.asked.length = 0;
  await page.click("#panel-classify button:text-is('Try again')");
  await textOf(page, "#panel-classify .model-facts", /runs on/);
  assert.ok(tests.server.asked.length <= 1 + 3, `what cannot be saved whole is not saved further: ${tests.server.asked}`);
  tests.assertClean([MISSING]);
  await page.context().close();
});

for (const path of ["worker.js", "page/worker/service.js", "litert/litert_wasm_internal.wasm"]) {
  test(`without ${path}, the page says that models do not run`, async () => {
    const page = await openWithout(path);
    await textOf(page, "#panel-classify .failure-box", /^The model does not run here\.Expected /);
    tests.server.changed.clear();
    await page.reload();
    await textOf(page, "#panel-classify .model-facts", /runs on/);
    tests.assertClean([MISSING, /Failed to fetch|failed to load|wasm|Worker/i]);
    await page.context().close();
  });
}

test("while a model loads, the page says how much has arrived", async () => {
  const page = await tests.open();
  await textOf(page, "#panel-classify .model-facts", /runs on/);
  tests.server.bytesPerSecond = 2_000_000;
  await showPanel(page, "search");
  await textOf(page, "#panel-search .state", /Loading search: \d\.\d MB of \d+\.\d MB/);
  const bar = page.locator("#panel-search .state progress");
  assert.ok((await bar.evaluate((each) => each.position)) > 0);
  assert.equal(await bar.getAttribute("aria-label"), "Loading the model");
  tests.server.bytesPerSecond = Infinity;
  await textOf(page, "#panel-search .model-facts", /runs on/);
  tests.assertClean();
  await page.context().close();
});
