"""The base of tasks that learn from running text: what each head learns, and the words at the masks."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.checkpoints.name_tables import PRETRAINING
from kerasbert.encoders.base import Encoder, EncoderOutput
from kerasbert.heads.head import Head
from kerasbert.layers.blocks.heads import masked_lm_head
from kerasbert.losses.vocabulary import VocabularyCrossEntropy
from kerasbert.processors import IGNORED
from kerasbert.tasks.accumulation import step_in_parts
from kerasbert.tasks.base import Task


def _cross_entropy() -> keras.losses.Loss:
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def _accuracy() -> keras.metrics.Metric:
    return keras.metrics.SparseCategoricalAccuracy("accuracy")


@dataclass(frozen=True)
class PretrainingObjective:
    """What one head of pretraining learns. The task's processor masks the tokens, which are the labels of heads `at_masks`.

    Attributes:
        head: The attribute of the layer, such as `masked_lm`. A folder has the weights under transformers' names if the task's `heads`
            have it, and under kerasbert's otherwise.
        output: The name of its logits.
        make: A function of the encoder that makes the layer.
        logits: A function of the layer, the encoder, its output, `positions` or None, and `training` to the logits. `positions` are those
            of the masked tokens, `(n, 2)`: (row, token).
        loss: A function that makes the loss on the logits.
        metric: A function that makes the metric.
        at_masks: Whether its labels are the masked tokens. Its logits are `(n, ...)` where there are `positions`.
        per_token: Whether it learns every token of a row.
    """

    head: str
    output: str
    make: Callable[[Encoder], keras.layers.Layer]
    logits: Callable[[Any, Encoder, EncoderOutput, tf.Tensor | None, bool | None], tf.Tensor]
    loss: Callable[[], keras.losses.Loss] = _cross_entropy
    metric: Callable[[], keras.metrics.Metric] = _accuracy
    at_masks: bool = False
    per_token: bool = False


def _word_logits(
    head: Any, encoder: Encoder, encoded: EncoderOutput, positions: tf.Tensor | None, training: bool | None
) -> tf.Tensor:
    sequence = encoded.sequence  # (B, S, H)
    if positions is not None:
        sequence = tf.gather_nd(sequence, positions)  # (N, H)
    return head(sequence, encoder.embeddings.word, training=training)


def masked_words(output: str = "logits", metric: str = "accuracy") -> PretrainingObjective:
    """Return the objective of masked language modelling (Devlin et al. 2018, section 3.1).

    Args:
        output: The name of the logits.
        metric: The name of the metric.
    """
    return PretrainingObjective(
        "masked_lm",
        output,
        lambda encoder: masked_lm_head(encoder.config, encoder.policy),
        _word_logits,
        VocabularyCrossEntropy,
        metric=lambda: keras.metrics.SparseCategoricalAccuracy(metric),
        at_masks=True,
    )


class PretrainingTask(Task):
    """A task that learns from texts alone: its processor makes the labels, anew for each batch.

    A subclass names its `objectives`, and calls `make_heads` at the end of `__init__`. With one objective a call returns its logits, with
    several a dict of them by output.

    Attributes:
        objectives: What its heads learn, in the order in which they are made.
        accumulate: The number of parts of a batch that are computed one after another, for one step of the optimizer. A batch then needs
            the memory of a part.
    """

    objectives: tuple[PretrainingObjective, ...] = ()
    accumulate: int = 1

    def make_heads(self) -> None:
        """Make the layers of the objectives, and all variables."""
        _ = self.processor  # reports wrong settings at once
        if {objective.head for objective in self.objectives} - set(self.heads):
            setattr(self, PRETRAINING, keras.layers.Layer(name=PRETRAINING))
        self._logits = self._no_dependency({})
        for objective in self.objectives:
            layer, owner = objective.make(self.encoder), self._owner(objective)
            if isinstance(layer, Head):
                layer.stand_in(owner, objective.head)
            else:
                setattr(owner, objective.head, layer)
            self._logits[objective.output] = functools.partial(objective.logits, layer)
        self._create_variables()

    def _owner(self, objective: PretrainingObjective) -> keras.layers.Layer:
        """Return the layer that holds a head: the task, or that of heads whose weights have kerasbert's names in a folder."""
        return self if objective.head in self.heads else getattr(self, PRETRAINING)

    def call(self, inputs: dict[str, tf.Tensor], training: bool | None = None) -> Any:
        encoded, positions = self.encoder(inputs, training=training), inputs.get("positions")
        return self._by_output(lambda each: self._logits[each.output](self.encoder, encoded, positions, training))

    def _by_output(self, value: Callable[[PretrainingObjective], Any]) -> Any:
        """Return a value of each objective by its output; of a single one, the value itself."""
        values = {objective.output: value(objective) for objective in self.objectives}
        return values if len(values) > 1 else next(iter(values.values()))

    def default_loss(self) -> Any:
        return self._by_output(lambda objective: objective.loss())

    def default_metrics(self) -> Any:
        return self._by_output(lambda objective: [objective.metric()])

    def compile(self, optimizer: Any = "adam", loss: Any = None, metrics: Any = None, **kwargs: Any) -> None:
        self._given_losses = self._no_dependency({"loss": self.default_loss() if loss is None else loss})
        self._given_weights = self._no_dependency({"weights": kwargs.get("loss_weights")})
        super().compile(optimizer, loss, metrics, **kwargs)

    def _loss_of(self, objective: PretrainingObjective) -> Callable[[tf.Tensor, tf.Tensor], tf.Tensor]:
        """Return the function from labels and outputs to the loss of each."""
        given = self._given_losses["loss"]
        loss: Any = keras.losses.get(given[objective.output] if isinstance(given, dict) else given)
        return loss.call if isinstance(loss, keras.losses.Loss) else loss

    def _weight_of(self, objective: PretrainingObjective) -> float:
        given = self._given_weights["weights"]
        return 1.0 if given is None else float(given[objective.output] if isinstance(given, dict) else given)

    def train_step(self, data: Any) -> dict[str, Any]:
        if self.accumulate == 1 and self.distribute_strategy.num_replicas_in_sync == 1:
            return super().train_step(self.masked_only(data))
        return step_in_parts(self, data)

    def targets(self, x: Any, y: Any, y_pred: Any) -> tuple[Any, Any]:
        """Return the labels and the outputs that losses compare.

        Args:
            x: Inputs, as `masked_only` returns them.
            y: Labels.
            y_pred: What the call returned.

        Returns:
            Both.
        """
        return y, y_pred

    def shares_of_losses(
        self, y: Any, y_pred: Any, weights: Any, counts: dict[str, tf.Tensor], totals: dict[str, tf.Tensor]
    ) -> list[tf.Tensor]:
        """Compute what a part of a batch adds to the losses of the whole batch.

        Args:
            y: Labels of the part, as `masked_only` returns them.
            y_pred: Its outputs.
            weights: Its sample weights, or None.
            counts: Its labels of each head; see `counts`.
            totals: Those of all parts.

        Returns:
            A float32 scalar for each objective. The sum over all parts is its loss.
        """
        shares = []
        for objective in self.objectives:
            name = objective.output
            labels, outputs, given = (each[name] if isinstance(each, dict) else each for each in (y, y_pred, weights))
            losses = tf.cast(self._loss_of(objective)(labels, outputs), tf.float32)
            if given is not None:
                given = tf.cast(given, tf.float32)
                losses *= given if losses.shape.rank == 1 else given[:, tf.newaxis]
            share = counts[name] / tf.maximum(totals[name], 1.0)
            shares.append(tf.math.multiply_no_nan(tf.reduce_mean(losses), share))  # the mean of no labels is NaN
        return shares

    def combined(self, losses: list[tf.Tensor]) -> tf.Tensor:
        """Return the weighted sum of the losses of the objectives."""
        weights = [self._weight_of(objective) for objective in self.objectives]
        return tf.add_n([weight * loss for weight, loss in zip(weights, losses, strict=True)])

    def update_losses(self, losses: list[tf.Tensor], weight: tf.Tensor) -> None:
        """Add the losses of a batch to the means that are reported, as Keras does for a batch without parts.

        Args:
            losses: The loss of each objective.
            weight: The weight of the batch.
        """
        values = {f"{each.output}_loss": loss for each, loss in zip(self.objectives, losses, strict=True)}
        values["loss"] = self.combined(losses)
        compiled: Any = self.compiled_loss
        for metric in compiled.metrics:
            metric.update_state(values[metric.name], sample_weight=weight)

    def test_step(self, data: Any) -> dict[str, Any]:
        return super().test_step(self.masked_only(data))

    def counts(self, data: Any) -> dict[str, tf.Tensor]:
        """Count the labels of each head in a batch.

        Args:
            data: Inputs, labels and sample weights, where there are any.

        Returns:
            Float32 scalars by output.
        """
        inputs, given, _ = keras.utils.unpack_x_y_sample_weight(data)
        labels: Any = given
        words = labels[self.output_name] if isinstance(labels, dict) else labels
        masked = tf.reduce_sum(tf.cast(words != IGNORED, tf.float32))
        tokens = tf.reduce_sum(tf.cast(inputs["attention_mask"], tf.float32))
        rows = tf.cast(tf.shape(words)[0], tf.float32)
        return {
            each.output: masked if each.at_masks else tokens if each.per_token else rows for each in self.objectives
        }

    def totals(self, data: Any) -> dict[str, tf.Tensor]:
        """Count the labels of each head in the batches of all replicas; see `counts`."""
        context = tf.distribute.get_replica_context()
        return {
            name: count if context is None else context.all_reduce(tf.distribute.ReduceOp.SUM, count)
            for name, count in self.counts(data).items()
        }

    def masked_only(self, data: Any) -> Any:
        """Reduce a batch to its masked tokens, for the heads that learn these.

        Args:
            data: Inputs, labels and sample weights, where there are any. Labels of tokens are `(batch, length)`, `IGNORED` at all but the
                masked ones.

        Returns:
            Inputs with `positions` of the masked tokens, and labels and weights `(n,)`; those of other heads as they are. Without labels,
            or a head that learns masked tokens, the data.
        """
        inputs, given, weights = keras.utils.unpack_x_y_sample_weight(data)
        labels: Any = given
        if labels is None or not any(objective.at_masks for objective in self.objectives):
            return data
        words = labels[self.output_name] if isinstance(labels, dict) else labels
        positions = tf.where(words != IGNORED)
        masked = tf.gather_nd(words, positions)
        of_masked = None if weights is None else tf.gather(weights, positions[:, 0])
        others = labels if isinstance(labels, dict) else {}
        targets = self._by_output(lambda objective: masked if objective.at_masks else others.get(objective.output))
        if weights is not None:
            weights = self._by_output(lambda objective: of_masked if objective.at_masks else weights)
        return {**inputs, "positions": positions}, targets, weights
