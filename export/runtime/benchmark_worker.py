"""The worker process of `benchmark`: opens one or two models, runs rows, and writes their times as JSON.

    python -m kerasbert.export.runtime.benchmark_worker OPTIONS.json

The options are the arguments of `measure`, and the path of the `answer`. Imports are kept few, because they count as memory.
"""

import functools
import json
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.interpreter_model import one_line
from kerasbert.export.runtime.interpreters import DEFAULT_LENGTH, find_runtime, open_at_any_length, open_model
from kerasbert.export.runtime.models_by_length import ModelsByLength
from kerasbert.export.runtime.runnable_model import RunnableModel
from kerasbert.files.json_text import read_json_object
from kerasbert.optional import import_optional

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
ONNX = ".onnx"

Run: TypeAlias = Callable[[], object]
TokenRow: TypeAlias = tuple[Sequence[int], Sequence[int]]  # ids and token types


class Runner(Protocol):
    """A model that runs rows of tokens."""

    @property
    def length(self) -> int | None:
        """Tokens of a row; None if each row runs at the length that it needs."""
        ...

    @property
    def partitions(self) -> int | None:
        """The number of delegate partitions, if the runtime reports it."""
        ...

    def open(self, tokens: Sequence[int]) -> None:
        """Open the model for rows of these numbers of tokens."""
        ...

    def full_row(self, vocabulary_size: int) -> TokenRow:
        """Return a row of random ids that fills the model's length."""
        ...

    def prepare(self, ids: Sequence[int], types: Sequence[int]) -> Run:
        """Return a function that runs a row, from its arrays to the outputs."""
        ...


class TFLiteRunner:
    """A verified `.tflite` file at one length, or at the shortest length that each row fits.

    Args:
        path: The file.
        length: Tokens of a row, for a resizable file.
        threads: CPU threads of the runtime.
        longest: Tokens of the longest row, if each row runs at the length that it needs.
    """

    def __init__(self, path: str, length: int | None, threads: int, longest: int | None):
        if longest is not None:
            self._models = ModelsByLength.of(path, longest, threads)
            self._model = self._models.for_row(longest)
        else:
            opens = open_at_any_length if length is None else functools.partial(open_model, length=length)
            self._model = opens(path, threads, verified=True)
            self._models = ModelsByLength(lambda _: self._model, fixed=self._model.length, opened=self._model)
        self.length = None if longest is not None else self._model.length

    @property
    def partitions(self) -> int | None:
        """The number of delegate partitions."""
        return self._model.partitions

    def open(self, tokens: Sequence[int]) -> None:
        """Open the model for rows of these numbers of tokens."""
        for count in sorted(set(tokens)):
            self._models.for_row(count)

    def full_row(self, vocabulary_size: int) -> TokenRow:
        """Return a row of random ids that fills the model's length."""
        return _full_row(self._model.length or 1, vocabulary_size)

    def prepare(self, ids: Sequence[int], types: Sequence[int]) -> Run:
        """Return a function that runs a row, from its arrays to the outputs."""
        model = self._models.for_row(len(ids))
        return functools.partial(model.compute, _model_inputs(ids, types, model))


class OnnxRunner:
    """An `.onnx` file with the same inputs on ONNX Runtime, its length open or fixed.

    Args:
        path: The file.
        length: Tokens of a row, for an open length.
        threads: CPU threads of the runtime.
        longest: Tokens of the longest row, if each row runs at its own length.
    """

    partitions = None

    def __init__(self, path: str, length: int | None, threads: int, longest: int | None):
        onnxruntime = import_optional("onnxruntime", "an .onnx file")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        try:
            self._session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # its exception classes are not public
            raise KerasBertError(
                f"expected a model that ONNX Runtime can open, received {path} ({one_line(error)}); export it again"
            ) from error
        self._ports = {port.name: port for port in self._session.get_inputs()}
        if unknown := sorted(set(self._ports) - set(INPUTS)):
            raise KerasBertError(
                f"expected inputs among {', '.join(INPUTS)} in {path}, received {', '.join(unknown)}; export it with these names"
            )
        sizes = {port.shape[-1] for port in self._ports.values() if isinstance(port.shape[-1], int)}
        self._fixed: int | None = next(iter(sizes), None)
        self._full_length = length or self._fixed or DEFAULT_LENGTH
        self.length = None if longest else self._full_length

    def open(self, tokens: Sequence[int]) -> None:
        """Check that rows of these numbers of tokens fit the model."""
        if self._fixed is not None and max(tokens) > self._fixed:
            raise KerasBertError(
                f"expected rows of at most {self._fixed} tokens, the length of the .onnx file, received one of {max(tokens)}; export it "
                "with an open length, or convert the .tflite file to this one"
            )

    def full_row(self, vocabulary_size: int) -> TokenRow:
        """Return a row of random ids that fills the model's length."""
        return _full_row(self._full_length, vocabulary_size)

    def prepare(self, ids: Sequence[int], types: Sequence[int]) -> Run:
        """Return a function that runs a row, from its arrays to the outputs."""
        padding = [0] * max((self._fixed or 0) - len(ids), 0)
        values = dict(zip(INPUTS, ([*ids, *padding], [1] * len(ids) + padding, [*types, *padding]), strict=True))
        inputs = {
            name: np.array([values[name]], np.int32 if "int32" in port.type else np.int64)
            for name, port in self._ports.items()
        }

        def run() -> None:
            try:
                self._session.run(None, inputs)
            except Exception as error:  # its exception classes are not public
                raise KerasBertError(
                    f"expected an .onnx file that takes the token ids of the .tflite file, received an error ({one_line(error)}); name a "
                    "model with the same vocabulary"
                ) from error

        return run


