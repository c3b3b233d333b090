"""Detection of header rows."""

import pytest

from kerasbert.data.headers import is_header
from kerasbert.data.tables import read_table
from kerasbert.errors import KerasBertError

TEXTS = [f"a longer line of news, number {n}" for n in range(12)]


def test_unknown_names_above_numbers_texts_and_classes_are_a_header():
    body = [[str(n), text, ("biz", "sport", "world")[n % 3]] for n, text in enumerate(TEXTS)]
    assert is_header(["id", "headline", "kind"], body, set())
    assert is_header(["headline", "kind"], [row[1:] for row in body], set())
    assert is_header(["id", "headline"], [row[:2] for row in body], set())
    assert not is_header(body[0], body[1:], set())
    assert not is_header(["great film", "biz"], [row[1:] for row in body], set())  # a value that returns below
    assert not is_header(["17", "headline"], body, set())
    assert not is_header(["headline"], [[text] for text in TEXTS], set())
    assert is_header(["headline"], [], {"headline"}) and is_header(["Text"], [], set())


def test_few_rows_are_no_evidence_for_a_header():
    assert not is_header(["good", "pos"], [["bad", "neg"], ["awful", "neg"]], set())


def test_errors_list_the_detected_columns(tmp_path):
    path = tmp_path / "news.csv"
    path.write_text("id,headline,kind\n" + "".join(f"{n},{text[:12]},biz\n" for n, text in enumerate(TEXTS)))
    expected = (
        r"news.csv: expected a column of texts, received the columns id, headline, kind "
        r"\(header on line 1, split at ','\); name one with `text=`"
    )
    with pytest.raises(KerasBertError, match=expected):
        read_table(path)
    with pytest.raises(KerasBertError, match="did you mean 'headline'"):
        read_table(path, text="Headlines")
    table = read_table(path, text="1", label="2")
    assert (len(table), table.texts[0], table.lines[:2], table.columns[1]) == (12, TEXTS[0][:12], [2, 3], "headline")
