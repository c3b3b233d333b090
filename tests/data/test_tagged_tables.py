"""Words with tags from CSV files."""

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.processors import read_for

SENTENCES = ([["Ann", "sings"], ["all"]], [["B-PER", "O"], ["O"]])


@pytest.mark.parametrize(
    "content",
    [
        'tokens,ner_tags\n"[""Ann"", ""sings""]","[""B-PER"", ""O""]"\n"[""all""]","[""O""]"\n',
        "tokens,tags\n\"['Ann', 'sings']\",\"['B-PER', 'O']\"\n['all'],['O']\n",
        "text;labels\nAnn sings;B-PER O\nall;O\n",
        "Sentence #,Word,POS,Tag\nSentence: 1,Ann,NNP,B-PER\n,sings,VB,O\nSentence: 2,all,DT,O\n",
        "sentence_id,token,label\n1,Ann,B-PER\n1,sings,O\n2,all,O\n",
    ],
)
def test_rows_of_lists_and_rows_of_words(tmp_path, content):
    path = tmp_path / "a.csv"
    path.write_text(content)
    table = read_for("tagging", path)
    assert (table.x, [list(tags) for tags in table.y], table.scheme) == (*SENTENCES, "iob2")
    assert table.lines == ([2, 4] if "oken,label" in content or "Word" in content else [2, 3])


def test_columns_of_other_names(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("utterance,slots\nAnn sings,B-PER O\n")
    assert read_for("tagging", path, text="utterance", label="slots").x == [["Ann", "sings"]]


def test_errors_list_the_accepted_forms(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,label\nAnn sings,music\n")
    with pytest.raises(KerasBertError, match="words with tags, received the columns text, label .*CoNLL columns"):
        read_for("tagging", path)
    path.write_text("tokens,tags\nAnn sings,O\n")
    with pytest.raises(KerasBertError, match="line 2: expected one tag a word, received 2 words and 1 tags"):
        read_for("tagging", path)
    path.write_text("sentence,word,tag\n1,Ann,B-PER\n1,sings,\n2,all,O\n")
    with pytest.raises(KerasBertError, match="line 3: expected one tag, received ''"):
        read_for("tagging", path)
    table = read_for("tagging", path, skip_bad_rows=True)
    assert (table.x, table.bad.count) == ([["all"]], 1)
    path.write_text("tokens,tags\n" + "[" * 300 + ",O\n")
    assert read_for("tagging", path).x == [["[" * 300]]


def test_tags_with_white_space_raise(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('tokens,tags\n"[""a"", ""b""]","[""B-X"", """"]"\n')
    with pytest.raises(KerasBertError, match="line 2: expected one tag for each word, received ''"):
        read_for("tagging", path)


def test_lists_of_numbers_are_tags_by_number(write_csv):
    assert write_csv("tokens,ner_tags\n\"['a', 'b']\",\"[0, 1]\"\n").y == [[0, 1]]
    for cell, message in (
        ("[0 1]", "line 2: expected a list of tags in JSON"),
        ("[0, -1]", "numbers from 0 on, received -1"),
    ):
        with pytest.raises(KerasBertError, match=message):
            write_csv(f"tokens,ner_tags\n\"['a', 'b']\",\"{cell}\"\n")


@pytest.fixture
def write_csv(tmp_path):
    def write(content):
        (tmp_path / "a.csv").write_text(content)
        return read_for("tagging", tmp_path / "a.csv")

    return write
