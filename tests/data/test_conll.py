"""Words with tags from files."""

import gzip
import json

import pytest

from kerasbert.console.strictness import strict
from kerasbert.data.conll import read_conll, read_tagged_lines
from kerasbert.data.conll_columns import has_columns
from kerasbert.errors import KerasBertError
from kerasbert.processors import make_processor

IOB1 = """-DOCSTART- -X- O O

Ann NNP I-NP I-PER
met VBD I-VP O
# SYM I-NP O
Bob  NNP I-NP I-PER
Eve\tNNP I-NP B-PER


-DOCSTART- -X- O O
Rome NNP I-NP I-LOC
"""
WORDS = [["Ann", "met", "#", "Bob", "Eve"], ["Rome"]]
IOB2 = [["B-PER", "O", "O", "B-PER", "B-PER"], ["B-LOC"]]
TABS = "# text = of two\n#\tO\nNew York\tB-LOC\n \tO\n\t\n\tO\n# text = two\nit\tO\n"
CONLL_U = "# id = 1\n" + "".join(
    "\t".join([number, word, "_", pos, *"______"]) + "\n"
    for number, word, pos in [
        ("1-2", "au", "_"),
        ("1", "à", "ADP"),
        ("2", "le", "DET"),
        ("2.1", "x", "X"),
        ("3", "B", "NOUN"),
    ]
)


