"""The two things a validation compares on: real examples, and the other side that says what the outputs should be."""

import os
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export import metadata as packed
from kerasbert.export.metrics import Metric, check_labels, pair_cosine, task_metric
from kerasbert.export.runtimes import Port, open_model

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_PROBLEM_OF_OUTPUT = {"probabilities": "single_label", "score": "regression", "embedding": "embedding"}
_NPZ_LABELS = "labels"
_CHUNK = 64

Packed = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Side:
    """The other side of a comparison.

    outputs: packed arrays (N, S) -> outputs by name (N, ...). pack: texts, pairs, length -> packed arrays; None where
    it cannot.
    fixed: an archive's own packed inputs and labels; such a side knows the outputs of those rows only.
    weights: the fingerprint of its trained weights, where it is known.
    """

    name: str
    outputs: Callable[[Packed], dict[str, np.ndarray]]
    pack: Callable[..., Packed] | None = None
    problem: str | None = None
    labels: tuple[str, ...] | None = None
    vocabulary: tuple[str, ...] | None = None
    length: int | None = None
    fixed: tuple[Packed, np.ndarray | None] | None = None
    weights: str = ""


@dataclass(frozen=True)
class Examples:
    """Packed rows, int32 (N, S) an input, with their labels if there are any.

    `paired`: the first half of the rows and the second are the two texts of sentence pairs, and there is one label a
    pair.
    """

    inputs: Packed
    labels: np.ndarray | None = None
    paired: bool = False

    def __len__(self) -> int:
        return len(next(iter(self.inputs.values())))

    @property
    def length(self) -> int:
        return next(iter(self.inputs.values())).shape[1]

    def row(self, number: int, ports: Mapping[str, Port]) -> dict[str, np.ndarray]:
        """One example with a batch axis, the inputs that a model takes."""
        return {name: self.inputs[name][number : number + 1] for name in ports if name in self.inputs}

    def metrics(self, problem: str, expected: Packed, outputs: Packed) -> tuple[Metric, ...]:
        """The task's metric of both sides over all rows; empty without labels."""
        if self.labels is None:
            return ()
        name = next(iter(outputs))
        sides = [expected[name], outputs[name]]
        if problem == "embedding":
            if not self.paired:
                return ()
            sides = [pair_cosine(*np.split(side, 2)) for side in sides]
        elif problem != "regression":
            check_labels(problem, self.labels, sides[1].shape[1])
        return task_metric(problem, self.labels, *sides)


def open_side(against, length: int | None, threads: int) -> Side:
    """Makes a `Side` of a Keras task, a saved folder, a `.tflite` file or an `.npz` archive.

    Raises:
        KerasBertError: `against` is none of these, or cannot be read.
    """
    if hasattr(against, "serve_numpy") and hasattr(against, "pack"):
        return _task_side(against)
    if not isinstance(against, str | os.PathLike):
        raise KerasBertError(
            "Expected `against` to be a kerasbert task, a saved folder, a .tflite file or an .npz archive. "
            f"Received: {type(against).__name__}."
        )
    path = Path(against)
    if path.is_dir():
        import kerasbert

        return _task_side(kerasbert.load_task(path), path.name)
    if path.suffix == ".npz":
        return _npz_side(path)
    return _tflite_side(path, length, threads)


def text_packer(card: packed.Metadata) -> Callable[..., Packed]:
    """texts, pairs, length -> packed arrays, with the tokenizer that a `.tflite` file carries."""
    from kerasbert.text import pack, tokenizer_from_config

    tokenizer = tokenizer_from_config({**card.tokenizer, "vocabulary": list(card.vocabulary or ())})

    def pack_texts(texts, pairs=None, length=None):
        return pack(tokenizer.encode(texts, pairs, max_length=length), length=length, pad_id=tokenizer.pad_id)

    return pack_texts


def read_data(data) -> tuple[object, object, object]:
    """Splits what a user passes as data into (texts or packed arrays, pairs or None, labels or None).

    Raises:
        KerasBertError: a shape of data that is not one of those that `validate` names.
    """
    if isinstance(data, str | os.PathLike):
        from kerasbert.data.tables import read_table

        table = read_table(data)
        return table.texts, table.pairs, table.labels
    labels = None
    if isinstance(data, tuple) and len(data) == 2 and not isinstance(data[0], str):
        data, labels = data
    if isinstance(data, Mapping):
        return data, None, labels
    pairs = None
    if isinstance(data, tuple) and len(data) == 2 and not isinstance(data[0], str):
        data, pairs = (list(texts) for texts in data)
    if not isinstance(data, list | tuple | np.ndarray) or not all(isinstance(text, str) for text in data):
        raise KerasBertError(
            "Expected data as (texts, labels), ((texts, pairs), labels), a list of texts, a path to a table, or a "
            "dict of packed arrays. "
            f"Received: {type(data).__name__}."
        )
    if pairs is not None and len(pairs) != len(data):
        raise KerasBertError(f"Expected as many pairs as texts. Received: {len(data)} texts and {len(pairs)} pairs.")
    return list(data), pairs, labels


def label_array(labels, problem: str, names: Sequence[str] | None) -> np.ndarray:
    """Labels as numbers: class indices (N,), 0/1 (N, C), or scores (N,) float.

    Raises:
        KerasBertError: a label that is not among `names`, or not a number where one is needed.
    """
    if problem == "multi_label":
        return _multi_hot(labels, names)
    values = np.asarray(labels)
    if values.ndim != 1:
        raise KerasBertError(f"Expected one label a row. Received: labels of shape {values.shape}.")
    try:
        if problem != "single_label":
            return values.astype(np.float64)
        if values.dtype.kind in "iub":
            return values.astype(np.int64)
        if values.dtype.kind == "f":
            if (values != values.round()).any():
                raise KerasBertError(f"Expected class labels. Received: {values[values != values.round()][0]}.")
            return values.astype(np.int64)
        return _named_labels([str(value) for value in values], names)
    except ValueError as error:
        if isinstance(error, KerasBertError):
            raise
        raise KerasBertError(
            f"Expected numbers as labels of a {problem} model. Received: {values[0]!r} and the like."
        ) from error


