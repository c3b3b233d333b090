"""Inference of tasks: examples to features, batches through `serve`, raw results to predictions and metrics."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from kerasbert.console.output import note
from kerasbert.data.table import is_table
from kerasbert.errors import KerasBertError
from kerasbert.ids import INPUT_NAMES, check_ids
from kerasbert.processors import Features, Processor, RawResult
from kerasbert.processors.base import check_finite
from kerasbert.tasks import inputs as task_inputs

if TYPE_CHECKING:
    from kerasbert.layers.config import EncoderConfig
    from kerasbert.text import Tokenizer

Report = Callable[[int, int], None]


class InferenceMixin:
    """The part of every task that makes predictions of texts. It needs the task's `serve`, `processor` and tokenizer."""

    if TYPE_CHECKING:
        config: EncoderConfig
        sequence_length: int
        tokenizer: Tokenizer
        truncated_texts: int
        predict_function: Any
        _notes: set[str]

        def serve(self, inputs: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]: ...

    @property
    def processor(self) -> Processor:
        """Examples to features, outputs to predictions and metrics.

        Raises:
            KerasBertError: When the task takes packed inputs alone, as those for pretraining do.
        """
        raise KerasBertError(f"expected a task that reads texts, received {type(self).__name__}; give it packed inputs")

    def features(self, x: Any, scoring: bool = False) -> tuple[list | None, Features]:
        """Examples and their token ids. Notes how many examples were truncated.

        Args:
            x: Examples, a table or packed inputs.
            scoring: Whether the features are for metrics; see `Processor.scoring_features`.

        Returns:
            The examples, None for packed inputs, and their features.

        Raises:
            KerasBertError: When there is no example, and where the processor finds a fault.
        """
        if task_inputs.is_packed(x):
            return None, task_inputs.packed_features(self, x)
        processor = self.processor
        examples = processor.examples(x.x if is_table(x) else x)
        if not examples:
            raise KerasBertError("expected at least one text, received none")
        make = processor.scoring_features if scoring else processor.features
        features = make(examples, self.tokenizer, self.sequence_length)
        self.truncated_texts += features.truncated
        line = (
            f"note: {features.truncated} of {len(examples)} {processor.truncated_items} are too long for {self.sequence_length} tokens "
            "and were cut"
        )
        if features.truncated and line not in self._notes:  # one note is enough for all epochs
            self._notes.add(line)
            note(line)
        return examples, features

    def raw_results(self, features: Features, batch_size: int = 32, report: Report | None = None) -> list[RawResult]:
        """The raw result of each row, in their order.

        Args:
            features: The rows.
            batch_size: Rows in a batch.
            report: Called with the rows done and all rows.
        """
        data, order = task_inputs.batches(self, features, batch_size=batch_size, inputs_only=True)
        done = 0
        raw_results: list[RawResult] = [{}] * len(features)
        for (inputs, *_), index in zip(data, order, strict=True):
            for row, raw_result in zip(index, self._raw_results_of(inputs, features, index), strict=True):
                raw_results[row] = raw_result
            done += len(index)
            if report is not None:
                report(done, len(features))
        return raw_results

    def _raw_results_of(self, inputs: dict[str, tf.Tensor], features: Features, index: np.ndarray) -> list[RawResult]:
        """The raw results of one batch: of the rows numbered `index`, packed as `inputs`."""
        processor = self.processor
        outputs = {
            name: self.by_row(values.numpy(), features.group) for name, values in self._serving()(_flat(inputs)).items()
        }
        return [
            processor.raw_result({name: values[place] for name, values in outputs.items()}, features, int(row))
            for place, row in enumerate(index)
        ]

    @staticmethod
    def by_row(values: np.ndarray, group: int) -> np.ndarray:
        """Outputs by row: `(rows * group, ...)` to `(rows, ...)`, with a group axis second where a row has several token lists."""
        return values if group == 1 else values.reshape(-1, group, *values.shape[1:])

    def predictions(
        self,
        x: Any,
        batch_size: int | None = None,
        report: Report | None = None,
        processor: Processor | None = None,
    ) -> list:
        """Readable predictions, one an example, JSON-able: what `kerasbert predict` prints.

        Args:
            x: Examples or a table.
            batch_size: Rows in a batch.
            report: Called with the rows done and all rows.
            processor: One that makes the predictions in place of the task's own, to list more of them.

        Raises:
            KerasBertError: When `x` is packed inputs, and where the processor finds a fault.
        """
        examples, features = self._examples(x)
        raw_results = self.raw_results(features, batch_size or 32, report)
        return (processor or self.processor).predictions(examples, features, raw_results)

    def score(
        self, x: Any, y: Any = None, batch_size: int | None = None, report: Report | None = None
    ) -> dict[str, float]:
        """The task's own metrics by name (accuracy, entity F1, exact match, ...), over whole texts; the first one is the main one.

        Args:
            x: Examples or a table.
            y: Labels; None takes those of the table.
            batch_size: Rows in a batch.
            report: Called with the rows done and all rows.

        Raises:
            KerasBertError: When there are no labels, outputs are not finite, and where the processor finds a fault.
        """
        examples, features = self._examples(x, scoring=True)
        y = x.y if y is None and is_table(x) else y
        if y is None and not self.processor.self_supervised:
            raise KerasBertError("expected labels to score predictions by, received none")
        raw_results = self.raw_results(features, batch_size or 32, report)
        check_finite(raw_results)
        return self.processor.metrics(y, examples, features, raw_results)

    def _examples(self, x: Any, scoring: bool = False) -> tuple[list, Features]:
        examples, features = self.features(x, scoring)
        if examples is None:
            raise KerasBertError("expected texts, received packed inputs; `predict` gives their outputs")
        return examples, features

    def _serving(self) -> Callable[[dict[str, tf.Tensor]], dict[str, tf.Tensor]]:
        """`serve`, traced once for batches of every size and length."""
        if not hasattr(self, "_served"):
            spec = {name: tf.TensorSpec((None, None), tf.int32) for name in INPUT_NAMES}
            self._served = tf.function(lambda inputs: self.serve(inputs), input_signature=[spec], autograph=False)
        return self._served

    def forget_traces(self) -> None:
        """Discards traces, so that the model is traced anew: a trace fixes what a fake quantizer does."""
        self.predict_function = None
        for name in ("_served", "_served_positions"):
            if hasattr(self, name):
                delattr(self, name)

    def serve_untraced(self) -> None:
        """Predicts eagerly until traces are discarded: for a few batches that is faster than a trace."""
        self._served = self.serve

    def serve_numpy(self, packed: dict[str, np.ndarray], batch_size: int = 32) -> dict[str, np.ndarray]:
        """`serve` over packed arrays of one length, in batches.

        Args:
            packed: int32 arrays `(rows, length)` by input name.
            batch_size: Rows in a batch.

        Raises:
            KerasBertError: When an id is none of the vocabulary's.
        """
        check_ids(packed["input_ids"], self.config.vocab_size, type(self).__name__)
        rows = len(packed["input_ids"])
        parts = [
            self._serving()({name: tf.constant(packed[name][i : i + batch_size]) for name in INPUT_NAMES})
            for i in range(0, rows, batch_size)
        ]
        return {name: np.concatenate([part[name].numpy() for part in parts]) for name in parts[0]}


def _flat(inputs: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    """`(rows, group, length)` to `(rows * group, length)`: what `serve` takes, as the exported file does."""
    return {name: tf.reshape(values, (-1, tf.shape(values)[-1])) for name, values in inputs.items()}
