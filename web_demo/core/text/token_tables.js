// Written by benchmarks/parity/demo_tables.py: change the tables of Python, and run it again.

/** The name of a special token by its role, where the settings have none. */
export const SPECIAL_NAMES = new Map([
  ["unk_token", "[UNK]"], ["cls_token", "[CLS]"], ["sep_token", "[SEP]"], ["pad_token", "[PAD]"], ["mask_token", "[MASK]"],
]);

/** Names of special tokens that MediaPipe Tasks and the Task Library know alone. */
export const CLIENT_NAMES = new Map([
  ["unk_token", "[UNK]"], ["cls_token", "[CLS]"], ["sep_token", "[SEP]"],
]);

/** Code points of the white space of these clients. */
export const CLIENT_SPACES = new Set([
  9, 10, 12, 13, 32,
]);

/** Characters for which Python's `str.isspace` holds. */
export const SPACES = new Set([
  "\u0009", "\u000a", "\u000b", "\u000c", "\u000d", "\u001c", "\u001d", "\u001e", "\u001f", "\u0020", "\u0085", "\u00a0", "\u1680",
  "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a", "\u2028", "\u2029",
  "\u202f", "\u205f", "\u3000",
]);
