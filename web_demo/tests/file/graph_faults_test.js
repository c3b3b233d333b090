import assert from "node:assert/strict";
import { test } from "node:test";

import { DamagedError } from "../../core/file/flat_buffer.js";
import { GraphFaults } from "../../core/file/graph_faults.js";
import { OperatorRules } from "../../core/file/operator_rules.js";

const ADD = 0;
const FULLY_CONNECTED = 9;
const CUSTOM = 32;

function tensor(storedShape, { type = "float32", shape = storedShape, bytes = 0, quantization = null, isVariable = false } = {}) {
  return { type, shape, storedShape, bytes, quantization, isVariable, isSparse: false };
}

const call = (code, inputs, ...outputs) => ({ code, inputs, outputs });
const check = (tensors, operators, inputs, outputs) => new GraphFaults({ tensors, operators, inputs, outputs }).check();
const FOUR = tensor([1, 4]);
const SUM = [call(ADD, [0, 1], 2)];

/** Checks a graph that adds a constant to its input. */
const checkSum = (constant = tensor([1, 4], { bytes: 16 }), calls = SUM) => check([FOUR, constant, FOUR], calls, [0], [2]);

function assertFault(part, ...parts) {
  assert.throws(() => checkSum(...parts), (error) => error instanceof DamagedError && error.message.includes(part));
}

test("a sound graph passes", () => {
  checkSum();
  check([tensor([1, 8], { shape: [1, -1] }), tensor([1, 8])], [call(CUSTOM, [0], 1)], [0], [1]);
  check([tensor([1], { isVariable: true }), tensor([1])], [call(CUSTOM, [0, -1], 1)], [], [1]);
});

test("tensors whose sizes contradict each other", () => {
  assertFault("tensor 1 with 17 bytes for float32[1, 4], 16 bytes", tensor([1, 4], { bytes: 17 }));
  assertFault("the shapes [1, 4] and [1, 5]", tensor([1, 4], { shape: [1, 5], bytes: 16 }));
  assertFault("the shape [65536, 65536]", tensor([65536, 65536]));
  assertFault("the shape", tensor(Array(8).fill(2 ** 31 - 1)));
  assertFault("9 axes", tensor(Array(9).fill(1)));
  assertFault("the unknown type type_99", tensor([1], { type: "type_99" }));
});

test("tensors with wrong scales and zero points", () => {
  const quantized = (scales, zeroPoints, zeros, { isSound = true, axis = 0 } = {}) =>
    tensor([4, 2], { type: "int8", bytes: 8, quantization: { scales, axis, zeroPoints, zeros, isSound } });
  assertFault("a zero point outside -128..127", quantized(1, 1, [0, 128]));
  assertFault("a scale that is negative", quantized(1, 1, [0, 0], { isSound: false }));
  assertFault("4 scales and 1 zero points", quantized(4, 1, [0, 0]));
  assertFault("4 scales along axis 1", quantized(4, 4, [0, 0], { axis: 1 }));
  assertFault("4 scales along axis -1", quantized(4, 4, [0, 0], { axis: -1 }));
  checkSum(quantized(4, 4, [-128, 127]));
});

test("operators with a wrong number or kind of inputs", () => {
  assertFault("an operator ADD of 3 inputs", undefined, [call(ADD, [0, 1, 1], 2)]);
  assertFault("of texts", tensor([1, 4], { type: "string", bytes: 9 }));
});

test("tensors that are read too early, or written twice", () => {
  assertFault("reads tensor 2 before it is written", undefined, [call(ADD, [0, 2], 2)]);
  assertFault("writes tensor 2, which has values", undefined, [...SUM, ...SUM]);
  assertFault("writes tensor 1, which has values", undefined, [call(ADD, [0, 0], 1)]);
  assertFault("writes tensor 0, which has values", undefined, [call(ADD, [0, 0], 0)]);
  assertFault("an output, tensor 2, that nothing writes", undefined, []);
  assert.throws(() => check([tensor([1], { bytes: 4 })], [], [0], []), /a constant, tensor 0, as an input/);
});

test("inputs that an operator needs", () => {
  assert.equal(OperatorRules.missing(ADD, [0, 1], []), "an output");
  assert.equal(OperatorRules.missing(ADD, [0, 1], [-1]), "an output");
  assert.equal(OperatorRules.missing(ADD, [0, -1], [2]), "an input");
  assert.equal(OperatorRules.missing(ADD, [], [2]), "an input");
  assert.equal(OperatorRules.missing(FULLY_CONNECTED, [0, 1, -1], [2]), null);
  assert.equal(OperatorRules.missing(FULLY_CONNECTED, [0, -1, 1], [2]), "an input");
  assert.equal(OperatorRules.missing(FULLY_CONNECTED, [0], [2]), "a second input");
  assert.equal(OperatorRules.missing(CUSTOM, [], []), null);
  assert.equal(OperatorRules.wrongCount(FULLY_CONNECTED, 1), "an operator FULLY_CONNECTED of 1 inputs");
  assert.equal(OperatorRules.wrongCount(FULLY_CONNECTED, 3), null);
  assert.equal(OperatorRules.wrongCount(CUSTOM, 99), null);
});
