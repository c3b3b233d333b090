import assert from "node:assert/strict";
import { test } from "node:test";

import { Json } from "../../core/file/json.js";
import { TaskType } from "../../core/file/task_type.js";
import { Example } from "../../core/tasks/example.js";
import { FewShotClassification } from "../../core/tasks/few_shot_classification.js";
import { taskOf } from "../../core/tasks/task_of.js";
import { assertRefused, assertRejected } from "../assert_refused.js";
import { FakeEngine, idsOf, metadataOf, modelOf } from "../model/fake_model.js";

const LAYER = "AACAPwAAAAAAAAA/AAAAAAAAAEAAAAAA"; // the kernel (1, 0), (0, 2) with the biases 0.5 and 0
const NAN_LAYER = "AACAPwAAAAAAAMB/AAAAAAAAAEAAAAAA";

function model(settings = {}, labels = ["x", "y"], width = 2) {
  const all = { width: 2, layer: LAYER, method: "logistic", prompt: "", fallback: "", fallback_below: 0, ...settings };
  const engine = new FakeEngine(() => ({ embedding: Float32Array.of(3, 4) }));
  return modelOf(metadataOf(TaskType.FEW_SHOT, { labels, settings: all }), engine, width);
}

test("the layer classifies the vector of length 1", async () => {
  const opened = await model();
  const task = taskOf(opened);
  assert.ok(task instanceof FewShotClassification);
  const prediction = await task.predict(new Example.Single("a b"));
  assert.equal(prediction.label, "y");
  assert.ok(Math.abs(prediction.score - 0.6224593312018546) < 1e-7);
  assert.ok(Math.abs(prediction.classes[0].probability - 0.3775406687981454) < 1e-7);
  assert.ok(Json.write(prediction.record()).startsWith('{"text": "a b", "label": "y", "score": 0.62245'));
});

test("a text that belongs to no class has the label of these", async () => {
  const task = new FewShotClassification(await model({ fallback: "oos", fallback_below: 0.63 }));
  const prediction = await task.classify("a");
  assert.equal(prediction.label, "oos");
  assert.equal(prediction.score, Math.max(...prediction.classes.map(({ probability }) => probability)));
  assert.equal((await new FewShotClassification(await model({ fallback: "oos", fallback_below: 0.62 })).classify("a")).label, "y");
});

test("the prompt stands before the text", async () => {
  const opened = await model({ prompt: "a " });
  await new FewShotClassification(opened).classify("b");
  const row = opened.tokenizer.encode("a b", null, opened.length).ids;
  assert.deepEqual([...row], idsOf("[CLS] a b [SEP]"));
  const prediction = await new FewShotClassification(opened).classify("b");
  assert.equal(prediction.record().get?.("text") ?? Json.parse(Json.write(prediction.record()), "record").text, "b");
});

test("layers, labels and thresholds that do not fit are refused", async () => {
  const refused = async (message, ...changes) => {
    const opened = await model(...changes);
    assertRefused(message, () => new FewShotClassification(opened));
  };
  await refused("the layer of 2 classes and vectors of 2 numbers in base64 in fake.tflite, received 0 bytes", { layer: "" });
  await refused("in base64 in fake.tflite, received another text", { layer: "%%" });
  await refused("a layer of finite numbers", { layer: NAN_LAYER });
  await refused("the layer of 3 classes", {}, ["x", "y", "z"]);
  await refused("two labels or more", {}, null);
  await refused("a fallback of another name than the labels", { fallback: "x", fallback_below: 0.5 });
  await refused("fallback_below from 0 to 1, with a fallback", { fallback_below: 0.5 });
  await refused("fallback_below from 0 to 1, with a fallback", { fallback: "oos", fallback_below: 2 });
  await assertRejected("vectors of 2 numbers", () => model({}, ["x", "y"], 3));
});

test("a pair is refused", async () => {
  const task = new FewShotClassification(await model());
  await assertRejected("expected a text, received", () => task.predict(new Example.Pair("a", "b")));
});
