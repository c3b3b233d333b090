"""The compiled normalization of characters in SentencePiece models, checked before an engine that trusts it reads it.

The format: 4 bytes with the size of a double-array trie (darts-clone), the trie as 32-bit units, then the replacements, each with a zero
byte behind it. Source: `src/normalizer.cc` and `third_party/darts_clone/darts.h` of https://github.com/google/sentencepiece.
"""

import numpy as np

from kerasbert.errors import KerasBertError

_VALUE = np.uint32(1 << 31)  # a unit that holds the place of a replacement, not a node
_LEAF, _LONG_OFFSET = np.uint32(1 << 8), np.uint32(1 << 9)


def check_charsmap(charsmap: bytes) -> None:
    """Raises KerasBertError for a map in which a text could lead behind the trie or the replacements; an empty one is fine."""
    if not charsmap:
        return
    size = int.from_bytes(charsmap[:4], "little")
    if len(charsmap) < 8 or not 0 < size <= len(charsmap) - 4 or size % 4:
        raise _damaged(f"{len(charsmap):,} bytes with a trie of {size:,}")
    units = np.frombuffer(charsmap, "<u4", size // 4, 4).astype(np.uint32)
    replacements = charsmap[4 + size :]
    try:
        replacements.decode("utf-8")
    except UnicodeDecodeError:
        raise _damaged("replacements that are not UTF-8") from None
    nodes = np.flatnonzero((units & _VALUE) == 0)
    if len(nodes) == 0 or nodes[0] != 0:
        raise _damaged("a trie without a root")
    found = units[nodes]
    shift = np.where(found & _LONG_OFFSET, np.uint64(8), np.uint64(0))
    children = nodes.astype(np.uint64) ^ ((found >> np.uint32(10)).astype(np.uint64) << shift)
    if int(children.max() | 255) >= len(units):
        raise _damaged("a trie that leads behind its end")
    places = units[children[(found & _LEAF) != 0]] & ~_VALUE
    starts = np.frombuffer(replacements + b"\0", np.uint8)
    if len(places) and (int(places.max()) >= len(starts) or ((starts[places] & 0xC0) == 0x80).any()):
        raise _damaged("a trie that leads behind its replacements")


def _damaged(received: str) -> KerasBertError:
    return KerasBertError(
        f"expected a precompiled_charsmap as SentencePiece writes it, received {received}; the model is damaged"
    )