def guess_problem(outputs: Packed) -> str:
    """The problem behind outputs that carry no metadata, by their name; probabilities that do not sum to 1 are per
    label."""
    name, values = next(iter(outputs.items()))
    problem = _PROBLEM_OF_OUTPUT.get(name, "single_label" if values.ndim == 2 and values.shape[1] > 1 else "regression")
    if problem == "single_label" and not np.allclose(values.sum(axis=1), 1.0, atol=0.05):
        return "multi_label" if name == "probabilities" else "embedding"
    return problem


def _task_side(task, name: str | None = None) -> Side:
    labels = getattr(task, "labels", None)
    vocabulary = getattr(getattr(task, "tokenizer", None), "vocabulary", None)
    return Side(
        name=name or f"Keras {type(task).__name__}",
        outputs=lambda rows: {key: np.asarray(value) for key, value in task.serve_numpy(rows).items()},
        pack=task.pack,
        problem=getattr(task, "problem", None),
        labels=None if labels is None else tuple(labels),
        vocabulary=None if vocabulary is None else tuple(vocabulary),
        length=getattr(task, "sequence_length", None),
        weights=task.fingerprint() if hasattr(task, "fingerprint") else "",
    )


def _tflite_side(path: Path, length: int | None, threads: int) -> Side:
    card = packed.read(path)
    own = card.sequence_length if card else None
    model = open_model(path, threads=threads, length=length) if own is None or own == length else None
    if model is None:
        raise KerasBertError(f"Expected a file of length {length} on both sides. Received: {path} of length {own}.")

    def outputs(rows: Packed) -> dict[str, np.ndarray]:
        results = [
            model.run({name: rows[name][i : i + 1] for name in model.inputs}) for i in range(len(rows["input_ids"]))
        ]
        return {name: np.concatenate([result[name] for result in results]) for name in model.outputs}

    return Side(
        name=path.name,
        outputs=outputs,
        pack=text_packer(card) if card and card.vocabulary else None,
        problem=card.problem if card else None,
        labels=card.labels if card else None,
        vocabulary=card.vocabulary if card else None,
        length=own,
        weights=card.weights if card else "",
    )


def _npz_side(path: Path) -> Side:
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise KerasBertError(f"Expected an .npz archive of arrays. Received: {path} ({error}).") from error
    inputs = {name: arrays.pop(name) for name in INPUTS if name in arrays}
    labels = arrays.pop(_NPZ_LABELS, None)
    rows = {len(value) for value in [*inputs.values(), *arrays.values()] if value.ndim}
    if "input_ids" not in inputs or not arrays or len(rows) != 1:
        raise KerasBertError(
            f"Expected {', '.join(INPUTS)} and at least one output of as many rows in {path}. "
            f"Received: {', '.join(sorted({**inputs, **arrays})) or 'nothing'}."
        )

    def outputs(asked: Packed) -> dict[str, np.ndarray]:
        # Rows are found again by their position, which `validate` passes along.
        return {name: values[asked["row"]] for name, values in arrays.items()}

    return Side(name=path.name, outputs=outputs, fixed=(inputs, labels))


def _named_labels(values: list[str], names: Sequence[str] | None) -> np.ndarray:
    index = {name: number for number, name in enumerate(names or ())}
    if all(value in index for value in values):
        return np.array([index[value] for value in values], np.int64)
    numbers = [value for value in values if not value.isdecimal()]
    if not numbers:
        return np.array([int(value) for value in values], np.int64)
    wrong = next((value for value in values if value not in index), numbers[0])
    raise KerasBertError(
        f"Expected labels among {', '.join(list(index)[:10]) or 'class numbers'}. Received: {wrong!r}. "
        "The data and the model disagree: check the label column, or the model."
    )


def _multi_hot(labels, names: Sequence[str] | None) -> np.ndarray:
    if isinstance(labels, np.ndarray) and labels.ndim == 2:
        return labels.astype(np.int64)
    from kerasbert.data.labels import split_labels

    rows = [split_labels(row, number) if isinstance(row, str) else list(row) for number, row in enumerate(labels)]
    if not all(isinstance(value, str) for row in rows for value in row):
        return np.asarray(rows).astype(np.int64)
    index = {name: number for number, name in enumerate(names or ())}
    hot = np.zeros((len(rows), len(index)), np.int64)
    for number, row in enumerate(rows):
        for value in row:
            if value not in index:
                raise KerasBertError(
                    f"Expected labels among {', '.join(list(index)[:10])}. Received: {value!r} in row {number}."
                )
            hot[number, index[value]] = 1
    return hot


def collect_outputs(
    side: Side, rows: Packed, numbers: np.ndarray, progress: Callable[[int, int], None]
) -> dict[str, np.ndarray]:
    """The other side's outputs for all rows, some at a time. `numbers` are the rows' positions in the data as given."""
    parts: list[dict[str, np.ndarray]] = []
    for start in range(0, len(numbers), _CHUNK):
        stop = start + _CHUNK
        chunk = {name: values[start:stop] for name, values in rows.items()}
        parts.append(side.outputs({**chunk, "row": numbers[start:stop]} if side.fixed else chunk))
        progress(min(stop, len(numbers)), len(numbers))
    return {name: np.concatenate([np.asarray(part[name]) for part in parts]) for name in parts[0]}