@pytest.fixture
def write(tmp_path):
    def write(content, name="a.conll"):
        content = content.encode() if isinstance(content, str) else content
        (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return tmp_path / name

    return write


@pytest.mark.parametrize("name", ["a.txt", "a.conll.gz"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_columns_of_a_shared_task(write, name, end):
    table = read_conll(write("\ufeff" + IOB1.replace("\n", end), name))
    assert (table.x, table.y, table.scheme) == (WORDS, IOB2, "iob1")
    assert read_conll(table.path, scheme=None).y == [["I-PER", "O", "O", "I-PER", "B-PER"], ["I-LOC"]]
    assert read_conll(table.path, scheme="iobes").y[1] == ["S-LOC"]
    assert read_conll(table.path, max_rows=1).x == WORDS[:1]
    assert read_conll(table.path, tag_column=None).y is None


def test_description_of_a_file(write, tiny):
    table = read_conll(write(IOB1))
    assert table.describe() == (
        "a.conll: 2 sentences; 6 words; entities LOC: 1, PER: 3; characters p50 10, p95 16, max 17; words p50 3, p95 5, max 5"
    )
    problem = make_processor("tagging", ("O", "B-PER", "I-PER"))
    assert "windows" in table.describe(problem, tiny.tokenizer(), 5)
    told = read_conll(table.path, tag_column=1).describe()
    assert "6 words; tags NNP: 4, SYM: 1, VBD: 1;" in told
    assert "no tags" in read_conll(table.path, tag_column=None).describe()


def test_tabs(write):
    """Comments have another number of columns; words may hold spaces, be one, or be nothing at all."""
    table = read_conll(write(TABS))
    assert table.x == [["#", "New York", " "], ["", "it"]] and table.y == [["O", "B-LOC", "O"], ["O", "O"]]


def test_conll_u(write):
    table = read_conll(write(CONLL_U), word_column=1, tag_column=3)
    assert (table.x, table.y, table.scheme) == ([["à", "le", "B"]], [["ADP", "DET", "NOUN"]], None)


@pytest.mark.parametrize("columns", [{}, {"word_column": 1}, {"tag_column": 3}, {"word_column": 1, "tag_column": 3}])
def test_conll_u_needs_no_column_numbers(write, columns, capsys):
    table = read_conll(write(CONLL_U, "a.conllu"), **columns)
    assert (table.x, table.y) == ([["à", "le", "B"]], [["ADP", "DET", "NOUN"]])
    assert ("CoNLL-U is read with" in capsys.readouterr().err) is (len(columns) < 2)


def test_conll_u_without_universal_tags_is_read_with_the_others(write):
    rows = "".join(
        f"{number}\t{word}\t_\t_\t{tag}\t_\t_\t_\t_\t_\n" for number, word, tag in ((1, "a", "DT"), (2, "b", "NN"))
    )
    assert read_conll(write(rows)).y == [["DT", "NN"]]


def test_a_file_with_the_tag_before_the_word(write, capsys):
    table = read_conll(write("O\tshow\nB-ACTOR\tbrad\nI-ACTOR\tpitt\n\nO\tbye\n", "mit.bio"))
    assert table.x == [["show", "brad", "pitt"], ["bye"]] and table.y == [["O", "B-ACTOR", "I-ACTOR"], ["O"]]
    assert "column 0 holds the tags, and column 1 the words" in capsys.readouterr().err


def test_numbers_as_words_are_kept_where_they_do_not_count_words(write):
    assert read_conll(write("1 B-X\n2 O\n")).x == [["1", "2"]]
    assert read_conll(write("7 CD B-X\n9 CD O\n")).x == [["7", "9"]]


def test_a_column_with_too_many_tags_is_noted(write, capsys):
    path = write("".join(f"w{number} lemma{number}\n" for number in range(200)))
    read_conll(path)
    assert "read as tags column 1 with 200 different cells in 200 lines" in capsys.readouterr().err
    with strict(), pytest.raises(KerasBertError, match="expected a column of tags"):
        read_conll(path)


def test_tags_as_numbers(write):
    path = write(
        '{"id": 1, "tokens": ["Ann", "of", "Rome"], "ner_tags": [1, 0, 3]}\n{"tokens": [], "ner_tags": []}\n', "a.jsonl"
    )
    names = ["O", "B-PER", "I-PER", "B-LOC"]
    assert read_conll(path, labels=names).y == [["B-PER", "O", "B-LOC"], []]
    assert read_conll(path).y == [[1, 0, 3], []] and "tags 0: 1, 1: 1, 3: 1" in read_conll(path).describe()
    problem = make_processor("tagging", names)
    assert [row.tolist() for row in problem.tags.encode(read_conll(path).y, read_conll(path).x)] == [[1, 0, 3], []]
    with pytest.raises(
        KerasBertError, match="expected tags by name, received numbers from 0 to 3; name them in this order"
    ):
        type(problem).label_names(read_conll(path).y)
    with pytest.raises(KerasBertError, match="line 1: expected tags as numbers from 0 to 2, received 3"):
        read_conll(path, labels=names[:3])


def test_keys_of_json_lines_can_be_named(write, capsys):
    path = write('{"tokens": ["a"], "upos": ["DET"], "ner_tags": ["O"], "tags": ["X"]}\n', "a.jsonl")
    assert read_conll(path, tag_column="upos").y == [["DET"]]
    assert read_conll(path).y == [["X"]]
    assert "the tags are those of 'tags'; 'ner_tags' is not used" in capsys.readouterr().err
    for settings, told in (({"tag_column": "xpos"}, "expected tags, as xpos"), ({"tag_column": 2}, "expected a key")):
        with pytest.raises(KerasBertError, match=told):
            read_conll(path, **settings)
    with pytest.raises(KerasBertError, match="expected a column number"):
        read_conll(write("a O\n"), tag_column="tag")


def test_parts_of_speech_are_never_converted(write):
    table = read_conll(write("a\tB\nb\tS\nc\tV\nd\tB\n"))
    assert table.y == [["B", "S", "V", "B"]] and table.scheme is None


def test_another_separator(write):
    assert read_conll(write("a b|O\n\nc|O\n"), separator="|").x == [["a b"], ["c"]]


@pytest.mark.parametrize("keys", [("words", "tags"), ("tokens", "ner_tags")])
def test_json_lines(write, keys):
    rows = [dict(zip(keys, pair, strict=True)) for pair in zip(WORDS, IOB2, strict=True)]
    path = write("\n".join(map(json.dumps, rows)), "a.jsonl.gz")
    assert (read_conll(path).x, read_conll(path).y) == (WORDS, IOB2)


def test_one_sentence_on_each_line(write):
    table = read_tagged_lines(write("Ann met  Bob\tPER-B O PER-B\n\nof Rome\tLOC-B LOC-I\n", "a.tsv"))
    assert table.x == [["Ann", "met", "Bob"], ["of", "Rome"]]
    assert table.y == [["B-PER", "O", "B-PER"], ["B-LOC", "I-LOC"]] and table.scheme == "iob2"


@pytest.mark.parametrize(
    ("content", "name", "told"),
    [
        ("a b O\nc O\n", "a.conll", "line 2: expected 3 columns.*received 2"),
        ("a\tb\tO\n\n#\tO\n\nc\tO\n", "a.conll", "line 5: expected 3 columns.*received 2"),
        ("a\n", "a.conll", "1 columns on line 1"),
        ("Ann met\tPER-B O\n", "a.conll", "line 1.*read_tagged_lines"),
        ("a\t\n", "a.conll", "line 1: expected one tag, received ''"),
        ("\n \n-DOCSTART- O\n", "a.conll", "sentences.*none"),
        (b"a O\n\xff O\n", "a.conll", "UTF-8.*0xff on line 2"),
        (gzip.compress(b"a O\n" * 99, mtime=0)[:-9], "a.conll", None),
        ('{"words": ["a"], "tags": ["O", "O"]}', "a.jsonl", "line 1: .*1 words and 2 tags"),
        ('{"words": ["a"], "tags": [0.5]}', "a.jsonl", r"line 1: expected 'tags' as a list of names or of numbers"),
        ('{"words": ["a"], "tags": [-1]}', "a.jsonl", "line 1: expected tags as numbers from 0 on, received -1"),
        (
            '{"words": ["a"], "tags": [0]}\n{"words": ["a"], "tags": ["O"]}',
            "a.jsonl",
            "line 2: expected all tags as names, or all as numbers",
        ),
        (
            CONLL_U.replace("\t_\t_\n", "\t_\n"),
            "a.conllu",
            "expected words in column 0, received numbers that count them",
        ),
        ("doc\t0\tword\tB-X\n" * 120, "a.conll", "expected words in column 0, received 'doc' in the first 120 lines"),
        ('{"words": ["a"], "tags": ["O"]}\n{"words": ["a"]}', "a.jsonl", "line 2: expected 'tags'.*None"),
        (
            '{"words": ["a", "b"], "tags": ["B-X", ""]}',
            "a.jsonl",
            "line 1: expected one tag for each word, received ''",
        ),
        ('{"text": "a"}', "a.jsonl", "words or tokens.*text"),
    ],
)
def test_broken_files_raise_with_their_name(write, content, name, told):
    path = write(content, name)
    if told is None:
        path, told = path.rename(path.with_suffix(".gz")), "whole gzip"
    with pytest.raises(KerasBertError, match=told) as error:
        read_conll(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("content", "told"),
    [("a b O\n", "0 tabs on line 1"), ("a\tO\nb c\tO\n", "line 2: .*2 words and 1 tags"), ("", "none")],
)
def test_broken_lines_raise_with_their_number(write, content, told):
    with pytest.raises(KerasBertError, match=told):
        read_tagged_lines(write(content))


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"word_column": 4}, "column 4 of words.*4 columns on line 3"),
        ({"tag_column": -5}, "column -5 of tags"),
        ({"scheme": "bio"}, "scheme.*'bio'"),
        ({"max_rows": 0}, "max_rows"),
    ],
)
def test_invalid_settings_raise(write, settings, told):
    with pytest.raises(KerasBertError, match=told):
        read_conll(write(IOB1), **settings)


def test_a_missing_file_raises(tmp_path):
    with pytest.raises(KerasBertError, match="no such file"):
        read_conll(tmp_path / "none.conll")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("EU B-ORG\nrejects O\n\nPeter B-PER\n", True),
        ("EU\tNNP\tB-ORG\n\tO\tO\n\t\n\n", True),
        ("-DOCSTART- -X- O\n\nEU NNP B-ORG\n", True),
        ("Ada moved to Lima.\n\nCall Grace!\n", False),
        ("one\ntwo\n", True),
        ("", False),
    ],
)
def test_texts_have_no_columns(tmp_path, text, expected):
    path = tmp_path / "a.txt"
    path.write_text(text, "utf-8")
    assert has_columns(path) == expected
