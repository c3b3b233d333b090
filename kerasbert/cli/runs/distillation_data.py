"""The rows that a distillation adds to the training data: texts without labels, and variants of texts."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kerasbert.cli.process.progress import loading, note, progress
from kerasbert.data.dataset import Dataset
from kerasbert.data.plain_text import read_text
from kerasbert.data.records import data_suffix, is_tabular
from kerasbert.data.unlabelled import with_unlabelled
from kerasbert.files.atomic import atomic_file
from kerasbert.files.json_text import read_json
from kerasbert.training.config import TrainConfig
from kerasbert.training.distill_config import DistillConfig

if TYPE_CHECKING:
    from kerasbert.cli.runs.training_run import TrainingRun
    from kerasbert.processors import Processor
    from kerasbert.text import Tokenizer

_VARIANTS = "variants.json"


def read_unlabelled(kind: "type[Processor]", path: str, training: TrainConfig) -> Dataset:
    """Read a file of examples, whose labels are not used.

    Args:
        kind: The class of the task's processor.
        path: The file: lines of texts, or a data file of the task. A tagger splits texts into words.
        training: The options for reading files.

    Raises:
        KerasBertError: When the file cannot be read.
    """
    from kerasbert.cli.inputs.data_files import note_bad_rows
    from kerasbert.data.conll_columns import has_columns
    from kerasbert.processors.classification import TextProcessor
    from kerasbert.processors.tagging import Tagging

    plain = not is_tabular(Path(path), training.delimiter)
    words = issubclass(kind, Tagging) and data_suffix(Path(path)) == ".txt"  # such a file may have columns of words too
    if plain and (issubclass(kind, TextProcessor) or (words and not has_columns(Path(path), training.encoding))):
        table = read_text(path, max_rows=training.max_rows, encoding=training.encoding)
    else:
        table = replace(kind.read(path, replace(training, label_column=None)), y=None)
    note_bad_rows(table)
    note(table.describe())
    return table


def add_rows(
    data: Dataset, further: Dataset | None, config: DistillConfig, run: "TrainingRun", tokenizer: "Tokenizer"
) -> Dataset:
    """Return the training data with the unlabelled rows, and with variants of all of them, as the options ask.

    Variants are kept in the folder, so that a resumed run trains on the same ones.

    Args:
        data: The training data.
        further: The unlabelled rows, or None.
        config: The settings of the distillation.
        run: The run. It begins before variants are made.
        tokenizer: The teacher's tokenizer.

    Raises:
        KerasBertError: When the rows have another form than the training data, or no variants of them can be made.
    """
    data = data if further is None else with_unlabelled(data, further)
    if not config.augment:
        return data
    run.begin()
    file = run.folder.stages / _VARIANTS
    if file.is_file():
        texts = _read(file)
    else:
        texts = _variants(data, config, run.config, tokenizer)
        file.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(file) as partial:
            partial.write_text(json.dumps(texts, ensure_ascii=False), "utf-8")
    note(f"{len(texts):,} variants of {len(data):,} texts, which the teacher labels")
    return with_unlabelled(data, texts)


def _read(file: Path) -> list:
    return [tuple(each) if isinstance(each, list) else each for each in read_json(file)]


def _variants(data: Dataset, config: DistillConfig, training: TrainConfig, tokenizer: "Tokenizer") -> list[Any]:
    from kerasbert.training.distillation import augment, perturb

    copies = config.augment or 0
    if config.augmentation == "masks":
        return perturb(data.x, tokenizer, copies, seed=training.seed)
    model = _language_model(config.language_model or "")
    note(f"variants by the masked language model {config.language_model}")
    with progress("replacing words", "words") as bar:
        bar.begin("replacing words")
        return augment(
            data.x, model, copies, seed=training.seed, neighbours=True,
            report=lambda done, words: bar.advance(done, words),
        )  # fmt: skip


def _language_model(name: str) -> Any:
    """Open a file of the zoo or of the user, or load a folder with its head for masked words."""
    from kerasbert.export.tflite.file_kind import is_tflite
    from kerasbert.model_names import shipped_model

    path = name if os.path.exists(name) else shipped_model(name) or name
    with loading("the language model"):
        if is_tflite(path):
            from kerasbert.export.runtime.opening import open_pipeline

            return open_pipeline(path)
        from kerasbert.tasks.auto import load_task

        return load_task(name, "masked-lm")
