import assert from "node:assert/strict";
import { test } from "node:test";

import { TaskType } from "../../core/file/task_type.js";
import { Example } from "../../core/tasks/example.js";
import { readExample } from "../../node/example_lines.js";
import { assertRefused } from "../assert_refused.js";

const { SINGLE_LABEL, EMBEDDING, REGRESSION, TAGGING, MASKED_LM, QUESTION_ANSWERING, MULTIPLE_CHOICE } = TaskType;
const read = (type, line) => readExample(type, line, 3);
const PAIR = '{"text": "a", "pair": "b"}';

test("lines are texts", () => {
  const objects = ['{"text": "a"}', '{"text": 1, "pair": "b"}', '{"text": "a", "pair": "b", "id": 1}'];
  const lines = ["a text", ' { "text": 1 }', "{not JSON", ...objects];
  for (const type of [SINGLE_LABEL, EMBEDDING, TAGGING, MASKED_LM]) {
    for (const line of lines) assert.deepEqual(read(type, line), new Example.Single(line));
  }
  assert.deepEqual(read(TAGGING, PAIR), new Example.Single(PAIR));
});

test("lines may be pairs, questions and prompts", () => {
  assert.deepEqual(read(REGRESSION, PAIR), new Example.Pair("a", "b"));
  assert.deepEqual(read(QUESTION_ANSWERING, '{"id": 7, "question": "q", "context": "c"}'), new Example.Question("q", "c"));
  for (const key of ["prompt", "question"]) {
    assert.deepEqual(read(MULTIPLE_CHOICE, `{"${key}": "p", "choices": ["a", "b"]}`), new Example.Prompt("p", ["a", "b"]));
  }
});

test("other lines are refused by their number", () => {
  for (const line of ["a question?", "[1]", '"a"', '{"question": ', "null"]) {
    const message = `row 3: expected {"question": ..., "context": ...} on a line, received ${line}`;
    assertRefused(message, () => read(QUESTION_ANSWERING, line));
  }
  assertRefused("row 3: expected a context that is a text, received null", () => read(QUESTION_ANSWERING, '{"question": "q"}'));
  assertRefused("row 3: expected a list of choices", () => read(MULTIPLE_CHOICE, '{"prompt": "p", "choices": []}'));
  assertRefused("row 3: expected a list of choices", () => read(MULTIPLE_CHOICE, '{"prompt": "p", "choices": [1]}'));
});
