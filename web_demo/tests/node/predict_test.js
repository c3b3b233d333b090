import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { NEEDS_LITERT } from "../engine/litert_or_skip.js";
import { modelPath, run } from "./command_line.js";

const DEMO = fileURLToPath(new URL("../../", import.meta.url));

const lines = (out) => out.trimEnd().split("\n").map((line) => JSON.parse(line));

test("each line has its prediction, and nothing else is printed", NEEDS_LITERT, async () => {
  const input = 'the film was good\n{"text": "a dull book", "pair": "we saw it"}\n';
  const { code, out, err } = await run(["predict", modelPath("label")], input);
  assert.equal(err, "");
  assert.equal(code, 0);
  const [text, pair] = lines(out);
  assert.deepEqual(Object.keys(text), ["text", "label", "score", "probabilities"]);
  assert.deepEqual(Object.keys(text.probabilities), ["negative", "positive", "neither"]);
  assert.equal(pair.pair, "we saw it");
});

test("questions with their texts", NEEDS_LITERT, async () => {
  const question = { question: "where is it ?", context: "the film is in the \u{1F600} street" };
  const { code, out } = await run(["predict", modelPath("answer")], JSON.stringify(question));
  assert.equal(code, 0);
  const [record] = lines(out);
  assert.equal(record.question, question.question);
  assert.equal(record.answer, [...question.context].slice(record.start, record.end).join(""));
});

test("texts that are too long are told", NEEDS_LITERT, async () => {
  const { code, err } = await run(["predict", modelPath("label")], `good\n${"film ".repeat(50)}`);
  assert.equal(code, 0);
  assert.equal(err, "note: 1 of 2 texts are too long for 16 tokens and were truncated\n");
});

test("wrong input ends with one line and code 2, before LiteRT.js is loaded", async () => {
  const options = { env: { ...process.env, KERASBERT_LITERTJS: "/none" } };
  const wrong = await run(["predict", modelPath("answer")], "a question?", options);
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /^error: row 0: expected \{"question": \.\.\., "context": \.\.\.\} on a line, received a question\?; [^\n]+\n$/);
  const missing = await run(["predict", modelPath("label")], "good", options);
  assert.equal(missing.code, 2);
  assert.match(missing.err, /^error: expected a folder node_modules with @litertjs\/core in \$KERASBERT_LITERTJS, [^\n]+\n$/);
});

test("without LiteRT.js and npm, one line says what to do, and nothing is left", async () => {
  const copy = mkdtempSync(join(tmpdir(), "kerasbert-demo-"));
  try {
    cpSync(DEMO, copy, { recursive: true, filter: (path) => !/node_modules|tests/.test(path.slice(DEMO.length)) });
    const options = { env: { HOME: copy, PATH: copy }, script: join(copy, "run.mjs") };
    const { code, out, err } = await run(["predict", modelPath("label")], "good", options);
    assert.equal(code, 2);
    assert.equal(out, "");
    assert.match(err, /^note: installing [^\n]+\nerror: expected npm to install [^\n]+, received no npm on the PATH; [^\n]+\n$/);
    assert.deepEqual(readdirSync(join(copy, "node_modules")), []);
  } finally {
    rmSync(copy, { recursive: true });
  }
});
