import assert from "node:assert/strict";
import { test } from "node:test";

import { DamagedError, FlatBuffer } from "../../core/file/flat_buffer.js";
import { ModelVerifier } from "../../core/file/model_verifier.js";

/** A model of some subgraphs that are one table, whose operators are one table as well. */
function shared(subgraphs, operators) {
  const bytes = Buffer.alloc(64 + 4 * (subgraphs + operators));
  const shorts = (place, ...values) => values.forEach((value, number) => bytes.writeInt16LE(value, place + 2 * number));
  shorts(8, 10, 8, 0, 0, 4); // the vtable of the model, with the slot 8: subgraphs
  shorts(20, 12, 8, 0, 0, 0, 4); // of a subgraph, with the slot 10: operators
  shorts(32, 4, 4); // of an operator without fields
  bytes.writeInt32LE(36, 0);
  table(bytes, 36, 8);
  const subgraph = vector(bytes, 44, subgraphs);
  table(bytes, subgraph, 20);
  const operator = vector(bytes, subgraph + 8, operators);
  bytes.writeInt32LE(operator - 32, operator);
  return new FlatBuffer(bytes);
}

/** Writes a table with an offset to what follows it. */
function table(bytes, place, vtable) {
  bytes.writeInt32LE(place - vtable, place);
  bytes.writeInt32LE(4, place + 4);
}

/** Writes a vector whose entries are all the table behind it, and returns the place of that. */
function vector(bytes, place, count) {
  const end = place + 4 + 4 * count;
  bytes.writeInt32LE(count, place);
  for (let at = place + 4; at < end; at += 4) bytes.writeInt32LE(end - at, at);
  return end;
}

test("a table may be named twice", () => new ModelVerifier(shared(2, 2)).verify());

test("tables that are named millions of times are refused at once", { timeout: 5000 }, () => {
  const verify = () => new ModelVerifier(shared(100_000, 100_000)).verify();
  assert.throws(verify, (error) => error instanceof DamagedError && error.message.includes("more tables than fit"));
});
