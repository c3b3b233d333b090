"""Inference of tasks: the outputs of the exported file, examples to features, raw results to predictions and metrics."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from kerasbert.console.output import note
from kerasbert.data.dataset import Dataset, labels_of
from kerasbert.errors import KerasBertError
from kerasbert.ids import INPUT_NAMES, check_ids
from kerasbert.processors import Features, Processor, RawResult
from kerasbert.processors.base import Inputs
from kerasbert.processors.exits import raw_result_of, with_layers, with_mean_layers
from kerasbert.processors.labelled_outputs import LabelledOutputs, labelled_outputs
from kerasbert.tasks import inputs as task_inputs
from kerasbert.tasks.forks import check_not_forked
from kerasbert.tasks.weights import WeightsModel

Report = Callable[[int, int], None]
Outputs = dict[str, tf.Tensor]
_TRACES = ("_served", "_served_positions")


class InferenceModel(WeightsModel):
    """The part of every task that predicts. A task overrides `serve`."""

    def serve(self, inputs: dict[str, tf.Tensor]) -> Outputs:
        """Return the outputs by the exported file's names, float32.

        Args:
            inputs: Int32 tensors `(batch, length)` by input name.

        Returns:
            Float32 tensors by output name, `(batch, ...)`.
        """
        raise NotImplementedError

    def _serving(self) -> Callable[[dict[str, tf.Tensor]], Outputs]:
        """Return `serve`, traced once for batches of every size and length."""
        spec = {name: tf.TensorSpec((None, None), tf.int32) for name in INPUT_NAMES}
        return self._traced(
            "_served",
            lambda: tf.function(lambda inputs: self.serve(inputs), input_signature=[spec], autograph=False),
        )

    def _traced(self, name: str, make: Callable[[], Any]) -> Any:
        """Return one of `_TRACES`, which is made at its first use."""
        with self._state_lock.held:  # Keras deletes an attribute before it sets it: another thread would find none
            if not hasattr(self, name):
                setattr(self, name, make())
            return getattr(self, name)

    def forget_traces(self) -> None:
        """Discard traces, so that the model is traced again: a trace fixes what a fake quantizer does."""
        with self._predict_lock.held:
            self.predict_function = None
        with self._state_lock.held:
            for name in _TRACES:
                if hasattr(self, name):
                    delattr(self, name)

    def serve_untraced(self) -> None:
        """Predict eagerly until traces are discarded: for a few batches that is faster than tracing."""
        with self._state_lock.held:
            self._served = self.serve

    def serve_numpy(self, packed: dict[str, np.ndarray], batch_size: int = 32) -> dict[str, np.ndarray]:
        """Compute `serve` on packed arrays of one length, in batches.

        Args:
            packed: Int32 arrays `(rows, length)` by input name.
            batch_size: Rows in a batch.

        Returns:
            Float32 arrays `(rows, ...)` by output name.

        Raises:
            KerasBertError: When an id is outside the vocabulary.
        """
        check_not_forked()
        check_ids(packed["input_ids"], self.config.vocab_size, type(self).__name__)
        rows = len(packed["input_ids"])
        parts = [
            self._serving()({name: tf.constant(packed[name][i : i + batch_size]) for name in INPUT_NAMES})
            for i in range(0, rows, batch_size)
        ]
        return {name: np.concatenate([part[name].numpy() for part in parts]) for name in parts[0]}

    def features(
        self, x: Any, scoring: bool = False, processor: Processor | None = None
    ) -> tuple[list | None, Features]:
        """Tokenize examples, and print a note when some are truncated.

        Args:
            x: Examples, a dataset or packed inputs.
            scoring: Whether the features are for metrics; see `Processor.scoring_features`.
            processor: A processor in place of the task's own, with another prompt.

        Returns:
            The examples (None for packed inputs) and their features.

        Raises:
            KerasBertError: When there is no example, or the processor rejects one.
        """
        check_not_forked()
        if not isinstance(x, Dataset):
            if task_inputs.is_packed(x):
                return None, task_inputs.packed_features(self, x)
            task_inputs.check_containers(x)
            x = Dataset(Path(), x)
        processor = processor or self.processor
        examples, features = x.features(processor, self.tokenizer, self.sequence_length, scoring)
        self._count_truncated(features.truncated)
        line = (
            f"note: {features.truncated} of {len(examples)} {processor.truncated_items} are too long for {self.sequence_length} tokens "
            "and were truncated"
        )
        if features.truncated:
            self._note_once(line)
        return examples, features

    def _note_once(self, line: str) -> None:
        """Print a note that was not printed before: one is enough for all epochs."""
        if line not in self._notes:
            self._notes.add(line)
            note(line)

    def raw_results(self, features: Features, batch_size: int = 32, report: Report | None = None) -> list[RawResult]:
        """Compute the raw result of each row, in the order of the rows.

        Args:
            features: The rows.
            batch_size: Rows in a batch.
            report: Called with the number of finished rows and of all rows.

        Returns:
            One dict for each row, of arrays by output name without padding; see `Processor.raw_result`.
        """
        done = 0
        raw_results: list[RawResult] = [{}] * len(features)
        for index, inputs in task_inputs.packed_batches(self, features, batch_size):
            for row, raw_result in zip(index, self._raw_results_of(inputs, features, index), strict=True):
                raw_results[row] = raw_result
            done += len(index)
            if report is not None:
                report(done, len(features))
        return raw_results

    def _raw_results_of(self, inputs: Inputs, features: Features, index: np.ndarray) -> list[RawResult]:
        """Compute the raw results of one batch.

        Args:
            inputs: The packed rows.
            features: All rows.
            index: Numbers of the rows in the batch.
        """
        processor = self.processor
        outputs = {
            name: self.by_row(values.numpy(), features.group) for name, values in self._serving()(_flat(inputs)).items()
        }
        return [
            raw_result_of(processor, {name: values[place] for name, values in outputs.items()}, features, int(row))
            for place, row in enumerate(index)
        ]

    @staticmethod
    def by_row(values: np.ndarray, group: int) -> np.ndarray:
        """Reshape `(rows * group, ...)` to `(rows, group, ...)` where rows have several token lists, else leave it.

        Args:
            values: Outputs, `(rows * group, ...)`.
            group: Token lists in a row.

        Returns:
            The outputs, `(rows, group, ...)`, or `values` itself for one token list in a row.
        """
        return values if group == 1 else values.reshape(-1, group, *values.shape[1:])

    def predictions(
        self,
        x: Any,
        batch_size: int | None = None,
        report: Report | None = None,
        processor: Processor | None = None,
    ) -> list:
        """Return one readable, JSON-able prediction for each example, as `kerasbert predict` prints them.

        Args:
            x: Examples or a dataset.
            batch_size: Rows in a batch.
            report: Called with the number of finished rows and of all rows.
            processor: A processor in place of the task's own, to list more alternatives or for another prompt.

        Returns:
            One prediction for each example; its form depends on the task.

        Raises:
            KerasBertError: When `x` is packed inputs, or the processor rejects an example.
        """
        examples, features = self._examples(x, processor=processor)
        raw_results = self.raw_results(features, task_inputs.rows_in_batch(batch_size), report)
        return with_layers(
            (processor or self.processor).predictions(examples, features, raw_results), features, raw_results
        )

    def score(
        self, x: Any, y: Any = None, batch_size: int | None = None, report: Report | None = None
    ) -> dict[str, float]:
        """Compute the task's metrics by name (accuracy, entity F1, exact match, ...) over whole texts; the first is the main one.

        Args:
            x: Examples or a dataset.
            y: Labels; None takes those of the dataset.
            batch_size: Rows in a batch.
            report: Called with the number of finished rows and of all rows.

        Returns:
            The metrics by name; the first is the main one.

        Raises:
            KerasBertError: When there are no labels, outputs are not finite, or the processor rejects an example or a label.
        """
        outputs = self.labelled_outputs(x, y, batch_size, report)
        return with_mean_layers(self.processor.metrics(*outputs), outputs.raw_results)

    def labelled_outputs(
        self, x: Any, y: Any = None, batch_size: int | None = None, report: Report | None = None
    ) -> LabelledOutputs:
        """Compute what metrics and other comparisons with labels need. Arguments and errors are those of `score`."""
        task_inputs.check_containers(x, y)
        rows = task_inputs.rows_in_batch(batch_size)
        return labelled_outputs(
            self.processor,
            labels_of(x, y),
            lambda: self._examples(x, scoring=True),
            lambda _, features: self.raw_results(features, rows, report),
            self._note_once,
        )

    def tune(self, outputs: LabelledOutputs, keep: float | None = None) -> dict[str, Any]:
        """Choose the settings of predictions that a task tunes on dev data, such as a threshold.

        Args:
            outputs: The task's outputs on the data.
            keep: The share of right predictions that a threshold keeps, for tasks that have one; None for the default.

        Returns:
            The chosen settings by name, which the task has now; most tasks have none.
        """
        return {}

    def _examples(self, x: Any, scoring: bool = False, processor: Processor | None = None) -> tuple[list, Features]:
        """Tokenize examples; see `features`. Packed inputs are an error."""
        examples, features = self.features(x, scoring, processor)
        if examples is None:
            raise KerasBertError("expected texts, received packed inputs; `predict` gives their outputs")
        return examples, features


def _flat(inputs: Inputs) -> dict[str, tf.Tensor]:
    """Reshape `(rows, group, length)` to `(rows * group, length)`, as `serve` and the exported file take them."""
    return {name: tf.reshape(values, (-1, tf.shape(values)[-1])) for name, values in inputs.items()}
