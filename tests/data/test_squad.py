"""Questions with answers from SQuAD's JSON and JSON Lines."""

import gzip
import json

import pytest

from kerasbert.data.squad import read_squad
from kerasbert.errors import KerasBertError
from kerasbert.processors import make_processor

CONTEXT = "We saw a good film in the end."


def question(name, text=None, start=0, **more):
    answers = [] if text is None else [{"text": text, "answer_start": start}]
    return {"id": name, "question": f"what is {name}?", "answers": answers, **more}


def article(*questions, context=CONTEXT):
    return {"title": "t", "paragraphs": [{"context": context, "qas": list(questions)}]}


@pytest.fixture
def write(tmp_path):
    def write(content, name="questions.json"):
        path = tmp_path / name
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return write


@pytest.mark.parametrize("name", ["v1.json", "v1.json.gz", "v1"])
def test_squad_1(write, name):
    several = question("b", "film", 14)
    several["answers"].append({"text": "good film", "answer_start": 9})
    table = read_squad(write({"version": "1.1", "data": [article(question("a", "good", 9), several)]}, name))
    assert table.x == [("what is a?", CONTEXT), ("what is b?", CONTEXT)]
    assert table.y == [
        {"text": ["good"], "answer_start": [9]},
        {"text": ["film", "good film"], "answer_start": [14, 9]},
    ]
    assert table.ids == ("a", "b") and len(table) == 2


def test_squad_2(write):
    asked = [
        question("a", "good", 9, is_impossible=False),
        question("b", is_impossible=True, plausible_answers=[{"text": "end", "answer_start": 26}]),
        question("c", "good", 9, is_impossible=True),  # what the file says goes before what it lists
        question("d", "", 0),
    ]
    table = read_squad(write({"data": [article(*asked[:2]), article(*asked[2:], context=CONTEXT + " ")]}))
    assert [answers["text"] for answers in table.y] == [["good"], [], [], []]
    assert "4 questions; 2 contexts; 3 without an answer (75.0%)" in table.describe()
    assert "1 questions are marked is_impossible and list answers, which were dropped" in table.describe()


def test_a_name_twice_in_an_object_is_refused(write):
    text = json.dumps({"data": [article(question("a", "film", 14))]}).replace('"id": "a"', '"id": "a", "id": "b"')
    with pytest.raises(KerasBertError, match="the name 'id' twice"):
        read_squad(write(text))


def test_the_processor_accepts_the_table(write, tiny):
    table = read_squad(write({"data": [article(question("a", "film", 14), question("b", is_impossible=True))]}))
    asks = make_processor("question_answering", settings={"no_answer": True})
    examples = asks.examples(table.x)
    rows = asks.features(examples, tiny.tokenizer(), 24)
    assert (asks.encode_labels(table.y, examples, rows)["start_logits"] > 0).tolist() == [True, False]
    assert "3 truncated" not in table.describe(asks, tiny.tokenizer(), 24)
    assert "windows" in table.describe(asks, tiny.tokenizer(), 12)


@pytest.mark.parametrize(
    ("text", "start", "found"),
    [
        ("film", 12, (["film"], [14])),
        (" film ", 13, ([" film "], [13])),
        ("film  ", 14, (["film"], [14])),
        ("in", 17, (["in"], [19])),
        ("film", -1, None),  # too far away
        ("film", 25, None),
        ("e", 27, None),  # several near by
        ("book", 9, None),
    ],
)
def test_answers_at_another_start_are_repaired_or_dropped(write, text, start, found):
    table = read_squad(write({"data": [article(question("a", "good", 9), question("b", text, start))]}))
    if found is None:
        assert (table.ids, table.left_out, table.repaired, table.dropped) == (("a",), ("b",), 0, 1)
        assert "1 answers do not stand there" in table.describe() and "left out with them: b" in table.describe()
    else:
        assert tuple(table.y[1].values()) == found and table.left_out == ()
        assert table.repaired == (text != found[0][0] or start != found[1][0])
        assert ("put right" in table.describe()) == bool(table.repaired)


