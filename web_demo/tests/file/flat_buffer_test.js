import assert from "node:assert/strict";
import { test } from "node:test";

import { DamagedError, FlatBuffer } from "../../core/file/flat_buffer.js";

const VTABLE = [12, 20, 4, 0, 8, 12]; // with the slots 4, 8 and 10

/** A table with a number at slot 4, a vector of numbers at slot 8, and at slot 10 an offset to what is no table. */
function bytes(size = 48) {
  const content = Buffer.alloc(size);
  content.writeInt32LE(20, 0); // the root
  VTABLE.forEach((value, slot) => content.writeInt16LE(value, 4 + 2 * slot));
  // The way back to the vtable, the fields, and the vector.
  [20 - 4, -7, 8, 4, 2, 11, 12].forEach((value, number) => content.writeInt32LE(value, 20 + 4 * number));
  return content;
}

const root = (content = bytes()) => new FlatBuffer(content).root;
const assertDamaged = (part, action) => {
  assert.throws(action, (error) => error instanceof DamagedError && error.message.includes(part));
};

test("fields are read by their slot, and missing ones have defaults", () => {
  const table = root();
  assert.equal(table.int32(4), -7);
  assert.equal(table.uint32(4), 0xfffffff9);
  assert.equal(table.int32(6), 0);
  assert.equal(table.int32(40), 0);
  assert.deepEqual(table.int32s(8), [11, 12]);
  assert.deepEqual(table.int32s(6), []);
  assert.equal(table.vector(6, 4), null);
  assert.equal(table.text(6), "");
  assert.equal(table.tables(6).size, 0);
  assert.equal(table.table(6), null);
});

test("places outside of the file are refused", () => {
  const buffer = new FlatBuffer(bytes());
  for (const place of [-1, 48, 2 ** 32, Infinity, NaN]) assertDamaged("outside the file", () => buffer.inside(place));
  assert.equal(buffer.inside(47), 47);
  for (const place of [-1, 45, 48, 2 ** 31 - 1]) assertDamaged("outside the file", () => buffer.int32(place));
  assertDamaged("outside the file", () => buffer.byte(48));
  assertDamaged("past the end", () => buffer.text(40, 9));
  assertDamaged("past the end", () => buffer.text(40, -1));
  const content = bytes();
  content.writeInt32LE(-4, 0);
  assertDamaged("an offset to byte 4294967292", () => root(content));
});

test("a vector that is longer than the file is refused", () => {
  const content = bytes();
  for (const count of [3, 1 << 20, 2 ** 31 - 1, -1]) {
    content.writeInt32LE(count, 36);
    assertDamaged("past the end", () => root(content).int32s(8));
  }
  content.writeInt32LE(2, 36);
  assertDamaged("entry 2 of 2", () => root(content).tables(8).at(2));
  assertDamaged("entry -1 of 2", () => root(content).tables(8).at(-1));
  content.writeInt32LE(1 << 30, 40);
  assertDamaged("an offset to byte 1073741864", () => root(content).tables(8).at(0));
});

test("a long name is refused before it is read", () => {
  const content = bytes(1 << 18);
  content.writeInt32LE((1 << 16) + 1, 36);
  assertDamaged("a name of 65537 bytes", () => root(content).text(8));
});
