"""The other side of a validation: what says how a file's outputs should be."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.interpreter_model import Port
from kerasbert.export.runtime.isolated_model import IsolatedFile
from kerasbert.export.runtime.predictor import tokenizer_of
from kerasbert.export.tflite import metadata as packed
from kerasbert.export.tflite.reader import check_structure
from kerasbert.export.validation.examples import INPUTS, Data, Examples, Kept, Packed
from kerasbert.export.validation.npz_file import read_npz
from kerasbert.processors import Processor, make_processor

_PROCESSOR_OF_OUTPUT = {
    "probabilities": "single_label",
    "score": "regression",
    "embedding": "embedding",
    "start_logits": "question_answering",
    "end_logits": "question_answering",
}
_NPZ_LABELS = "labels"
_CHUNK_BYTES, _CHUNK = 64 << 20, 64


@dataclass(frozen=True)
class Reference:
    """The other side of a comparison.

    outputs: packed arrays (N, S) -> outputs by name (N, ...). processor, tokenizer: what it is asked, and what turns texts into ids; None
    where it cannot tell.
    fixed: an archive's own packed inputs and labels; such a side knows the outputs of those rows only.
    weights: the fingerprint of its trained weights, where it is known.
    """

    name: str
    outputs: Callable[[Packed], dict[str, np.ndarray]]
    processor: Processor | None = None
    tokenizer: object = None
    vocabulary: tuple[str, ...] | None = None
    length: int | None = None
    fixed: Data | None = None
    weights: str = ""


def open_reference(against, length: int | None, threads: int) -> Reference:
    """Makes a `Reference` of a Keras task, a saved folder, a `.tflite` file or an `.npz` archive.

    Raises:
        KerasBertError: `against` is none of these, or cannot be read.
    """
    if hasattr(against, "serve_numpy") and hasattr(against, "processor"):
        return _task_side(against)
    if not isinstance(against, str | os.PathLike):
        raise KerasBertError(
            "expected `against` to be a kerasbert task, a saved folder, a .tflite file or an .npz archive, "
            f"received {type(against).__name__}"
        )
    path = Path(against)
    if path.is_dir():
        import kerasbert

        return _task_side(kerasbert.load_task(path), path.name)
    if path.suffix == ".npz":
        return _npz_side(path)
    return _tflite_side(path, length, threads)


def guess_processor(outputs: Packed) -> Processor:
    """The processor behind outputs that carry no metadata, by their name and width; probabilities that do not sum to 1 are per label."""
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


def collect(
    side: Reference, examples: Examples, ports: Mapping[str, Port], progress: Callable[[int, int], None]
) -> list[Kept]:
    """What the processor keeps of the other side's outputs, row by row; few rows at a time where outputs are large.

    Raises KerasBertError when the outputs are not those of `ports`, the file's.
    """
    width = sum(int(np.prod(port.shape)) * 4 for port in ports.values()) * examples.group
    chunk, found = int(np.clip(_CHUNK_BYTES // max(width, 1), 1, _CHUNK)), []
    for start in range(0, len(examples), chunk):
        stop = min(start + chunk, len(examples))
        outputs = reference_outputs(side, examples, start, stop)
        if not start:
            _same_shapes(outputs, ports, side.name)
        for row in range(start, stop):
            lists = slice((row - start) * examples.group, (row - start + 1) * examples.group)
            found.append(examples.keep({name: outputs[name][lists] for name in ports}, row))
        progress(stop, len(examples))
    return found


def reference_outputs(side: Reference, examples: Examples, start: int, stop: int) -> dict[str, np.ndarray]:
    """The other side's outputs for the token lists of some rows."""
    lists = examples.lists(start, stop)
    return side.outputs({**lists, "row": examples.numbers[start:stop]} if side.fixed else lists)


def _same_shapes(outputs: Packed, ports: Mapping[str, Port], name: str) -> None:
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


def _task_side(task, name: str | None = None) -> Reference:
    tokenizer = getattr(task, "tokenizer", None) if getattr(task, "has_tokenizer", True) else None
    vocabulary = getattr(tokenizer, "vocabulary", None)
    return Reference(
        name=name or f"Keras {type(task).__name__}",
        outputs=lambda rows: {key: np.asarray(value) for key, value in task.serve_numpy(rows).items()},
        processor=task.processor,
        tokenizer=tokenizer,
        vocabulary=None if vocabulary is None else tuple(vocabulary),
        length=getattr(task, "sequence_length", None),
        weights=task.fingerprint() if hasattr(task, "fingerprint") else "",
    )


def _tflite_side(path: Path, length: int | None, threads: int) -> Reference:
    card = packed.read(path)
    own = card.sequence_length if card else None
    if own is not None and own != length:
        raise KerasBertError(f"expected a file of length {length} on both sides, received {path} of length {own}")
    check_structure(path)
    model = IsolatedFile(path, threads).open(length)  # it may be damaged as well as the other one

    def outputs(rows: Packed) -> dict[str, np.ndarray]:
        one_by_one = ({name: rows[name][i : i + 1] for name in model.inputs} for i in range(len(rows["input_ids"])))
        results = list(model.run_each(one_by_one))
        return {name: np.concatenate([result[name] for result in results]) for name in model.outputs}

    return Reference(
        name=path.name,
        outputs=outputs,
        processor=card.processor if card else None,
        tokenizer=tokenizer_of(card) if card and card.vocabulary else None,
        vocabulary=card.vocabulary if card else None,
        length=own,
        weights=card.weights if card else "",
    )


def _npz_side(path: Path) -> Reference:
    arrays = read_npz(path)
    inputs = {name: arrays.pop(name) for name in INPUTS if name in arrays}
    labels = arrays.pop(_NPZ_LABELS, None)
    rows = {len(value) for value in [*inputs.values(), *arrays.values()] if value.ndim}
    if "input_ids" not in inputs or not arrays or len(rows) != 1 or inputs["input_ids"].ndim != 2:
        raise KerasBertError(
            f"expected {', '.join(INPUTS)} and at least one output of as many rows in {path}, "
            f"received {', '.join(sorted({**inputs, **arrays})) or 'nothing'}"
        )

    def outputs(asked: Packed) -> dict[str, np.ndarray]:
        # Rows are found again by their position, which `validate` passes along.
        return {name: values[asked["row"]] for name, values in arrays.items()}

    return Reference(name=path.name, outputs=outputs, fixed=Data(inputs, labels))
