"""Detection and parsing of column delimiters."""

import pytest

from kerasbert.data.delimiters import detect_delimiter, parse_delimiter
from kerasbert.errors import KerasBertError
from kerasbert.processors import read_for


@pytest.mark.parametrize(
    ("content", "delimiter"),
    [
        ("text;label\nso, bad;neg\nfine;pos\n", ";"),
        ("text,label\na; b,neg\nc; d,pos\n", ","),
        ("id;body;mark\n1;so, good;2,5\n2;bad, and dull;3,5\n", ";"),
        ('id;body\n1;"one; two"\n2;three\n', ";"),
        ("text\tlabel\na, b\t1\n", "\t"),
        ("body|kind\na, b|x\nc|y\n", "|"),
        ("text\none, two\nthree\n", ","),
        ('text;label\n"an open quote;1\nb;2\n', ";"),
        ("", ","),
    ],
)
def test_detect_delimiter(content, delimiter):
    assert detect_delimiter(content.splitlines(keepends=True)) == delimiter


def test_semicolons_are_detected(tmp_path):
    path = tmp_path / "reviews.csv"
    path.write_text('text;label\n"slow; dull";neg\nfine, really;pos\n', encoding="utf-8")
    table = read_for("single_label", path)
    assert (table.texts, table.labels) == (["slow; dull", "fine, really"], ["neg", "pos"])


def test_a_requested_delimiter_is_used(tmp_path):
    path = tmp_path / "a.dat"
    path.write_text("text~label\na b~1\nc d~0\n")
    assert read_for("single_label", path, delimiter="~").texts == ["a b", "c d"]
    assert read_for("masked_lm", path, delimiter="~").x == ["a b", "c d"]
    with pytest.raises(KerasBertError, match=".tsv, .csv or .jsonl"):
        read_for("single_label", path)
    path.write_text("Ann;B-PER\nsings;O\n")
    assert read_for("tagging", path, delimiter="semicolon").x == [["Ann", "sings"]]
    with pytest.raises(KerasBertError, match="no delimiter.*`delimiter=`"):
        read_for("question_answering", path, delimiter=";")


def test_parse_delimiter():
    assert [parse_delimiter(name) for name in (";", "tab", "Comma", "\\t", "pipe")] == [";", "\t", ",", "\t", "|"]
    for wrong in ("", "ab", '"', "\n", "x"):
        with pytest.raises(KerasBertError, match="delimiter of one character"):
            parse_delimiter(wrong)
