"""Sharded checkpoints: an index file maps each tensor to the file that holds it."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from kerasbert.checkpoints.messages import mismatch, pluralize, short_repr
from kerasbert.files.json_text import read_json_object

_MAX_NAME_BYTES = 255  # of a file on the common file systems
MAX_INDEX_BYTES = 100_000_000


def read_shards(index: Path, suffix: str, read_file: Callable[[Path], dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Read every tensor of all shards.

    Args:
        index: the index file; the shards are in the same folder.
        suffix: of the shards' names, such as ".safetensors".
        read_file: reads one shard.

    Raises:
        KerasBertError: when the index is damaged, a shard is missing or in another folder, or a tensor is missing or in two shards.
    """
    shard_of = _read_weight_map(index, suffix)
    tensors: dict[str, np.ndarray] = {}
    for shard in sorted(set(shard_of.values())):
        if not (index.parent / shard).is_file():
            raise mismatch(index, f"the shard {short_repr(shard)} beside it", "no such file", "download it too")
        shard_tensors = read_file(index.parent / shard)
        absent = [name for name, file in shard_of.items() if file == shard and name not in shard_tensors]
        if absent:
            received = f"a shard without it ({pluralize(absent, 'such tensor')})"
            raise mismatch(
                index,
                f"{short_repr(absent[0])} in {short_repr(shard)}",
                received,
                "get the index and all its shards again",
            )
        for name, tensor in shard_tensors.items():
            # Tensors that the index does not list are accepted.
            if shard_of.setdefault(name, shard) != shard:
                raise mismatch(
                    index,
                    f"{short_repr(name)} in {short_repr(shard_of[name])} only",
                    f"one in {short_repr(shard)} too",
                    "get the index and all its shards again",
                )
            tensors[name] = tensor
    return tensors


def _read_weight_map(index: Path, suffix: str) -> dict[str, str]:
    expected = "a JSON object with a weight_map"
    shard_of = read_json_object(index, expected=expected, max_bytes=MAX_INDEX_BYTES).get("weight_map")
    if not isinstance(shard_of, dict) or not shard_of:
        raise mismatch(
            index, f"{expected} that names tensors", short_repr(shard_of), "the index is damaged, get it again"
        )
    # A plain name cannot lead out of the index' folder. Symbolic links are allowed: the hub's cache consists of them.
    plain_name = re.compile(r"[^/\\:\x00-\x1f]+" + re.escape(suffix))
    for shard in shard_of.values():
        short = isinstance(shard, str) and len(shard.encode()) <= _MAX_NAME_BYTES
        if not short or ".." in shard or not plain_name.fullmatch(shard):
            raise mismatch(
                index,
                f"shards as plain {suffix} file names in the same folder",
                short_repr(shard),
                "the index is damaged, get it again",
            )
    return shard_of
