// Opens a site in Chromium as a user does, and prints what the page shows, as one line of JSON.
//
//   node open_page.mjs '{"modules": folder, "chromium": file, "address": url, "text": text}'
import { createRequire } from "node:module";
import { join } from "node:path";

const asked = JSON.parse(process.argv[2]);
const { chromium } = createRequire(join(asked.modules, "package.json"))("playwright-core");
const browser = await chromium.launch({ executablePath: asked.chromium, headless: true, args: ["--no-sandbox", "--disable-gpu"] });
const problems = [];
const EXPECTED = /^Failed to create default WebGPU device/; // LiteRT.js looks for a graphics device, also to run on WebAssembly

function watch(page) {
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !EXPECTED.test(message.text())) problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("response", (response) => response.status() >= 400 && problems.push(`${response.status()} ${response.url()}`));
  page.on("request", (request) => request.url().startsWith(asked.address) || problems.push(request.url()));
}

async function classify(page) {
  await page.fill("#classify-text", asked.text);
  await page.waitForFunction(() => document.querySelector("#classify-result")?.textContent.includes("%"), null, { timeout: 60_000 });
  return page.innerText("#classify-result");
}

try {
  const context = await browser.newContext();
  const page = await context.newPage();
  watch(page);
  await page.goto(asked.address);
  const online = await classify(page);
  const isIsolated = await page.evaluate(() => crossOriginIsolated);
  const isKept = () => /^This page works offline/.test(document.querySelector("#device-offline")?.textContent);
  await page.waitForFunction(isKept, null, { timeout: 60_000 });
  await context.setOffline(true);
  await page.reload();
  console.log(JSON.stringify({ online, offline: await classify(page), isIsolated, problems }));
} finally {
  await browser.close();
}
