"""The way of a task from examples to answers: tokenized, served in batches, read by its problem."""

import numpy as np
import tensorflow as tf

from kerasbert.console.output import note
from kerasbert.data.table import is_table
from kerasbert.errors import KerasBertError
from kerasbert.ids import INPUT_NAMES, check_ids
from kerasbert.processors import Processor, Reading, Rows, processor_named
from kerasbert.processors.base import check_finite
from kerasbert.tasks import inputs as task_inputs


class InferenceMixin:
    """A part of every task: `asks`, `rows`, `readings`, `answer` and `score`. Of the task it needs `serve` and a tokenizer."""

    @property
    def processor(self) -> Processor:
        """What this task is asked and answers."""
        return processor_named(self.problem, self.labels, self.problem_settings())

    def problem_settings(self) -> dict:
        """The problem's own settings, JSON-able."""
        return {}

    def rows(self, x, scoring: bool = False) -> tuple[list | None, Rows]:
        """Examples and token rows of what a user hands over; of packed inputs there are no examples. Says how many texts were cut.

        scoring: the rows by which the problem's `scores` go.
        """
        if task_inputs.is_packed(x):
            return None, task_inputs.packed_rows(self, x)
        examples = self.processor.examples(x.x if is_table(x) else x)
        if not examples:
            raise KerasBertError("expected at least one text, received none")
        make = self.processor.scoring_rows if scoring else self.processor.rows
        rows = make(examples, self.tokenizer, self.sequence_length)
        self.truncated_texts += rows.truncated
        cut = f"{rows.truncated} of {len(examples)} {self.processor.cut} are too long for {self.sequence_length} tokens and were cut"
        if rows.truncated and cut not in self._told:  # an epoch's scoring has no news of it
            self._told.add(cut)
            note(f"note: {cut}")
        return examples, rows

    def readings(self, rows: Rows, batch_size: int = 32, report=None) -> list[Reading]:
        """What the problem keeps of the outputs of each row, in their order. report: called with (rows done, all rows)."""
        data, order = task_inputs.batches(self, rows, batch_size=batch_size, inputs_only=True)
        done = 0
        found: list[Reading] = [{}] * len(rows)
        for (inputs, *_), index in zip(data, order, strict=True):
            for row, reading in zip(index, self._read(inputs, rows, index), strict=True):
                found[row] = reading
            done += len(index)
            if report is not None:
                report(done, len(rows))
        return found

    def _read(self, inputs: dict[str, tf.Tensor], rows: Rows, index: np.ndarray) -> list[Reading]:
        """What the problem keeps of the outputs of one batch: of the rows numbered `index`, packed as `inputs`."""
        problem = self.processor
        outputs = {
            name: self.by_row(values.numpy(), rows.group) for name, values in self._serving()(_flat(inputs)).items()
        }
        return [
            problem.read({name: values[place] for name, values in outputs.items()}, rows, int(row))
            for place, row in enumerate(index)
        ]

    @staticmethod
    def by_row(values: np.ndarray, group: int) -> np.ndarray:
        """Outputs by row: (rows * group, ...) -> (rows, ...), with a group axis behind the first where a row has several token lists."""
        return values if group == 1 else values.reshape(-1, group, *values.shape[1:])

    def answer(self, x, batch_size: int | None = None, report=None, problem: Processor | None = None) -> list:
        """Readable answers, one an example, JSON-able: what `kerasbert predict` prints.

        problem: makes the answers in place of the task's own, from which it differs in how much it lists.
        """
        examples, rows = self._examples(x)
        return (problem or self.processor).answers(examples, rows, self.readings(rows, batch_size or 32, report))

    def score(self, x, y=None, batch_size: int | None = None, report=None) -> dict[str, float]:
        """The task's own metrics by name (accuracy, entity F1, exact match, ...), over whole texts; the first one is the main one."""
        examples, rows = self._examples(x, scoring=True)
        y = x.y if y is None and is_table(x) else y
        if y is None and not self.processor.self_supervised:
            raise KerasBertError("expected labels to score answers by, received none")
        readings = self.readings(rows, batch_size or 32, report)
        check_finite(readings)
        return self.processor.scores(y, examples, rows, readings)

    def _examples(self, x, scoring: bool = False) -> tuple[list, Rows]:
        examples, rows = self.rows(x, scoring)
        if examples is None:
            raise KerasBertError("expected texts, received packed inputs: they have outputs (`predict`) and no answers")
        return examples, rows

    def _serving(self):
        """`serve`, traced once for batches of every size and length."""
        if not hasattr(self, "_served"):
            spec = {name: tf.TensorSpec((None, None), tf.int32) for name in INPUT_NAMES}
            self._served = tf.function(lambda inputs: self.serve(inputs), input_signature=[spec], autograph=False)
        return self._served

    def forget_traces(self) -> None:
        """Has the model traced anew when it next predicts: what a quantization point does is fixed in a trace."""
        self.predict_function = None
        for name in ("_served", "_served_places"):
            if hasattr(self, name):
                delattr(self, name)

    def serve_untraced(self) -> None:
        """Has the model predict step by step, until traces are forgotten: sooner done than a trace, for a few batches."""
        self._served = self.serve

    def serve_numpy(self, packed: dict[str, np.ndarray], batch_size: int = 32) -> dict[str, np.ndarray]:
        """`serve` over packed arrays of one length, in batches."""
        check_ids(packed["input_ids"], self.config.vocab_size, type(self).__name__)
        rows = len(packed["input_ids"])
        parts = [
            self._serving()({name: tf.constant(packed[name][i : i + batch_size]) for name in INPUT_NAMES})
            for i in range(0, rows, batch_size)
        ]
        return {name: np.concatenate([part[name].numpy() for part in parts]) for name in parts[0]}


def _flat(inputs: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    """(rows, group, length) -> (rows * group, length): what `serve`, like the exported file, takes."""
    return {name: tf.reshape(values, (-1, tf.shape(values)[-1])) for name, values in inputs.items()}
