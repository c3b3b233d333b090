"""A saved folder or a `.tflite` file as one thing: texts in, outputs out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from kerasbert.cli.progress import note, progress

_BATCH = 32
_BUCKET = 16  # a resizable file is opened once for each multiple of this
_LONGEST = 128  # tokens, where neither file nor tokenizer names a limit

Report = Callable[[int, int], None]


class Predictor(Protocol):
    """problem, labels: as in the metadata. `outputs`: texts and perhaps second texts to what the file gives:
    probabilities (N, classes), scores (N, 1) or vectors (N, H)."""

    problem: str
    labels: tuple[str, ...] | None

    def outputs(self, texts: Sequence[str], pairs: Sequence[str] | None, report: Report) -> np.ndarray: ...


def is_tflite(model: str) -> bool:
    """True for what can only be a `.tflite` file: any file, or a name with that ending."""
    return Path(model).is_file() or model.endswith(".tflite")


def open_predictor(model: str, threads: int = 1) -> Predictor:
    """Opens a `.tflite` file, without TensorFlow, or else a saved folder or hub name.

    Raises KerasBertError when it is none of them, is damaged, or is a file without kerasbert's metadata.
    """
    if is_tflite(model):
        return _file(model, threads)
    with progress("loading TensorFlow and the model"):
        from kerasbert.tasks.folders import load_task

        return _Folder(load_task(model))


def predict(predictor: Predictor, texts: Sequence[str], pairs: Sequence[str] | None = None) -> np.ndarray:
    """Outputs of all texts, with progress."""
    with progress("predicting") as bar:
        return predictor.outputs(texts, pairs, lambda done, total: bar.update(done, total))


@dataclass(frozen=True)
class _Folder:
    task: Any

    @property
    def problem(self) -> str:
        return self.task.problem

    @property
    def labels(self) -> tuple[str, ...] | None:
        return self.task.labels

    def outputs(self, texts, pairs, report):
        import tf_keras as keras

        total = len(texts)
        watch = keras.callbacks.LambdaCallback()
        watch.on_predict_batch_end = lambda batch, logs=None: report(min((batch + 1) * _BATCH, total), total)
        return self.task.predict(
            list(texts) if pairs is None else (list(texts), list(pairs)), batch_size=_BATCH, callbacks=[watch]
        )


def _file(model: str, threads: int) -> "_File":
    from kerasbert.export import metadata
    from kerasbert.text import tokenizer_from_config

    card = metadata.require(model, "to run it on texts")
    tokenizer = tokenizer_from_config({**card.tokenizer, "vocabulary": list(card.vocabulary or ())})
    return _File(model, card, tokenizer, threads)


@dataclass(frozen=True)
class _File:
    path: str
    card: Any
    tokenizer: Any
    threads: int

    @property
    def problem(self) -> str:
        return self.card.problem

    @property
    def labels(self) -> tuple[str, ...] | None:
        return self.card.labels

    def outputs(self, texts, pairs, report):
        from kerasbert.export.runtimes import open_model
        from kerasbert.text import pack

        limit = self.card.sequence_length or min(self.tokenizer.model_max_length or _LONGEST, _LONGEST)
        encoded = self.tokenizer.encode(texts, pairs, max_length=limit)
        if encoded.truncated:
            note(f"{encoded.truncated:,} of {len(texts):,} texts are longer than {limit} tokens and were cut")
        packed = pack(encoded, length=limit, pad_id=self.tokenizer.pad_id)
        opened = {}
        results = []
        for row, ids in enumerate(encoded.input_ids):
            length = self.card.sequence_length or min(-(-len(ids) // _BUCKET) * _BUCKET, limit)
            if length not in opened:
                opened[length] = open_model(self.path, threads=self.threads, length=length)
            model = opened[length]
            found = model.run({name: packed[name][row : row + 1, :length] for name in model.inputs})
            results.append(next(iter(found.values())))
            report(row + 1, len(texts))
        return np.concatenate(results)
