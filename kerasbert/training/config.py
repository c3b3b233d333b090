"""All settings of a training as one value: flags of the commands that train, and a `config.toml`, are two ways to write it."""

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kerasbert.errors import KerasBertError
from kerasbert.files.atomic import atomic_file
from kerasbert.files.toml_text import read_toml, toml_value
from kerasbert.training.config_fields import check_fields, checked_value, flag, option


@dataclass(frozen=True)
class TrainConfig:
    """A training: which model on which data, and how. Methods and their sources: docs/training.md.

    Raises:
        KerasBertError: When a value is out of range, or two settings exclude each other.
    """

    model: str | None = option(None, "Checkpoint to start from: a folder or a hub name such as org/name.", "FOLDER|HUB")
    train: str | None = option(None, "Training data: .tsv, .csv, .jsonl, CoNLL, SQuAD or text, also with .gz.", "FILE")
    dev: str | None = option(
        None,
        "Development data, or the share of the training rows that become it, such as 0.1; the epoch that is best on it is kept.",
        "FILE|SHARE",
    )
    out: str | None = option(None, "Where to save the model: a new or empty folder.", "FOLDER")
    task: str = option(
        "classification",
        "classification, multi-label, regression, tagging, question-answering, multiple-choice, masked-lm, sentence-pairs, "
        "next-sentence.",
        "NAME",
    )
    text_column: str | None = option(None, "Column of the text, by name or number from 0 on.", "NAME|N")
    pair_column: str | None = option(None, "Column of the second text, if there is one.", "NAME|N")
    label_column: str | None = option(None, "Column of the label.", "NAME|N")
    labels: str | None = option(
        None, "Labels in the order of the outputs; by default those of the training data.", "A,B,..."
    )
    delimiter: str | None = option(
        None, "Column separator: a character, or comma, semicolon, tab, pipe; by default detected.", "X"
    )
    skip_bad_rows: bool = option(False, "Leave out rows that cannot be read, count them and show the first three.", "")
    max_rows: int | None = option(None, "Largest number of rows to read from each file.", at_least=1)
    sequence_length: int | None = option(
        None, "Tokens a row; by default the longest training text's, at most 128 (question answering: 384).", at_least=3
    )
    tokenize_as: str | None = option(
        None,
        "Tokenize as this client will: mediapipe or task-library; saved with the model.",
        "CLIENT",
        choices=("mediapipe", "task-library"),
    )

    epochs: int = option(2, "Passes over the training data.", at_least=1)
    batch_size: int = option(32, "Rows in a batch.", at_least=1)
    learning_rate: float = option(5e-5, "Peak learning rate of AdamW.", "RATE", at_least=0)
    schedule: str = option(
        "linear",
        "Decay of the learning rate after warmup: linear, cosine or constant.",
        "NAME",
        choices=("linear", "cosine", "constant"),
    )
    warmup: float = option(0.06, "Fraction of steps for linear warmup.", "SHARE", at_least=0, at_most=1)
    weight_decay: float = option(0.01, "Weight decay, not on biases and norms.", "X", at_least=0)
    dropout: float | None = option(
        None, "Dropout rate in training, everywhere; by default the model's own.", "RATE", at_least=0, at_most=0.99
    )
    clip_norm: float = option(1.0, "Largest global norm of the gradients.", "X", at_least=0)
    label_smoothing: float = option(
        0.0, "Share of each label that goes to all classes.", "SHARE", at_least=0, at_most=1
    )
    class_weights: str | None = option(
        None, "balanced, or one weight for each label, to make rare classes count more.", "balanced|A=2,B=1"
    )

    pair_loss: str | None = option(
        None,
        "Loss of sentence pairs: cosine, contrastive or in-batch-negatives; by default chosen by the labels.",
        "NAME",
        choices=("cosine", "contrastive", "in-batch-negatives"),
    )

    freeze: str | None = option(None, "Parts to freeze, with commas: encoder, embeddings, layers.0, ...", "PART,...")
    top_layers: int | None = option(None, "Number of top layers to train, with the pooler and the head.", at_least=1)
    unfreeze: bool = option(False, "Gradual unfreezing: the head first, one layer more from the top each epoch.", "")
    layer_decay: float = option(
        1.0, "Learning rate of each layer as a share of the one above it.", "SHARE", at_least=0, at_most=1
    )
    rates: dict[str, float] = option(
        dict,
        "Learning rate of a part, such as layers.-1=1e-3 or head=0.1; once for each part.",
        "PART=RATE",
        at_least=0,
    )
    adapters: int | None = option(
        None, "Train adapters of this width, norms and head only (Houlsby et al. 2019).", at_least=1
    )
    layer_mix: bool = option(False, "Use a learned weighted sum of all layers.", "")

    early_stopping: int | None = option(None, "Stop after this many epochs without a better dev score.", at_least=1)
    seed: int = option(1, "Random seed for head initialization, dropout and shuffling.", at_least=0, at_most=2**32 - 1)
    jit: bool = option(False, "Compile the training step with XLA.", "")
    checkpoint_minutes: float = option(
        5.0, "Minutes between saved states to resume from; one is saved after each epoch too.", "MINUTES", at_least=0
    )
    tensorboard: bool = option(False, "Write TensorBoard logs into the run folder.", "")
    distribute: str | None = option(
        None,
        "mirrored, multi-worker or tpu: train on several devices.",
        "NAME",
        choices=("mirrored", "multi-worker", "tpu"),
    )

    def __post_init__(self):
        check_fields(self)
        names = [] if self.labels is None else [name.strip() for name in self.labels.split(",")]
        if repeated := [name for place, name in enumerate(names) if name in names[:place]]:
            raise KerasBertError(
                f"expected --labels as two or more different names with commas, received {repeated[0]!r} twice"
            )
        chosen = [name for name in ("freeze", "top_layers", "unfreeze", "adapters") if getattr(self, name)]
        if len(chosen) > 1:
            raise KerasBertError(
                f"expected one way to choose what is trained, received {flag(chosen[0])} and {flag(chosen[1])}"
            )

    @classmethod
    def read(cls, path: str | os.PathLike) -> dict[str, Any]:
        """The settings that a `config.toml` names, checked one by one; the rest is left to defaults and flags.

        Raises:
            KerasBertError: When the file is not TOML, or a setting does not exist or has another type.
        """
        values = read_toml(path, expected="training settings in TOML")
        return {name: checked_value(cls, name, value, path) for name, value in values.items()}

    def write(self, path: str | os.PathLike) -> None:
        """Writes every setting that is not None as TOML."""
        lines = [f"{name} = {toml_value(value)}" for name, value in self.settings().items()]
        with atomic_file(path) as partial:
            partial.write_text("\n".join(lines) + "\n", "utf-8")

    def settings(self) -> Mapping[str, Any]:
        """Every setting that is not None, by name."""
        return {name: value for name, value in dataclasses.asdict(self).items() if value is not None}
