"""Questions made from plain texts."""

import gzip
import json
import subprocess
import sys

import pytest

from kerasbert.data.squad import read_squad
from kerasbert.zoo.building import cloze_questions as cloze

FIRST = (
    "The bridge over the river was opened in 1894 by the mayor of Norwich. It carried 2,500 wagons a day, mostly with coal. "
    "Anna Hartley painted its towers green. The ferry lost most of its customers within two years."
)
SECOND = (
    "Bakers in the town use wheat from the southern valley. The flour is stored in Dunmore for six weeks. "
    "In 1921 the mill burned down, and 40 percent of the harvest was lost. A new one was built beside the station."
)


def kinds(text: str) -> dict[str, str]:
    return {text[each.start : each.end]: each.kind for each in cloze.phrases(text, 0, len(text))}


def test_phrases_have_their_kinds():
    found = kinds(
        "The bridge was opened in June 1894 by Anna Hartley and carried 2,500 wagons, 40 percent with brown coal."
    )
    assert found["June 1894"] == "date"
    assert found["Anna Hartley"] == "name"
    assert found["2,500"] == "number" and found["40 percent"] == "number"
    assert found["brown coal"] == "phrase" and found["bridge"] == "phrase"


def test_phrases_do_not_overlap_and_the_first_word_of_a_sentence_is_no_name():
    text = "Bridges of the Thames were built in 1894."
    found = sorted(cloze.phrases(text, 0, len(text)), key=lambda each: each.start)
    assert all(before.end <= after.start for before, after in zip(found, found[1:], strict=False))
    assert kinds(text).get("Bridges") != "name" and kinds(text)["Thames"] == "name"


def test_answers_stand_where_they_are_said_to_and_not_in_the_question():
    made = cloze.make_questions([FIRST, SECOND] * 100, 150, seed=3)
    assert 130 <= len(made) <= 150
    answered = [each for each in made if not each["qas"][0]["is_impossible"]]
    assert 0.55 < len(answered) / len(made) < 0.9
    for each in answered:
        (question,) = each["qas"]
        (answer,) = question["answers"]
        assert each["context"][answer["answer_start"] :].startswith(answer["text"])
        assert question["question"].endswith("?") and len(question["question"].split()) >= 3
    in_question = [each["qas"][0]["answers"][0]["text"] in each["qas"][0]["question"] for each in answered]
    assert sum(in_question) <= len(answered) / 50, "an answer may occur twice in its sentence, but rarely"


def test_unanswerable_questions_ask_about_another_passage_or_another_value():
    made = cloze.make_questions([FIRST, SECOND] * 100, 150, seed=3)
    unanswerable = [each for each in made if each["qas"][0]["is_impossible"]]
    assert all(each["qas"][0]["answers"] == [] for each in unanswerable)
    words_of_the_context = [
        sum(word.strip("?").lower() in each["context"].lower() for word in each["qas"][0]["question"].split())
        / len(each["qas"][0]["question"].split())
        for each in unanswerable
    ]
    assert min(words_of_the_context) < 0.6 < max(words_of_the_context), "one kind shares its words with the context"


def test_same_seed_same_questions():
    first, again, other = (cloze.make_questions([FIRST, SECOND] * 20, 30, seed) for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize("text", ["", "Short.", "no capital here and no end", "1894. 1895. 1896."])
def test_texts_without_a_clause_make_no_question(text):
    assert cloze.make_questions([text] * 5, 5, seed=1) in ([],) or text.startswith("no")


def test_module_writes_a_file_that_train_reads(tmp_path):
    (tmp_path / "wiki.txt").write_text(f"{FIRST} {SECOND}\n{SECOND} {FIRST}\n", "utf-8")
    (tmp_path / "chat.txt").write_text("hello there\n" * 5, "utf-8")
    out = tmp_path / "q.json.gz"
    command = [
        sys.executable,
        "-m",
        cloze.__name__,
        str(tmp_path),
        "--files",
        "wiki*",
        "--count",
        "4",
        "--out",
        str(out),
    ]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "questions about 2 passages" in finished.stdout
    table = read_squad(out)
    paragraphs = json.loads(gzip.decompress(out.read_bytes()))["data"][0]["paragraphs"]
    assert len(table) == len(paragraphs) >= 1 and table.repaired == table.dropped == 0


def test_texts_without_a_passage_are_refused(tmp_path):
    (tmp_path / "chat.txt").write_text("hello there\n" * 5, "utf-8")
    command = [sys.executable, "-m", cloze.__name__, str(tmp_path), "--out", str(tmp_path / "q.json.gz")]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode and "expected passages of 45 to 95 words" in finished.stderr
    assert "Traceback" not in finished.stderr and not (tmp_path / "q.json.gz").exists()