def test_a_question_keeps_its_valid_answers(write):
    asked = question("a", "book", 3)
    asked["answers"].append({"text": "good", "answer_start": 9})
    table = read_squad(write({"data": [article(asked)]}))
    assert table.y == [{"text": ["good"], "answer_start": [9]}]
    assert (table.dropped, table.left_out) == (1, ())


FLAT = [
    {"id": 7, "context": CONTEXT, "question": "a?", "answers": {"text": ["good"], "answer_start": [9]}},
    {"context": CONTEXT, "question": "b?", "answers": {"text": [], "answer_start": []}},
]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("flat.jsonl", "\n".join(map(json.dumps, FLAT))),
        ("flat.jsonl.gz", "\n".join(map(json.dumps, FLAT))),
        ("flat.json", FLAT),
        ("flat.json", {"data": FLAT}),
    ],
)
def test_one_object_for_each_question(write, name, content):
    table = read_squad(write(content, name))
    assert table.x == [("a?", CONTEXT), ("b?", CONTEXT)] and table.ids == ("7", "1")
    assert [answers["answer_start"] for answers in table.y] == [[9], []]


def test_questions_without_answers(write):
    asked = [{"id": name, "question": f"{name}?"} for name in "ab"]
    table = read_squad(write({"data": [article(*asked)]}))
    assert table.y is None and "no answers" in table.describe()
    with pytest.raises(
        KerasBertError, match=r"to all questions or to none.*none in data\[0\]\.paragraphs\[0\]\.qas\[1\]"
    ):
        read_squad(write({"data": [article(question("a", "good", 9), asked[1])]}))


def test_max_rows(write):
    path = write({"data": [article(question("a", "good", 9), question("b", "film", 14))]})
    assert read_squad(path, max_rows=1).ids == ("a",)
    with pytest.raises(KerasBertError, match="max_rows.*0"):
        read_squad(path, max_rows=0)


BAD_START = {"data": [article(question("a", "good", "9"))]}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "expected JSON, .* at column 2"),
        ("\n".join(map(json.dumps, FLAT)), "expected JSON, .*jsonl"),
        ({"version": "2.0"}, "'data'.*an object with version"),
        ("3", "'data'.*int 3"),
        ({"data": {}}, "'data'.*an object with nothing"),
        ({"data": [3]}, r"'paragraphs'.*int 3, in data\[0\]"),
        ({"data": [{"paragraphs": [{"qas": []}]}]}, r"'context'.*object with qas, in data\[0\]\.paragraphs\[0\]"),
        ({"data": [{"paragraphs": [{"context": "a"}]}]}, r"'qas'.*in data\[0\]\.paragraphs\[0\]"),
        ({"data": [article("film")]}, r"an object in .*str film, in .*qas\[0\]"),
        ({"data": [article({"id": "a", "answers": []})]}, r"'question'.*qas\[0\]"),
        ({"data": [article({"question": "a?", "answers": "good"})]}, "'answers'.*str good"),
        ({"data": [article({"question": "a?", "answers": {"text": ["a"], "answer_start": []}})]}, "as many"),
        (BAD_START, r"whole number 'answer_start'.*in .*answers\[0\]"),
        ({"data": []}, "expected questions.*none"),
        ({"data": [article(question("a", "book", 3))]}, "none whose answer stands in its context, of 1"),
    ],
)
def test_files_of_another_form_raise(write, content, told):
    path = write(content)
    with pytest.raises(KerasBertError, match=told) as error:
        read_squad(path)
    assert str(path) in str(error.value) and "\n" not in str(error.value)


def test_unreadable_files_raise(tmp_path, write):
    with pytest.raises(KerasBertError, match="no such file"):
        read_squad(tmp_path / "none.json")
    (tmp_path / "latin.json").write_bytes('{"data": "\xe9"}'.encode("latin-1"))
    with pytest.raises(KerasBertError, match="UTF-8"):
        read_squad(tmp_path / "latin.json")
    with pytest.raises(KerasBertError, match="line 1: expected JSON lines"):
        read_squad(write("[3", "x.jsonl"))
