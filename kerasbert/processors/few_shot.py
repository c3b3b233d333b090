"""Classes over a sentence encoder: a linear layer on the vector of a text, kept beside the graph of the file."""

import base64
import binascii
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.files.record import setting
from kerasbert.processors.base import LARGEST, RawResult, RawResults, concatenate
from kerasbert.processors.classification import SingleLabel
from kerasbert.processors.features import Features
from kerasbert.processors.texts import check_form, text_examples
from kerasbert.text import Tokenizer

METHODS = ("centre", "logistic")  # on vectors of an encoder as it is
TRAINED = "trained"  # the layer and the encoder were trained together
_SMALLEST_NORM = 1e-12


@dataclass(frozen=True, eq=False)
class Linear:
    """A linear layer from vectors of length 1 to the logits of classes.

    Attributes:
        kernel: float32 `(classes, width)`.
        bias: float32 `(classes,)`.
    """

    kernel: np.ndarray
    bias: np.ndarray

    def probabilities(self, vectors: np.ndarray) -> np.ndarray:
        """Return the probability of each class, float32 `(rows, classes)`.

        Args:
            vectors: Vectors of any length, `(rows, width)`.
        """
        vectors = vectors.astype(np.float64)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        logits = vectors / np.maximum(lengths, _SMALLEST_NORM) @ self.kernel.T.astype(np.float64) + self.bias
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        return (shares / shares.sum(axis=1, keepdims=True)).astype(np.float32)

    def to_text(self) -> str:
        """Return the layer as base64 of little-endian float32 `(classes, width + 1)`, the bias last."""
        table = np.concatenate([self.kernel, self.bias[:, None]], axis=1)
        return base64.b64encode(np.ascontiguousarray(table, "<f4").tobytes()).decode("ascii")

    @classmethod
    def from_text(cls, text: str, classes: int, width: int) -> "Linear":
        """Read what `to_text` returns.

        Args:
            text: The text.
            classes: The number of classes.
            width: Numbers in a vector.

        Raises:
            KerasBertError: When it has another size, or a number that is not finite.
        """
        try:
            data = base64.b64decode(text.encode("ascii"), validate=True)
        except (binascii.Error, UnicodeEncodeError):
            data = b""
        if len(data) != 4 * classes * (width + 1):
            raise KerasBertError(
                f"expected the layer of {classes:,} classes and vectors of {width:,} numbers in base64, received {len(data):,} bytes of "
                f"{4 * classes * (width + 1):,}; teach the model again"
            )
        table = np.frombuffer(data, "<f4").reshape(classes, width + 1).astype(np.float32)
        if not np.isfinite(table).all():
            raise KerasBertError(
                "expected a layer of finite numbers, received NaN or infinity in it; teach the model again"
            )
        return cls(table[:, :-1], table[:, -1])


@dataclass(frozen=True)
class FewShot(SingleLabel):
    """One class a text, by a linear layer on the vector of a sentence encoder. The file's graph is that of the encoder.

    Attributes:
        width: Numbers in a vector.
        layer: The layer, see `Linear.to_text`.
        method: How it was found, one of `METHODS` or `TRAINED`.
        prompt: What stands before each text.
    """

    width: int = setting(1, at_least=1, at_most=LARGEST)
    layer: str = ""
    method: str = setting(METHODS[0], choices=(*METHODS, TRAINED))
    prompt: str = ""

    name = "few_shot"
    outputs = ("embedding",)
    second_input = "none"
    not_tokenized = (*SingleLabel.not_tokenized, "width", "layer", "method")

    def check(self) -> None:
        super().check()
        if not self.labels or len(self.labels) < 2:
            raise KerasBertError("expected the labels of two classes or more, received fewer; teach the model again")
        _ = self.linear

    @functools.cached_property
    def linear(self) -> Linear:
        """The layer as numbers."""
        return Linear.from_text(self.layer, len(self.labels or ()), self.width)

    @property
    def prefix(self) -> str:
        return self.prompt

    @property
    def prompt_texts(self) -> tuple[str, ...]:
        return (self.prompt,)

    def examples(self, x: Any) -> list:
        examples = text_examples(x)
        check_form(examples, False)
        return examples

    def features(self, examples: Sequence, tokenizer: Tokenizer, length: int) -> Features:
        texts = [self.prompt + text for text in examples] if self.prompt else examples
        return Features.from_encoded(tokenizer.encode(texts, max_length=length))

    def output_form(self, name: str) -> tuple[int, bool, int | None]:
        return self.output_rank, self.per_token, self.width

    def raw_result(self, outputs: RawResult, features: Features, row: int) -> RawResult:
        vectors = np.atleast_2d(outputs["embedding"])
        return {"probabilities": self.linear.probabilities(vectors)}

    def table(self, raw_results: RawResults) -> np.ndarray:
        return concatenate(raw_results, "probabilities")
