import assert from "node:assert/strict";
import { test } from "node:test";

import { modelPath, run } from "./command_line.js";

test("a file's own description, its vocabulary and its ports", async () => {
  const { code, out, err } = await run(["inspect", modelPath("answer")]);
  assert.equal(err, "");
  assert.equal(code, 0);
  const record = JSON.parse(out);
  assert.equal(record.problem, "question_answering");
  assert.equal(record.settings.longest_answer, 6);
  assert.equal(record.sequence_length, 24);
  assert.equal(record.vocabulary.tokens, 45);
  assert.match(record.vocabulary.sha256, /^[0-9a-f]{64}$/);
  assert.equal(record.bytes, 26231);
  assert.deepEqual(record.signatures[0].inputs.input_ids, { type: "int32", shape: [1, 24] });
  assert.deepEqual(Object.keys(record.signatures[0].outputs).sort(), ["end_logits", "start_logits"]);
});
