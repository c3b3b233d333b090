"""The data sets of the zoo's task files beside a peer: a stand-in for PyTorch answers, and the scores are those of its answers."""

import gzip
import json
import stat
import sys

import pytest

from benchmarks.zoo import task_peers

PEER = """
import json, sys
given = json.loads(sys.stdin.readline())
classes = []
for row in given["test"]:  # knows the class by the first word; unsure of other words
    first = lambda each: (each.get("words") or each["text"].split())[0]
    known = [each["class"] for each in given["train"] if first(each) == first(row)] if given["classes"] else []
    classes.append([0.9 if number in known else 0.1 / given["classes"] for number in range(given["classes"])])
tags = [[each["tags"] for each in given["train"]][0][:len(row["words"]) - 1] for row in given["test"]] if given["tags"] else []
versions = {"torch": "0", "transformers": "0"}
print(json.dumps({"classes": classes, "tags": tags, "seconds": 1.0, "versions": versions}))
"""


@pytest.fixture
def peer(tmp_path):
    script, run = tmp_path / "peer.py", tmp_path / "python"
    script.write_text(PEER)
    run.write_text(f"#!/bin/sh\nexec {sys.executable} {script}\n")
    run.chmod(run.stat().st_mode | stat.S_IXUSR)
    return run


def _write(path, lines):
    path.parent.mkdir(exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def _request(text, slot):
    return json.dumps(
        {
            "text": text,
            "intent": text.split()[0],
            "slots": [{"label": "place", "start": text.index(slot), "end": len(text)}],
        }
    )


def _measure(monkeypatch, tmp_path, peer, *words):
    out = tmp_path / "out.json"
    monkeypatch.setattr(
        sys, "argv", ["task_peers", "encoder", *map(str, words), "--peer-python", str(peer), "--json", str(out)]
    )
    task_peers.main()
    return json.loads(out.read_text())["data"]


def test_texts_out_of_scope_have_the_threshold_of_the_dev_part(monkeypatch, tmp_path, peer):
    rows = ["text\tintent", "play a song\tmusic", "wake me\talarm"]
    outside = ["what is love\toos", "who are you\toos"]
    for part, lines in {
        "train": rows,
        "dev": [*rows, *outside],
        "test": [*rows, "snow today\tmusic", *outside],
    }.items():
        _write(tmp_path / f"clinc/{part}.tsv.gz", lines)
    found = _measure(monkeypatch, tmp_path, peer, "--clinc150", tmp_path / "clinc")["clinc150"]
    assert found["in-scope accuracy"] == pytest.approx(2 / 3) and found["out-of-scope recall"] == 1.0


def test_intents_and_slots_are_scored_and_what_is_there_is_kept(monkeypatch, tmp_path, peer):
    for part in ("train", "test"):
        _write(
            tmp_path / f"hwu/{part}.jsonl.gz", [_request("go to new york", "new york"), _request("eat in rome", "rome")]
        )
    given = ("--hwu64", tmp_path / "hwu")
    found = _measure(monkeypatch, tmp_path, peer, *given)["hwu64"]
    assert found["intent accuracy"] == 1.0
    assert found["slots entity F1"] == pytest.approx(0.0), "the peer's tags lack the last word: no span is whole"
    peer.unlink()
    assert _measure(monkeypatch, tmp_path, peer, *given)["hwu64"] == found


def test_a_peer_without_an_answer_ends_the_run(monkeypatch, tmp_path, peer):
    peer.write_text("#!/bin/sh\necho no torch here >&2\nexit 1\n")
    _write(tmp_path / "b/train.tsv.gz", ["text\tcategory", "a\tx", "b\ty"])
    _write(tmp_path / "b/test.tsv.gz", ["text\tcategory", "a\tx", "b\ty"])
    with pytest.raises(SystemExit, match="no torch here"):
        _measure(monkeypatch, tmp_path, peer, "--banking77", tmp_path / "b")
