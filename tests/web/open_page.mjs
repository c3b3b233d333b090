// Opens a page of a site in Chromium, and prints what it shows, as one line of JSON.
//
//   node open_page.mjs '{"modules": folder, "chromium": file, "site": url, "path": path, "text": text}'
//
// The text is typed into the page of `kerasbert web`, online and then offline. For another page, "answer" names an element instead, whose
// text is waited for until it ends with a number.
import { createRequire } from "node:module";
import { join } from "node:path";

const asked = JSON.parse(process.argv[2]);
const { chromium } = createRequire(join(asked.modules, "package.json"))("playwright-core");
const browser = await chromium.launch({ executablePath: asked.chromium, headless: true, args: ["--no-sandbox", "--disable-gpu"] });
const problems = [];
// LiteRT.js looks for a graphics device, also to run on WebAssembly; a browser looks for an icon.
const EXPECTED = [/^Failed to create default WebGPU device/, /^No available adapters\.$/, /\/favicon\.ico$/];

function add(problem, url = "") {
  if (!EXPECTED.some((each) => each.test(problem) || each.test(url))) problems.push(problem);
}

function watch(page) {
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && add(message.text(), message.location().url));
  page.on("pageerror", (error) => add(String(error)));
  page.on("response", (response) => response.status() >= 400 && add(`${response.status()} ${response.url()}`));
  page.on("request", (request) => request.url().startsWith(asked.site) || add(request.url()));
}

async function classify(page) {
  await page.fill("#classify-text", asked.text);
  await page.waitForFunction(() => document.querySelector("#classify-result")?.textContent.includes("%"), null, { timeout: 60_000 });
  return page.innerText("#classify-result");
}

async function usePage(context, page) {
  const online = await classify(page);
  const isIsolated = await page.evaluate(() => crossOriginIsolated);
  const isKept = () => /^This page works offline/.test(document.querySelector("#device-offline")?.textContent);
  await page.waitForFunction(isKept, null, { timeout: 60_000 });
  await context.setOffline(true);
  await page.reload();
  return { online, offline: await classify(page), isIsolated };
}

async function readAnswer(page) {
  const isThere = (selector) => /\d$/.test(document.querySelector(selector)?.textContent);
  await page.waitForFunction(isThere, asked.answer, { timeout: 60_000 });
  return { answer: await page.innerText(asked.answer) };
}

try {
  const context = await browser.newContext();
  const page = await context.newPage();
  watch(page);
  await page.goto(asked.site + asked.path);
  const shown = await (asked.answer ? readAnswer(page) : usePage(context, page));
  console.log(JSON.stringify({ ...shown, problems }));
} finally {
  await browser.close();
}
