"""Running text, and sentence pairs for pretraining."""

import gzip

import pytest

from kerasbert.data.plain_text import pairs_from_text, read_text, split_sentences
from kerasbert.errors import KerasBertError
from kerasbert.processors import make_processor

TEXT = "\n\nThe film was good. It was warm!\nWe saw it.\n\nA book\nwas dull.\n   \n"


@pytest.fixture
def path(tmp_path):
    (tmp_path / "a.txt").write_text(TEXT, "utf-8")
    return tmp_path / "a.txt"


def test_lines_and_their_documents(path, tiny):
    table = read_text(path)
    assert table.x == ["The film was good. It was warm!", "We saw it.", "A book", "was dull."]
    assert table.y is None and table.starts == (0, 2)
    assert table.documents() == [table.x[:2], table.x[2:]]
    assert table.describe() == "a.txt: 4 texts; 2 documents; characters p50 10, p95 28, max 31"
    assert "windows" in table.describe(make_processor("masked_lm"), tiny.tokenizer(), 6)
    assert read_text(path, max_rows=3).documents() == [table.x[:2], table.x[2:3]]


def test_paragraphs(path):
    compressed = path.with_name("a.txt.gz")
    compressed.write_bytes(gzip.compress(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode()))
    table = read_text(compressed, unit="paragraph")
    assert table.x == ["The film was good. It was warm! We saw it.", "A book was dull."]
    assert table.starts == (0, 1)


def test_files_without_text_raise(path):
    with pytest.raises(KerasBertError, match="unit"):
        read_text(path, unit="page")
    with pytest.raises(KerasBertError, match="max_rows"):
        read_text(path, max_rows=0)
    path.write_text("\n \n", "utf-8")
    with pytest.raises(KerasBertError, match="text in"):
        read_text(path)
    path.write_bytes(b"fine\n\xff\n")
    with pytest.raises(KerasBertError, match="line 2"):
        read_text(path)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('He said "No." Then he left? Yes!', ['He said "No."', "Then he left?", "Yes!"]),
        ("Pi is 3.14 and no more... (so it is.) End", ["Pi is 3.14 and no more...", "(so it is.)", "End"]),
        ("映画は良い。本は「悪い。」と言う！終", ["映画は良い。", "本は「悪い。」", "と言う！", "終"]),
        ("  ", []),
    ],
)
def test_sentences(text, found):
    assert split_sentences(text) == found


def numbered(documents=4, length=5):
    """Texts whose sentences say where they stand."""
    return [" ".join(f"D{d} s{i}." for i in range(length)) if d % 2 else "" for d in range(2 * documents)]


def places(pair):
    return [(int(sentence.split()[0][1:]), int(sentence.split()[1][1:-1])) for sentence in pair]


def test_next_sentence_pairs():
    table = pairs_from_text(numbered())
    assert len(table) == 16 and table.y.count("next") == 8
    for pair, label in zip(table.x, table.y, strict=True):
        (document, i), (other, k) = places(pair)
        assert (other == document and k == i + 1) if label == "next" else other != document
    assert table.describe().startswith("texts: 16 pairs; labels ")
    assert pairs_from_text(numbered()).x == table.x != pairs_from_text(numbered(), seed=1).x


def test_sentence_order_pairs():
    table = pairs_from_text(["A. B. C.", "D. E."], "sentence_order")
    assert len(table) == 4 and table.y.count("swapped") == 2
    straight = [pair if label == "in order" else pair[::-1] for pair, label in zip(table.x, table.y, strict=True)]
    assert straight == [("A.", "B."), ("B.", "C."), ("C.", "D."), ("D.", "E.")]


def test_pairs_do_not_cross_documents(path):
    table = pairs_from_text(read_text(path), "sentence_order")
    assert {frozenset(pair) for pair in table.x} == {
        frozenset(pair)
        for pair in [("The film was good.", "It was warm!"), ("It was warm!", "We saw it."), ("A book", "was dull.")]
    }
    assert table.path == path


def test_texts_without_pairs_raise():
    with pytest.raises(KerasBertError, match="objective"):
        pairs_from_text(["A. B."], "order")
    with pytest.raises(KerasBertError, match="follow each other"):
        pairs_from_text(["A.", "", "B."])
    with pytest.raises(KerasBertError, match="two or more documents"):
        pairs_from_text(["A. B.", "C."])
