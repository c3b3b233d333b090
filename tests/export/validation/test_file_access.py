"""A file under validation is read, verified and decoded once, whatever looks at it."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from kerasbert.export import validate
from kerasbert.export.runtime.interpreters import find_runtime
from kerasbert.export.tflite import graph_reader, metadata


@pytest.fixture
def accesses(monkeypatch):
    """Counts reads of files, verifications, decodes and interpreters, from here on."""
    counts = Counter()

    def count(owner, attribute, name):
        original = getattr(owner, attribute)

        def counting(*args, **kwargs):
            counts[name] += 1
            return original(*args, **kwargs)

        monkeypatch.setattr(owner, attribute, counting)

    count(Path, "read_bytes", "reads")
    count(graph_reader, "verify", "verifications")
    count(graph_reader._Reader, "graphs", "decodes")
    count(metadata, "parse_metadata", "metadata")
    count(find_runtime().interpreter, "__init__", "interpreters")
    return counts


@pytest.fixture
def archive(float_file, helpers, tmp_path):
    rows = helpers.packed_rows(30)
    path = tmp_path / "reference.npz"
    np.savez(path, **rows, **helpers.run_rows(float_file, rows))
    return path


@pytest.fixture
def file_with_metadata(float_file, card, tmp_path):
    path = tmp_path / "model.tflite"
    path.write_bytes(metadata.append(float_file, card))
    return path


# XNNPACK, the reference kernels, and XNNPACK on several threads.
ONCE = {"reads": 1, "verifications": 1, "decodes": 1, "interpreters": 3}


def test_a_file_without_metadata_is_opened_once(float_file, archive, accesses):
    assert validate(float_file, against=archive, on=["cpu"]).ok
    assert accesses == ONCE


def test_a_file_with_metadata_is_opened_once(file_with_metadata, archive, accesses):
    assert validate(file_with_metadata, against=archive, on=["cpu"]).ok
    assert accesses == {**ONCE, "metadata": 1}


def test_a_resizable_file_is_opened_once(resizable_file, archive, accesses):
    assert validate(resizable_file, against=archive, on=["cpu"]).ok
    assert accesses == ONCE


def test_a_reference_file_is_read_once_here_and_runs_in_its_own_process(
    float_file, file_with_metadata, helpers, accesses
):
    assert validate(file_with_metadata, against=float_file, data=helpers.packed_rows(30), on=["cpu"]).ok
    assert accesses == {"reads": 2, "verifications": 2, "decodes": 2, "metadata": 1, "interpreters": 3}
