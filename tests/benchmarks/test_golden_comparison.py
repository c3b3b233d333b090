"""The comparison of tokenizers with golden vectors finds what differs, and compares the committed vectors in JavaScript."""

import json
import shutil
import sys

import pytest

from benchmarks.common.record import ROOT
from benchmarks.parity import golden_comparison
from benchmarks.parity.golden_comparison import join_answers, sum_mismatches

GOLDEN = ROOT / "android_demo" / "testdata" / "golden"
ROWS = {"tokens": 3, "pairs": 1, "windows": 1, "words": 1}


def answer(**changes):
    return {"rows": ROWS, "tokens": 7, "mismatches": {}, "examples": [], **changes}


def test_answers_are_joined_by_tokenizer():
    clients = {"kotlin": {"a": answer()}, "javascript": {"a": answer(mismatches={"ids": 2, "offsets": 1})}}
    joined = join_answers(clients, {"a": {"strings": 3}})
    assert joined["a"]["mismatches"] == {"kotlin": {}, "javascript": {"ids": 2, "offsets": 1}}
    assert (joined["a"]["rows"], joined["a"]["tokens"], joined["a"]["witness"]) == (ROWS, 7, {"strings": 3})
    assert [sum_mismatches(answers) for answers in clients.values()] == [0, 3]


@pytest.mark.parametrize("changes", [{"tokens": 8}, {"rows": {**ROWS, "words": 0}}])
def test_clients_that_compared_something_else_are_found(changes):
    with pytest.raises(SystemExit, match="expected the same rows and tokens of a in all clients"):
        join_answers({"kotlin": {"a": answer()}, "javascript": {"a": answer(**changes)}}, {})


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
@pytest.mark.long
def test_javascript_equals_the_committed_vectors(tmp_path, monkeypatch, capsys):
    path = tmp_path / "result.json"
    words = ["golden_comparison", str(GOLDEN), "--clients", "javascript", "--json", str(path)]
    monkeypatch.setattr(sys, "argv", words)
    golden_comparison.main()
    assert "mismatches: {'javascript': 0}" in capsys.readouterr().out
    compared = json.loads(path.read_text("utf-8"))["tokenizers"]
    assert len(compared) >= 7
    assert all(facts["rows"]["tokens"] >= 600 and facts["tokens"] > 6000 for facts in compared.values())
