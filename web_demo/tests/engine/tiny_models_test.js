/** Each tiny model on LiteRT.js predicts what Python predicted, field by field. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Json } from "../../core/file/json.js";
import { ModelFile } from "../../core/file/model_file.js";
import { TextModel } from "../../core/model/text_model.js";
import { taskOf } from "../../core/tasks/task_of.js";
import { readExample } from "../../node/example_lines.js";
import { tinyModel, tinyPredictions } from "../tiny_models.js";
import { litert, NEEDS_LITERT } from "./litert_or_skip.js";

const TOLERANCE = 1e-5;
const INPUTS = [["question", "context"], ["prompt", "choices"], ["text", "pair"]]; // of examples of several texts
const PREDICTIONS = tinyPredictions();

/** The line of the standard input that asks for a record. */
function lineOf(record) {
  const keys = INPUTS.find((each) => each.every((key) => key in record));
  return keys ? Json.write(Object.fromEntries(keys.map((key) => [key, record[key]]))) : record.text;
}

function assertSame(received, expected, where) {
  if (typeof expected === "number") {
    assert.ok(Math.abs(received - expected) <= TOLERANCE, `${where}: ${received}, ${expected}`);
  } else if (expected !== null && typeof expected === "object") {
    assert.deepEqual(Object.keys(received), Object.keys(expected), where);
    for (const key of Object.keys(expected)) assertSame(received[key], expected[key], `${where}.${key}`);
  } else {
    assert.equal(received, expected, where);
  }
}

for (const [name, records] of Object.entries(PREDICTIONS)) {
  test(`predictions of ${name}`, NEEDS_LITERT, async () => {
    const content = tinyModel(name);
    const file = ModelFile.of(content, name);
    const task = taskOf(await TextModel.open(file, async () => (await litert()).open(content, file)));
    for (const [number, record] of records.entries()) {
      const prediction = await task.predict(readExample(file.metadata.type, lineOf(record), number));
      assertSame(JSON.parse(Json.write(prediction.record())), record, `${name}, row ${number}`);
      assert.ok(prediction.isFinite);
    }
    await task.close();
  });
}

test("long and empty texts are among the rows", () => {
  assert.equal(Object.keys(PREDICTIONS).length, 11);
  const answers = PREDICTIONS["answer.tflite"];
  assert.ok(answers[1].context.length > 150);
  assert.equal(answers[2].context, "");
});
