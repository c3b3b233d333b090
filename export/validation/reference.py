"""The reference of a validation: the model that a file's outputs are compared with."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from kerasbert.console.progress import Progress
from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.isolated_session import WorkerProcess
from kerasbert.export.runtime.runner import Runner
from kerasbert.export.runtime.session import Port
from kerasbert.export.tflite.metadata import tokenizer_of
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.export.validation.data import Data
from kerasbert.export.validation.examples import INPUTS, Examples, Packed, RowOutputs
from kerasbert.export.validation.npz_file import read_npz
from kerasbert.processors import Processor, make_processor
from kerasbert.processors.requested import requested_answers
from kerasbert.text import Tokenizer

_PROCESSOR_OF_OUTPUT = {
    "probabilities": "single_label",
    "score": "regression",
    "embedding": "embedding",
    "start_logits": "question_answering",
    "end_logits": "question_answering",
}
_NPZ_LABELS = "labels"
_CHUNK_BYTES, _CHUNK = 64 << 20, 64


class OutputFunction(Protocol):
    """Computes or looks up outputs."""

    def __call__(self, inputs: Packed, row_numbers: np.ndarray) -> dict[str, np.ndarray]:
        """Return the outputs of some rows.

        Args:
            inputs: Packed arrays (token lists, length) by name.
            row_numbers: Each row's position in the data; an archive finds its rows by it.

        Returns:
            Arrays (token lists, ...) by output name.
        """
        ...


@dataclass(frozen=True)
class Reference:
    """The model that a file is compared with.

    Attributes:
        name: For reports.
        outputs: Computes its outputs.
        processor: None where it is not known.
        tokenizer: None where it has none.
        vocabulary: None where it has none.
        length: Tokens in a row; None where it takes any, or it is not known.
        data: An archive's own packed inputs and labels. Such a reference has the outputs of those rows only.
        weights: The fingerprint of its trained weights; empty where it is not known.
        vocab_size: Rows of its token embedding table; None where it is not known.
    """

    name: str
    outputs: OutputFunction
    processor: Processor | None = None
    tokenizer: Tokenizer | None = None
    vocabulary: tuple[str, ...] | None = None
    length: int | None = None
    data: Data | None = None
    weights: str = ""
    vocab_size: int | None = None


def open_reference(against: Any, threads: int = 1) -> Reference:
    """Open a reference.

    Args:
        against: A Keras task, a saved folder, a `.tflite` file or an `.npz` archive.
        threads: CPU threads, of a `.tflite` file.

    Raises:
        KerasBertError: When `against` is none of these, or cannot be read.
    """
    if hasattr(against, "serve_numpy") and hasattr(against, "processor"):
        return _task_reference(against)
    if not isinstance(against, str | os.PathLike):
        raise KerasBertError(
            "expected `against` to be a kerasbert task, a saved folder, a .tflite file or an .npz archive, "
            f"received {type(against).__name__}; give one of these"
        )
    path = Path(against)
    if path.is_dir():
        from kerasbert.tasks.auto import load_task

        task = load_task(path)
        for name, value in requested_answers().items():
            setattr(task, name, value)
        return _task_reference(task, path.name)
    if path.suffix == ".npz":
        return npz_reference(path)
    return _tflite_reference(path, threads)


def guess_processor(outputs: Packed) -> Processor:
    """Guess the processor of outputs without metadata.

    The name and the width decide; probabilities that do not sum to 1 are multi-label.
    """
    name, values = next(iter(outputs.items()))
    guess = _PROCESSOR_OF_OUTPUT.get(name, "single_label" if values.ndim == 2 and values.shape[1] > 1 else "regression")
    if values.ndim == 3:
        guess = "tagging" if name == "probabilities" else "masked_lm"
    elif name == "logits" and values.shape[1] == 1:
        guess = "multiple_choice"
    elif guess == "single_label" and not np.allclose(values.sum(axis=1), 1.0, atol=0.05):
        guess = "multi_label" if name == "probabilities" else "embedding"
    classes = guess in ("single_label", "multi_label", "tagging")
    return make_processor(guess, tuple(map(str, range(values.shape[-1]))) if classes else None)


def collect_outputs(
    reference: Reference, examples: Examples, ports: Mapping[str, Port], progress: Progress
) -> list[RowOutputs]:
    """Compute the reference's outputs row by row; few rows at a time where outputs are large.

    Args:
        reference: The reference.
        examples: The rows.
        ports: The outputs of the file.
        progress: Receives the progress.

    Raises:
        KerasBertError: When the reference has other outputs than the file.
    """
    group = examples.features.group
    row_bytes = sum(int(np.prod(port.shape)) * 4 for port in ports.values()) * group
    chunk = int(np.clip(_CHUNK_BYTES // max(row_bytes, 1), 1, _CHUNK))
    collected = []
    progress.begin(f"running {reference.name}", len(examples), "rows")
    for start in range(0, len(examples), chunk):
        stop = min(start + chunk, len(examples))
        numbers = np.arange(start, stop)
        outputs = reference.outputs(examples.inputs_of(numbers), examples.row_numbers[numbers])
        if not start:
            _check_shapes(outputs, ports, reference.name)
        for row in range(start, stop):
            token_lists = slice((row - start) * group, (row - start + 1) * group)
            collected.append(examples.extract({name: outputs[name][token_lists] for name in ports}, row))
        progress.advance(stop)
    return collected


def _check_shapes(outputs: Packed, ports: Mapping[str, Port], name: str) -> None:
    if set(ports) - set(outputs):
        raise KerasBertError(
            f"expected the outputs {', '.join(sorted(ports))} from {name}, received {', '.join(sorted(outputs))}; "
            "compare a file with the model it was converted from"
        )
    for key, port in ports.items():
        if outputs[key].shape[1:] != port.shape[1:]:
            raise KerasBertError(
                f"expected {key!r} of the same width on both sides, received {port.shape[1:]} in the file and "
                f"{outputs[key].shape[1:]} in {name}; compare models with the same classes"
            )


def _task_reference(task: Any, name: str | None = None) -> Reference:
    tokenizer = getattr(task, "tokenizer", None) if getattr(task, "has_tokenizer", True) else None
    vocabulary = getattr(tokenizer, "vocabulary", None)

    def outputs(inputs: Packed, row_numbers: np.ndarray) -> dict[str, np.ndarray]:
        return {key: np.asarray(value) for key, value in task.serve_numpy(inputs).items()}

    return Reference(
        name=name or f"Keras {type(task).__name__}",
        outputs=outputs,
        processor=task.processor,
        tokenizer=tokenizer,
        vocabulary=None if vocabulary is None else tuple(vocabulary),
        length=getattr(task, "sequence_length", None),
        weights=task.fingerprint() if hasattr(task, "fingerprint") else "",
        vocab_size=getattr(getattr(task, "config", None), "vocab_size", None),
    )


def _tflite_reference(path: Path, threads: int) -> Reference:
    file = ModelFile.read(path)
    metadata = file.metadata
    runner = Runner(WorkerProcess(path, threads).open)  # it may be damaged as well as the file under validation

    def outputs(inputs: Packed, row_numbers: np.ndarray) -> dict[str, np.ndarray]:
        length = inputs["input_ids"].shape[1]
        own_length = metadata.sequence_length if metadata else None
        if own_length is not None and own_length != length:
            raise KerasBertError(
                f"expected a file of length {length} on both sides, received {path} of length {own_length}; convert it with that length"
            )
        return runner.at(length).run_arrays(inputs)[0]

    return Reference(
        name=path.name,
        outputs=outputs,
        processor=metadata.processor if metadata else None,
        tokenizer=tokenizer_of(metadata) if metadata and metadata.vocabulary else None,
        vocabulary=metadata.vocabulary if metadata else None,
        length=metadata.sequence_length if metadata else None,
        weights=metadata.weights if metadata else "",
        vocab_size=metadata.vocab_size if metadata else None,
    )


def npz_reference(path: Path) -> Reference:
    """Open an archive with `input_ids` and other inputs, outputs by name and, if wanted, `labels`.

    Raises:
        KerasBertError: When it is no such archive.
    """
    arrays = read_npz(path)
    inputs = {name: arrays.pop(name) for name in INPUTS if name in arrays}
    labels = arrays.pop(_NPZ_LABELS, None)
    rows = {len(values) for values in [*inputs.values(), *arrays.values()] if values.ndim}
    if "input_ids" not in inputs or not arrays or len(rows) != 1 or inputs["input_ids"].ndim != 2:
        raise KerasBertError(
            f"expected {', '.join(INPUTS)} and at least one output of as many rows in {path}, "
            f"received {', '.join(sorted({**inputs, **arrays})) or 'nothing'}; save these arrays with numpy.savez"
        )

    def outputs(inputs: Packed, row_numbers: np.ndarray) -> dict[str, np.ndarray]:
        return {name: values[row_numbers] for name, values in arrays.items()}

    return Reference(name=path.name, outputs=outputs, data=Data(inputs, labels))
