"""Multiple-choice questions from files."""

import gzip
import json

import pytest

from kerasbert.data.choices import read_choices
from kerasbert.errors import KerasBertError
from kerasbert.processors import Features, make_processor

ROWS = [
    {"q_id": 3, "question": "what is cold", "choice0": "ice", "choice1": "fire", "choice2": "film", "label": 0},
    {"q_id": 4, "question": "which is longer", "choice0": "a day", "choice1": "a year", "label": 1},
]


def written(path, rows):
    content = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(content.encode()) if path.suffix == ".gz" else content.encode())
    return path


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.json.gz", "a.jsonl.gz"])
def test_json_lines(tmp_path, tiny, name):
    table = read_choices(written(tmp_path / name, ROWS))
    assert table.x == [("what is cold", ("ice", "fire", "film")), ("which is longer", ("a day", "a year"))]
    assert table.y == [0, 1]
    assert table.describe() == f"{name}: 2 questions; 2 choices: 1, 3 choices: 1; characters p50 27, p95 28, max 28"
    problem = make_processor("multiple_choice")
    assert "0 truncated" in table.describe(problem, tiny.tokenizer(), 16)
    assert problem.examples(table.x) == table.x


def test_a_list_of_choices(tmp_path):
    rows = [
        {"prompt": "it is", "choices": ["a", "b"], "answer": "b"},
        {"prompt": "we", "choices": ["c"], "answer": "A"},
    ]
    table = read_choices(written(tmp_path / "a.jsonl", rows))
    assert table.x == [("it is", ("a", "b")), ("we", ("c",))] and table.y == ["b", "A"]


def test_csv(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('label,Question,option 1,option 2,option 10\n1,"what, now",a,b,c\n0,then,d,e,\n', "utf-8")
    table = read_choices(path)
    assert table.x == [("what, now", ("a", "b", "c")), ("then", ("d", "e"))] and table.y == [1, 0]
    assert read_choices(path, max_rows=1).x == table.x[:1]
    path.write_text('prompt,choices\nit,"[""a"", ""b""]"\n', "utf-8")
    table = read_choices(path)
    assert table.x == [("it", ("a", "b"))] and table.y is None and "no labels" in table.describe()


def test_columns_by_name(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("stem\tright\twrong\twhich\nit is\twarm\tcold\twarm\n", "utf-8")
    table = read_choices(path, prompt="stem", choices=["right", "wrong"], label="which")
    assert table.x == [("it is", ("warm", "cold"))] and table.y == ["warm"]


def test_texts_that_look_like_json_or_a_number(tmp_path):
    deep, digits = "[" * 100_000, "9" * 5000
    path = tmp_path / "a.csv"
    path.write_text(f'prompt,choices,label\np,"{deep}",0\n')
    assert read_choices(path).x == [("p", (deep,))]
    path.write_text(f"prompt,choice0,choice1,label\np,a,b,{digits}\n")
    table = read_choices(path)
    assert table.y == [digits]
    problem = make_processor("multiple_choice")
    with pytest.raises(KerasBertError, match="row 0: expected one of the choices a, b, received '999"):
        problem.encode_labels(table.y, problem.examples(table.x), Features(None, None, 2))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"question": None}, "line 2: expected 'question' as a text"),
        ({"choice0": "", "choice1": ""}, "line 2: expected choices, received none"),
        ({"choice0": ""}, "line 2: expected choices that are texts"),
        ({"label": None}, "line 2: expected 'label' as a choice's number"),
    ],
)
def test_incomplete_rows_raise(tmp_path, change, told):
    with pytest.raises(KerasBertError, match=told):
        read_choices(written(tmp_path / "a.jsonl", [ROWS[0], {**ROWS[1], **change}]))


def test_missing_columns_raise(tmp_path):
    path = written(tmp_path / "a.jsonl", [{"stem": "it", "a": "b"}])
    with pytest.raises(KerasBertError, match="column of prompts.*stem, a; name one with `prompt=`"):
        read_choices(path)
    with pytest.raises(KerasBertError, match="columns of choices.*stem, a"):
        read_choices(path, prompt="stem")
    with pytest.raises(KerasBertError, match="'b'.*stem, a"):
        read_choices(path, prompt="stem", choices=["b"])
    (tmp_path / "empty.csv").write_text("prompt,choice0\n", "utf-8")
    with pytest.raises(KerasBertError, match="empty.csv: expected rows"):
        read_choices(tmp_path / "empty.csv")
    with pytest.raises(KerasBertError, match="max_rows"):
        read_choices(path, max_rows=0)
