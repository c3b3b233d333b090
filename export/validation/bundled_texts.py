"""A few hundred sentences of our own to run a file on, where no data are given: enough to compare outputs, for any task."""

from kerasbert.data import assistant
from kerasbert.export.validation.examples import Data
from kerasbert.processors import Processor

_CONTEXT, _CHOICES = 6, 4  # sentences behind a question, and to choose from


def bundled_data(problem: Processor) -> Data:
    """Examples as the problem takes them, without labels: what they are about is not what the model was trained for."""
    split = assistant.load("test")
    texts = list(split.texts)
    if problem.name == "tagging":
        return Data([list(tokens) for tokens in split.tokens])
    if problem.name == "question_answering":
        return Data([(text, ". ".join(_others(texts, i, _CONTEXT))) for i, text in enumerate(texts)])
    if problem.name == "multiple_choice":
        return Data([(text, _others(texts, i, _CHOICES)) for i, text in enumerate(texts)])
    return Data(texts)


def _others(texts: list[str], number: int, count: int) -> list[str]:
    """So many texts that follow, around the end."""
    return [texts[(number + k) % len(texts)] for k in range(1, count + 1)]
