"""Splitting off a dev set from the training data."""

from collections import Counter

import pytest

from kerasbert.data.plain_text import read_text
from kerasbert.data.splitting import parse_fraction, split
from kerasbert.data.squad import SquadTable
from kerasbert.errors import KerasBertError
from kerasbert.processors import read_for


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "a.tsv"
    rows = [f"text {n}\t{'rare' if n % 10 == 0 else 'common'}" for n in range(100)]
    path.write_text("text\tlabel\n" + "\n".join([*rows, "text 100\tonce"]) + "\n")
    return read_for("single_label", path)


def test_stratified_split_keeps_label_fractions_and_all_rows(table):
    train, dev = split(table, 0.2, seed=1, stratify=True)
    assert Counter(dev.labels) == {"common": 18, "rare": 2} and len(train) == 81
    assert sorted(train.texts + dev.texts) == sorted(table.texts)
    for part in (train, dev):
        assert [int(text.split()[1]) + 2 for text in part.texts] == part.lines


def test_a_seed_fixes_the_split(table):
    first, again, other = (split(table, 0.1, seed, stratify=True)[1].texts for seed in (1, 1, 2))
    assert first == again != other


def test_questions_about_one_context_stay_together(tmp_path):
    x = [(f"question {n}", f"context {n // 4}") for n in range(40)]
    y = [{"text": [], "answer_start": []}] * 40
    train, dev = split(SquadTable(tmp_path, x, y, tuple(map(str, range(40)))), 0.2, seed=0)
    contexts = [{context for _, context in part.x} for part in (train, dev)]
    assert not contexts[0] & contexts[1] and len(dev) == 8 and dev.ids == tuple(q.split()[1] for q, _ in dev.x)


def test_documents_start_at_their_first_selected_text(tmp_path):
    (tmp_path / "a.txt").write_text("a\nb\n\nc\nd\n\ne\nf\n")
    for part in split(read_text(tmp_path / "a.txt"), 0.5, seed=3):
        documents = ["".join(document) for document in part.documents()]
        assert documents and all(document in "ab cd ef" for document in documents)


def test_fractions(table):
    assert [parse_fraction(text) for text in ("0.1", ".25", "dev.tsv", "1", "0", "2.5")] == [
        0.1,
        0.25,
        None,
        None,
        None,
        None,
    ]
    with pytest.raises(KerasBertError, match="a.tsv: expected enough rows to split off 0.001 of them, received 101"):
        split(table, 0.001, seed=0)
