"""Finds the rows of a validation that a client tokenizes differently from the model."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.backends.client_tools.calls import Client, ids_of
from kerasbert.export.tflite.metadata import Metadata, tokenizer_of
from kerasbert.export.validation.checks import Tolerance
from kerasbert.export.validation.context import ValidationContext
from kerasbert.export.validation.tolerances import TOLERANCES
from kerasbert.text.client_differences import differences

_MAX_NAMED = 3  # rows in a remark
_LONGEST = 512  # tokens of a question or a context


@dataclass(frozen=True)
class RowsApart:
    """Examples by their tokenization.

    Attributes:
        same: Places of the examples that both tokenize alike.
        other: Places of those that they tokenize differently.
        numbers: Each example's row in the data.
        excerpts: The text of each of the others, from the first difference on.
    """

    same: np.ndarray
    other: np.ndarray
    numbers: np.ndarray
    excerpts: dict[int, str] = field(default_factory=dict)

    def among(self, places: np.ndarray) -> "RowsApart":
        """Return the examples of some places only."""
        return replace(self, same=np.intersect1d(self.same, places), other=np.intersect1d(self.other, places))

    @property
    def named(self) -> dict[int, str]:
        """The excerpts of the others by their rows in the data."""
        return {int(self.numbers[place]): self.excerpts[int(place)] for place in self.other}

    def describe(self, client: str) -> str:
        """Write a remark that names the first rows, and what helps."""
        named = [f"row {number} {excerpt}" for number, excerpt in list(self.named.items())[:_MAX_NAMED]]
        more = len(self.other) - len(named)
        rows = ", ".join(named) + (f" and {more} more" if more > 0 else "")
        return f"{rows}; train with --tokenize-as {client}"


def raw_examples(context: ValidationContext) -> Sequence:
    """Return the examples of a validation on texts.

    Raises:
        KerasBertError: When the data are packed ids.
    """
    if context.examples.raw is None:
        raise KerasBertError("expected texts for a client, received packed ids; validate with texts")
    return context.examples.raw


def decision_limits(context: ValidationContext) -> Tolerance:
    """Return the limits for decisions on other tokens.

    A recipe that is judged by its largest error alone gets the limits of int8 kernels.
    """
    limits = context.tolerance if context.tolerance.max_error is None else TOLERANCES["dynamic_wi8_afp32"]
    return Tolerance(agreement=limits.agreement, cosine=limits.cosine, metric_share=limits.metric_share)


def split_by_tokenization(client: Client, context: ValidationContext, metadata: Metadata) -> RowsApart:
    """Ask the client for the ids of every text, and compares them with the model's.

    Raises:
        KerasBertError: When the client does not run here.
    """
    tokenizer, raw = tokenizer_of(metadata), raw_examples(context)
    parts = [example if isinstance(example, tuple) else (example,) for example in raw]
    texts = [text for part in parts for text in part]
    example_places = np.repeat(np.arange(len(raw)), [len(part) for part in parts])
    # Questions and contexts are tokenized apart here, so a context that fits into a row is not cut.
    length = _LONGEST if context.examples.processor.name == "question_answering" else context.examples.length
    excerpts: dict[int, str] = {}
    for text, excerpt in differences(tokenizer, texts, ids_of(client, metadata, texts, length), length).items():
        excerpts.setdefault(int(example_places[text]), excerpt)
    other = np.array(sorted(excerpts), int)
    _, first_rows = np.unique(context.examples.features.example, return_index=True)
    numbers = context.examples.row_numbers[first_rows]
    return RowsApart(np.setdiff1d(np.arange(len(raw)), other), other, numbers, excerpts)
