// Written by benchmarks/parity/demo_tables.py: change the tables of Python, and run it again.

/** The prefix of IOBES that a prefix is read as. */
export const LIKE = new Map([
  ["B", "B"], ["I", "I"], ["E", "E"], ["S", "S"], ["L", "E"], ["U", "S"], ["M", "I"], ["W", "S"],
]);

/** Tags that are a prefix alone. */
export const BARE = new Set([
  "B", "I", "E", "S", "M", "W",
]);

/** Further tags of words outside of entities, and of no words. */
export const OTHER_OUTSIDE = new Set([
  "-", "0", "<PAD>", "<pad>", "NIL", "NONE", "NULL", "None", "OUT", "PAD", "X", "[CLS]", "[PAD]", "[SEP]", "_", "none", "o",
]);

/** Prefixes of words that share the token of a tag: of the first, of those between, of the last. */
export const EXPANDED = new Map([
  ["B", "BII"], ["I", "III"], ["E", "IIE"], ["S", "BIE"], ["L", "IIL"], ["U", "BIL"], ["M", "III"], ["W", "BIE"],
]);
