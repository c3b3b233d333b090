"""Runs a client of somebody else on a file, in its own environment: `run_client.py CLIENT model.tflite examples.json answers.json`."""

import json
import os
import sys


def mediapipe_classifier(model, texts):
    from mediapipe.tasks.python import text

    client = text.TextClassifier.create_from_model_path(model)
    found = [client.classify(each).classifications[0].categories for each in texts]
    return [{category.category_name: float(category.score) for category in categories} for categories in found]


def mediapipe_embedder(model, texts):
    from mediapipe.tasks.python import text

    client = text.TextEmbedder.create_from_model_path(model)
    return [[float(value) for value in client.embed(each).embeddings[0].embedding] for each in texts]


def task_library_classifier(model, texts):
    from tflite_support.task import text

    client = text.BertNLClassifier.create_from_file(model)
    found = [client.classify(each).classifications[0].categories for each in texts]
    return [{category.category_name: float(category.score) for category in categories} for categories in found]


def task_library_embedder(model, texts):
    from tflite_support.task import text

    client = text.TextEmbedder.create_from_file(model)
    return [[float(value) for value in client.embed(each).embeddings[0].feature_vector.value] for each in texts]


def task_library_answerer(model, questions):
    from tflite_support.task import text

    client = text.BertQuestionAnswerer.create_from_file(model)
    found = (client.answer(context, question).answers for question, context in questions)
    return [answers[0].text if answers else "" for answers in found]


if __name__ == "__main__":
    name, model_path, given, wanted = sys.argv[1:]
    with open(given, encoding="utf-8") as file:
        answers = globals()[name](model_path, json.load(file))
    with open(wanted, "w", encoding="utf-8") as file:
        json.dump(answers, file)
    os._exit(0)  # MediaPipe 1.2.2 raises while the interpreter ends
