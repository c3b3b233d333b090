"""Questions without an answer for the training of question answering."""

import random

from benchmarks.zoo.answer_texts import ask_elsewhere


def _article(context, question, answer):
    answers = [{"text": answer, "answer_start": context.index(answer)}] if answer else []
    return {"paragraphs": [{"context": context, "qas": [{"id": question, "question": question, "answers": answers}]}]}


def test_questions_are_asked_of_the_nearest_paragraph_without_their_answer():
    articles = [
        _article("The river Rhine flows through Cologne.", "Which river flows through Cologne?", "Rhine"),
        _article("The river Elbe flows through Dresden.", "Which river flows through Dresden?", "Elbe"),
        _article("Bread is made of flour.", "What is bread made of?", "flour"),
        _article("The Rhine is long. It flows through Basel.", "What is never said?", None),
    ]
    ask_elsewhere(articles, 1.0, random.Random(0))
    asked = [[each["question"] for each in article["paragraphs"][0]["qas"][1:]] for article in articles]
    assert "Which river flows through Cologne?" in asked[1]  # the last paragraph has its answer
    assert "Which river flows through Dresden?" in asked[0]
    added = [each for article in articles for each in article["paragraphs"][0]["qas"][1:]]
    assert len(added) == 3 and all(each["answers"] == [] and each["is_impossible"] for each in added)
    assert len({each["id"] for each in added}) == 3


def test_without_a_share_nothing_is_added():
    articles = [_article("One is here.", "Who?", "One"), _article("Two is here.", "Who else?", "Two")]
    ask_elsewhere(articles, 0.0, random.Random(0))
    assert [len(article["paragraphs"][0]["qas"]) for article in articles] == [1, 1]
