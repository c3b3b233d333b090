// Written by benchmarks/parity/demo_tables.py: change the tables of Python, and run it again.
package kerasbert.core.text

/** The name of a special token by its role, where the settings have none. */
internal val SPECIAL_NAMES = mapOf(
    "unk_token" to "[UNK]", "cls_token" to "[CLS]", "sep_token" to "[SEP]", "pad_token" to "[PAD]", "mask_token" to "[MASK]",
)

/** Names of special tokens that MediaPipe Tasks and the Task Library know alone. */
internal val CLIENT_NAMES = mapOf(
    "unk_token" to "[UNK]", "cls_token" to "[CLS]", "sep_token" to "[SEP]",
)

/** Code points of the white space of these clients. */
internal val CLIENT_SPACES = setOf(
    9, 10, 12, 13, 32,
)

/** Characters for which Python's `str.isspace` holds. */
internal val SPACES = setOf(
    '\u0009', '\u000a', '\u000b', '\u000c', '\u000d', '\u001c', '\u001d', '\u001e', '\u001f', '\u0020', '\u0085', '\u00a0', '\u1680',
    '\u2000', '\u2001', '\u2002', '\u2003', '\u2004', '\u2005', '\u2006', '\u2007', '\u2008', '\u2009', '\u200a', '\u2028', '\u2029',
    '\u202f', '\u205f', '\u3000',
)
