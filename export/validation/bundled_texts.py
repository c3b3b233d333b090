"""A few hundred sentences that ship with kerasbert, for a validation without data: enough to compare outputs, for any task."""

from kerasbert.data import assistant
from kerasbert.export.validation.data import Data
from kerasbert.processors import Processor
from kerasbert.processors.tagging import Tagging

_CONTEXT, _CHOICES = 6, 4  # sentences of a context, and of a choice


def bundled_data(processor: Processor) -> Data:
    """Return examples as the processor takes them, without labels: the model was trained for other texts."""
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
    """Return the `count` next texts, from the start again after the last one."""
    return [texts[(number + k) % len(texts)] for k in range(1, count + 1)]