def measure(
    paths: Sequence[str],
    length: int | None,
    threads: int,
    runs: int,
    warmup: int,
    words: int,
    rows: Sequence[Mapping[str, Any]] | None,
) -> dict[str, Any]:
    """Load models, warms them up, and times every row; several models alternate row by row.

    Args:
        paths: The files.
        length: Tokens of a row, for resizable files.
        threads: CPU threads of the runtime.
        runs: The least number of timed rows.
        warmup: The least number of rows before them.
        words: The number of ids that a random row may have.
        rows: For each file `input_ids` and `token_type_ids` of texts, and `longest`, the most tokens of a row; every text is timed equally
            often. None for one row of random ids.

    Returns:
        The fields of `Measurement`, with the `seconds` of every run and the `tokens` of every text.
    """
    find_runtime()  # imported before the memory is read: it belongs to the process, not to the model
    _reset_peak()
    memory_before, start = _resident_memory(), time.perf_counter()
    longest = [None] * len(paths) if rows is None else [each["longest"] for each in rows]
    runners = [_open_runner(path, length, threads, most) for path, most in zip(paths, longest, strict=True)]
    texts = [list(zip(each["input_ids"], each["token_type_ids"], strict=True)) for each in rows or ()]
    for runner, own_texts in zip(runners, texts, strict=False):
        runner.open([len(ids) for ids, _ in own_texts])
    load_seconds = time.perf_counter() - start
    token_rows: list[list[TokenRow]] = texts or [[runners[0].full_row(words)]] * len(runners)
    prepared = [[runner.prepare(*row) for row in own] for runner, own in zip(runners, token_rows, strict=True)]
    start = time.perf_counter()
    for own_runs in prepared:
        own_runs[0]()
    first_seconds = time.perf_counter() - start
    count = len(prepared[0])
    seconds = _time_rounds(prepared, warmup=-(-warmup // count), rounds=-(-runs // count))
    peak = _peak_memory()
    return {
        "model": "\n".join(Path(path).name for path in paths),
        "length": runners[0].length,
        "threads": threads,
        "seconds": seconds,
        "tokens": None if rows is None else [len(ids) for ids, _ in token_rows[0]],
        "load_seconds": load_seconds,
        "first_seconds": first_seconds,
        "peak_bytes": peak,
        "model_bytes": max(peak - memory_before, 0),
        "partitions": runners[0].partitions,
    }


def _time_rounds(prepared: Sequence[Sequence[Run]], warmup: int, rounds: int) -> list[list[float]]:
    """Time every row in each round, with the models in alternating order.

    A text may have more rows with one model than with the other, if their tokenizers divide it otherwise. These run alone.

    Args:
        prepared: For each model the functions that run its rows.
        warmup: The number of rounds that are not timed.
        rounds: The number of timed rounds.

    Returns:
        The seconds of each model.
    """
    seconds: list[list[float]] = [[] for _ in prepared]
    for round_number in range(warmup + rounds):
        for number in range(max(map(len, prepared))):
            models = [model for model, own_runs in enumerate(prepared) if number < len(own_runs)]
            for model in models if (round_number + number) % 2 else reversed(models):
                start = time.perf_counter()
                prepared[model][number]()
                elapsed = time.perf_counter() - start
                if round_number >= warmup:
                    seconds[model].append(elapsed)
    return seconds


def _full_row(length: int, vocabulary_size: int) -> TokenRow:
    """Return varied ids below the vocabulary's size, without padding, so that every position counts."""
    return [number * 7919 % vocabulary_size for number in range(length)], [0] * length


def _open_runner(path: str, length: int | None, threads: int, longest: int | None) -> Runner:
    return (OnnxRunner if path.endswith(ONNX) else TFLiteRunner)(path, length, threads, longest)


def _model_inputs(ids: Sequence[int], types: Sequence[int], model: RunnableModel) -> dict[str, np.ndarray]:
    """Return the arrays of one row, cut or padded to the model's length."""
    values: dict[str, Sequence[int]] = dict(zip(INPUTS, (ids, [1] * len(ids), types), strict=True))
    inputs = {}
    for name, port in model.inputs.items():
        inputs[name] = np.zeros(port.shape, port.dtype)
        fitting = np.asarray(values.get(name, ()), port.dtype)[: port.shape[-1]]
        inputs[name][0, : len(fitting)] = fitting
    return inputs


def _reset_peak() -> None:
    """Reset the peak memory, where Linux permits it, so that the imports do not count."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass


def _resident_memory() -> int:
    return _status("VmRSS") or _peak_memory()


def _peak_memory() -> int:
    # ru_maxrss counts kilobytes on Linux, bytes on macOS.
    unit = 1 if sys.platform == "darwin" else 1024
    return _status("VmHWM") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _status(key: str) -> int:
    """Return an entry of /proc/self/status in bytes; 0 where there is none."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(key + ":")), 0)


def main() -> None:
    """Measure what the options file describes, and writes the answer or an error."""
    options = read_json_object(sys.argv[1])
    answer = Path(options.pop("answer"))
    try:
        result = measure(**options)
    except KerasBertError as error:
        result = {"error": str(error)}
    answer.write_text(json.dumps(result), "utf-8")


if __name__ == "__main__":
    main()
