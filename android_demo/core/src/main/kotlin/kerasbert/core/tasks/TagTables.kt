// Written by benchmarks/parity/demo_tables.py: change the tables of Python, and run it again.
package kerasbert.core.tasks

/** The prefix of IOBES that a prefix is read as. */
internal val LIKE = mapOf(
    'B' to 'B', 'I' to 'I', 'E' to 'E', 'S' to 'S', 'L' to 'E', 'U' to 'S', 'M' to 'I', 'W' to 'S',
)

/** Tags that are a prefix alone. */
internal val BARE = setOf(
    "B", "I", "E", "S", "M", "W",
)

/** Further tags of words outside of entities, and of no words. */
internal val OTHER_OUTSIDE = setOf(
    "-", "0", "<PAD>", "<pad>", "NIL", "NONE", "NULL", "None", "OUT", "PAD", "X", "[CLS]", "[PAD]", "[SEP]", "_", "none", "o",
)

/** Prefixes of words that share the token of a tag: of the first, of those between, of the last. */
internal val EXPANDED = mapOf(
    'B' to "BII", 'I' to "III", 'E' to "IIE", 'S' to "BIE", 'L' to "IIL", 'U' to "BIL", 'M' to "III", 'W' to "BIE",
)
