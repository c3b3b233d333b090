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
from typing import Any, TypeAlias

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.interpreters import DEFAULT_LENGTH, find_runtime, open_model
from kerasbert.export.runtime.keras_session import open_keras, set_threads
from kerasbert.export.runtime.onnx_session import ONNX, open_onnx
from kerasbert.export.runtime.runner import Runner
from kerasbert.export.runtime.session import Session
from kerasbert.export.tflite.file_kind import is_tflite
from kerasbert.files.json_text import read_json_object
from kerasbert.heads.registry import requesting_heads
from kerasbert.ids import INPUT_NAMES
from kerasbert.processors.requested import requesting_task

Run: TypeAlias = Callable[[], object]
TokenRow: TypeAlias = tuple[Sequence[int], Sequence[int]]  # ids and token types


def measure(
    paths: Sequence[str],
    length: int | None,
    threads: int,
    runs: int,
    warmup: int,
    words: int,
    rows: Sequence[Mapping[str, Any]] | None,
    task: str | None = None,
    heads: Sequence[str] = (),
) -> dict[str, Any]:
    """Load models, warms them up, and times every row; several models alternate row by row.

    Args:
        paths: The files, or folders of Keras models.
        length: Tokens of a row, for resizable files and folders.
        threads: CPU threads of the runtime.
        runs: The least number of timed rows.
        warmup: The least number of rows before them.
        words: The number of ids that a random row may have.
        rows: For each file `input_ids` and `token_type_ids` of texts, and `longest`, the most tokens of a row; every text is timed equally
            often. None for one row of random ids.
        task: The task of folders that name none, or several.
        heads: The heads of folders, `FILE.py:NAME` each.

    Returns:
        The fields of `Measurement`, with the `seconds` of every run and the `tokens` of every text.
    """
    find_runtime()  # imported before the memory is read: it belongs to the process, not to the model
    if folders := [path for path in paths if _is_folder(path)]:
        set_threads(threads)
    _reset_peak()
    memory_before, start = _resident_memory(), time.perf_counter()
    longest = [None] * len(paths) if rows is None else [each["longest"] for each in rows]
    with requesting_task(task), requesting_heads(*heads if folders else ()):
        opened = [_open(path, length, threads, most) for path, most in zip(paths, longest, strict=True)]
    files, first = [models for models, _ in opened], opened[0][1]
    texts = [list(zip(each["input_ids"], each["token_type_ids"], strict=True)) for each in rows or ()]
    for file, own_texts in zip(files, texts, strict=False):
        for tokens in sorted({len(ids) for ids, _ in own_texts}):
            file.for_row(tokens)
    load_seconds = time.perf_counter() - start
    token_rows: list[list[TokenRow]] = texts or [[_full_row(first.length or 1, words)]] * len(files)
    prepared = [[_prepare(file, *row) for row in own] for file, own in zip(files, token_rows, strict=True)]
    start = time.perf_counter()
    for own_runs in prepared:
        own_runs[0]()
    first_seconds = time.perf_counter() - start
    count = len(prepared[0])
    seconds = _time_rounds(prepared, warmup=-(-warmup // count), rounds=-(-runs // count))
    peak = _peak_memory()
    return {
        "model": "\n".join(Path(path).name for path in paths),
        "length": None if rows is not None else first.length,
        "threads": threads,
        "seconds": seconds,
        "tokens": None if rows is None else [len(ids) for ids, _ in token_rows[0]],
        "load_seconds": load_seconds,
        "first_seconds": first_seconds,
        "peak_bytes": peak,
        "model_bytes": max(peak - memory_before, 0),
        "partitions": first.partitions,
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


def _open(path: str, length: int | None, threads: int, longest: int | None) -> tuple[Runner, Session]:
    """Open a verified file at one length, or at the shortest length that each row fits.

    Args:
        path: The file.
        length: Tokens of a row, for a file whose length is open.
        threads: CPU threads of the runtime.
        longest: Tokens of the longest row, if each row runs at the length that it needs.

    Returns:
        The models, and that of the longest row.
    """
    if path.endswith(ONNX):
        onnx = open_onnx(path, threads, length or longest)
        return Runner(lambda tokens: onnx.at(tokens or 0), longest or onnx.length or 0, bucket=1), onnx
    if _is_folder(path):
        keras = open_keras(path, threads, length or longest)
        return Runner(lambda tokens: keras.at(tokens or 0), longest or keras.length or 0, bucket=1), keras
    if longest is not None:
        models = Runner.of(path, longest, threads)
        return models, models.for_row(longest)
    model = open_model(path, threads, length=length, verified=True, default_length=DEFAULT_LENGTH)
    return Runner(lambda _: model, fixed=model.length, opened=model), model


def _is_folder(path: str) -> bool:
    """Tell whether a path, or the name of a model on the hub, is that of a folder."""
    return not path.endswith(ONNX) and not is_tflite(path)


def _prepare(file: Runner, ids: Sequence[int], types: Sequence[int]) -> Run:
    """Return a function that runs a row, from its arrays to the outputs."""
    model = file.for_row(len(ids))
    return functools.partial(model.timed, _model_inputs(ids, types, model))


def _model_inputs(ids: Sequence[int], types: Sequence[int], model: Session) -> dict[str, np.ndarray]:
    """Return the arrays of one row, cut or padded to the model's length."""
    values: dict[str, Sequence[int]] = dict(zip(INPUT_NAMES, (ids, [1] * len(ids), types), strict=True))
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
