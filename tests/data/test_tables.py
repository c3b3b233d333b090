"""Texts, pairs and labels from TSV, CSV and JSON Lines files."""

import gzip
import json
from pathlib import Path

import pytest

from kerasbert.data.tables import read_table
from kerasbert.errors import KerasBertError


def write(folder: Path, name: str, content: str | bytes) -> Path:
    content = content if isinstance(content, bytes) else content.encode()
    (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return folder / name


def test_tsv_with_header(tmp_path):
    path = write(tmp_path, "train.tsv", 'sentence\tlabel\nsay "hi"\t1\n"open\t0\n')
    table = read_table(path)
    assert (table.texts, table.pairs, table.labels) == (['say "hi"', '"open'], None, ["1", "0"])
    assert (table.columns, table.path, len(table)) == (("sentence", "label"), path, 2)


def test_csv_is_quoted(tmp_path):
    path = write(tmp_path, "train.csv.gz", 'label,text\n1,"a, ""b""\nc"\n0,d\n')
    table = read_table(path)
    assert (table.texts, table.labels) == (['a, "b"\nc', "d"], ["1", "0"])


def test_json_lines(tmp_path):
    rows = [
        {"utterance": "café", "intent": "greet", "other": None},
        {"intent": "3", "utterance": "b"},
        {"utterance": "c", "intent": ["x", "é"]},
    ]
    path = write(tmp_path, "a.jsonl", "\n".join(json.dumps(row) for row in rows))
    table = read_table(path)
    assert (table.texts, table.labels) == (["café", "b", "c"], ["greet", "3", '["x", "é"]'])
    assert table.columns == ("utterance", "intent", "other")


@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.tsv.gz"])
def test_bom_windows_line_ends_and_blank_lines(tmp_path, name):
    separator = "," if "csv" in name else "\t"
    content = "\ufefftext,label\r\na,1\r\n\r\nb,0\r\n\r\n".replace(",", separator)
    table = read_table(write(tmp_path, name, content))
    assert (table.texts, table.labels, table.columns) == (["a", "b"], ["1", "0"], ("text", "label"))


def test_without_a_header_columns_are_numbers(tmp_path):
    path = write(tmp_path, "cola.tsv", "gj04\t1\t\tThe first.\ngj04\t0\t*\tThe second.\n")
    table = read_table(path, text="3", label="1")
    assert (table.texts, table.labels) == (["The first.", "The second."], ["1", "0"])
    assert table.columns == ("0", "1", "2", "3")


def test_the_file_of_cola_is_recognized(tmp_path, capsys):
    path = write(tmp_path, "cola.tsv", "gj04\t1\t\tThe first.\ngj04\t0\t*\tThe second.\n")
    table = read_table(path)
    assert (table.texts, table.labels) == (["The first.", "The second."], ["1", "0"])
    assert "the texts are column 3, the labels column 1" in capsys.readouterr().err
    assert read_table(path, label="0").labels == ["gj04", "gj04"]
    other = write(tmp_path, "other.tsv", "gj04\t1\tname\tThe first.\ngj04\t0\t*\tThe second.\n")
    with pytest.raises(KerasBertError, match="expected a column of texts"):
        read_table(other)


def test_without_a_header_extra_columns_are_ignored(tmp_path):
    path = write(tmp_path, "sts.tsv", "2.5\ta\tb\n1.0\tc\td\tsource\n")
    table = read_table(path, text="1", pair="2", label="0")
    assert (table.texts, table.pairs, table.labels) == (["a", "c"], ["b", "d"], ["2.5", "1.0"])
    with pytest.raises(KerasBertError, match="line 2: expected at least 3 columns, received 2"):
        read_table(write(tmp_path, "less.tsv", "a\tb\tc\nd\te\n"), text="0", label="2")


def test_columns_by_number_skip_a_header(tmp_path):
    path = write(tmp_path, "a.tsv", "label\tnote\n1\tfirst\n")
    assert read_table(path, text="1").texts == ["first"]


def test_requested_names_identify_a_header(tmp_path):
    path = write(tmp_path, "a.csv", "Kind,Body,Reply\nx,y,z\n")
    table = read_table(path, text="Body", pair="Reply", label="Kind")
    assert (table.texts, table.pairs, table.labels) == (["y"], ["z"], ["x"])


@pytest.mark.parametrize(
    ("header", "text", "pair", "label"),
    [
        ("index\tsentence1\tsentence2\tscore", 1, 2, 3),
        ("Quality\t#1 ID\t#2 ID\t#1 String\t#2 String", 3, 4, 0),
        ("index\tquestion\tsentence\tlabel", 1, 2, 3),
        ("question1\tquestion2\tClass", 0, 1, 2),
        ("premise\thypothesis\tgold_label", 0, 1, 2),
        ("sentence1\tsource", 0, None, None),
        ("text\tsentence1\tsentence2", 0, None, None),
        ("label\tsentence\tsentence2", 1, None, 0),
        ("Review\tIntent", 0, None, 1),
    ],
)
def test_default_columns(tmp_path, header, text, pair, label):
    cells = [f"cell {place}" for place in range(header.count("\t") + 1)]
    table = read_table(write(tmp_path, "a.tsv", f"{header}\n" + "\t".join(cells) + "\n"))
    assert table.texts == [cells[text]]
    assert table.pairs == (None if pair is None else [cells[pair]])
    assert table.labels == (None if label is None else [cells[label]])


def test_max_rows_reads_no_further(tmp_path):
    path = write(tmp_path, "a.tsv", "text\tlabel\na\t1\nb\t0\nragged\n")
    assert read_table(path, max_rows=2).texts == ["a", "b"]
    with pytest.raises(KerasBertError, match="max_rows of at least 1, received 0"):
        read_table(path, max_rows=0)


@pytest.mark.parametrize(
    ("name", "content", "arguments", "message"),
    [
        ("a.txt", "a", {}, "expected a .tsv, .csv or .jsonl file"),
        ("a.tsv", "", {}, "empty file"),
        ("a.tsv", "\n\n", {}, "empty file"),
        ("a.csv", "text,label\n", {}, "header and no rows"),
        ("a.tsv", "text\tlabel\na\t1\nb\n", {}, "line 3: expected 2 columns, received 1"),
        ("a.tsv", "text\tlabel\na\t1\tx\n", {}, "line 2: expected 2 columns, received 3"),
        ("a.csv", 'text,label\n"a\nb",1\nc\n', {}, "line 4: expected 2 columns, received 1"),
        (
            "a.tsv",
            "text\tkind\na\t1\n",
            {"label": "label"},
            r"the columns text, kind \(header on line 1, split at tab\).*`label=`",
        ),
        ("a.tsv", "text\tkind\na\t1\n", {"label": "2"}, "column '2', received the columns text, kind"),
        ("a.tsv", "a\t1\n", {}, r"2 columns without a header, .*first row 'a', '1'\); name its number with `text=`"),
        ("a.tsv", "a\t1\n", {"text": "body"}, "column 'body', received 2 columns without a header"),
        ("a.tsv", b"text\tlabel\na\t1\ncaf\xe9\t1\n", {}, "byte 0xe9 on line 3, at offset 3"),
        ("a.csv", b"text,label\ncaf\xe9,1\n", {}, "byte 0xe9 on line 2, at offset 3"),
        ("a.csv", 'text,label\n"a,1\n', {}, "line 2: expected CSV, received a quote .* never closed"),
        ("a.jsonl", '{"text": "a"}\n{"text"\n', {}, "line 2: expected JSON lines"),
        ("a.jsonl", '["a"]\n', {}, "line 1: expected JSON lines, .* received a list"),
        (
            "a.jsonl",
            '{"text": "a", "label": 1}\n{"text": "b"}\n',
            {},
            "line 2: expected 'label' in every object, received none; .*`skip",
        ),
        ("a.jsonl", '{"text": "a"}\n{"text": 5}\n', {}, "line 2: expected 'text' as a string, received int"),
        ("a.jsonl", '{"text": "a"}\n', {"pair": "b"}, "column 'b', received the keys text"),
    ],
)
def test_invalid_content_raises(tmp_path, name, content, arguments, message):
    path = write(tmp_path, name, content)
    with pytest.raises(KerasBertError, match=message) as error:
        read_table(path, **arguments)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_invalid_files_raise(tmp_path):
    with pytest.raises(KerasBertError, match="no such file"):
        read_table(tmp_path / "missing.tsv")
    (tmp_path / "folder.tsv").mkdir()
    with pytest.raises(KerasBertError, match="readable file"):
        read_table(tmp_path / "folder.tsv")
    plain = tmp_path / "plain.tsv.gz"
    plain.write_bytes(b"text\na\n")
    with pytest.raises(KerasBertError, match="whole gzip file"):
        read_table(plain)
    short = write(tmp_path, "short.tsv.gz", "text\n" + "some text\n" * 100)
    short.write_bytes(short.read_bytes()[:-12])
    with pytest.raises(KerasBertError, match="whole gzip file"):
        read_table(short)


def test_description(tmp_path):
    rows = "".join(f"{'x' * length}\t{'ab'[length % 2]}\n" for length in range(1, 102))
    table = read_table(write(tmp_path, "train.tsv", f"text\tlabel\n{rows}"))
    expected = "train.tsv: 101 texts; labels a: 50, b: 51; characters p50 51, p95 96, max 101"
    assert table.describe() == expected
    pairs = read_table(write(tmp_path, "pairs.tsv", "sentence1\tsentence2\nab\tabc\n"))
    assert pairs.describe() == "pairs.tsv: 1 pairs; no labels; characters p50 5, p95 5, max 5"
    scores = "".join(f"a\t{number / 10}\n" for number in range(30))
    assert "; 30 distinct labels; " in read_table(write(tmp_path, "s.tsv", f"text\tscore\n{scores}")).describe()


def test_x_and_y_of_a_text_table(tmp_path):
    single = read_table(write(tmp_path, "a.tsv", "text\tlabel\na b\tx\nc\ty\n"))
    assert (single.x, single.y) == (["a b", "c"], ["x", "y"])
    pairs = read_table(write(tmp_path, "b.tsv", "sentence1\tsentence2\na\tb c\nd\te\n"))
    assert (pairs.x, pairs.y) == ((["a", "d"], ["b c", "e"]), None)


def test_lengths_in_tokens(tmp_path, tiny):
    from kerasbert.processors import make_processor

    table = read_table(write(tmp_path, "a.tsv", "text\tlabel\nthe film was good\tx\nbad\ty\n"))
    told = table.describe(make_processor("single_label", ("x", "y")), tiny.tokenizer(), 5)
    assert told == "a.tsv: 2 texts; labels x: 1, y: 1; tokens (at most 5) p50 4, p95 5, max 5; 1 truncated (50.0%)"


def test_labels_of_two_types_raise(tmp_path):
    path = tmp_path / "mixed.jsonl"
    path.write_text('{"text": "a", "label": 1}\n{"text": "b", "label": 2.5}\n{"text": "c", "label": "neg"}\n')
    with pytest.raises(KerasBertError, match="line 3: expected labels of one type, received 'neg' after 1 on line 1"):
        read_table(path)
    assert read_table(path, max_rows=2).labels == ["1", "2.5"]
