"""Early exit: a task whose easy texts end behind a lower layer (DeeBERT, Xin et al. 2020)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from kerasbert.arguments import argument
from kerasbert.encoders.base import complete_inputs
from kerasbert.encoders.layer_groups import block_calls
from kerasbert.errors import KerasBertError
from kerasbert.heads.exits import EXITS, ExitSet, checked_exits
from kerasbert.layers.quantization.activation_quantizers import activation_quantizers
from kerasbert.processors import RawResult
from kerasbert.processors.exits import ATTENTION_MASK, CONFIDENCE, HIDDEN, LAYERS, ExitChoice, check_threshold, choose
from kerasbert.tasks import inputs as task_inputs
from kerasbert.tasks.base import Task
from kerasbert.tasks.inference import Outputs

_SERVED_ROWS = 32  # in a batch


class EarlyExitTask(Task):
    """The base of tasks whose encoder may have exits before its last layer.

    Each exit has a pooler and a classifier of its own, which learn the probabilities of the last one (FastBERT, Liu et al. 2020, section
    3.3). No gradient of theirs reaches the encoder, so that the model is the one that is trained without exits.

    Attributes:
        exits: The exits before the last one; None without any.
    """

    exits: ExitSet | None

    def add_exits(self, exits: Any, outputs: int, rate: float, threshold: float | None) -> None:
        """Make the exits of a task that has its head.

        Args:
            exits: The numbers of layers before them, see `checked_exits`.
            outputs: Numbers that an exit returns for each text, or for each token.
            rate: The dropout rate.
            threshold: The confidence from which on a text ends at an exit; None: at the last one.
        """
        self.exits, self._exit_threshold = None, None
        numbers = checked_exits(exits, self.config.num_hidden_layers)
        if numbers and not self.encoder.is_transformer:
            raise KerasBertError(
                f"expected a transformer for {argument(EXITS)}, received a {type(self.encoder).__name__}; leave it out"
            )
        if numbers and (self.head_name is not None or self.encoder.layer_mix is not None):
            part = "a mix of all layers" if self.head_name is None else f"the head {self.head_name!r}"
            raise KerasBertError(
                f"expected the task's own head on the last layer for {argument(EXITS)}, received {part}; leave one of them out"
            )
        if numbers:
            self.exits = ExitSet(self.encoder, numbers, outputs, self.reads == "sequence", rate)
            self.has_new_exits = True
        self.exit_threshold = threshold

    @property
    def exit_threshold(self) -> float | None:
        """The confidence from 0 to 1 from which on a text ends at an exit; None: every text runs through all layers."""
        return self._exit_threshold

    @exit_threshold.setter
    def exit_threshold(self, value: float | None) -> None:
        if value is not None and self.exits is None:
            raise KerasBertError(
                "expected a model with exits for a threshold, received one without; make it with exits="
            )
        self._exit_threshold = check_threshold(value)
        self.forget_traces()

    @property
    def exit_layers(self) -> tuple[int, ...]:
        """The number of layers before each exit, the last one included; none without exits."""
        return () if self.exits is None else (*self.exits.numbers, self.config.num_hidden_layers)

    def _create_variables(self) -> None:
        super()._create_variables()
        for part in () if self.exits is None else self.exits.parts:
            part.logits(tf.zeros((1, 8, self.config.hidden_size)), tf.ones((1, 8), tf.int32))

    def call(self, inputs: dict[str, tf.Tensor], training: bool | None = None) -> tf.Tensor:
        if self.exits is None or not training:
            return super().call(inputs, training)
        encoded = self.encoder(inputs, training, output_hidden_states=True)
        logits = self._head_logits(encoded, training=training)
        mask, target = complete_inputs(inputs)[1], tf.stop_gradient(self.answer(logits))
        size = (len(encoded.hidden_states) - 1) // self.config.num_hidden_layers
        for part in self.exits.parts:
            x = tf.stop_gradient(encoded.hidden_states[part.layer * size])
            self.add_loss(self._exit_loss(target, part.logits(self._normed(x), mask, training), mask))
        return logits

    def _exit_loss(self, target: tf.Tensor, logits: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
        """Return the cross-entropy of an exit's logits with the probabilities of the last exit, a number."""
        logits = tf.cast(logits, tf.float32)
        if self.processor.compared_as == "multi_label":
            losses = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(target, logits), axis=-1)
        else:
            losses = tf.nn.softmax_cross_entropy_with_logits(target, logits)
        if losses.shape.rank == 1:
            return tf.reduce_mean(losses)
        weights = tf.cast(mask, tf.float32)
        return tf.reduce_sum(losses * weights) / tf.maximum(tf.reduce_sum(weights), 1.0)

    # -- inference -------------------------------------------------------------------------------------------------------------------

    def serve(self, inputs: dict[str, tf.Tensor]) -> Outputs:
        if self.exits is None:
            return super().serve(inputs)
        if any(quantizer.observer is not None for quantizer in activation_quantizers(self.exits)):
            return {self.output_name: self.serve_exits(inputs)[-1][self.output_name]}  # observers see every exit
        if self.exit_threshold is None:
            return super().serve(inputs)
        return self._serve_in_turn(inputs, self.exit_threshold)

    def serve_stage(self, number: int, inputs: dict[str, tf.Tensor]) -> Outputs:
        """Run the layers from one exit to the next: what a signature of the file computes.

        Args:
            number: The exit at the end, from 0.
            inputs: Int32 tensors `(batch, length)` by input name; behind the first exit `hidden` `(batch, length, hidden)` of the stage
                before, and the `attention_mask`.

        Returns:
            The outputs of the exit; before the last one also their `confidence` `(batch,)` and `hidden` for the next stage.
        """
        if number == 0:
            (x, bias), mask = self.encoder.embed(inputs), complete_inputs(inputs)[1]
        else:
            x, mask = inputs[HIDDEN], inputs[ATTENTION_MASK]
            bias = self.encoder.bias_of(mask)
        x = self.encoder.run_layers(x, bias, self._stage_layers(number))
        answer = self._exit_answer(number, x, mask)
        if number == len(self.exit_layers) - 1:
            return {self.output_name: answer}
        return {self.output_name: answer, CONFIDENCE: self._confidence(answer, mask), HIDDEN: x}

    def serve_exits(self, inputs: dict[str, tf.Tensor]) -> list[Outputs]:
        """Compute the outputs of every exit, in the order of their layers.

        Args:
            inputs: Int32 tensors `(batch, length)` by input name.

        Returns:
            The outputs of each exit, with their `confidence` `(batch,)`.
        """
        (x, bias), mask, outputs = self.encoder.embed(inputs), complete_inputs(inputs)[1], []
        for number in range(len(self.exit_layers)):
            x = self.encoder.run_layers(x, bias, self._stage_layers(number))
            answer = self._exit_answer(number, x, mask)
            outputs.append({self.output_name: answer, CONFIDENCE: self._confidence(answer, mask)})
        return outputs

    def _serve_in_turn(self, inputs: dict[str, tf.Tensor], threshold: float) -> Outputs:
        """Run the exits in turn. Rows that are not done go on, so that a batch gets smaller from exit to exit."""
        (x, bias), mask = self.encoder.embed(inputs), complete_inputs(inputs)[1]
        rows, last = tf.range(tf.shape(x)[0]), len(self.exit_layers) - 1
        answers, numbers, layers = [], [], []
        for number, layer in enumerate(self.exit_layers):
            x = self.encoder.run_layers(x, bias, self._stage_layers(number))
            answer = self._exit_answer(number, x, mask)
            done = tf.ones_like(rows, tf.bool) if number == last else self._confidence(answer, mask) >= threshold
            answers.append(tf.boolean_mask(answer, done))
            numbers.append(tf.boolean_mask(rows, done))
            layers.append(tf.fill(tf.shape(numbers[-1]), layer))
            if number < last:
                left = tf.logical_not(done)
                x, bias, mask, rows = (tf.boolean_mask(each, left) for each in (x, bias, mask, rows))
        order = tf.argsort(tf.concat(numbers, 0))
        return {
            self.output_name: tf.gather(tf.concat(answers, 0), order),
            LAYERS: tf.cast(tf.gather(tf.concat(layers, 0), order), tf.float32),
        }

    def _stage_layers(self, number: int) -> range:
        """Return the layers from one exit to the next, which count from 0."""
        layers = (0, *self.exit_layers)
        return range(layers[number], layers[number + 1])

    def in_stage(self, path: str, call: int, number: int) -> bool:
        """Tell whether a call of a layer is between an exit and the one before.

        Args:
            path: The layer's path that quantization policies match.
            call: The number of the call, from 0: ALBERT calls its blocks several times.
            number: The exit at the end, from 0.
        """
        part, place, *_ = (*path.split("."), "")
        if part == "layers":
            layers = self._stage_layers(number)
            before = block_calls(self.config, range(layers.start)).count(int(place))
            within = block_calls(self.config, layers).count(int(place))
            return before <= call < before + within
        if part == EXITS:
            return int(place) == self.exit_layers[number]
        return number == (0 if part == "embeddings" else len(self.exit_layers) - 1)

    def _exit_answer(self, number: int, x: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
        """Return the output of an exit for the vectors (B, S, H) of its layer."""
        if self.exits is not None and number < len(self.exits.parts):
            return self.answer(self.exits.parts[number].logits(self._normed(x), mask, training=False))
        return self.answer(self._head_logits(self.encoder.output_of(x, training=False), training=False))

    def _normed(self, x: tf.Tensor) -> tf.Tensor:
        norm = self.encoder.final_norm
        return x if norm is None else norm(x, training=False)

    def _confidence(self, answer: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
        """Return the smallest probability (B,) of the decisions on a row: of its class, its labels, or the tags of its tokens."""
        if self.processor.compared_as == "multi_label":
            return tf.reduce_min(tf.maximum(answer, 1.0 - answer), axis=-1)
        best = tf.reduce_max(answer, axis=-1)  # (B,), or (B, S)
        if best.shape.rank == 1:
            return best
        return tf.reduce_min(tf.maximum(best, 1.0 - tf.cast(mask, tf.float32)), axis=-1)

    # -- the threshold -----------------------------------------------------------------------------------------------------------------

    def tune_exits(self, x: Any, y: Any = None, keep: float = 0.99) -> ExitChoice:
        """Set `exit_threshold` to the lowest one that keeps a share of the last exit's score.

        Args:
            x: Labelled examples that were not trained on, or a dataset.
            y: Labels; None takes those of the dataset.
            keep: The share of the last exit's main metric, above 0 and at most 1.

        Returns:
            The threshold, the score of each exit, and how many layers a text takes.

        Raises:
            KerasBertError: When the task has no exits, or there are no labels.
        """
        if self.exits is None:
            raise KerasBertError(
                "expected a model with exits to choose a threshold for, received one without; make it with exits="
            )
        labelled = self.labelled_outputs(x, y)  # checks the labels
        raw_results, confidences = self._exit_results(labelled[2])
        choice = choose(self.processor, labelled, raw_results, confidences, self.exit_layers, keep)
        self.exit_threshold = choice.threshold
        return choice

    def _exit_results(self, features: Any) -> tuple[list[Sequence[RawResult]], np.ndarray]:
        """Return the raw results of the rows at each exit, and the confidences `(exits, rows)`."""
        spec = {name: tf.TensorSpec((None, None), tf.int32) for name in task_inputs.INPUT_NAMES}
        run = tf.function(self.serve_exits, input_signature=[spec], autograph=False)
        count = len(self.exit_layers)
        raw_results: list[Any] = [[{}] * len(features) for _ in range(count)]
        confidences = np.zeros((count, len(features)), np.float32)
        for index, inputs in task_inputs.packed_batches(self, features, _SERVED_ROWS):
            for number, outputs in enumerate(run(inputs)):
                answers = outputs[self.output_name].numpy()
                confidences[number, index] = outputs[CONFIDENCE].numpy()
                for place, row in enumerate(index):
                    values = {self.output_name: answers[place]}
                    raw_results[number][row] = self.processor.raw_result(values, features, int(row))
        return raw_results, confidences

    def get_config(self) -> dict[str, Any]:
        if self.exits is None:
            return super().get_config()
        threshold = {} if self.exit_threshold is None else {"exit_threshold": self.exit_threshold}
        return {**super().get_config(), EXITS: list(self.exits.numbers), **threshold}

    @property
    def float_parts(self) -> str | None:
        return super().float_parts if self.exits is None else "exits"
