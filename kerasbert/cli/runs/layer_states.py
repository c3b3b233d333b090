"""`kerasbert predict --layer`: the hidden states of a layer for texts."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kerasbert.cli.inputs.saved_model import read_processor
from kerasbert.cli.outputs.results import Result
from kerasbert.cli.outputs.vectors_file import write_layer_vectors
from kerasbert.cli.process.progress import loading, progress
from kerasbert.errors import KerasBertError
from kerasbert.export.tflite.file_kind import is_tflite
from kerasbert.processors import Processor, make_processor
from kerasbert.processors.embedding import with_prompt


def predict_layer(
    model: str,
    read_parts: Callable[[Processor], Iterator[Any]],
    layer: int,
    vectors: str | None,
    out: Path,
    prompt: tuple[str | None, str | None],
) -> Result:
    """Compute the vectors of a layer, and write them.

    Args:
        model: A saved folder, an encoder of the zoo or a hub name.
        read_parts: Yields the examples of the command, all in one part.
        layer: The layer.
        vectors: The kind of vectors; None for the mean.
        out: The file.
        prompt: The name of a prompt, and a prompt itself.

    Raises:
        KerasBertError: When the model has no such layer, is a `.tflite` file, or an example cannot be read.
    """
    kind = vectors or "mean"
    # A file is refused below, before its data is read.
    texts = None if is_tflite(model) else _texts(read_parts, read_processor(model))
    with loading("the model"):
        from kerasbert.tasks.layer_vectors import layer_vectors
        from kerasbert.tasks.state_reader import StateReader

        reader = StateReader.open(model)
    chosen = reader.layer(layer)
    prefix = None
    if prompt != (None, None):
        processor = make_processor("embedding") if reader.task is None else reader.task.processor
        prompted = with_prompt(processor, *prompt)
        prefix = None if prompted is None else prompted.prefix
    with progress("reading hidden states", "rows") as bar:
        found = layer_vectors(reader, texts, layer, kind, prefix, report=bar.advance)
    return write_layer_vectors(out, found, {"model": model, "layer": chosen, "vectors": kind})


def _texts(read_parts: Callable[[Processor], Iterator[Any]], processor: Processor | None) -> Any:
    """Return the examples of the command as texts or pairs; those of a tagger are lists of words."""
    processor = processor or make_processor("single_label")
    examples = processor.examples(next(read_parts(processor)))
    if any(isinstance(example, tuple) and not all(isinstance(part, str) for part in example) for example in examples):
        raise KerasBertError(
            f"expected texts or pairs of texts for --layer, received examples of the task type {processor.name!r}; give one text a line"
        )
    return [" ".join(example) if isinstance(example, list) else example for example in examples]
