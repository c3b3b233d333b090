"""The rows and the hand-picked candidates of the measurement of `kerasbert fit`."""

import gzip
from types import SimpleNamespace

import pytest

from benchmarks.accuracy import budget

TABLES = {
    "named": "sentence\tlabel\nuneasy\t0\ngood\t1\n",
    "plain": "uneasy\t0\ngood\t1\n",
}
SENTENCES = "-DOCSTART- -X- O O\n\nEU NNP I-NP I-ORG\nrejects VBZ I-VP O\n\nGood JJ I-NP O\n"


def _write(path, text):
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write(text)
    return path


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_the_same_rows_with_and_without_a_header(tmp_path, name):
    header, rows = budget._rows(_write(tmp_path / "a.tsv.gz", TABLES[name]), "classification")
    assert (header, rows) == (["text\tlabel"], ["uneasy\t0", "good\t1"])


def test_sentences_stay_whole_and_documents_marks_are_left_out(tmp_path):
    header, rows = budget._rows(_write(tmp_path / "a.gz", SENTENCES), "tagging")
    assert (header, rows) == ([], ["EU NNP I-NP I-ORG\nrejects VBZ I-VP O", "Good JJ I-NP O"])


def test_the_parts_share_no_row(tmp_path):
    train = _write(tmp_path / "train.gz", "".join(f"text {number}\t{number % 2}\n" for number in range(40)))
    test = _write(tmp_path / "test.gz", "text 40\t0\n")
    arguments = SimpleNamespace(rows=20, dev_rows=10, seed=1)
    parts = budget._parts(train, test, "classification", tmp_path / "out", arguments)
    read = {name: path.read_text().splitlines() for name, path in parts.items()}
    assert {name: len(rows) for name, rows in read.items()} == {"train": 21, "dev": 11, "test": 2}
    assert not set(read["train"][1:]) & set(read["dev"][1:])
    assert {rows[0] for rows in read.values()} == {"text\tlabel"}


def test_twenty_are_picked_by_hand():
    assert len(set(budget.BY_HAND)) == 20
