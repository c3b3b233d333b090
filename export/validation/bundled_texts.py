"""A few hundred sentences of our own to run a file on, where no data are given: enough to compare outputs, for any task."""

from kerasbert.data import assistant
from kerasbert.export.validation.examples import Data
from kerasbert.processors import Processor
from kerasbert.processors.token_classification.processor import Tagging

_CONTEXT, _CHOICES = 6, 4  # sentences behind a question, and to choose from


def bundled_data(processor: Processor) -> Data:
    """Examples as the processor takes them, without labels: what they are about is not what the model was trained for."""
    split = assistant.load("test")
    texts = list(split.texts)
    if isinstance(processor, Tagging):
        return Data([list(tokens) for tokens in split.tokens])
    if processor.second_input == "context":
        return Data([(text, ". ".join(_others(texts, i, _CONTEXT))) for i, text in enumerate(texts)])
    if processor.second_input == "choices":
        return Data([(text, _others(texts, i, _CHOICES)) for i, text in enumerate(texts)])
    return Data(texts)


def _others(texts: list[str], number: int, count: int) -> list[str]:
    """So many texts that follow, around the end."""
    return [texts[(number + k) % len(texts)] for k in range(1, count + 1)]
