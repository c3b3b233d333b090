"""A file with a signature for each exit as one model: it runs them in turn until one is confident."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.interpreter_session import SIGNATURE
from kerasbert.export.runtime.session import Inputs, Port, Run, Session, guarded
from kerasbert.export.tflite.metadata import Metadata
from kerasbert.processors.exits import CONFIDENCE, HIDDEN, LAYERS


def stage_stem(number: int) -> str:
    """Return the name of the signature that ends at an exit, counted from 1, in a file of one length."""
    return f"exit_{number}"


def signature_name(stage: int | None, length: int | None) -> str:
    """Return the name of a signature of a length.

    Args:
        stage: The exit at the end, from 0; None for the whole model.
        length: The length; None for a file of one length.
    """
    stem = SIGNATURE if stage is None else stage_stem(stage + 1)
    return stem if length is None else f"{stem}_{length}"


def stems_of(metadata: Metadata | None) -> tuple[str, ...]:
    """Return the stems of the signatures that run in turn: those of the exits, or `serve`."""
    if metadata is None or not metadata.exits:
        return (SIGNATURE,)
    return tuple(stage_stem(number + 1) for number in range(len(metadata.exits)))


def in_turn(stages: Sequence[Session], layers: Sequence[int], threshold: float | None) -> Session:
    """Return the stages of a file as one model, which ends at the first exit whose confidence reaches the threshold.

    Args:
        stages: One model for each exit, at one length.
        layers: The layers before each exit.
        threshold: The confidence; None runs all stages.

    Returns:
        A model with the outputs of the last stage, and `layers` `(1,)`: the number of layers that ran.

    Raises:
        KerasBertError: When a stage does not take what the one before returns.
    """
    first, last = stages[0], stages[-1]
    _check(stages)

    def run(inputs: Inputs) -> Run:
        values, total, number = dict(inputs), 0.0, 0
        while True:
            outputs, seconds = stages[number].timed({name: values[name] for name in stages[number].inputs})
            total += seconds
            if number == len(stages) - 1 or (threshold is not None and float(outputs[CONFIDENCE][0]) >= threshold):
                answers = {name: outputs[name] for name in last.outputs}
                return {**answers, LAYERS: np.array([layers[number]], np.float32)}, total
            values[HIDDEN], number = outputs[HIDDEN], number + 1

    def at(length: int) -> Session:
        return in_turn([stage.at(length) for stage in stages], layers, threshold)

    outputs = {**last.outputs, LAYERS: Port((1,), np.dtype("float32"))}
    return replace(first, outputs=outputs, run_each=guarded(first.name, run), at=at)


def _check(stages: Sequence[Session]) -> None:
    first, last = stages[0], stages[-1]
    if HIDDEN in last.outputs:
        raise KerasBertError(
            f"expected {len(stages)} exits in {first.name}, as its metadata say, received more: {last.signature!r} is followed by another; "
            "convert the model again"
        )
    for stage, following in zip(stages, stages[1:], strict=False):
        given = {**first.inputs, HIDDEN: stage.outputs.get(HIDDEN)}
        fits = all(given.get(name) == port for name, port in following.inputs.items())
        answers = {name: stage.outputs.get(name) for name in last.outputs} == dict(last.outputs)
        if not (fits and answers and CONFIDENCE in stage.outputs and stage.outputs[CONFIDENCE].shape == (1,)):
            raise KerasBertError(
                f"expected signatures of exits in {first.name} that run in turn, received {following.signature!r}, which does not follow "
                f"{stage.signature!r}; convert the model again"
            )
