import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { ended, modelPath, run, start } from "./command_line.js";

const LABEL = modelPath("label");

async function tokenize(model, input) {
  const { code, out, err } = await run(["tokenize", model], input);
  assert.equal(err, "");
  assert.equal(code, 0);
  return out.trimEnd().split("\n").map((line) => JSON.parse(line));
}

async function assertFails(words, input, expected, message) {
  const { code, out, err } = await run(words, input);
  assert.match(err, /^error: [^\n]*\n$/);
  assert.ok(err.includes(message), err);
  assert.equal(code, expected);
  assert.equal(out, "");
}

test("each line has its ids, and offsets in code points", async () => {
  const { out } = await run(["tokenize", LABEL], "play \u{1F600} a\nsong\n");
  const lines = [
    '{"input_ids": [2, 1, 31, 6, 3], "offsets": [[0, 0], [0, 4], [5, 6], [7, 8], [0, 0]]}',
    '{"input_ids": [2, 9, 3], "offsets": [[0, 0], [0, 4], [0, 0]]}',
  ];
  assert.equal(out, `${lines.join("\n")}\n`);
});

test("a line is a pair where both texts are one row", async () => {
  const line = '{"text": "a", "pair": "song \u{1F600} a"}';
  const [pair] = await tokenize(LABEL, line);
  assert.deepEqual(pair, { input_ids: [2, 6, 3, 9, 31, 6, 3], offsets: [[0, 0], [0, 1], [0, 0], [0, 4], [5, 6], [7, 8], [0, 0]] });
  const [text] = await tokenize(modelPath("tags"), line);
  assert.deepEqual(text.offsets.slice(0, 3), [[0, 0], [0, 1], [1, 2]]);
});

test("other JSON is a text", async () => {
  const lines = [
    '{"text": "a"}',
    '{"text": 1, "pair": "a"}',
    '{"text": "a", "pair": "a", "id": 1}',
    '{"text": "\\ud800", "pair": "a"}',
    "{",
  ];
  const records = await tokenize(LABEL, lines.join("\n"));
  records.forEach(({ offsets }, number) => assert.deepEqual(offsets[1], [0, 1], lines[number]));
});

test("a byte order mark, blank lines and carriage returns are no texts", async () => {
  const records = await tokenize(LABEL, "\ufeff\r\n \t\u00a0\u3000\r\n\u2028a\r\n\nsong");
  assert.deepEqual(records.map((record) => record.input_ids), [[2, 6, 3], [2, 9, 3]]);
});

test("a long text is cut to the longest row", async () => {
  const [{ input_ids: ids }] = await tokenize(LABEL, "song ".repeat(500));
  assert.ok(ids.length > 8 && ids.length < 500);
  assert.deepEqual([ids[0], ids.at(-2), ids.at(-1)], [2, 9, 3]);
});

test("many texts come in their order", async () => {
  const texts = Array.from({ length: 5000 }, (_, number) => "a ".repeat((number % 7) + 1));
  const records = await tokenize(LABEL, texts.join("\n"));
  assert.deepEqual(records.map((record) => record.input_ids.length), texts.map((text) => text.length / 2 + 2));
});

test("a model of the zoo is found by its name", async () => {
  const [record] = await tokenize("intents", "set an alarm for six");
  assert.deepEqual(record.input_ids, [2, 365, 110, 5871, 96, 506, 3]);
});

test("wrong input ends with one line and code 2", async () => {
  await assertFails(["tokenize", LABEL], "", 2, "expected texts in stdin, one per line, received none");
  await assertFails(["tokenize", LABEL], "\n \n", 2, "received none");
  await assertFails(["tokenize", LABEL], Buffer.from([0x61, 0x0a, 0xff, 0x61]), 2, "received byte 0xff at offset 2");
  await assertFails(["tokenize", LABEL], Buffer.from([0x61, 0xef, 0xbf, 0x41]), 2, "received byte 0xef at offset 1");
  await assertFails(["tokenize", LABEL], Buffer.from("a\ufffd\xff", "latin1"), 2, "received byte 0xfd at offset 1");
  await assertFails(["tokenize", modelPath("absent")], "a", 2, "which is not there; check the path");
  await assertFails(["tokenize", modelPath("..").replace(".tflite", "")], "a", 2, "which is a folder");
  await assertFails(["tokenize", fileURLToPath(import.meta.url)], "a", 2, "expected a .tflite file (identifier TFL3 at byte 4)");
});

test("wrong words end with one line and code 2", async () => {
  await assertFails(["dance", LABEL], "a", 2, "expected a command among tokenize, predict, search, inspect, received dance");
  await assertFails(["tokenize"], "a", 2, "expected tokenize MODEL, received 1 words");
  await assertFails(["tokenize", LABEL, LABEL], "a", 2, "received 3 words");
  await assertFails(["tokenize", LABEL, "--fast"], "a", 2, "expected an option among");
  await assertFails(["tokenize", LABEL, "--top"], "a", 2, "expected a value after --top");
});

test("help names every command", async () => {
  for (const words of [[], ["--help"], ["-h"], ["help"], ["tokenize", "--help"]]) {
    const { code, out, err } = await run(words);
    assert.equal(code, 0);
    assert.equal(err, "");
    for (const command of ["tokenize", "predict", "search", "inspect"]) assert.ok(out.includes(`\n  ${command} MODEL`), out);
  }
});

test("a reader that stops is no error message", async () => {
  const child = start(["tokenize", LABEL]);
  child.stdin.on("error", () => {});
  child.stdin.end("a song\n".repeat(200_000));
  await once(child.stdout, "data");
  child.stdout.destroy();
  const { code, err } = await ended(child);
  assert.equal(err, "");
  assert.equal(code, 1);
});

test("an interrupt ends the command without a word", async () => {
  const child = start(["tokenize", LABEL]);
  setTimeout(() => child.kill("SIGINT"), 500);
  const { signal, out, err } = await ended(child);
  assert.equal(signal, "SIGINT");
  assert.equal(out + err, "");
});
