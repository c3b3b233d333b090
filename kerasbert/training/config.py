"""The settings of a training run as one value. Options of the commands that train and a `config.toml` both declare it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kerasbert.data.fallback import check_fallback
from kerasbert.data.file_options import FileOptions
from kerasbert.errors import KerasBertError
from kerasbert.files.atomic import atomic_file
from kerasbert.files.record import Options, flag, same_setting, setting
from kerasbert.files.toml_text import read_toml, toml_value
from kerasbert.training.answer_options import AnswerConfig, answer_settings, check_answers_questions
from kerasbert.training.exit_options import parse_exits

# Help texts that options of other commands share.
HEAD_HELP = "A head of your own: a Python file, and its class or function; see kb.register_head. The file is executed."
# Shares of the recommended rate with which `quantize` and `prune` train a trained model on.
QUANTIZATION_SHARE, PRUNING_SHARE = 0.4, 0.6
RATE_SHARE_HELP = "Peak learning rate of AdamW. Default: {share:g} of the rate that is recommended for the model."
DROPOUT_HELP = "Dropout rate of all dropout layers during training."
SEED_HELP = "Random seed for head initialization, dropout and shuffling."


@dataclass(frozen=True)
class TrainConfig(Options):
    """The settings of a training run: model, data and method. `kerasbert train --help` lists them, and a `config.toml` stores them.

    Raises:
        KerasBertError: When a value is out of range, or two settings exclude each other.

    Example:
        ```python
        from kerasbert.training import TrainConfig
        config = TrainConfig(model="small-en", train="train.tsv", dev="dev.tsv", out="runs/api", epochs=1)
        config.write("config.toml")
        TrainConfig(**TrainConfig.read("config.toml")) == config  # True
        ```
    """

    model: str | None = setting(
        None, "Checkpoint to fine-tune: a folder, or a hub name such as org/name.", "FOLDER|HUB"
    )
    train: str | None = setting(
        None, "Training data: .tsv, .csv, .jsonl, CoNLL, SQuAD or plain text, optionally compressed (.gz).", "FILE"
    )
    dev: str | None = setting(
        None,
        "Development data: a file, or a fraction of the training rows such as 0.1. The epoch with the best score on it is kept.",
        "FILE|FRACTION",
        number_as_text=True,
    )
    out: str | None = setting(None, "Output folder for the model; it must be new or empty.", "FOLDER")
    task: str = setting(
        "classification",
        "Task type: classification, multi-label, regression, tagging, question-answering, multiple-choice, masked-lm, "
        "sentence-pairs, multi-task or next-sentence.",
        "NAME",
    )
    text_column: str | None = same_setting(FileOptions, "text_column")
    pair_column: str | None = same_setting(FileOptions, "pair_column")
    label_column: str | None = same_setting(FileOptions, "label_column")
    head: str | None = setting(None, HEAD_HELP, "FILE.py:NAME")
    labels: str | None = setting(
        None, "Label names in the order of the outputs. Default: the labels of the training data.", "A,B,..."
    )
    fallback: str | None = setting(
        None,
        "Classification: label of texts of no class, such as oos. Its rows are not trained on; those of --dev set the threshold.",
        "LABEL",
    )
    fallback_below: float | None = setting(
        None,
        "Classification: probability below which a text gets the --fallback. Default: chosen on --dev.",
        "PROBABILITY",
        at_least=0,
        at_most=1,
    )
    delimiter: str | None = same_setting(FileOptions, "delimiter")
    encoding: str | None = same_setting(FileOptions, "encoding")
    label_separator: str | None = same_setting(FileOptions, "label_separator")
    skip_bad_rows: bool = same_setting(FileOptions, "skip_bad_rows")
    max_rows: int | None = same_setting(FileOptions, "max_rows")
    train_rows: int | None = setting(
        None, "Number of training rows to use, sampled with --seed; those of --dev stay. Default: all.", at_least=1
    )
    sequence_length: int | None = setting(
        None,
        "Sequence length in tokens. Default: that of the longest training text, at most 128 (question answering: 384).",
        at_least=3,
    )
    cased: bool = setting(
        False,
        "Tell capital letters, with a model whose vocabulary is uncased: add tokens with capitals. Better for names; a larger file.",
        "",
    )
    tokenize_as: str | None = setting(
        None,
        "Tokenize with the rules of a client library, mediapipe or task-library. The model keeps this setting.",
        "CLIENT",
        choices=("mediapipe", "task-library"),
    )

    no_answer: bool | None = same_setting(AnswerConfig, "no_answer")
    no_answer_threshold: float | None = same_setting(AnswerConfig, "no_answer_threshold")
    stride: int | None = same_setting(AnswerConfig, "stride")
    max_answer_length: int | None = same_setting(AnswerConfig, "max_answer_length")
    answers: int | None = same_setting(AnswerConfig, "answers")
    unit: str | None = same_setting(AnswerConfig, "unit")

    epochs: int | None = setting(
        None, "Number of training epochs. Default: as recommended for the model; more for small data.", at_least=1
    )
    batch_size: int = setting(32, "Training batch size.", at_least=1)
    learning_rate: float | None = setting(
        None, "Peak learning rate of AdamW. Default: as recommended for the model.", "RATE", at_least=0
    )
    rate_factor: float = setting(
        1.0, "Factor of the recommended learning rates, that of a new head included.", "X", above=0
    )
    schedule: str = setting(
        "linear",
        "Learning rate decay after warmup: linear, cosine or constant.",
        "NAME",
        choices=("linear", "cosine", "constant"),
    )
    warmup: float = setting(0.06, "Fraction of steps for linear warmup.", "FRACTION", at_least=0, at_most=1)
    weight_decay: float = setting(0.01, "Weight decay; biases and layer norms are excluded.", "X", at_least=0)
    dropout: float | None = setting(None, f"{DROPOUT_HELP} Default: the model's own.", "RATE", at_least=0, at_most=0.99)
    clip_norm: float = setting(1.0, "Maximum global norm of the gradients; 0 disables clipping.", "X", at_least=0)
    label_smoothing: float = setting(0.0, "Label smoothing factor.", "FRACTION", at_least=0, at_most=1)
    class_weights: str | None = setting(
        None, "Class weights for imbalanced data: balanced, or a weight per label.", "balanced|A=2,B=1"
    )

    pair_loss: str | None = setting(
        None,
        "Loss for sentence pairs: cosine, contrastive or in-batch-negatives. Default: chosen by the kind of labels.",
        "NAME",
        choices=("cosine", "contrastive", "in-batch-negatives"),
    )

    freeze: str | None = setting(
        None, "Parts to freeze, separated by commas: encoder, embeddings, layers.0, ...", "PART,..."
    )
    top_layers: int | None = setting(None, "Train only the top N layers, the pooler and the head.", at_least=1)
    unfreeze: bool = setting(
        False, "Unfreeze gradually: the head first, then one more layer from the top in each epoch.", ""
    )
    layer_decay: float = setting(
        1.0,
        "Layer-wise learning rate decay: the rate of each layer relative to the layer above.",
        "FRACTION",
        at_least=0,
        at_most=1,
    )
    rates: dict[str, float] = setting(
        dict,
        "Learning rate of one part, such as layers.-1=1e-3 or head=0.1. Repeatable. Default without --learning-rate: a new head as "
        "recommended for the model.",
        "PART=RATE",
        at_least=0,
    )
    new_head: bool = setting(
        False, "Make a new head where the checkpoint has one already, such as for other labels.", ""
    )
    adapters: int | None = setting(
        None, "Train only adapters of this width, the layer norms and the head (Houlsby et al. 2019).", at_least=1
    )
    layer_mix: bool = setting(False, "Use a learned weighted sum of all encoder layers.", "")
    exits: str | None = setting(
        None,
        "Layers behind which easy texts may end, such as 2,4: with a threshold chosen on --dev. none removes exits.",
        "N,...|none",
    )
    keep: float | None = setting(
        None,
        "For --exits: the share of the last exit's score that the threshold keeps on --dev. For --fallback: the share of right "
        "predictions. Default: 0.99.",
        "SHARE",
        at_least=0,
        at_most=1,
    )

    early_stopping: int | None = setting(
        None, "Stop after N epochs without a better score on the development data.", at_least=1
    )
    seed: int = setting(1, SEED_HELP, at_least=0, at_most=2**32 - 1)
    precision: str = setting(
        "float32",
        "Arithmetic of the layers in training: float32 or bfloat16, for processors that have it. Weights stay in float32.",
        "NAME",
        choices=("float32", "bfloat16"),
    )
    jit: bool = setting(False, "Compile the training step with XLA.", "")
    checkpoint_minutes: float = setting(
        5.0,
        "Minutes between the checkpoints for --resume; each epoch also ends with one.",
        "MINUTES",
        at_least=0,
    )
    tensorboard: bool = setting(False, "Write TensorBoard logs into the run folder.", "")
    distribute: str | None = setting(
        None,
        "Distribution strategy for several devices: mirrored, multi-worker or tpu.",
        "NAME",
        choices=("mirrored", "multi-worker", "tpu"),
    )

    def check(self) -> None:
        names = [] if self.labels is None else [name.strip() for name in self.labels.split(",")]
        if repeated := [name for place, name in enumerate(names) if name in names[:place]]:
            raise KerasBertError(
                f"expected --labels as two or more different names separated by commas, received {repeated[0]!r} twice"
            )
        check_answers_questions(answer_settings(self), self.task.replace("-", "_"))
        check_fallback(self.fallback, self.fallback_below)
        if self.fallback is not None and self.task != "classification":
            raise KerasBertError(
                f"expected {flag('fallback')} with --task classification, received --task {self.task}; leave it out"
            )
        if self.cased and self.tokenize_as is not None:
            raise KerasBertError(
                f"expected {flag('cased')} or {flag('tokenize_as')}, received both: these clients lowercase texts; leave one out"
            )
        parse_exits(self.exits)
        if self.learning_rate is not None and self.rate_factor != 1:
            raise KerasBertError(
                f"expected {flag('learning_rate')} or {flag('rate_factor')}, received both; leave one out"
            )
        methods = [name for name in ("freeze", "top_layers", "unfreeze", "adapters") if getattr(self, name)]
        if len(methods) > 1:
            raise KerasBertError(
                f"expected one way to choose the trained parts, received {flag(methods[0])} and {flag(methods[1])}; leave one out"
            )

    @classmethod
    def read(cls, path: str | os.PathLike) -> dict[str, Any]:
        """Return the settings of a `config.toml`, each checked. Missing settings keep their defaults.

        Args:
            path: The TOML file.

        Returns:
            The settings by name.

        Raises:
            KerasBertError: When the file is not TOML, or a setting does not exist or has another type.
        """
        return cls.given(read_toml(path, expected="training settings in TOML"), path)

    def write(self, path: str | os.PathLike) -> None:
        """Write every setting that is not None as TOML.

        Args:
            path: The file to write.
        """
        lines = [f"{name} = {toml_value(value)}" for name, value in self.settings().items()]
        with atomic_file(path) as partial:
            partial.write_text("\n".join(lines) + "\n", "utf-8")

    def settings(self) -> Mapping[str, Any]:
        """Return every setting that is not None, by name."""
        return {name: value for name, value in self.to_dict().items() if value is not None}

    def require(self, name: str) -> str:
        """Return a setting that the command cannot do without.

        Args:
            name: The name of a setting that is a string, such as `out`.

        Returns:
            The setting.

        Raises:
            KerasBertError: When the setting is missing.
        """
        value = getattr(self, name)
        if value is None:
            raise KerasBertError(f"expected {flag(name)}, received none; --help shows an example")
        return value
