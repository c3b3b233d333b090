import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";

import { readModel } from "../../page/worker/reading.js";

const CONTENT = Buffer.alloc(300_000, "x");
let server;
let site;

before(async () => {
  server = createServer((request, response) => {
    if (request.url === "/missing") return response.writeHead(404).end();
    if (request.url !== "/broken") return response.end(CONTENT);
    response.writeHead(200, { "Content-Length": CONTENT.length });
    return response.write(CONTENT.subarray(0, 1000), () => response.destroy());
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  site = `http://127.0.0.1:${server.address().port}`;
});

after(() => server.close());

function refused(part) {
  return (error) => error.failure.kind === "download" && error.failure.detail.includes(part);
}

test("a model of the site is fetched, with its progress", async () => {
  const steps = [];
  const content = await readModel({ name: "a", url: `${site}/a`, bytes: CONTENT.length }, (...step) => steps.push(step));
  assert.deepEqual(Buffer.from(content), CONTENT);
  assert.deepEqual(steps.at(-1), [CONTENT.length, CONTENT.length]);
});

test("a model that is missing, cut short or of another version is refused", async () => {
  await assert.rejects(readModel({ name: "a", url: `${site}/missing`, bytes: 5 }, () => {}), refused("received status 404"));
  await assert.rejects(readModel({ name: "a", url: `${site}/broken`, bytes: CONTENT.length }, () => {}), refused("received a part"));
  await assert.rejects(readModel({ name: "a", url: `${site}/a`, bytes: 5 }, () => {}), refused("300000 of 5 bytes"));
});

test("a site that does not answer is an error", async () => {
  await assert.rejects(readModel({ name: "a", url: "http://127.0.0.1:9/a", bytes: 5 }, () => {}), refused("received no answer"));
});

test("a file is read, and one that went away is an error", async () => {
  assert.deepEqual(await readModel({ name: "a", file: new Blob(["abc"]) }, () => {}), new Uint8Array([97, 98, 99]));
  const gone = { size: 5, arrayBuffer: () => Promise.reject(new Error("not found")) };
  const isGone = ({ failure }) => failure.kind === "unreadable_model" && failure.detail.includes("received none (not found)");
  await assert.rejects(readModel({ name: "gone.tflite", file: gone }, () => {}), isGone);
});
