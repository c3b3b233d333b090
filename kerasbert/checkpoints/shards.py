"""Checkpoints in several files: an index names for each tensor the file beside it that holds it."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from kerasbert.checkpoints.messages import counted, mismatch, shown
from kerasbert.files.json_text import read_json_object

_LONGEST_NAME = 255  # bytes, of a file on the common file systems
MAX_INDEX_BYTES = 100_000_000


def read_shards(index: Path, ending: str, read_file: Callable[[Path], dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Every tensor of the files that `index` names. ending: of their names, such as ".safetensors".

    Raises KerasBertError for a damaged index, a file that lies elsewhere or is missing, and a tensor missing or held twice.
    """
    shard_of = _weight_map(index, ending)
    tensors: dict[str, np.ndarray] = {}
    for shard in sorted(set(shard_of.values())):
        if not (index.parent / shard).is_file():
            raise mismatch(index, f"the shard {shown(shard)} beside it", "no such file", "download it too")
        held = read_file(index.parent / shard)
        absent = [name for name, file in shard_of.items() if file == shard and name not in held]
        if absent:
            received = f"a shard without it ({counted(absent, 'such tensor')})"
            raise mismatch(index, f"{shown(absent[0])} in {shown(shard)}", received)
        for name, tensor in held.items():
            # A tensor that the index does not name is taken from where it is.
            if shard_of.setdefault(name, shard) != shard:
                raise mismatch(index, f"{shown(name)} in {shown(shard_of[name])} only", f"one in {shown(shard)} too")
            tensors[name] = tensor
    return tensors


def _weight_map(index: Path, ending: str) -> dict[str, str]:
    expected = "a JSON object with a weight_map"
    shard_of = read_json_object(index, expected=expected, max_bytes=MAX_INDEX_BYTES).get("weight_map")
    if not isinstance(shard_of, dict) or not shard_of:
        raise mismatch(index, f"{expected} that names tensors", shown(shard_of))
    # A shard lies beside its index: nothing in its name that a path could be made of. A symbolic link is fine, the hub's
    # cache consists of them.
    plain = re.compile(r"[^/\\:\x00-\x1f]+" + re.escape(ending))
    for shard in shard_of.values():
        fits = isinstance(shard, str) and len(shard.encode()) <= _LONGEST_NAME
        if not fits or ".." in shard or not plain.fullmatch(shard):
            raise mismatch(index, f"shards as plain {ending} file names in the same folder", shown(shard))
    return shard_of
