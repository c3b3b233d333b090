"""The child of `benchmark`: opens one or two models, runs rows, and says in JSON how long each took.

    python -m kerasbert.export.runtime.benchmark_worker OPTIONS.json

The options are the arguments of `measured`. Reading anything else would count as memory.
"""

import json
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.bucketed_model import BucketedModel
from kerasbert.export.runtime.interpreter_model import InterpreterModel, one_line
from kerasbert.export.runtime.interpreters import DEFAULT_LENGTH, find_runtime, open_at_any_length, open_model
from kerasbert.files.json_text import read_json_object
from kerasbert.optional import import_optional

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
ONNX = ".onnx"

Run = Callable[[], None]


class TFLiteRunner:
    """A `.tflite` file that was verified, of one length, or of the shortest that each row fits."""

    def __init__(self, path: str, length: int | None, threads: int, longest: int | None):
        self.models = None if longest is None else BucketedModel.of(path, longest, threads)
        if self.models is not None:
            self._model = self.models.at(longest)
        else:
            self._model = (
                open_model(path, threads, length=length, verified=True)
                if length
                else open_at_any_length(path, threads, verified=True)
            )

    @property
    def length(self) -> int | None:
        return self._model.length if self.models is None else None

    @property
    def partitions(self) -> int | None:
        return self._model.partitions

    def open(self, tokens: Sequence[int]) -> None:
        """Opens what rows of so many tokens need."""
        for count in {} if self.models is None else sorted(set(tokens)):
            self.models.at(count)

    def prepared(self, ids: Sequence[int], types: Sequence[int]) -> Run:
        """A function that runs a row, from its arrays to the outputs."""
        model = self._model if self.models is None else self.models.at(len(ids))
        row = _packed(ids, types, model)

        def run() -> None:
            model.fill(row)
            model.invoke()
            model.fetch()

        return run

    def full_row(self, words: int) -> tuple[list[int], list[int]]:
        """Ids and types that fill its length."""
        return _full_row(self._model.length or 1, words)


class OnnxSubject:
    """An `.onnx` file with the same inputs, its length left open or fixed, on ONNX Runtime."""

    partitions = None

    def __init__(self, path: str, length: int | None, threads: int, longest: int | None):
        onnxruntime = import_optional("onnxruntime", "an .onnx file")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        try:
            self._session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # classes of its own, none of them public
            raise KerasBertError(
                f"expected a model that ONNX Runtime can open, received {path} ({one_line(error)})"
            ) from error
        self._ports = {port.name: port for port in self._session.get_inputs()}
        if unknown := sorted(set(self._ports) - set(INPUTS)):
            raise KerasBertError(f"expected inputs among {', '.join(INPUTS)} in {path}, received {', '.join(unknown)}")
        sizes = {port.shape[-1] for port in self._ports.values() if isinstance(port.shape[-1], int)}
        self._fixed = next(iter(sizes), None)
        self.length = None if longest else length or self._fixed or DEFAULT_LENGTH

    def open(self, tokens: Sequence[int]) -> None:
        """It is open."""

    def full_row(self, words: int) -> tuple[list[int], list[int]]:
        return _full_row(self.length, words)

    def prepared(self, ids: Sequence[int], types: Sequence[int]) -> Run:
        padding = [0] * max((self._fixed or 0) - len(ids), 0)
        values = dict(zip(INPUTS, ([*ids, *padding], [1] * len(ids) + padding, [*types, *padding]), strict=True))
        row = {
            name: np.array([values[name]], np.int32 if "int32" in port.type else np.int64)
            for name, port in self._ports.items()
        }
        return lambda: self._session.run(None, row)


def measured(
    paths: Sequence[str],
    length: int | None,
    threads: int,
    runs: int,
    warmup: int,
    words: int,
    rows: dict | None,
) -> dict:
    """Loads, warms up, and times every row; several models in turn, row by row.

    rows: `input_ids` and `token_type_ids` of real texts, and the `longest` of them that is allowed; every one is run equally often, at
    least `runs` times in all. None: a full row of made-up ids below `words`.
    """
    find_runtime()  # imported before the memory is read: it belongs to the process, not to the model
    _reset_peak()
    before, start = _resident(), time.perf_counter()
    longest = None if rows is None else rows["longest"]
    subjects = [_subject(path)(path, length, threads, longest) for path in paths]
    texts = None if rows is None else list(zip(rows["input_ids"], rows["token_type_ids"], strict=True))
    for subject in subjects if texts else ():
        subject.open([len(ids) for ids, _ in texts])
    load = time.perf_counter() - start
    texts = texts or [subjects[0].full_row(words)]
    prepared = [[subject.prepared(*text) for subject in subjects] for text in texts]
    start = time.perf_counter()
    for run in prepared[0]:
        run()
    first = time.perf_counter() - start
    seconds: list[list[float]] = [[] for _ in subjects]
    rounds = -(-runs // len(texts))
    for turn in range(-(-warmup // len(texts)) + rounds):
        for number, row in enumerate(prepared):
            order = range(len(row)) if (turn + number) % 2 else reversed(range(len(row)))
            for side in order:
                start = time.perf_counter()
                row[side]()
                taken = time.perf_counter() - start
                if turn >= -(-warmup // len(texts)):
                    seconds[side].append(taken)
    peak = _peak()
    return {
        "model": "\n".join(Path(path).name for path in paths),
        "length": subjects[0].length,
        "threads": threads,
        "seconds": seconds,
        "tokens": None if rows is None else [len(ids) for ids, _ in texts],
        "load_seconds": load,
        "first_seconds": first,
        "peak_bytes": peak,
        "model_bytes": max(peak - before, 0),
        "partitions": subjects[0].partitions,
    }


def _full_row(length: int, words: int) -> tuple[list[int], list[int]]:
    """Varied ids below `words` and no padding, so every position counts."""
    return [number * 7919 % words for number in range(length)], [0] * length


def _subject(path: str) -> type:
    return OnnxSubject if path.endswith(ONNX) else TFLiteRunner


def _packed(ids: Sequence[int], types: Sequence[int], model: InterpreterModel) -> dict[str, np.ndarray]:
    """The arrays of one row, cut or padded to the model's length."""
    values = dict(zip(INPUTS, (ids, [1] * len(ids), types), strict=True))
    row = {}
    for name, port in model.inputs.items():
        row[name] = np.zeros(port.shape, port.dtype)
        kept = np.asarray(values.get(name, ()), port.dtype)[: port.shape[-1]]
        row[name][0, : len(kept)] = kept
    return row


def _reset_peak() -> None:
    """Linux can forget the peak that the imports left behind."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass


def _resident() -> int:
    return _status("VmRSS") or _peak()


def _peak() -> int:
    # ru_maxrss counts kilobytes on Linux, bytes on macOS.
    unit = 1 if sys.platform == "darwin" else 1024
    return _status("VmHWM") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _status(key: str) -> int:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(key + ":")), 0)


def main() -> None:
    options = read_json_object(sys.argv[1])
    answer = Path(options.pop("answer"))
    try:
        found = measured(**options)
    except KerasBertError as error:
        found = {"error": str(error)}
    answer.write_text(json.dumps(found), "utf-8")


if __name__ == "__main__":
    main()
