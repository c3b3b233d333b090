"""A task that the library does not have, from its files to a validated `.tflite` file.

A contributor adds `processors/stars.py` and `tasks/star_rater.py`, and a line each in `processors/registry.py`, `tasks/__init__.py` and
`kerasbert/__init__.py`: five files. No other place may ask for a task by its name.
"""

import json
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

import kerasbert as kb
from kerasbert.cli import main
from kerasbert.encoders.base import Encoder
from kerasbert.errors import KerasBertError
from kerasbert.processors import Features, RawResult, registry
from kerasbert.processors.classification import TextProcessor
from kerasbert.processors.contributions import Contributions, Ratio
from kerasbert.processors.display import Display, Record
from kerasbert.tasks import TASKS, SentenceEncoder
from kerasbert.tasks.base import Task
from kerasbert.text import Tokenizer

# -- kerasbert/processors/stars.py ---------------------------------------------------------------------------------------------------

STARS = 5


def _lines(record: Record) -> list[list[str]]:
    return [["*" * record["stars"], record["text"]]]


@dataclass(frozen=True)
class Stars(TextProcessor):
    """One to five stars a text, predicted as four thresholds (ordinal regression)."""

    name = "stars"
    outputs = ("thresholds",)
    compared_as = "multi_label"
    label_dtype = "float32"
    label_rank = 2
    display = Display(("stars", "text"), _lines, summary=lambda record: f"{record['stars']} stars")

    def numbers(self, y: Any) -> np.ndarray:
        for row, value in enumerate(y):
            if str(value) not in "12345":
                raise KerasBertError(f"row {row}: expected a number of stars from 1 to {STARS}, received {value!r}")
        return (np.asarray(y, np.int32)[:, None] > np.arange(1, STARS)).astype(np.float32)

    def predictions(self, examples: Sequence, features: Features, raw_results: Sequence[RawResult]) -> list:
        return [{"stars": int(count)} for count in self._stars(raw_results)]

    def metrics(
        self, y: Any, examples: Sequence, features: Features, raw_results: Sequence[RawResult]
    ) -> dict[str, float]:
        error = np.abs(np.asarray(y, np.int32) - self._stars(raw_results))
        return {"accuracy": float((error == 0).mean()), "mean error": float(error.mean())}

    def contributions(
        self, y: Any, examples: Sequence, features: Features, raw_results: Sequence[RawResult]
    ) -> Contributions:
        return Ratio.of_decisions(np.asarray(y, np.int32) == self._stars(raw_results))

    def _stars(self, raw_results: Sequence[RawResult]) -> np.ndarray:
        return 1 + (self.table(raw_results) >= 0.5).sum(axis=1)


# -- kerasbert/tasks/star_rater.py ---------------------------------------------------------------------------------------------------


@keras.utils.register_keras_serializable("kerasbert_tests")
class StarRater(Task):
    """A Dense layer on the pooled first token. Calling it gives logits (batch, 4)."""

    architecture, heads = "ForStarRating", ("classifier",)  # as the table of tasks has them; see `registered`
    pools = True
    reads = "pooled"

    def __init__(self, encoder: Encoder, tokenizer: Tokenizer | None, sequence_length: int | None = None, **kwargs):
        super().__init__(encoder, tokenizer, sequence_length, **kwargs)
        self.add_head(STARS - 1)
        self._create_variables()

    @property
    def processor(self) -> Stars:
        return Stars()

    def answer(self, logits: tf.Tensor) -> tf.Tensor:
        return tf.sigmoid(logits)

    def default_loss(self) -> keras.losses.Loss:
        return keras.losses.BinaryCrossentropy(from_logits=True)


# -- the lines in the other three files ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", autouse=True)
def registered() -> Iterator[None]:
    """A line each in `processors/registry.py` (two tables), `tasks/__init__.py` and `kerasbert/__init__.py`."""
    module = ModuleType("kerasbert.processors.stars")
    module.Stars = Stars
    name = registry.TaskName("ForStarRating", ("classifier",), "stars", {"star-rating": "stars"}, of_transformers=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, module.__name__, module)
        patch.setitem(registry._CLASSES, "stars", (module.__name__, "Stars"))
        patch.setitem(registry.TASK_NAMES, "StarRater", name)
        patch.setitem(TASKS, "StarRater", StarRater)
        patch.setattr(kb, "StarRater", StarRater, raising=False)
        yield


# -- what a user does with it --------------------------------------------------------------------------------------------------------

WORDS = ("awful", "poor", "fair", "good", "great")
FILLERS = ("the", "film", "was", "a", "plot")
VOCABULARY = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *FILLERS)


