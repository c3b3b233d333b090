"""Outputs of a task or a file on labelled examples."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.processors.base import Processor, RawResult, RawResults
from kerasbert.processors.features import Features


class LabelledOutputs(NamedTuple):
    """A task's outputs on labelled examples, in the order of the arguments of `Processor.metrics`."""

    y: Any
    examples: Sequence
    features: Features
    raw_results: list[RawResult]


def labelled_outputs(
    processor: Processor,
    y: Any,
    tokenize: Callable[[], tuple[Sequence, Features]],
    run: Callable[[Sequence, Features], list[RawResult]],
    note_once: Callable[[str], None],
) -> LabelledOutputs:
    """Compute what metrics and other comparisons with labels need.

    Args:
        processor: The task's processor.
        y: The labels; None for a task that makes its own.
        tokenize: Returns the examples and their features for metrics.
        run: Computes the raw result of each row.
        note_once: Prints a line that was not printed before.

    Raises:
        KerasBertError: When there are no labels, outputs are not finite, or the processor rejects an example or a label.
    """
    if y is None and not processor.self_supervised:
        raise KerasBertError("expected labels to score predictions, received none; pass `y`, or a table with labels")
    examples, features = tokenize()
    for line in processor.notes_on_labels(y, examples):
        note_once(line)
    raw_results = run(examples, features)
    check_finite(raw_results)
    return LabelledOutputs(y, examples, features, raw_results)


def check_finite(raw_results: RawResults) -> None:
    """Check that outputs have neither NaN nor infinity, which would make metrics those of a random class.

    Raises:
        KerasBertError: When they have.
    """
    for name in raw_results[0] if raw_results else ():
        broken = [row for row, raw_result in enumerate(raw_results) if not np.isfinite(raw_result[name]).all()]
        if broken:
            raise KerasBertError(
                f"expected finite outputs to score, received NaN or infinity in {name!r} on {len(broken):,} of {len(raw_results):,} rows, "
                f"the first is row {broken[0]}; the model is damaged, or its training diverged"
            )
