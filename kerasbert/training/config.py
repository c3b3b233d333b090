"""Everything that decides a fine-tuning run, as one value: flags of `kerasbert train` and a `recipe.toml` are two ways to write it."""

import dataclasses
import os
import types
import typing
from dataclasses import dataclass
from typing import Any

from kerasbert.errors import KerasBertError
from kerasbert.files.atomic import atomic_file
from kerasbert.files.toml_text import read_toml, toml_value
from kerasbert.suggestions import nearest


def option(default: Any, help: str, metavar: str = "N") -> Any:
    """A field of `Recipe`: its default, and what a user reads about it."""
    factory = {"default_factory": dict} if default is dict else {"default": default}
    return dataclasses.field(**factory, metadata={"help": help, "metavar": metavar})


@dataclass(frozen=True)
class Recipe:
    """A fine-tuning run: what is trained on what, and how. Methods and their sources: docs/training.md.

    Raises KerasBertError for values that cannot be.
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
        None, "What separates columns: a character, or comma, semicolon, tab, pipe. Default: as the file shows.", "X"
    )
    skip_bad_rows: bool = option(False, "Leave out rows that cannot be read, count them and show the first three.", "")
    max_rows: int | None = option(None, "Read no more rows than this of each file.")
    sequence_length: int | None = option(
        None, "Tokens a row; by default the longest training text's, at most 128 (question answering: 384)."
    )
    tokenize_as: str | None = option(
        None, "Tokenize as this client will: mediapipe or task-library; saved with the model.", "CLIENT"
    )

    epochs: int = option(2, "Passes over the training data.")
    batch_size: int = option(32, "Rows in a batch.")
    learning_rate: float = option(5e-5, "Peak learning rate of AdamW.", "RATE")
    schedule: str = option("linear", "How the rate falls after the warm-up: linear, cosine or constant.", "NAME")
    warmup: float = option(0.06, "Fraction of steps for linear warmup.", "SHARE")
    weight_decay: float = option(0.01, "Weight decay, not on biases and norms.", "X")
    dropout: float | None = option(None, "Dropout while training, everywhere; the checkpoint's if left out.", "RATE")
    clip_norm: float = option(1.0, "Largest global norm of the gradients.", "X")
    label_smoothing: float = option(0.0, "Share of each label that goes to all classes.", "SHARE")
    class_weights: str | None = option(
        None, "balanced, or one weight for each label, to make rare classes count more.", "balanced|A=2,B=1"
    )

    pair_loss: str | None = option(
        None, "Of sentence pairs: cosine, contrastive or in-batch-negatives; by default by the labels.", "NAME"
    )

    freeze: str | None = option(
        None, "Parts that are not trained, with commas: encoder, embeddings, layers.0, ...", "PART,..."
    )
    top_layers: int | None = option(None, "Train only so many layers from the top, the pooler and the head.")
    unfreeze: bool = option(False, "Gradual unfreezing: the head first, one layer more from the top each epoch.", "")
    layer_decay: float = option(1.0, "Learning rate of each layer as a share of the one above it.", "SHARE")
    rates: dict[str, float] = option(
        dict, "Learning rate of a part, such as layers.-1=1e-3 or head=0.1; once for each part.", "PART=RATE"
    )
    adapters: int | None = option(None, "Train adapters of this width, norms and head only (Houlsby et al. 2019).")
    layer_mix: bool = option(False, "Read a learned weighted sum of all layers.", "")

    early_stopping: int | None = option(None, "Stop when dev has not become better for so many epochs.")
    seed: int = option(1, "Random seed for head initialization, dropout and shuffling.")
    jit: bool = option(False, "Compile the training step with XLA.", "")
    checkpoint_minutes: float = option(5.0, "Save what resuming needs this often, and after each epoch.", "MINUTES")
    tensorboard: bool = option(False, "Write logs for TensorBoard into the run folder.", "")
    distribute: str | None = option(None, "mirrored, multi-worker or tpu: train on several devices.", "NAME")

    def __post_init__(self):
        for name in self.__dataclass_fields__:
            _check_text(name, getattr(self, name))
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if value is not None and not (low <= value <= high and value < _TOO_LARGE):
                finite = f"of at least {low}" if value < low else f"as a finite number of at least {low}"
                bounds = f"from {low} to {high}" if high < _INFINITE else finite
                raise KerasBertError(f"expected {named(name)} {bounds}, received {value}")
        for part, rate in self.rates.items():
            if not 0 <= rate < _TOO_LARGE:
                raise KerasBertError(f"expected --rates of at least 0 and finite, received {rate} for {part!r}")
        self._check_labels()
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                known = ", ".join(choice for choice in choices if choice)
                raise KerasBertError(f"expected {named(name)} of {known}, received {getattr(self, name)!r}")
        ways = [name for name in ("freeze", "top_layers", "unfreeze", "adapters") if getattr(self, name)]
        if len(ways) > 1:
            raise KerasBertError(
                f"expected one way to choose what is trained, received {named(ways[0])} and {named(ways[1])}"
            )

    def _check_labels(self) -> None:
        names = [] if self.labels is None else [name.strip() for name in self.labels.split(",")]
        if twice := [name for place, name in enumerate(names) if name in names[:place]]:
            raise KerasBertError(
                f"expected --labels as two or more different names with commas, received {twice[0]!r} twice"
            )

    @classmethod
    def read(cls, path: str | os.PathLike) -> dict[str, Any]:
        """The settings that a `recipe.toml` names, checked one by one; the rest is left to defaults and flags."""
        found = read_toml(path, expected="a recipe in TOML")
        return {name: cls.checked(name, value, path) for name, value in found.items()}

    @classmethod
    def checked(cls, name: str, value, where) -> Any:
        """A setting of the right type. Raises KerasBertError for an unknown name or another type."""
        kinds = typing.get_type_hints(cls)
        if name not in kinds:
            meant = nearest(name, kinds)
            advice = f"did you mean {meant}?" if meant else f"settings are {', '.join(kinds)}"
            raise KerasBertError(f"{where}: received the setting {name!r}, expected one that there is; {advice}")
        accepted = _accepted(kinds[name])
        if name == "dev" and isinstance(value, float):  # a share of the training rows
            value = repr(value)
        if float in accepted and isinstance(value, int) and not isinstance(value, bool):
            value = _float(value)
        if isinstance(value, bool) and bool not in accepted or not isinstance(value, accepted):
            words = " or ".join(_WORDS[kind] for kind in accepted if kind is not type(None))
            raise KerasBertError(f"{where}: expected {name} as {words}, received {value!r}")
        if dict in accepted:
            if wrong := [
                part for part, rate in value.items() if isinstance(rate, bool) or not isinstance(rate, int | float)
            ]:
                raise KerasBertError(
                    f"{where}: expected {name} as numbers, received {value[wrong[0]]!r} for {wrong[0]!r}"
                )
            value = {part: _float(rate) for part, rate in value.items()}
        return value

    def write(self, path: str | os.PathLike) -> None:
        """Writes every setting that is not None as TOML."""
        lines = [
            f"{name} = {toml_value(value)}" for name, value in dataclasses.asdict(self).items() if value is not None
        ]
        with atomic_file(path) as partial:
            partial.write_text("\n".join(lines) + "\n", "utf-8")


def _check_text(name: str, value) -> None:
    """Raises KerasBertError for a string that no file can hold, such as a path with bytes that are not UTF-8."""
    for text in (value,) if isinstance(value, str) else value if isinstance(value, dict) else ():
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise KerasBertError(
                f"expected {named(name)} in UTF-8, received {text!r}; rename it: a recipe could not hold it"
            )


def named(name: str) -> str:
    """`batch_size` as a user of the command line knows it: `--batch-size`."""
    return "--" + name.replace("_", "-")


_INFINITE = float("inf")
_TOO_LARGE = 2**63
_RANGES = {
    "epochs": (1, _INFINITE), "batch_size": (1, _INFINITE), "learning_rate": (0, _INFINITE), "warmup": (0, 1),
    "weight_decay": (0, _INFINITE), "dropout": (0, 0.99), "clip_norm": (0, _INFINITE), "label_smoothing": (0, 1),
    "top_layers": (1, _INFINITE), "layer_decay": (0, 1), "adapters": (1, _INFINITE), "early_stopping": (1, _INFINITE),
    "seed": (0, 2**32 - 1), "checkpoint_minutes": (0, _INFINITE), "max_rows": (1, _INFINITE), "sequence_length": (3, _INFINITE),
}  # fmt: skip
_CHOICES = {
    "schedule": ("linear", "cosine", "constant"),
    "pair_loss": (None, "cosine", "contrastive", "in-batch-negatives"),
    "tokenize_as": (None, "mediapipe", "task-library"),
    "distribute": (None, "mirrored", "multi-worker", "tpu"),
}
_WORDS = {
    str: "a string", int: "a whole number", float: "a number", bool: "true or false", dict: "a table of numbers",
}  # fmt: skip


def _float(value: float) -> float:
    """Infinite, and so out of every range, where it is too large."""
    try:
        return float(value)
    except OverflowError:
        return _INFINITE if value > 0 else -_INFINITE


def _accepted(hint) -> tuple[type, ...]:
    kinds = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    return tuple(typing.get_origin(kind) or kind for kind in kinds)
