"""Loads checkpoint folders with PyTorch transformers and writes what it computes; run by test_transformers.py, or by hand:

    python tests/checkpoints/transformers_peer.py FOLDER ...

Needs torch and transformers, not kerasbert. In each folder it reads `inputs.npz` and writes `outputs.npz` (logits under
transformers' names) and `loading.json` (the keys that were missing, unexpected or of another shape).
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
import transformers


def run(folder: Path) -> None:
    architecture = json.loads((folder / "config.json").read_text())["architectures"][0]
    model, loading = getattr(transformers, architecture).from_pretrained(
        folder, output_loading_info=True, attn_implementation="eager"
    )
    inputs = {name: torch.from_numpy(values).long() for name, values in np.load(folder / "inputs.npz").items()}
    with torch.no_grad():
        outputs = model.eval()(**inputs)
    arrays = {name: value.numpy() for name, value in outputs.items() if isinstance(value, torch.Tensor)}
    np.savez(folder / "outputs.npz", **arrays)
    kinds = ("missing_keys", "unexpected_keys", "mismatched_keys")
    (folder / "loading.json").write_text(json.dumps({kind: sorted(map(str, loading[kind])) for kind in kinds}))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        run(Path(name))
