import assert from "node:assert/strict";
import { test } from "node:test";

import { Int8Vector, VectorIndex } from "../../core/search/vector_index.js";
import { assertRefused } from "../assert_refused.js";
import { randomVectors } from "./random_vectors.js";

const dot = (one, other) => one.reduce((sum, value, place) => sum + value * other[place], 0);

function cosine(one, other) {
  const [first, second] = [Float64Array.from(one), Float64Array.from(other)];
  return dot(first, second) / Math.sqrt(dot(first, first) * dot(second, second));
}

function indexOf(dimensions, vectors) {
  const index = new VectorIndex(dimensions);
  for (const vector of vectors) index.add(Float32Array.from(vector));
  return index;
}

const at = (angle) => [Math.cos(angle), Math.sin(angle)];
const indices = (hits) => hits.map(({ index }) => index);

test("a vector is stored as whole numbers with one scale", () => {
  const stored = Int8Vector.of(Float32Array.of(3, -4, 0, 2));
  assert.deepEqual([...stored.values], [95, -127, 0, 64]); // 3 / 4 * 127 = 95.25, 2 / 4 * 127 = 63.5, half to even
  assert.equal(stored.scale, Math.fround(4 / 127 / Math.sqrt(29)));
  const halves = Int8Vector.of(Float32Array.of(254, 1, 3, 5, -1, -3, -5)); // the step is 2
  assert.deepEqual([...halves.values], [127, 0, 2, 2, 0, -2, -2]);
});

test("the best are those of exact cosines, within the error of 8 bits", () => {
  const draw = randomVectors(1, 64);
  const vectors = Array.from({ length: 500 }, draw);
  const index = indexOf(64, vectors);
  for (let round = 0; round < 50; round++) {
    const query = draw();
    const hits = index.search(query, 10);
    assert.equal(hits.length, 10);
    assert.deepEqual([...hits].sort((one, other) => other.score - one.score), hits);
    for (const hit of hits) assert.ok(Math.abs(cosine(query, vectors[hit.index]) - hit.score) < 0.01);
    const cosines = vectors.map((vector) => cosine(query, vector));
    const exact = [...vectors.keys()].sort((one, other) => cosines[other] - cosines[one]);
    assert.ok(exact.slice(0, 3).includes(hits[0].index));
    assert.ok(hits.filter((hit) => exact.slice(0, 10).includes(hit.index)).length >= 8);
  }
});

test("the length of a vector does not matter", () => {
  const draw = randomVectors(2, 8);
  const [query, vector] = [draw(), draw()];
  const index = indexOf(8, [vector, vector.map((value) => value * 1e30), vector.map((value) => value * 1e-30)]);
  const hits = index.search(query.map((value) => value * 100), 5);
  assert.deepEqual(indices(hits), [0, 1, 2]);
  for (const { score } of hits) assert.ok(Math.abs(cosine(query, vector) - score) < 0.02);
});

test("equal vectors are found in their order", () => {
  const index = indexOf(2, Array.from({ length: 40 }, (_, number) => [1, number === 30 ? 0 : 1]));
  assert.deepEqual(indices(index.search(Float32Array.of(1, 0), 4)), [30, 0, 1, 2]);
});

test("vectors are removed", () => {
  const index = indexOf(2, Array.from({ length: 10 }, (_, angle) => at(angle / 10)));
  for (const number of [0, 8, 3]) index.removeAt(number);
  assert.equal(index.size, 7);
  // 1 2 3 5 6 7 8 are left; 5 is the nearest to 4.4, and 3 comes after it.
  assert.deepEqual(indices(index.search(Float32Array.from(at(0.44)), 2)), [3, 2]);
  for (let left = 7; left > 0; left--) index.removeAt(0);
  assert.deepEqual(index.search(Float32Array.of(1, 0), 3), []);
  assertRefused("to remove", () => index.removeAt(0));
});

test("zero vectors have the cosine 0", () => {
  const index = indexOf(3, [[0, 0, 0]]);
  assert.deepEqual(index.search(Float32Array.of(1, 2, 3), 1), [{ index: 0, score: 0 }]);
  assert.equal(index.search(new Float32Array(3), 1)[0].score, 0);
});

test("what does not fit is refused", () => {
  const index = new VectorIndex(3);
  assertRefused("3 dimensions, received 2", () => index.add(new Float32Array(2)));
  assertRefused("3 dimensions, received 4", () => index.search(new Float32Array(4), 1));
  assertRefused("finite numbers, received NaN", () => index.add(Float32Array.of(1, NaN, 0)));
  assertRefused("finite numbers, received Infinity", () => index.add(Float32Array.of(1, Infinity, 0)));
  assertRefused("at least 1 result", () => index.search(new Float32Array(3), 0));
  assertRefused("1 to 16384 dimensions", () => new VectorIndex(0));
  assertRefused("1 to 16384 dimensions", () => new VectorIndex(16_385));
  const large = new VectorIndex(16_384);
  assertRefused("at most 131070 vectors", () => large.reserve(131_071));
});

test("a vector takes a byte a dimension", () => {
  const draw = randomVectors(3, 384);
  const index = indexOf(384, Array.from({ length: 1000 }, draw));
  assert.ok(index.bytes >= 388_000 && index.bytes <= (388_000 * 3) / 2, `${index.bytes} bytes`);
});
