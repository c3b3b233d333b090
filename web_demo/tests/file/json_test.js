import assert from "node:assert/strict";
import { test } from "node:test";

import { Decimal } from "../../core/file/decimals.js";
import { Json } from "../../core/file/json.js";
import { assertRefused } from "../assert_refused.js";
import { randomNumbers } from "../text/random_numbers.js";

const parse = (text) => Json.parse(text, "a text");
const double = (value) => Json.write(new Decimal(value));
const float = (value) => Json.write(Float32Array.of(value)).slice(1, -1);

test("values of every kind are read", () => {
  const value = parse('\uFEFF { "a" : [1, -2.5e1, true, false, null, "x"], "b": {}, "c": [] } ');
  assert.deepEqual(value, { a: [1, -25, true, false, null, "x"], b: {}, c: [] });
  assert.equal(parse('"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00"'), '"\\/\b\f\n\r\té\u{1F600}');
  assert.deepEqual(parse('{"a": 1, "a": 2}'), { a: 2 });
});

test("a name of an object's own code is a name like others", () => {
  assert.deepEqual(Object.keys(parse('{"__proto__": {"polluted": 1}}')), ["__proto__"]);
  assert.equal({}.polluted, undefined);
});

test("what is no JSON is refused", () => {
  const texts = ["", "  ", "{", "[1,]", "[1 2]", "{a: 1}", "01", "1.", ".5", "NaN", "Infinity", "'a'", '"a', '"\\x"', '"\u0001"', "1 2"];
  for (const text of texts) {
    assertRefused("a text: expected JSON, received", () => parse(text));
  }
  assertRefused("half of a surrogate pair (\\ud800)", () => parse('"\\ud800"'));
  assertRefused("half of a surrogate pair (\\udc00)", () => parse('["\\udc00\\ud800"]'));
  assertRefused("half of a surrogate pair", () => parse('{"\\ud800": 1}'));
});

test("nesting and the number of values are bounded", () => {
  parse("[".repeat(100) + "]".repeat(100));
  assertRefused("nested more than 100 levels", () => parse("[".repeat(102) + "]".repeat(102)));
  assertRefused("expected JSON", () => parse('{"a":'.repeat(100_000)));
  assertRefused("nested more than 100 levels", () => parse(`${'{"a":'.repeat(1000)}1${"}".repeat(1000)}`));
  assertRefused("more than 262144 values", () => parse(`[${"[],".repeat(300_000)}1]`));
});

test("values are written as Python writes them", () => {
  const value = {
    text: 'a"b\\c\n\t\u0001é\u{1F600}', none: null, flag: true, count: 3, long: 2 ** 40, fraction: 0.1, double: new Decimal(3),
    floats: Float32Array.of(1, -0.25, 0.1), doubles: Float64Array.of(2, 0.1), ints: Int32Array.of(1, 2), list: ["a", [new Decimal(1)]],
    map: new Map([["2", 1], ["1", 2], ["__proto__", 3]]),
  };
  assert.equal(
    Json.write(value),
    '{"text": "a\\"b\\\\c\\n\\t\\u0001é\u{1F600}", "none": null, "flag": true, "count": 3, "long": 1099511627776, "fraction": 0.1, ' +
      '"double": 3.0, "floats": [1.0, -0.25, 0.1], "doubles": [2.0, 0.1], "ints": [1, 2], "list": ["a", [1.0]], ' +
      '"map": {"2": 1, "1": 2, "__proto__": 3}}',
  );
  assert.equal(JSON.stringify({ score: new Decimal(1.5) }), '{"score":1.5}');
  assert.throws(() => Json.write({ a: undefined }), TypeError);
});

test("characters that control a terminal, and lone surrogates, are escaped", () => {
  const text = "\u001b\u007f\u009b\u202e\u2028\ufeff\ud800 \udc00";
  assert.equal(Json.write(text), '"\\u001b\\u007f\\u009b\\u202e\\u2028\\ufeff\\ud800 \\udc00"');
  assert.equal(Json.write("\u{1F600}\ude00\ud83d\ud83d\ude00"), '"\u{1F600}\\ude00\\ud83d\u{1F600}"');
});

test("numbers that are not finite become null", () => {
  assert.equal(Json.write([new Decimal(NaN), Infinity, Float32Array.of(-Infinity)]), "[null, null, [null]]");
});

test("doubles have the digits of Python's repr", () => {
  // The pairs are literals and what Python 3.11 prints for them.
  for (const [value, expected] of [
    [0, "0.0"], [-0, "-0.0"], [1, "1.0"], [100, "100.0"], [1e15, "1000000000000000.0"], [1e16, "1e+16"],
    [123456789012345678, "1.2345678901234568e+17"], [0.0001, "0.0001"], [0.00001, "1e-05"], [1.5e-5, "1.5e-05"], [1e100, "1e+100"],
    [5e-324, "5e-324"], [2.5e-323, "2.5e-323"], [2.2250738585072014e-308, "2.2250738585072014e-308"],
    [1.7976931348623157e308, "1.7976931348623157e+308"], [0.1 + 0.2, "0.30000000000000004"], [2 / 3, "0.6666666666666666"],
    [2 ** -44, "5.684341886080802e-14"], [9007199254740992, "9007199254740992.0"], [2e-3, "0.002"],
    [0.98736244440078735, "0.9873624444007874"], [-1234.5, "-1234.5"], [4.35, "4.35"], [1.1370766372920116e-7, "1.1370766372920116e-07"],
  ]) {
    assert.equal(double(value), expected);
  }
});

test("floats have the digits of NumPy's str of float32", () => {
  for (const [value, expected] of [
    [0.1, "0.1"], [16777216, "16777216.0"], [1e-45, "1e-45"], [3.4028235e38, "3.4028235e+38"], [1.17549435e-38, "1.1754944e-38"],
    [0.33333334, "0.33333334"], [7.006492e-45, "7e-45"], [1e10, "10000000000.0"], [9.999999e-5, "9.999999e-05"], [-0, "-0.0"],
    [2 ** -96, "1.2621775e-29"], [2 ** 90, "1.2379401e+27"], [2 ** -44, "5.684342e-14"],
  ]) {
    assert.equal(float(value), expected);
  }
});

test("numbers are read back as they were", () => {
  const draw = randomNumbers(5);
  const view = new DataView(new ArrayBuffer(8));
  for (let number = 0; number < 20_000; number++) {
    view.setUint32(0, draw());
    view.setUint32(4, draw());
    const [wide, narrow] = [view.getFloat64(0), view.getFloat32(4)];
    if (Number.isFinite(wide)) assert.equal(Number(double(wide)), wide);
    if (Number.isFinite(narrow)) assert.equal(Math.fround(Number(float(narrow))), narrow);
  }
});
