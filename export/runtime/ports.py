"""Checks that a file has the inputs and outputs of its task."""

from collections.abc import Iterable

from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.session import Session
from kerasbert.export.tflite.metadata import TEXT
from kerasbert.ids import INPUT_NAMES
from kerasbert.processors import Processor


def check_ports(model: Session, processor: Processor, takes_text: bool) -> None:
    """Check that a model fits a processor: inputs of ids or a text, and outputs of the processor's names, ranks and number of labels.

    Args:
        model: The model.
        processor: The processor.
        takes_text: Whether the model should take a text.

    Raises:
        KerasBertError: when it does not.
    """
    inputs = (TEXT,) if takes_text else INPUT_NAMES
    _check_names("inputs", model, inputs, set(model.inputs) - set(inputs))
    _check_names("outputs", model, processor.outputs, set(processor.outputs) - set(model.outputs))
    for name in processor.outputs:
        shape = model.outputs[name].shape
        rank, per_token, width = processor.output_form(name)
        if len(shape) != rank or (per_token and model.length is not None and shape[1] != model.length):
            raise KerasBertError(
                f"expected {name!r} of {model.name} as a model of the task type {processor.name!r} has it, received the shape {shape}; "
                "convert the model again"
            )
        if width is not None and shape[-1:] != (width,):
            raise KerasBertError(
                f"expected as many labels as classes in {model.name}, received {width} labels and {name} of width "
                f"{' '.join(map(str, shape[-1:])) or 'none'}; convert the model again"
            )


def _check_names(side: str, model: Session, expected: Iterable[str], unmatched: set[str]) -> None:
    if unmatched:
        source = f"the names of its signature {model.signature!r}"
        if not model.signature:
            source = "names of tensors: it has no signature"
        raise KerasBertError(
            f"expected {side} {', '.join(sorted(expected))} of {model.name}, received {', '.join(sorted(getattr(model, side)))}, "
            f"{source}; convert the model again"
        )
