"""Which rows of a validation a client tokenizes otherwise than the model does."""

from dataclasses import dataclass, field, replace

import numpy as np

from kerasbert.export.backends.client_tools.calls import Client, ids_of
from kerasbert.export.backends.context import ValidationContext
from kerasbert.export.runtime.predictor import tokenizer_of
from kerasbert.export.tflite.metadata import Metadata
from kerasbert.export.validation.checks import Tolerance
from kerasbert.export.validation.tolerances import TOLERANCES
from kerasbert.text.client_differences import differences

_SHOWN = 3  # rows that a remark names
_LONGEST = 512  # tokens of a question or a context


@dataclass(frozen=True)
class RowsApart:
    """The examples that are tokenized the `same` way, and the `other` ones, by place. numbers: each example's row in the data as given.
    excerpts: of each of the others, where it differs."""

    same: np.ndarray
    other: np.ndarray
    numbers: np.ndarray
    excerpts: dict[int, str] = field(default_factory=dict)

    def among(self, places: np.ndarray) -> "RowsApart":
        """Those of some places alone."""
        return replace(self, same=np.intersect1d(self.same, places), other=np.intersect1d(self.other, places))

    @property
    def named(self) -> dict[int, str]:
        """The other ones by their rows in the data."""
        return {int(self.numbers[place]): self.excerpts[int(place)] for place in self.other}

    def described(self, client: str) -> str:
        """A remark that names the first rows, and what helps."""
        named = [f"row {number} {excerpt}" for number, excerpt in list(self.named.items())[:_SHOWN]]
        more = len(self.other) - len(named)
        rows = ", ".join(named) + (f" and {more} more" if more > 0 else "")
        return f"{rows}; train with --tokenize-as {client}"


def decision_limits(job: ValidationContext) -> Tolerance:
    """How alike decisions on other tokens must be. A recipe that is judged by its largest error alone gets the limits of int8 kernels."""
    given, usual = job.tolerance, TOLERANCES["dynamic_wi8_afp32"]
    names = ("agreement", "cosine", "metric_share")
    return Tolerance(
        **{name: getattr(given, name) if given.max_error is None else getattr(usual, name) for name in names}
    )


def rows_apart(client: Client, job: ValidationContext, card: Metadata) -> RowsApart:
    """Asks the client for the ids of every text of the job.

    Raises:
        KerasBertError: the client does not run here.
    """
    tokenizer, raw = tokenizer_of(card), job.examples.raw
    parts = [each if isinstance(each, tuple) else (each,) for each in raw]
    texts = [text for part in parts for text in part]
    of = np.repeat(np.arange(len(raw)), [len(part) for part in parts])
    # Questions and contexts are told apart here, so none is cut that stands whole in a row.
    length = _LONGEST if job.examples.processor.name == "question_answering" else job.examples.length
    found = differences(tokenizer, texts, ids_of(client, card, texts, length), length)
    excerpts: dict[int, str] = {}
    for place, excerpt in found.items():
        excerpts.setdefault(int(of[place]), excerpt)
    other = np.array(sorted(excerpts), int)
    _, rows = np.unique(job.examples.rows.example, return_index=True)
    return RowsApart(np.setdiff1d(np.arange(len(raw)), other), other, job.examples.numbers[rows], excerpts)
