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


# The texts of choices are those of transformers' recipes: run_swag.py (4.40), and utils_multiple_choice.py (2.0) for RACE.
FORMS = {
    "SWAG": (
        {
            "video-id": "v",
            "sent1": "A man sits.",
            "sent2": "He",
            "gold-source": "gold",
            "ending0": "sleeps.",
            "ending1": "eats.",
            "label": 1,
        },
        ("A man sits.", ("He sleeps.", "He eats.")),
        1,
    ),
    "HellaSwag": (
        {"ctx_a": "A man", "ctx_b": "he", "ctx": "A man sits. He", "endings": ["sleeps.", "eats."], "label": "1"},
        ("A man sits. He", ("sleeps.", "eats.")),
        1,
    ),
    "RACE": (
        {
            "example_id": "a",
            "article": "Long text.",
            "question": "Who?",
            "options": ["Ann", "Bob", "Eve", "Max"],
            "answer": "C",
        },
        ("Long text.", ("Who? Ann", "Who? Bob", "Who? Eve", "Who? Max")),
        2,
    ),
    "RACE with a blank": (
        {"article": "Long text.", "question": "It was _ .", "options": ["cold", "warm"], "answer": "B"},
        ("Long text.", ("It was cold .", "It was warm .")),
        1,
    ),
    "ARC": (
        {
            "id": "a",
            "question": "Which?",
            "choices": {"text": ["x", "y", "z"], "label": ["1", "2", "3"]},
            "answerKey": "3",
        },
        ("Which?", ("x", "y", "z")),
        2,
    ),
    "ARC as distributed": (
        {
            "id": "a",
            "question": {"stem": "Which?", "choices": [{"text": "x", "label": "A"}, {"text": "y", "label": "B"}]},
            "answerKey": "B",
        },
        ("Which?", ("x", "y")),
        1,
    ),
    "OpenBookQA": (
        {"question_stem": "It is", "choices": {"text": ["x", "y"], "label": ["A", "B"]}, "answerKey": "A"},
        ("It is", ("x", "y")),
        0,
    ),
    "CosmosQA": (
        {"context": "We ate.", "question": "Why?", "answer0": "hunger", "answer1": "fun", "label": 0},
        ("We ate.", ("Why? hunger", "Why? fun")),
        0,
    ),
    "COPA": (
        {
            "premise": "It fell.",
            "choice1": "It broke.",
            "choice2": "It flew.",
            "question": "effect",
            "idx": 0,
            "label": 0,
        },
        ("It fell.", ("What happened as a result? It broke.", "What happened as a result? It flew.")),
        0,
    ),
    "columns of letters": ({"question": "q", "A": "w", "B": "x", "C": "y", "answer": "B"}, ("q", ("w", "x", "y")), 1),
    "a label as text": (
        {"context": "c", "question": "q", "choices": ["A", "x"], "answer": "x"},
        ("c", ("q A", "q x")),
        1,
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_data_sets(tmp_path, form):
    row, example, label = FORMS[form]
    table = read_choices(written(tmp_path / "a.jsonl", [row]))
    assert table.x == [example]
    problem = make_processor("multiple_choice")
    assert problem.encode_labels(table.y, problem.examples(table.x), Features(None, [0])).tolist() == [label]


def test_the_columns_of_a_choice_are_noted(tmp_path, capsys):
    path = written(tmp_path / "a.jsonl", [FORMS["RACE"][0]])
    read_choices(path)
    assert "the prompt is 'article', and each choice is 'question' with a choice" in capsys.readouterr().err
    assert read_choices(path, prompt="question").x[0][1] == ("Ann", "Bob", "Eve", "Max")
    assert read_choices(path, prompt="article").x == [FORMS["RACE"][1]]


@pytest.mark.parametrize(
    ("labels", "read"),
    [(["1", "2"], [0, 1]), ([1, 1], [1, 1]), ([0, 1], [0, 1]), ([1, 0], [1, 0]), (["2", "2"], [1, 1])],
)
def test_labels_count_from_one_if_the_columns_do(tmp_path, labels, read):
    rows = [{"prompt": "p", "option1": "x", "option2": "y", "answer": label} for label in labels]
    assert read_choices(written(tmp_path / "a.jsonl", rows)).y == read


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (
            {"question": "q", "choices": {"text": ["x"], "label": ["A", "B"]}},
            "expected choices with as many 'text' as 'label'",
        ),
        (
            {"question": "q", "choices": {"text": ["x"], "label": ["A"]}, "answerKey": "C"},
            "expected 'answerKey' as one of A, received 'C'",
        ),
        ({"question": {"stem": "q"}}, "expected choices that are texts, received None|expected choices, received none"),
        ({"question": "q"}, "expected columns of choices"),
    ],
)
def test_incomplete_forms_raise(tmp_path, row, told):
    with pytest.raises(KerasBertError, match=told):
        read_choices(written(tmp_path / "a.jsonl", [row]))
