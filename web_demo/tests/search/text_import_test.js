import assert from "node:assert/strict";
import { test } from "node:test";

import { TextImport } from "../../core/search/text_import.js";
import { assertRefused } from "../assert_refused.js";

const read = (text, name) => TextImport.read(Buffer.from(text), name);

test("a text file has one text a line", () => {
  const imported = read('\uFEFFone\r\n\n  two, "2"  \n\u00e9\u6771\u{1F600}\nlast', "a.txt");
  assert.deepEqual(imported.columns, []);
  assert.deepEqual(imported.texts(), ["one", 'two, "2"', "\u00e9\u6771\u{1F600}", "last"]);
});

test("a table has columns, and cells in quotes", () => {
  const imported = read('id,text,"note, long"\n1,"a ""b"", c\nd",x\r\n2,plain,\n\n3,"",y\n', "a.CSV");
  assert.deepEqual(imported.columns, ["id", "text", "note, long"]);
  assert.deepEqual(imported.texts(0), ["1", "2", "3"]);
  assert.deepEqual(imported.texts(1), ['a "b", c\nd', "plain"]);
  assert.equal(imported.likeliestColumn, 1);
  assert.equal(imported.size, 3);
});

test("the delimiter is the one of the header", () => {
  assert.deepEqual(read("x;y\na;b, c", "a.csv").texts(1), ["b, c"]);
  assert.deepEqual(read("x\ty\na\tb", "a.tsv").texts(1), ["b"]);
  assert.deepEqual(read("text\na b\n", "a.csv").texts(0), ["a b"]);
});

test("rows may lack cells, and quotes may be misplaced", () => {
  const imported = read('x,y\na\nb,"c"d\ne,f"g\n', "a.csv");
  assert.deepEqual(imported.texts(0), ["a", "b", "e"]);
  assert.deepEqual(imported.texts(1), ["cd", 'f"g']);
});

test("files that hold no texts are refused", () => {
  assertRefused("expected texts in a.txt", () => read("\n \n", "a.txt"));
  assertRefused("expected texts in a.txt", () => read("", "a.txt"));
  assertRefused("expected texts in a.csv", () => read("x,y\n", "a.csv"));
  assertRefused("in the column 'y'", () => read("x,y\na,\n", "a.csv").texts(1));
  assertRefused("expected UTF-8 in a.txt", () => TextImport.read(Uint8Array.of(97, 255, 98), "a.txt"));
  assertRefused("a quote at the end of a cell, received none in a.csv, line 2", () => read('x\n"a\nb\nc', "a.csv"));
  assertRefused("received none in a.csv, line 4", () => read('x\n"a\nb"\n"c', "a.csv"));
  assertRefused("at most 200000 texts", () => read("a\n".repeat(200_001), "a.txt"));
  assertRefused("at most 64 MB", () => TextImport.read(new Uint8Array((64 << 20) + 1), "a.txt"));
});

test("a header of a million columns is read at once", { timeout: 10_000 }, () => {
  const imported = read(`${",".repeat(1_000_000)}\n${"a,bb\n".repeat(20_000)}`, "a.csv");
  assert.equal(imported.likeliestColumn, 1);
});
