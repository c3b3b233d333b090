"""A task that the library does not have, from its two files and three lines in registries to a validated file.

A contributor adds `processors/stars.py`, `tasks/star_rater.py`, and a line each in `processors/registry.py`, `tasks/__init__.py` and
`kerasbert/__init__.py`: five files. Nothing else may have to know a task by its name.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras as keras

from kerasbert.encoders.pooling import first_token
from kerasbert.layers.heads import ReplacedTokenHead  # noqa: F401  # heads of a new task come from the layers there are
from kerasbert.processors import Features, RawResult
from kerasbert.processors.classification import TextProcessor
from kerasbert.processors.contributions import Contributions, Ratio
from kerasbert.processors.display import Display
from kerasbert.tasks.base import Task

STARS = 5


# -- kerasbert/processors/stars.py ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stars(TextProcessor):
    """One to five stars a text, as four thresholds (ordinal regression)."""

    name = "stars"
    outputs = ("thresholds",)
    compared_as = "multi_label"
    display = Display(
        ("stars", "text"),
        lambda record: [["*" * record["stars"], record["text"]]],
        summary=lambda record: f"{record['stars']} stars",
    )

    def numbers(self, y: Any) -> np.ndarray:
        return (np.asarray(y, np.float32)[:, None] > np.arange(1, STARS)).astype(np.float32)

    def predictions(self, examples: Sequence, features: Features, raw_results: Sequence[RawResult]) -> list:
        return [{"stars": int(count)} for count in self._stars(raw_results)]

    def metrics(self, y: Any, examples: Sequence, features: Features, raw_results: Sequence[RawResult]) -> dict:
        off = np.abs(np.asarray(y, np.float32) - self._stars(raw_results))
        return {"accuracy": float((off == 0).mean()), "mean error": float(off.mean())}

    def contributions(
        self, y: Any, examples: Sequence, features: Features, raw_results: Sequence[RawResult]
    ) -> Contributions:
        return Ratio.of_decisions(np.asarray(y, np.float32) == self._stars(raw_results))

    def _stars(self, raw_results: Sequence[RawResult]) -> np.ndarray:
        return 1 + (self.table(raw_results) >= 0.5).sum(axis=1)


# -- kerasbert/tasks/star_rater.py ---------------------------------------------------------------------------------------------------


@keras.utils.register_keras_serializable("kerasbert_tests")
class StarRater(Task):
    """A Dense layer on the first token's vector. Calling it gives logits (B, 4)."""

    architecture = "ForStarRating"
    output_name = "thresholds"
    soft_loss = "sigmoid"

    def __init__(self, encoder, tokenizer=None, sequence_length=None, **kwargs):
        super().__init__(encoder, tokenizer, sequence_length, **kwargs)
        self.rating = keras.layers.Dense(STARS - 1, name="rating")
        self._create_variables()

    @property
    def processor(self) -> Stars:
        return Stars()

    def call(self, inputs, training=None, layout=None):
        options = {} if layout is None else {"layout": layout}
        return self.rating(first_token(self.encoder(inputs, training=training, **options).sequence))

    def serve(self, inputs, layout=None):
        return {"thresholds": tf.sigmoid(self(inputs, training=False, layout=layout))}

    def default_loss(self):
        return keras.losses.BinaryCrossentropy(from_logits=True)
