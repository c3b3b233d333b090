"""The worker of `backends.client_tools.calls`: runs another project's client on a file. It needs that client alone.

    python client_worker.py KIND model.tflite examples.json answers.json

The answers are `{"answers": [...], "seconds": [...]}`, one entry an example: scores by class, a vector, or the text of
an answer. An error is the last line that is printed.
"""

import json
import os
import sys
import time
from collections.abc import Callable


def mediapipe_classifier(model: str) -> Callable:
    """Open MediaPipe's TextClassifier: a text -> its scores by class."""
    from mediapipe.tasks.python import text  # pyright: ignore[reportMissingImports] (another environment)

    client = text.TextClassifier.create_from_model_path(model)
    return lambda example: _scores(client.classify(example))


def mediapipe_embedder(model: str) -> Callable:
    """Open MediaPipe's TextEmbedder: a text -> its vector."""
    from mediapipe.tasks.python import text  # pyright: ignore[reportMissingImports] (another environment)

    client = text.TextEmbedder.create_from_model_path(model)
    return lambda example: [float(value) for value in client.embed(example).embeddings[0].embedding]


def task_library_classifier(model: str) -> Callable:
    """Open the Task Library's BertNLClassifier: a text -> its scores by class."""
    from tflite_support.task import text  # pyright: ignore[reportMissingImports] (another environment)

    client = text.BertNLClassifier.create_from_file(model)
    return lambda example: _scores(client.classify(example))


def task_library_embedder(model: str) -> Callable:
    """Open the Task Library's TextEmbedder: a text -> its vector."""
    from tflite_support.task import text  # pyright: ignore[reportMissingImports] (another environment)

    client = text.TextEmbedder.create_from_file(model)
    return lambda example: [float(value) for value in client.embed(example).embeddings[0].feature_vector.value]


def task_library_answerer(model: str) -> Callable:
    """Open the Task Library's BertQuestionAnswerer: (question, context) -> the text of the best answer."""
    from tflite_support.task import text  # pyright: ignore[reportMissingImports] (another environment)

    client = text.BertQuestionAnswerer.create_from_file(model)

    def answer(pair):
        question, context = pair
        answers = client.answer(context, question).answers
        return answers[0].text if answers else ""

    return answer


def _scores(result):
    categories = result.classifications[0].categories
    return {category.category_name: float(category.score) for category in categories}


def main() -> None:
    """Run the worker."""
    kind, model, examples_file, answers_file = sys.argv[1:]
    with open(examples_file, encoding="utf-8") as file:
        examples = json.load(file)
    answer = globals()[kind](model)
    answers, seconds = [], []
    for example in examples:
        start = time.perf_counter()
        answers.append(answer(example))
        seconds.append(time.perf_counter() - start)
    with open(answers_file, "w", encoding="utf-8") as file:
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
