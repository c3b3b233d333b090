"""Pairs of questions and sentences for a reranker."""

import gzip
import json

import numpy as np

from benchmarks.zoo import rerank_pairs

CONTEXT = "The lamp is old and dim. Anna bought it in Lima last year. Yes. It hangs over the small table."


def squad(path, context=CONTEXT, answer="Lima"):
    asked = {
        "question": "Where did she buy the lamp?",
        "answers": [{"text": answer, "answer_start": context.index(answer)}],
    }
    none = {"question": "Who painted it?", "answers": []}
    with gzip.open(path, "wt", encoding="utf-8") as file:
        json.dump({"data": [{"paragraphs": [{"context": context, "qas": [asked, none]}]}]}, file)
    return path


def test_the_right_sentence_is_the_one_with_the_answer(tmp_path):
    sentences, questions = rerank_pairs.read_squad(squad(tmp_path / "a.json.gz"), set())
    assert sentences == [
        "The lamp is old and dim.",
        "Anna bought it in Lima last year.",
        "It hangs over the small table.",
    ]
    assert [(each.text, each.right) for each in questions] == [("Where did she buy the lamp?", 1)]


def test_texts_of_the_evaluation_are_left_out(tmp_path):
    path = squad(tmp_path / "a.json.gz")
    forbidden = rerank_pairs._texts_of(
        [squad(tmp_path / "b.json.gz", "Other words. IT HANGS over the small table!", "Other")]
    )
    assert rerank_pairs.read_squad(path, forbidden) == ([], [])
    with gzip.open(tmp_path / "qnli.tsv.gz", "wt", encoding="utf-8") as file:
        file.write(
            "index\tquestion\tsentence\tlabel\n0\tWhy?\tIt hangs over the small table.\tentailment\n1\tWhere?\tIn Rome.\tentailment\n"
        )
    assert rerank_pairs.read_qnli(tmp_path / "qnli.tsv.gz", forbidden) == [("Where?", "In Rome.", 1)]


def test_wrong_sentences_are_similar_ones_and_never_the_right_one():
    sentences = [f"sentence {number}" for number in range(40)]
    vectors = np.stack([np.cos(np.arange(40) / 40), np.sin(np.arange(40) / 40)], axis=1)
    rows = list(rerank_pairs.pairs(sentences, [rerank_pairs.Question("which?", 3, False)], vectors, vectors[:1], 4))
    assert [row[2] for _, row in rows] == [1, 0, 0, 0, 0] and rows[0][1][1] == "sentence 3"
    others = {int(row[1].split()[1]) for _, row in rows[1:]}
    assert len(others) == 4 and 3 not in others and max(others) <= 21
