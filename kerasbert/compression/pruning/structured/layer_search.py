"""Search for the layers to keep: every choice is tried without training, and compared with the full model on unlabelled data."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import tensorflow as tf

from kerasbert.arguments import argument
from kerasbert.compression.pruning.structured.layer_strategies import FIXED_STRATEGIES, kept_layers, similarities_on
from kerasbert.compression.pruning.structured.layer_surgery import config_with
from kerasbert.compression.pruning.structured.model_surgery import check_float
from kerasbert.compression.pruning.structured.output_similarity import OutputSimilarity
from kerasbert.compression.quantization.known_tokens import check_known_tokens
from kerasbert.data.dataset import examples_of
from kerasbert.data.sampling import sample_evenly, spread
from kerasbert.encoders.layer_groups import blocks_per_layer, layer_group
from kerasbert.errors import KerasBertError
from kerasbert.layers.config import EncoderConfig
from kerasbert.processors import Features, RawResult
from kerasbert.tasks.base import Task
from kerasbert.tasks.inputs import batches, is_packed
from kerasbert.values import is_whole_number

EXHAUSTIVE = 500  # choices up to which all are tried
_Layers = tuple[int, ...]


@dataclass(frozen=True)
class LayerChoice:
    """Layers to keep, and how close the model with these layers alone is to the full one.

    Attributes:
        layers: Indices in ascending order.
        similarity: Of the outputs, 1 if they are equal: the mean cosine of sentence vectors, the correlation of scores, or the share of
            equal decisions of other tasks.
        error: The relative error of the outputs, which ranks choices of equal similarity.
        strategies: Names of the fixed strategies that choose these layers.

    Example:
        ```python
        from kerasbert.compression.pruning.structured import search_layers
        best = search_layers(task, keep=2, data=texts, rows=16)[0]
        best.layers, best.similarity
        ```
    """

    layers: tuple[int, ...]
    similarity: float
    error: float
    strategies: tuple[str, ...] = ()


def search_layers(
    task: Task, keep: int, data: Any, rows: int = 256, beam: int = 4, batch_size: int = 64
) -> list[LayerChoice]:
    """Try choices of layers without training.

    All choices are tried where there are at most `EXHAUSTIVE`. Otherwise layers are removed one after the other: of the choices with a
    layer less, the best `beam` ones go on. The choices of the fixed strategies are tried in any case.

    Args:
        task: The task, in float.
        keep: Number of layers to keep.
        data: Texts, or anything that `predict` takes; labels are not used.
        rows: Number of rows to run, spread evenly over the data.
        beam: Number of choices that go on.
        batch_size: Rows in a batch.

    Returns:
        The choices that were tried, the best one first.

    Raises:
        KerasBertError: When the task is quantized, has a layer mix or does not have more than `keep` layers; when data are missing or
            have no known token; and when no config describes an ALBERT with so many layers.

    Example:
        ```python
        from kerasbert.compression.pruning.structured import search_layers
        for choice in search_layers(task, keep=2, data=texts, rows=16)[:3]:
            print(choice.layers, choice.similarity)
        ```
    """
    check_float(task)
    count, config = check_keep(task, keep), task.config
    trial, distinct = LayerTrial(task, trial_features(task, data, rows), batch_size), _DistinctChoices(config)
    named: dict[_Layers, list[str]] = {}
    for strategy, layers in _fixed_choices(trial, keep):
        named.setdefault(distinct.representative(layers), []).append(strategy)
    if comb(count, keep) <= EXHAUSTIVE:
        chosen = {distinct.representative(layers) for layers in combinations(range(count), keep)}
    else:
        chosen = {distinct.representative(layers) for layers in _eliminate(trial, keep, beam)}
    measured = trial.run([layers for layers in {*chosen, *named} if _has_config(config, layers)])
    if not measured:
        raise KerasBertError(
            f"expected a number of layers that a config of this ALBERT can describe, received {keep}; keep another number"
        )
    choices = [
        LayerChoice(layers, outputs.value, outputs.error, tuple(named.get(layers, ())))
        for layers, outputs in measured.items()
    ]
    return sorted(choices, key=lambda choice: (-choice.similarity, choice.error, choice.layers))


def check_keep(task: Task, keep: Any) -> int:
    """Check the number of layers to keep, and return the number of layers.

    Args:
        task: The task.
        keep: The number of layers to keep.

    Raises:
        KerasBertError: When it is not a whole number from 1 to below the number of layers.
    """
    count = task.config.num_hidden_layers
    if not is_whole_number(keep, 1, count - 1):
        raise KerasBertError(f"expected from 1 to {count - 1} layers to keep, received {keep!r}")
    return count


def trial_features(task: Task, data: Any, rows: int) -> Features:
    """Tokenize examples that are spread evenly over the data.

    Args:
        task: The task.
        data: Texts, or anything that `predict` takes.
        rows: Number of rows.

    Raises:
        KerasBertError: When data are missing or have no known token, and when the output is that of several layers.
    """
    if task.encoder.layer_mix is not None:
        raise KerasBertError(
            "expected an encoder whose last layer is its output to search layers, received one with a layer mix; name the layers to keep"
        )
    if data is None:
        raise KerasBertError(
            f"expected data to compare choices of layers on, received none; give texts as {argument('data')}"
        )
    x = examples_of(data)
    if is_packed(x):
        features = task.features(x)[1]
        index = spread(len(features), rows).tolist()
        features = features.part(index, np.arange(len(index)))
    else:
        examples = task.processor.examples(x)
        if not examples:
            raise KerasBertError("expected at least one text to compare choices of layers on, received none; add some")
        features = task.processor.scoring_features(sample_evenly(examples, rows), task.tokenizer, task.sequence_length)
    check_known_tokens(task, features, "compare choices of layers on them")
    return features


class _DistinctChoices:
    """Choices that call different blocks: the layers of an ALBERT are calls of few blocks."""

    def __init__(self, config: EncoderConfig) -> None:
        self.config = config
        self._first: dict[_Layers, _Layers] = {}

    def representative(self, layers: Iterable[int]) -> _Layers:
        """Return the first choice that was seen of those that call the same blocks."""
        layers = tuple(layers)
        return self._first.setdefault(tuple(layer_group(self.config, layer) for layer in layers), layers)


class LayerTrial:
    """Runs choices of layers on the same rows. Choices that begin with the same layers share these layers' outputs.

    A layer may be called several times.

    Args:
        task: The task, in float.
        features: The rows.
        batch_size: Rows in a batch.
    """

    def __init__(self, task: Task, features: Features, batch_size: int) -> None:
        self.task, self.features, self.batch_size = task, features, batch_size
        stack, inner = list(task.encoder.stack()), blocks_per_layer(task.config)
        self.layers = [stack[first : first + inner] for first in range(0, len(stack), inner)]
        self.head = task.with_policy(None)  # what follows the last layer
        self.head.encoder.stack = lambda: []  # no block is called

    def run(self, choices: Iterable[_Layers]) -> dict[_Layers, OutputSimilarity]:
        """Return the similarity of each choice's outputs to the full model's.

        Args:
            choices: Layers in the order of their calls.
        """
        compared_as = self.task.processor.compared_as
        measured = {layers: OutputSimilarity(compared_as) for layers in sorted(choices)}
        data, order = batches(self.task, self.features, batch_size=self.batch_size, inputs_only=True)
        for (inputs, *_), index in zip(data, order, strict=True):
            outputs = self._outputs(inputs, index, [tuple(range(len(self.layers))), *measured])
            reference = next(outputs)
            for similarity, rows in zip(measured.values(), outputs, strict=True):
                similarity.add(reference, rows)
        return measured

    def _outputs(
        self, inputs: dict[str, tf.Tensor], index: np.ndarray, choices: Iterable[_Layers]
    ) -> Iterator[list[RawResult]]:
        """Yield the outputs of each choice for one batch, in the order of the choices."""
        flat = {name: tf.reshape(values, (-1, tf.shape(values)[-1])) for name, values in inputs.items()}
        hidden, bias = self.task.encoder.embed(flat, training=False)
        states, before = [hidden], ()
        for layers in choices:
            shared = _common_prefix(before, layers)
            del states[shared + 1 :]
            for layer in layers[shared:]:
                hidden = states[-1]
                for block in self.layers[layer]:
                    hidden = block(hidden, bias, training=False)[0]
                states.append(hidden)
            before = layers
            yield self._rows(flat, index, states[-1], bias)

    def _rows(
        self, flat: dict[str, tf.Tensor], index: np.ndarray, hidden: tf.Tensor, bias: tf.Tensor
    ) -> list[RawResult]:
        """Compute the outputs that follow from the last hidden states (B, S, H), one mapping a row."""
        self.head.encoder.embed = lambda *_, **__: (hidden, bias)
        outputs = {
            name: self.task.by_row(values.numpy(), self.features.group)
            for name, values in self.head.serve(flat).items()
        }
        comparable = self.task.processor.comparable
        return [
            comparable({name: values[place] for name, values in outputs.items()}, self.features, int(row))
            for place, row in enumerate(index)
        ]


def _fixed_choices(trial: LayerTrial, keep: int) -> Iterator[tuple[str, list[int]]]:
    """Yield each fixed strategy that can keep so few layers, with its choice."""
    similarities = similarities_on(trial.task, trial.features, trial.batch_size)
    for strategy in FIXED_STRATEGIES:
        needed = similarities if strategy == "contribution" else None
        with suppress(KerasBertError):
            yield strategy, kept_layers(len(trial.layers), keep, strategy, needed)


def _eliminate(trial: LayerTrial, keep: int, beam: int) -> set[_Layers]:
    """Return the choices that follow from the best ones with a layer more."""
    best = [tuple(range(len(trial.layers)))]
    while True:
        shorter = {layers[:i] + layers[i + 1 :] for layers in best for i in range(len(layers))}
        if len(best[0]) == keep + 1:
            return shorter
        measured = trial.run(shorter)
        best = sorted(shorter, key=lambda layers: (-measured[layers].value, measured[layers].error, layers))[:beam]


def _has_config(config: EncoderConfig, layers: _Layers) -> bool:
    try:
        config_with(config, list(layers))
    except KerasBertError:
        return False
    return True


def _common_prefix(one: Sequence[int], other: Sequence[int]) -> int:
    """Return the number of equal elements at the start of both."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))
