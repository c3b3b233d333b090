"""Equal examples are counted, and stay together in a split."""

import pytest

from kerasbert.data import find_duplicates, read_table
from kerasbert.data.dataset import Dataset
from kerasbert.data.splitting import split
from kerasbert.data.squad import SquadTable


@pytest.fixture
def write(tmp_path):
    def write(name, rows):
        (tmp_path / name).write_text("text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in rows))
        return read_table(tmp_path / name)

    return write


def test_duplicates_are_counted(write):
    # 120 rows: "again" 43 times, of which one has another label; "twice" twice; 75 others.
    rows = (
        [("again", "a")] * 42
        + [("again", "b"), ("twice", "a"), (" twice  ", "a")]
        + [(f"text {n}", "b") for n in range(75)]
    )
    train, dev = write("train.tsv", rows), write("dev.tsv", [(f"text {n}", "b") for n in range(70, 82)])
    found = find_duplicates(train, dev)
    assert (found.repeated, found.contradicting, found.shared) == (42 + 1, ((2, 44),), 5)
    assert found.describe(train, dev) == [
        "train.tsv: 43 of 120 rows repeat an earlier one",
        "train.tsv: 1 repeated example has different labels, such as those of lines 2 and 44",
        "dev.tsv: 5 of 12 rows are in train.tsv too; scores on them are higher than on new texts",
    ]
    assert find_duplicates(dev).describe(dev) == [] and find_duplicates(dev).shared is None


def test_pairs_are_equal_if_both_texts_are(tmp_path):
    (tmp_path / "a.tsv").write_text("sentence1\tsentence2\tlabel\na\tb\t1\na\tc\t1\nb\ta\t1\na\tb\t0\n")
    found = find_duplicates(read_table(tmp_path / "a.tsv"))
    assert (found.repeated, found.contradicting) == (1, ((2, 5),))


def test_label_sets_in_another_order_are_equal(write):
    assert not find_duplicates(write("a.tsv", [("x", '["a", "b"]'), ("x", '["b", "a"]')])).contradicting


def test_examples_of_every_kind_are_compared(tmp_path):
    words = Dataset(tmp_path / "a.conll", [["a", "b"], ["a", "b"], ["a b"]], [["O", "O"], ["O", "B-X"], ["O"]])
    assert find_duplicates(words).repeated == 1 and find_duplicates(words).contradicting == ((0, 1),)
    answers = {"text": ["x"], "answer_start": [0]}
    squad = SquadTable(
        tmp_path / "a.json", [("q", "c"), ("q", "c")], [answers, {"text": [], "answer_start": []}], ("1", "2")
    )
    assert find_duplicates(squad).repeated == 1 and not find_duplicates(squad).contradicting
    choices = Dataset(tmp_path / "a.jsonl", [("p", ("x", "y")), ("p", ("x", "z")), ("p", ("x", "y"))], [0, 1, 0])
    assert find_duplicates(choices).repeated == 1


@pytest.mark.parametrize("stratify", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_a_split_keeps_equal_texts_together(write, seed, stratify):
    rows = [(f"text {n % 60}", "ab"[n % 2]) for n in range(120)] + [("again", "a")] * 43
    train, dev = split(write("a.tsv", rows), 0.2, seed, stratify=stratify)
    assert not set(train.texts) & set(dev.texts)
    assert len(train) + len(dev) == 163 and 20 <= len(dev) <= 40
    assert "again" in train.texts  # more of them than the dev set has rows


def test_a_split_without_equal_texts_is_that_of_rows(write):
    """The rows that a seed selects have not changed: drawn once by NumPy's generator, label by label."""
    table = write("a.tsv", [(f"text {n}", "ab"[n % 2]) for n in range(20)])
    _, dev = split(table, 0.25, 3, stratify=True)
    assert dev.texts == ["text 7", "text 9", "text 14", "text 15", "text 18"]
