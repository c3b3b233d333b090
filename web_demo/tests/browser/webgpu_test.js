import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { showPanel, SOFTWARE_GPU, TestBrowser, textOf } from "./test_browser.js";

const PARTIAL = /Model not fully compiled for webgpu. Partially delegating to WASM execution/;
const KEEP_DEVICE = `
const { requestDevice } = GPUAdapter.prototype;
GPUAdapter.prototype.requestDevice = async function (...options) {
  self.testedDevice = await requestDevice.apply(this, options);
  return self.testedDevice;
};
`;

const tests = new TestBrowser(SOFTWARE_GPU);

test("the page says what really runs, and gives the same answers on both", async () => {
  const page = await tests.open();
  await page.fill("#classify-text", "wake me at half past six");
  await textOf(page, "#classify-facts");
  await page.check("input[value=webgpu]", { force: true });
  await textOf(page, "#panel-classify .model-facts", /runs on WebGPU, some operators on WebAssembly$/);
  await textOf(page, "#classify-result .is-chosen", /set_alarm/);
  await showPanel(page, "speed");
  await page.click("#speed-measure:enabled");
  const facts = await textOf(page, "#speed-facts", /Same answer/);
  assert.match(facts, /Ran onWebGPU, in part on WebAssembly/);
  assert.match(facts, /Same answer as WebAssembly30 of 30 texts/);
  assert.match(facts, /Median on WebAssembly[\d.,]+ ms/);
  await page.check("input[value=wasm]", { force: true });
  await showPanel(page, "classify");
  await textOf(page, "#panel-classify .model-facts", /runs on WebAssembly$/);
  tests.assertClean([PARTIAL]);
  await page.context().close();
});

test("a device that is lost midway is told, and WebAssembly goes on when it is told to", async () => {
  tests.server.changed.set("worker.js", KEEP_DEVICE + readFileSync(join(tests.site.folder, "worker.js"), "utf8"));
  const page = await tests.open();
  await textOf(page, "#panel-classify .model-facts", /runs on WebAssembly$/);
  await page.check("input[value=webgpu]", { force: true });
  await textOf(page, "#panel-classify .model-facts", /runs on WebGPU/);
  await page.workers().at(-1).evaluate(() => self.testedDevice.destroy());
  await page.fill("#classify-text", "wake me at half past six");
  const failure = await textOf(page, "#panel-classify .failure-box");
  assert.match(failure, /^The model does not run on WebGPU here\.Expected .*, received a device that was lost/);
  await page.click("text=Try again");
  await textOf(page, "#classify-result .is-chosen", /set_alarm/);
  await textOf(page, "#panel-classify .model-facts", /runs on WebGPU/);
  await page.workers().at(-1).evaluate(() => self.testedDevice.destroy());
  await page.fill("#classify-text", "play some jazz");
  await page.click("text=Use WebAssembly");
  await textOf(page, "#classify-result .is-chosen", /play_music/);
  await textOf(page, "#panel-classify .model-facts", /runs on WebAssembly$/);
  tests.server.changed.delete("worker.js");
  tests.assertClean([PARTIAL, /device.*lost|destroyed|Device lost/i]);
  await page.context().close();
});
