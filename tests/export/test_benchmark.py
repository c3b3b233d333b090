import json

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.export import benchmark


def test_measures_and_compares(resizable_file, int8_file):
    found = benchmark(resizable_file, lengths=[8], threads=(1,), runs=5, warmup=1, against=int8_file)
    ours, theirs = found.measurements
    assert (ours.model, theirs.model, ours.length, ours.threads) == ("resizable.tflite", "int8.tflite", 8, 1)
    assert ours.latency.runs == 5 and 0 < ours.latency.p50 <= ours.latency.p90
    assert ours.load_seconds > 0 and ours.partitions == 1
    assert 0 < ours.model_bytes < ours.peak_bytes
    (comparison,) = found.comparisons
    assert comparison.ratio == pytest.approx(comparison.against_latency.p50 / comparison.latency.p50)
    assert json.loads(json.dumps(found.as_dict()))["machine"]["cpu"]
    assert "resizable.tflite" in found.table() and "ratio" in found.table()


def test_errors_come_back_from_the_child(float_file, tmp_path):
    with pytest.raises(KerasBertError, match="length 8.*Received: 16"):
        benchmark(float_file, lengths=[16], runs=1)
    with pytest.raises(KerasBertError, match="not there"):
        benchmark(tmp_path / "none.tflite", runs=1)


def test_counts_are_checked(float_file):
    with pytest.raises(KerasBertError, match="runs=0"):
        benchmark(float_file, runs=0)
    with pytest.raises(KerasBertError, match="threads"):
        benchmark(float_file, threads=())
