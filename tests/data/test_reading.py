"""The reader and the columns of each processor's files."""

import json
import tracemalloc

import pytest

from kerasbert.data import read_batches, read_table, read_text
from kerasbert.errors import KerasBertError
from kerasbert.processors import read_for


@pytest.fixture
def files(tmp_path):
    question = {"id": "1", "question": "who?", "answers": [{"text": "a", "answer_start": 0}]}
    contents = {
        "texts.tsv": "text\tlabel\nbody one\tx\nbody two\ty\n",
        "plain.txt": "one line\nanother line\n\nthe last\n",
        "choices.jsonl": "".join(
            json.dumps({"prompt": prompt, "choices": ["a", "b"], "label": 1}) + "\n" for prompt in ("x", "y")
        ),
        "tags.txt": "Ann B-PER\nsings O\n\nBob B-PER\n",
        "questions.json": json.dumps({"data": [{"paragraphs": [{"context": "a b", "qas": [question]}]}]}),
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "content", "options", "whole"),
    [
        ("a.tsv", "text\tpair\tlabel\n" + "".join(f"t{i}\tp{i}\tl\n" for i in range(5)), {}, read_table),
        ("a.jsonl", "".join(f'{{"review": "t{i}"}}\n' for i in range(4)), {"text": "review"}, read_table),
        ("a.txt", "one\ntwo\n\nthree\nfour\nfive\n", {"max_rows": 4}, read_text),
    ],
)
def test_batches_are_the_rows_of_the_whole_file(tmp_path, name, content, options, whole):
    (tmp_path / name).write_text(content)
    data, parts = whole(tmp_path / name, **options), list(read_batches(tmp_path / name, rows=2, **options))
    assert [len(part) for part in parts] == [2] * (len(data) // 2) + [1] * (len(data) % 2)
    for column in ("texts", "pairs", "y", "lines"):
        joined = [getattr(part, column) for part in parts]
        assert (None if joined[0] is None else sum(joined, [])) == getattr(data, column)
    if name == "a.txt":
        assert [part.documents() for part in parts] == [[["one", "two"]], [["three", "four"]]]


def test_batches_report_a_bad_row_when_they_reach_it(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\na,x\nb,x\nc\nd,x\n")
    parts = read_batches(tmp_path / "a.csv", rows=2)
    assert next(parts).lines == [2, 3]
    with pytest.raises(KerasBertError, match="a.csv, line 4: expected 2 columns, received 1"):
        next(parts)
    skipped = list(read_batches(tmp_path / "a.csv", rows=2, skip_bad_rows=True))
    assert [part.lines for part in skipped] == [[2, 3], [5]] and skipped[-1].bad.count == 1
    with pytest.raises(KerasBertError, match="a number of rows in a part of at least 1, received 0"):
        read_batches(tmp_path / "a.csv", rows=0)
    (tmp_path / "empty.txt").write_text("\n")
    with pytest.raises(KerasBertError, match="expected text in"):
        next(read_batches(tmp_path / "empty.txt"))


def test_reading_in_batches_holds_one_at_a_time(tmp_path):
    """Four times the text takes no more memory; reading it whole takes four times as much."""

    def peak(read, lines: int) -> int:
        (tmp_path / "a.txt").write_text("some words that fill a line\n" * lines)
        tracemalloc.start()
        for _ in read(tmp_path / "a.txt"):
            pass
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    in_batches, whole = (lambda path: read_batches(path, rows=100)), (lambda path: iter(read_text(path).x))
    assert peak(in_batches, 20_000) < 1.2 * peak(in_batches, 5_000)
    assert peak(whole, 20_000) > 3 * peak(whole, 5_000)


@pytest.mark.parametrize("problem", ["single_label", "multi_label", "regression", "embedding"])
def test_texts_come_from_tables(files, problem):
    table = read_for(problem, files / "texts.tsv", text="label", label="text", max_rows=1)
    assert (table.x, table.y) == (["x"], ["body one"])


def test_sentences_come_from_lines_too(files):
    table = read_for("embedding", files / "plain.txt", max_rows=2)
    assert (table.x, table.y) == (["one line", "another line"], None)
    with pytest.raises(KerasBertError, match="no text column for a file of lines of text, received 'a'"):
        read_for("embedding", files / "plain.txt", text="a")
    (files / "columns.txt").write_text("text;score\none;1\n")
    assert read_for("embedding", files / "columns.txt", delimiter=";").x == ["one"]


def test_words_with_tags(files):
    table = read_for("tagging", files / "tags.txt")
    assert [list(words) for words in table.x] == [["Ann", "sings"], ["Bob"]]
    assert [list(tags) for tags in table.y] == [["B-PER", "O"], ["B-PER"]]


def test_words_with_tags_in_other_columns(files):
    (files / "more.txt").write_text("1 Ann B-PER x\n2 sings O y\n")
    table = read_for("tagging", files / "more.txt", text="1", label="2")
    assert (list(table.x[0]), list(table.y[0])) == (["Ann", "sings"], ["B-PER", "O"])
    with pytest.raises(KerasBertError, match="more.txt: expected a column number.*no names.*'tag'.*`label=`"):
        read_for("tagging", files / "more.txt", label="tag")


def test_questions(files):
    assert len(read_for("question_answering", str(files / "questions.json"))) == 1


def test_choices(files):
    table = read_for("multiple_choice", files / "choices.jsonl", max_rows=1)
    assert [(prompt, list(choices)) for prompt, choices in table.x] == [("x", ["a", "b"])]


def test_plain_texts_come_from_lines_and_tables(files):
    assert read_for("masked_lm", files / "plain.txt").x == ["one line", "another line", "the last"]
    table = read_for("masked_lm", files / "texts.tsv", text="text")
    assert (table.x, table.y) == (["body one", "body two"], None)


@pytest.mark.parametrize(
    ("problem", "name", "column"),
    [
        ("tagging", "tags.txt", "pair"),
        ("question_answering", "questions.json", "label"),
        ("multiple_choice", "choices.jsonl", "pair"),
        ("masked_lm", "texts.tsv", "label"),
        ("masked_lm", "plain.txt", "text"),
    ],
)
def test_columns_of_another_form_raise(files, problem, name, column):
    with pytest.raises(KerasBertError, match=f"{name}: expected no {column} column.*'x'"):
        read_for(problem, files / name, **{column: "x"})
