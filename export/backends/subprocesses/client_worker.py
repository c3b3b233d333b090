"""The child of `backends.client_calls`: runs a client of somebody else on a file, in the client's own environment. Needs that client alone.

    python client_worker.py KIND model.tflite examples.json answers.json

The answers are `{"answers": [...], "seconds": [...]}`, one entry an example: scores by class, a vector, or the text of
an answer. Whatever goes wrong is the last line that is printed.
"""

import json
import os
import sys
import time


def mediapipe_classifier(model):
    from mediapipe.tasks.python import text

    client = text.TextClassifier.create_from_model_path(model)
    return lambda each: _scores(client.classify(each))


def mediapipe_embedder(model):
    from mediapipe.tasks.python import text

    client = text.TextEmbedder.create_from_model_path(model)
    return lambda each: [float(value) for value in client.embed(each).embeddings[0].embedding]


def task_library_classifier(model):
    from tflite_support.task import text

    client = text.BertNLClassifier.create_from_file(model)
    return lambda each: _scores(client.classify(each))


def task_library_embedder(model):
    from tflite_support.task import text

    client = text.TextEmbedder.create_from_file(model)
    return lambda each: [float(value) for value in client.embed(each).embeddings[0].feature_vector.value]


def task_library_answerer(model):
    from tflite_support.task import text

    client = text.BertQuestionAnswerer.create_from_file(model)

    def answer(pair):
        question, context = pair
        answers = client.answer(context, question).answers
        return answers[0].text if answers else ""

    return answer


def _scores(result):
    found = result.classifications[0].categories
    return {category.category_name: float(category.score) for category in found}


def main():
    kind, model, given, wanted = sys.argv[1:]
    with open(given, encoding="utf-8") as file:
        examples = json.load(file)
    answer = globals()[kind](model)
    answers, seconds = [], []
    for each in examples:
        begun = time.perf_counter()
        answers.append(answer(each))
        seconds.append(time.perf_counter() - begun)
    with open(wanted, "w", encoding="utf-8") as file:
        json.dump({"answers": answers, "seconds": seconds}, file)


if __name__ == "__main__":
    status = 0
    try:
        main()
    except Exception as error:
        print(f"{type(error).__name__}: {' '.join(str(error).split())}", file=sys.stderr)
        status = 1
    sys.stderr.flush()
    os._exit(status)  # MediaPipe 1.2.2 raises while the interpreter ends
