/** Layers from examples are those of Python, on golden vectors of `benchmarks.parity.export_layers`. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { TaughtLayer } from "../../core/search/taught_layer.js";

const CASES = JSON.parse(readFileSync(new URL("../../../android_demo/testdata/layers.json", import.meta.url), "utf8"));
const TOLERANCE = 1e-5;

/** A vector of norm 1 in float32, as a sentence encoder returns it. */
function unit(vector) {
  const values = Float32Array.from(vector);
  const norm = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
  return Float32Array.from(values, (value) => value / norm);
}

for (const { vectors, classes, count, method, accuracy, probabilities } of CASES) {
  test(`${vectors.length} examples of ${count} classes`, () => {
    const units = vectors.map(unit);
    const layer = TaughtLayer.fit(units, classes, count);
    assert.equal(layer.method, method);
    assert.deepEqual(layer.accuracy, accuracy);
    probabilities.forEach((row, number) => {
      const found = layer.probabilities(units[number]);
      row.forEach((share, place) => assert.ok(Math.abs(found[place] - share) <= TOLERANCE, `${number}: ${found[place]}, ${share}`));
    });
  });
}

test("the cases have both methods and all numbers of folds", () => {
  assert.deepEqual([...new Set(CASES.map(({ method }) => method))].sort(), ["centre", "logistic"]);
  assert.ok(CASES.some(({ classes }) => classes.length > 1000));
});
