"""Text classification: a text or a pair of texts to a class, several classes, or a score."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import tensorflow as tf
import tf_keras as keras

from kerasbert.arguments import argument, shown
from kerasbert.checkpoints.cross_encoder import classifier_entries, read_classifier
from kerasbert.checkpoints.hugging_face import max_sequence_length
from kerasbert.data.fallback import check_fallback, check_keep
from kerasbert.encoders.base import Encoder
from kerasbert.errors import KerasBertError
from kerasbert.heads.head import classifier_dropout
from kerasbert.layers.quantization.activation_quantizers import SOFTMAX_RANGE, activation_quantizer
from kerasbert.layers.quantization.policy import integer_part
from kerasbert.processors import Features
from kerasbert.processors.classification import MultiLabel, Regression, SingleLabel, TextProcessor
from kerasbert.processors.fallback import threshold_of
from kerasbert.processors.labelled_outputs import LabelledOutputs
from kerasbert.processors.texts import is_paired
from kerasbert.tasks import string_datasets
from kerasbert.tasks.early_exit import EarlyExitTask
from kerasbert.tasks.labels import labels_from_config, labels_to_config, parse_labels
from kerasbert.text import Tokenizer

# `problem=` -> processor
PROBLEMS: dict[str, type[TextProcessor]] = {each.name: each for each in (SingleLabel, MultiLabel, Regression)}
_KEEP = 0.99  # the share of right predictions that a threshold of the fallback keeps
ACTIVATIONS = ("identity", "sigmoid")  # of the score of a regression


@keras.utils.register_keras_serializable("kerasbert")
class TextClassifier(EarlyExitTask):
    """A Dense layer on the pooled first token (Devlin et al. 2018, section 4.1).

    Calling it returns logits `(batch, classes)`. `predict` returns probabilities `(rows, classes)`, or scores `(rows, 1)`.

    Args:
        encoder: An encoder with a pooler.
        tokenizer: The tokenizer, or None for packed inputs only.
        labels: Class names in the order of the logits; one name, or none, for regression.
        problem: `single_label` (softmax), `multi_label` (sigmoid) or `regression`.
        activation: For regression, the activation of the score: `identity`, or `sigmoid` for scores from 0 to 1, as cross-encoders have.
        sequence_length: Tokens in the longest row; see `Task`.
        paired: Whether the training data was pairs of texts; examples of the other form are then errors. None if that is not known;
            `fit` finds it in its data.
        head: A head of your own; see `Task`.
        head_settings: Its arguments.
        exits: Numbers of layers behind which there is an exit for easy texts, such as [2, 4]; the last layer always has one. `tune_exits`
            chooses the threshold.
        exit_threshold: The confidence from 0 to 1 from which on a text ends at an exit; None for no early end.
        fallback: With one class a text, the label of texts that belong to none, such as `"oos"`. Rows of that label are not trained on;
            `choose_fallback` learns the threshold from them.
        fallback_below: The probability below which a text gets it; None until it is chosen.
        kwargs: Arguments of `keras.Model`.

    Raises:
        KerasBertError: When the problem is unknown, or does not fit the labels; or `paired` is neither True, False nor None; or `exits` are
            no rising layers of the encoder, or the problem has no classes.

    Example:
        ```python
        task = kb.TextClassifier.from_pretrained("small-en", labels=["negative", "positive"], sequence_length=32)
        task.compile(optimizer=kb.adamw(5e-4))
        task.fit(texts, labels, batch_size=16, epochs=1)
        task.predict(["a joy from start to end"])  # probabilities (1, 2)
        task.save_pretrained("runs/api-classifier")
        ```
    """

    labelled = True
    pools = True
    reads = "pooled"
    predicts_arrays = True
    labels: tuple[str, ...]

    def __init__(
        self,
        encoder: Encoder,
        tokenizer: Tokenizer | None,
        labels: Sequence[str] | None = None,
        problem: str = "single_label",
        sequence_length: int | None = None,
        activation: str = "identity",
        paired: bool | None = None,
        head: str | None = None,
        head_settings: Mapping[str, Any] | None = None,
        exits: Sequence[int] | None = None,
        exit_threshold: float | None = None,
        fallback: str | None = None,
        fallback_below: float | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(encoder, tokenizer, sequence_length, head, head_settings, **kwargs)
        if paired is not None and not isinstance(paired, bool):
            raise KerasBertError(f"expected paired as True, False or None, received {paired!r}; pass one of them")
        self.paired = paired
        self.labels, self.problem = _checked_labels(labels, problem), problem
        self.activation = _checked_activation(activation, problem)
        self.fallback, self.fallback_below = _checked_fallback(fallback, fallback_below, self.labels, problem)
        self.add_head(len(self.labels), classifier_dropout(encoder))
        if exits and problem == "regression":
            raise KerasBertError(
                f"expected a task with classes for {argument('exits')}, received regression; leave it out"
            )
        self.add_exits(exits, len(self.labels), classifier_dropout(encoder), exit_threshold)
        self.answer_quantizer = activation_quantizer(integer_part(encoder.policy), "answer", fixed_range=SOFTMAX_RANGE)
        self._create_variables()

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: str | os.PathLike,
        labels: Sequence[str] | None = None,
        sequence_length: int | None = None,
        problem: str | None = None,
        activation: str | None = None,
        **sizes: Any,
    ) -> Self:
        """Load a classifier from a checkpoint folder or the hub. A checkpoint without a classifier needs `labels`, and gets a new head.

        Args:
            name_or_path: The folder, or a name on the hub.
            labels: Class names in the order of the logits; by default the checkpoint's.
            sequence_length: Tokens in the longest row.
            problem: See `TextClassifier`; by default the checkpoint's.
            activation: See `TextClassifier`; by default the checkpoint's. One label without `problem_type` is a score with a sigmoid, as in
                sentence-transformers' `CrossEncoder`.
            sizes: Other arguments of `Task.from_pretrained`.

        Returns:
            The classifier, with the checkpoint's weights.

        Raises:
            KerasBertError: When files are damaged or do not match, or labels and the checkpoint's head differ in number.
        """
        return super().from_pretrained(
            name_or_path,
            labels=labels,
            sequence_length=sequence_length,
            problem=problem,
            activation=activation,
            **sizes,
        )

    @classmethod
    def settings_of(cls, config: dict[str, Any], folder: Path) -> dict[str, Any]:
        return {**labels_from_config(config), **read_classifier(config, folder, max_sequence_length(config))}

    @property
    def processor(self) -> TextProcessor:
        if self.fallback is None:
            return PROBLEMS[self.problem](self.labels, paired=self.paired)
        return SingleLabel(self.labels, paired=self.paired, fallback=self.fallback, fallback_below=self.fallback_below)

    def choose_fallback(self, x: Any, y: Any = None, keep: float = _KEEP, batch_size: int | None = None) -> float:
        """Set `fallback_below` by texts that were not trained on.

        Args:
            x: Texts, or a dataset.
            y: Labels, some of which may be `fallback`; None takes those of the dataset.
            keep: The share of the right predictions that stay, at least. Without rows of the label `fallback`, as many stay.
            batch_size: Rows in a batch.

        Returns:
            The probability.

        Raises:
            KerasBertError: When the task has no fallback, `keep` is out of range, or there are no labels of its classes.
        """
        keep = check_keep(keep)
        if self.fallback is None:
            raise KerasBertError(
                f"expected a classifier with {argument('fallback')} to choose a threshold for, received one without; name the label of "
                "texts that belong to no class"
            )
        chosen = self._fallback_of(self.labelled_outputs(x, y, batch_size=batch_size), keep)
        if chosen is None:
            raise KerasBertError("expected labels of the model's classes, received none; add such rows")
        self.fallback_below = chosen
        return chosen

    def tune(self, outputs: LabelledOutputs, keep: float | None = None) -> dict[str, Any]:
        keep = _KEEP if keep is None else check_keep(keep)
        chosen = None if self.fallback is None else self._fallback_of(outputs, keep)
        if chosen is None:
            return {}
        self.fallback_below = chosen
        return {"fallback_below": chosen}

    def _fallback_of(self, outputs: LabelledOutputs, keep: float) -> float | None:
        truth = self.processor.encode_labels(outputs.y, outputs.examples, outputs.features)
        probabilities = self.processor.table(outputs.raw_results)
        outside = truth == len(self.labels)
        if outside.all():
            return None
        others = probabilities[outside] if outside.any() else None
        return threshold_of(probabilities[~outside], truth[~outside], others, keep)

    def learn_form(self, x: Any) -> None:
        paired = string_datasets.is_paired(x) if isinstance(x, tf.data.Dataset) else is_paired(x)
        if paired is not None:
            self.paired = paired

    def hub_config(self) -> dict[str, Any]:
        return {**labels_to_config(self.labels), **classifier_entries(self.problem, self.activation)}

    def answer(self, logits: tf.Tensor) -> tf.Tensor:
        if self.problem == "regression" and self.activation == "identity":
            return logits
        activation = tf.nn.softmax if self.problem == "single_label" else tf.sigmoid
        return self.answer_quantizer(activation(logits))

    def encode_targets(self, y: Any, examples: Sequence, features: Features) -> Any:
        targets = super().encode_targets(y, examples, features)
        if targets is not None and self.fallback is not None:
            rows = np.flatnonzero(np.asarray(targets) == len(self.labels))
            if rows.size:
                raise KerasBertError(
                    f"row {rows[0]}: expected a label of a class to train on, received the fallback {self.fallback!r}; leave such rows "
                    "out, and pass them to choose_fallback"
                )
        if targets is not None and self.activation == "sigmoid":
            outside = np.flatnonzero(~((targets >= 0) & (targets <= 1)))
            if outside.size:
                raise KerasBertError(
                    f"row {outside[0]}: expected scores from 0 to 1 for a sigmoid, received {targets[outside[0]]:g}; scale them"
                )
        return targets

    def default_loss(self) -> keras.losses.Loss:
        if self.activation == "sigmoid":
            return keras.losses.BinaryCrossentropy(from_logits=True)
        return {
            "single_label": keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            "multi_label": keras.losses.BinaryCrossentropy(from_logits=True),
            "regression": keras.losses.MeanSquaredError(),
        }[self.problem]

    def default_metrics(self) -> list[keras.metrics.Metric]:
        return {
            "single_label": [keras.metrics.SparseCategoricalAccuracy("accuracy")],
            "multi_label": [keras.metrics.BinaryAccuracy("accuracy", threshold=0.0)],
            "regression": [],
        }[self.problem]

    def get_config(self) -> dict[str, Any]:
        config = {**super().get_config(), "labels": list(self.labels), "problem": self.problem}
        paired = {} if self.paired is None else {"paired": self.paired}
        activation = {} if self.activation == "identity" else {"activation": self.activation}
        names = ("fallback", "fallback_below")
        fallback = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return {**config, **activation, **paired, **fallback}

    @property
    def soft_loss(self) -> str:
        return "sigmoid" if self.activation == "sigmoid" else super().soft_loss


def _checked_activation(activation: str, problem: str) -> str:
    if activation not in ACTIVATIONS:
        raise KerasBertError(f"expected an activation of {' or '.join(ACTIVATIONS)}, received {activation!r}")
    if activation != "identity" and problem != "regression":
        raise KerasBertError(
            f"expected activation={activation!r} with regression, received problem={problem!r}; leave it out"
        )
    return activation


def _checked_fallback(
    fallback: str | None, below: float | None, labels: tuple[str, ...], problem: str
) -> tuple[str | None, float | None]:
    check_fallback(fallback, below)
    if fallback is not None and problem != "single_label":
        raise KerasBertError(
            f"expected {argument('fallback')} with one class a text, received problem={problem!r}; leave it out"
        )
    if fallback in labels:
        raise KerasBertError(
            f"expected {argument('fallback')} as another name than the labels, received {fallback!r}, which is one; rename it"
        )
    return fallback, below


def _checked_labels(labels: Sequence[str] | None, problem: str) -> tuple[str, ...]:
    if not isinstance(problem, str) or problem not in PROBLEMS:
        raise KerasBertError(f"expected problem to be one of {', '.join(PROBLEMS)}, received {shown(problem)}")
    names = parse_labels(labels) or (("score",) if problem == "regression" else ())
    if problem == "regression" and len(names) != 1:
        raise KerasBertError(f"expected one label for regression, received {len(names)}: {names}")
    if problem != "regression" and len(names) < 2:
        raise KerasBertError(f"expected two or more different labels, received {names}; name the classes with labels=")
    return names
