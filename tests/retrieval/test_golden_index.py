"""The golden indexes in android_demo/testdata, which the clients are compared with, are read, searched and written by this checkout."""

import base64
import json
import sys

import numpy as np
import pytest

from benchmarks.common.record import ROOT
from benchmarks.parity import export_index
from kerasbert.retrieval.index_file import read_index, write_index
from kerasbert.retrieval.projection import project
from kerasbert.retrieval.rows import Rows, checksum
from kerasbert.retrieval.stored_vectors import StoredVectors

CASES = json.loads((ROOT / "android_demo" / "testdata" / "index.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_a_golden_index(case, tmp_path):
    path = tmp_path / "a.kbindex"
    path.write_bytes(content := base64.b64decode(case["file"]))
    info, projection, rows = read_index(path)
    write_index(path, info, projection, rows)
    assert path.read_bytes() == content
    for query, expected in zip(case["queries"], case["found"], strict=True):
        wanted = StoredVectors.of(project(np.array([query], np.float32), projection))
        found = rows.vectors.search(wanted, 5)
        assert [row for row, _ in found] == [row for row, *_ in expected]
        np.testing.assert_allclose([score for _, score in found], [score for _, score, *_ in expected], atol=1e-7)
        shown = [[rows.text(row), rows.names[rows.documents[row]], rows.starts[row]] for row, _ in found]
        assert shown == [rest for _, _, *rest in expected]
    text, vector = case["added"]
    added = StoredVectors.of(project(np.array([vector], np.float32), projection), info.form)
    new = Rows.of(added, [text], [0], [0], [str(len(rows.names))], [checksum(text)])
    write_index(path, info, projection, Rows.all_of([rows, new]))
    assert path.read_bytes() == base64.b64decode(case["file_after"])


def test_the_script_writes_such_cases(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["export_index", "--out", str(tmp_path / "index.json")])
    export_index.main()
    made = json.loads((tmp_path / "index.json").read_text("utf-8"))
    assert [case.keys() for case in made] == [case.keys() for case in CASES]
    assert [case["queries"] for case in made] == [case["queries"] for case in CASES]