def _write_table(path: Path, rows: int, seed: int) -> Path:
    draw = random.Random(seed)
    lines = ["text\tlabel"]
    for _ in range(rows):
        stars = draw.randint(1, STARS)
        lines.append(f"{' '.join(draw.choices(FILLERS, k=draw.randint(1, 4)))} {WORDS[stars - 1]}\t{stars}")
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory, registered) -> Path:
    """A checkpoint without a head, `train.tsv`, `dev.tsv`, the trained `model` and the converted `model.tflite`."""
    from kerasbert.encoders.bert import BertConfig, BertEncoder
    from kerasbert.text import WordPiece

    folder = tmp_path_factory.mktemp("stars")
    keras.utils.set_random_seed(0)
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        max_position_embeddings=32,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        initializer_range=0.1,
    )
    SentenceEncoder(BertEncoder(config), WordPiece(VOCABULARY)).save_pretrained(folder / "checkpoint")
    (folder / "checkpoint" / "kerasbert.json").unlink()  # as a foreign checkpoint has none
    train = _write_table(folder / "train.tsv", 256, seed=1)
    dev = _write_table(folder / "dev.tsv", 64, seed=2)
    assert _run(
        "train", "--task", "star-rating", "--model", folder / "checkpoint", "--train", train, "--dev", dev,
        "--epochs", 8, "--learning-rate", 1e-2, "--batch-size", 16, "--out", folder / "model",
    ) == 0  # fmt: skip
    assert _run("convert", folder / "model", "--recipe", "dynamic_wi8_afp32", "-o", folder / "model.tflite") == 0
    return folder


def _run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def _json(capsys, *arguments: object) -> dict:
    capsys.readouterr()
    assert _run(*arguments, "--json") == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("model", ["model", "model.tflite"])
def test_evaluate_reports_the_new_metrics(folder, capsys, model):
    result = _json(capsys, "evaluate", folder / model, "--data", folder / "dev.tsv")
    assert result["metrics"]["accuracy"] > 0.9 and result["metrics"]["mean error"] < 0.2


@pytest.mark.parametrize("model", ["model", "model.tflite"])
@pytest.mark.long_cases
def test_predict_shows_the_new_predictions(folder, capsys, model):
    texts = ["the film was great", "a plot awful"]
    result = _json(capsys, "predict", folder / model, *texts)
    assert result["problem"] == "stars"
    assert result["predictions"] == [{"text": texts[0], "stars": 5}, {"text": texts[1], "stars": 1}]
    assert _run("predict", folder / model, *texts) == 0
    assert capsys.readouterr().out == f"*****\t{texts[0]}\n*\t{texts[1]}\n"


@pytest.mark.long
def test_validate_judges_the_new_metric_and_writes_a_report(folder, capsys):
    report = folder / "report.html"
    data = ["--data", folder / "dev.tsv", "--report", report]
    result = _json(capsys, "validate", folder / "model.tflite", "--against", folder / "model", *data)
    assert (result["problem"], result["verdict"]) == ("stars", "passed")
    assert "accuracy kept" in {judgement["what"] for check in result["checks"] for judgement in check["judgements"]}
    assert "accuracy" in report.read_text("utf-8")


def test_python_opens_the_folder_and_the_file(folder):
    texts = ["the film was great", "a plot awful"]
    expected = [{"stars": 5}, {"stars": 1}]
    task = kb.load_task(folder / "model")
    assert isinstance(task, kb.StarRater) and task.predict(texts) == expected
    assert kb.open(folder / "model.tflite")(texts) == expected


def test_a_wrong_label_is_reported_with_its_line(folder, tmp_path, capsys):
    path = tmp_path / "wrong.tsv"
    path.write_text("text\tlabel\nthe film\t3\na plot\t7\n", "utf-8")
    arguments = ["--model", folder / "checkpoint", "--train", path, "--out", tmp_path / "out"]
    assert _run("train", "--task", "star-rating", *arguments) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error == f"error: {path}, line 3: expected a number of stars from 1 to 5, received '7'"


def test_a_pipeline_of_strings_encodes_the_new_labels(folder):
    task = kb.load_task(folder / "model")
    data = tf.data.Dataset.from_tensor_slices((["the film was great", "a plot awful"], ["5", "2"]))
    ((_, labels),) = task.dataset(data)
    np.testing.assert_array_equal(labels, [[1, 1, 1, 1], [1, 0, 0, 0]])


@pytest.mark.parametrize(
    "command",
    [["quantize", "model", "--recipe", "static_wi8_ai8"], ["distill", "--teacher", "model", "--layers", 1]],
)
@pytest.mark.long
def test_quantize_and_distill_train_the_new_task(folder, tmp_path, capsys, command):
    arguments = [folder / each if each == "model" else each for each in command]
    data = ["--train", folder / "train.tsv", "--dev", folder / "dev.tsv", "--epochs", 1, "--learning-rate", 1e-3]
    _json(capsys, *arguments, *data, "--out", tmp_path / "out")
    assert _json(capsys, "evaluate", tmp_path / "out", "--data", folder / "dev.tsv")["metrics"]["accuracy"] > 0.9
