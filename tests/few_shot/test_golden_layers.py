"""The golden layers in android_demo/testdata, which the clients are compared with, are those of this checkout."""

import json
import sys

import numpy as np

from benchmarks.common.record import ROOT
from benchmarks.parity import export_layers


def test_golden_layers_are_those_of_this_checkout(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["export_layers", "--out", str(tmp_path / "layers.json")])
    export_layers.main()
    made, kept = (
        json.loads(path.read_text("utf-8"))
        for path in (tmp_path / "layers.json", ROOT / "android_demo" / "testdata" / "layers.json")
    )
    assert len(made) == len(kept) == len(export_layers.CASES)
    for one, other in zip(made, kept, strict=True):
        np.testing.assert_allclose(one.pop("probabilities"), other.pop("probabilities"), atol=2e-6)
        assert one == other
