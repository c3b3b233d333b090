"""Requests with marked slots as words and tags."""

import json
import sys

import pytest

from benchmarks.zoo import request_rows


def test_words_of_a_slot_have_its_tags():
    text = "add clem burke to Pre-Party!"
    slots = [{"label": "playlist", "start": 18, "end": 27}, {"label": "artist", "start": 4, "end": 14}]
    words, tags, whole = request_rows.tagged(text, slots)
    assert words == ["add", "clem", "burke", "to", "Pre", "-", "Party", "!"]
    assert tags == ["O", "B-artist", "I-artist", "O", "B-playlist", "I-playlist", "I-playlist", "O"] and whole


def test_a_slot_inside_a_word_takes_the_whole_word():
    words, tags, whole = request_rows.tagged("at 5pm", [{"label": "time", "start": 3, "end": 4}])
    assert (words, tags, whole) == (["at", "5pm"], ["O", "B-time"], False)


@pytest.mark.parametrize(("kind", "keys"), [("slots", {"words", "tags"}), ("both", {"words", "intent", "slots"})])
def test_equal_texts_are_in_one_part(kind, keys, tmp_path, monkeypatch, capsys):
    rows = [{"text": f"wake me at {number % 50}", "intent": "alarm", "slots": []} for number in range(100)]
    source = tmp_path / "source.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setattr(
        sys, "argv", ["rows", str(source), "--kind", kind, "--dev", "0.3", "--out", str(tmp_path / "out")]
    )
    request_rows.main()
    parts = [
        [json.loads(line) for line in (tmp_path / "out" / f"{name}.jsonl").read_text().splitlines()]
        for name in ("train", "dev")
    ]
    assert len(parts[0]) + len(parts[1]) == 100 and all(set(row) == keys for part in parts for row in part)
    words = [{tuple(row["words"]) for row in part} for part in parts]
    assert words[0].isdisjoint(words[1]) and words[1]
    assert "100 rows" not in capsys.readouterr().out
