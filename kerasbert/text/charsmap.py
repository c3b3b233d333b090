"""Validation of the `precompiled_charsmap` of SentencePiece models. The engine does not check it.

The format is 4 bytes with the size of a double-array trie (darts-clone), the trie as 32-bit units, then the zero-terminated replacements.
Source: `src/normalizer.cc` and `third_party/darts_clone/darts.h` of https://github.com/google/sentencepiece.
"""

import numpy as np

from kerasbert.errors import KerasBertError

_VALUE = np.uint32(1 << 31)  # flag of a unit that holds the offset of a replacement, not a node
_LEAF, _LONG_OFFSET = np.uint32(1 << 8), np.uint32(1 << 9)


def check_charsmap(charsmap: bytes) -> None:
    """Check that no text can lead out of the trie or the replacements of a map.

    Args:
        charsmap: The map. An empty one is valid.

    Raises:
        KerasBertError: When the map is damaged.
    """
    if not charsmap:
        return
    size = int.from_bytes(charsmap[:4], "little")
    if len(charsmap) < 8 or not 0 < size <= len(charsmap) - 4 or size % 4:
        raise _damage_error(f"{len(charsmap):,} bytes with a trie of {size:,}")
    units = np.frombuffer(charsmap, "<u4", size // 4, 4).astype(np.uint32)
    replacements = charsmap[4 + size :]
    try:
        replacements.decode("utf-8")
    except UnicodeDecodeError:
        raise _damage_error("replacements that are not UTF-8") from None
    nodes = np.flatnonzero((units & _VALUE) == 0)
    if len(nodes) == 0 or nodes[0] != 0:
        raise _damage_error("a trie without a root")
    node_units = units[nodes]
    shift = np.where(node_units & _LONG_OFFSET, np.uint64(8), np.uint64(0))
    children = nodes.astype(np.uint64) ^ ((node_units >> np.uint32(10)).astype(np.uint64) << shift)
    if int(children.max() | 255) >= len(units):
        raise _damage_error("a trie that leads behind its end")
    offsets = units[children[(node_units & _LEAF) != 0]] & ~_VALUE
    content = np.frombuffer(replacements + b"\0", np.uint8)
    # A byte 10xxxxxx continues a UTF-8 character, so no replacement may start there.
    if len(offsets) and (int(offsets.max()) >= len(content) or ((content[offsets] & 0xC0) == 0x80).any()):
        raise _damage_error("a trie that leads behind its replacements")


def _damage_error(received: str) -> KerasBertError:
    return KerasBertError(
        f"expected a precompiled_charsmap as SentencePiece writes it, received {received}; the model is damaged"
    )
