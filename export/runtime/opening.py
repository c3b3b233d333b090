"""Opens a file, a folder or a name as a pipeline: `kerasbert.open`."""

import os

from kerasbert.arguments import check_flag, check_path
from kerasbert.export.runtime.interpreters import check_threads
from kerasbert.export.runtime.isolated_session import WorkerProcess
from kerasbert.export.runtime.pipeline import Pipeline
from kerasbert.export.tflite.file_kind import is_tflite
from kerasbert.export.tflite.metadata import tokenizer_of
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.model_names import shipped_model


def open(name_or_path: str | os.PathLike, *, threads: int = 1, isolated: bool = False) -> Pipeline:
    """Open a `.tflite` file of `kerasbert convert` without TensorFlow, or a saved folder or hub name in Keras.

    Args:
        name_or_path: A file, a folder, the name of a model in the zoo, or a hub name.
        threads: CPU threads of the runtime, for a file.
        isolated: Whether a file runs in a process of its own, for files of unknown origin; see `open_pipeline`.

    Returns:
        An object that is called with texts.

    Raises:
        KerasBertError: When nothing is there, or it is damaged or has no kerasbert metadata.

    Example:
        ```python
        model = kb.open("mine.tflite")
        model("the film was really lovely")  # {"label": "positive", "score": 0.98, "probabilities": {...}}
        model(["the film was really lovely", "the soup was simply dull"], top_k=1)  # a list of such predictions
        ```
    """
    name, threads = check_path(name_or_path, "a file, a folder or the name of a model"), check_threads(threads)
    check_flag(isolated, "isolated")
    if not os.path.exists(name) and (shipped := shipped_model(name)) is not None:
        name_or_path = shipped
    if is_tflite(name_or_path):
        return open_pipeline(name_or_path, threads, isolated=isolated)
    from kerasbert.checkpoints.hugging_face import resolve

    resolve(name_or_path)  # a name that is not there is an error before TensorFlow is loaded
    from kerasbert.tasks.auto import load_task

    task = load_task(name_or_path)
    return Pipeline(os.fspath(name_or_path), task.processor, task)


def open_pipeline(
    path: str | os.PathLike, threads: int = 1, kernels: str = "xnnpack", isolated: bool = False
) -> Pipeline:
    """Open a file with its tokenizer and processor.

    Args:
        path: The file.
        threads: CPU threads of the runtime.
        kernels: The kernel set, see `open_model`.
        isolated: Whether the file runs in a process of its own. A damaged or hostile file that passes verification may crash the runtime,
            hang it or take all memory; in its own process that is a KerasBertError. It costs some tenths of a second, and microseconds a
            row.

    Raises:
        KerasBertError: when the file is damaged, or has no kerasbert metadata.
    """
    file = ModelFile.read(path)
    file.require_metadata("to run it on texts")
    process = WorkerProcess(path, threads, kernels) if isolated else None  # starts while the tokenizer is built
    return pipeline_of(file, threads, kernels, process)


def pipeline_of(
    file: ModelFile, threads: int = 1, kernels: str = "xnnpack", process: WorkerProcess | None = None
) -> Pipeline:
    """Return the pipeline of a file that was read already. `process`: the one that it runs in; None for this one.

    Raises:
        KerasBertError: As `open_pipeline`.
    """
    metadata = file.require_metadata("to run it on texts")
    return Pipeline(file.label, metadata.processor, None, tokenizer_of(metadata), metadata, threads, kernels, process)
