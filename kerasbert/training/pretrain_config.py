"""The settings of pretraining as one value, which the options of `kerasbert pretrain` declare."""

from dataclasses import dataclass

from kerasbert.data.file_options import FileOptions
from kerasbert.errors import KerasBertError
from kerasbert.files.record import REQUIRED, Options, same_setting, setting
from kerasbert.masking_units import UNITS
from kerasbert.training.config import TrainConfig

MODEL_FORMS = "a preset such as bert-tiny, a config.json, or a checkpoint to continue"


@dataclass(frozen=True)
class PretrainConfig(Options):
    """The settings of `kerasbert pretrain`.

    Raises:
        KerasBertError: When a value is out of range, or two settings exclude each other.

    Example:
        ```python
        from kerasbert.training import PretrainConfig
        config = PretrainConfig(text="texts.txt", model="bert-tiny", out="runs/encoder", vocabulary_size=2000, steps=1000)
        config.evaluations, config.steps_per_evaluation  # (1, 1000)
        ```
    """

    model: str = setting(
        REQUIRED, f"Architecture and weights: {MODEL_FORMS} (a folder, or a hub name).", "PRESET|FILE|FOLDER|HUB"
    )
    text: str = setting(
        REQUIRED,
        "Texts: a file, a folder, a pattern such as 'corpus/*.txt.gz', or several with commas between them. One text a line, blank lines "
        "between documents; or .jsonl with a text and its entities in each line.",
        "FILE|FOLDER,...",
    )
    out: str = setting(REQUIRED, "Output folder for the model; it must be new or empty.", "FOLDER")
    dev: str | None = setting(
        None,
        "Texts in the same forms: the loss on their first 2,048 rows is computed in each evaluation.",
        "FILE|FOLDER,...",
    )
    encoding: str | None = same_setting(FileOptions, "encoding")
    tokenizer: str | None = setting(
        None, "Folder with the tokenizer's files, for a preset or a config.json.", "FOLDER|HUB"
    )
    learn: str | None = setting(
        None,
        "Tokenizer to learn from the texts: wordpiece, sentencepiece, bpe, japanese or japanese-characters. Default: that of the "
        "architecture.",
        "NAME",
    )
    vocabulary_size: int = setting(16_000, "Tokens to learn, at most.", at_least=6)
    cased: bool = setting(False, "Keep upper case in a learned vocabulary.", "")

    objectives: str | None = setting(
        None,
        "Objectives and their weights: masked-lm, span-boundary, next-sentence, sentence-order, replaced-tokens. Default: those of the "
        "architecture's paper.",
        "NAME=WEIGHT,...",
    )
    masking: str = setting(
        "tokens", "What is masked together: tokens, words, n-grams, spans or entities.", "NAME", choices=UNITS
    )
    words_by: str | None = setting(
        None,
        "What finds words: jieba for Chinese, or spaces. Default: the tokenizer.",
        "NAME",
        choices=("jieba", "spaces"),
    )
    mask_share: float = setting(0.15, "Fraction of the tokens that are masked.", "FRACTION", above=0, below=1)
    masks: int | None = setting(
        None, "Number of different masks of a row (static masking). Default: other masks in every pass.", at_least=1
    )
    generator_size: float = setting(
        0.25, "Width of the generator of replaced-tokens, as a fraction of the model's.", "FRACTION", above=0
    )

    sequence_length: int = setting(128, "Tokens in a row.", at_least=16)
    batch_size: int = setting(64, "Rows in a training step.", at_least=1)
    accumulate: int = setting(
        1, "Parts of a batch that are computed one after another: the memory is that of a part.", at_least=1
    )
    steps: int = setting(10_000, "Number of training steps.", at_least=1)
    evaluate_every: int = setting(1000, "Steps after which the model is saved and --dev evaluated.", at_least=1)
    learning_rate: float | None = setting(
        None, "Peak learning rate of AdamW. Default: by the model's width; less for a checkpoint.", "RATE", at_least=0
    )
    schedule: str = same_setting(TrainConfig, "schedule")
    warmup: float = same_setting(TrainConfig, "warmup")
    weight_decay: float = same_setting(TrainConfig, "weight_decay")
    clip_norm: float = same_setting(TrainConfig, "clip_norm")
    dropout: float | None = same_setting(TrainConfig, "dropout")
    precision: str = same_setting(TrainConfig, "precision")
    seed: int = same_setting(TrainConfig, "seed")
    jit: bool = same_setting(TrainConfig, "jit")
    checkpoint_minutes: float = same_setting(TrainConfig, "checkpoint_minutes")
    tensorboard: bool = same_setting(TrainConfig, "tensorboard")
    distribute: str | None = same_setting(TrainConfig, "distribute")

    def check(self) -> None:
        if self.accumulate > self.batch_size:
            raise KerasBertError(
                f"expected --accumulate of at most the {self.batch_size} rows of a batch, received {self.accumulate}; take fewer parts"
            )
        if self.tokenizer is not None and self.learn is not None:
            raise KerasBertError("expected --tokenizer or --learn, received both; leave one out")

    @property
    def evaluations(self) -> int:
        """The number of evaluations."""
        return max(1, round(self.steps / self.evaluate_every))

    @property
    def steps_per_evaluation(self) -> int:
        """The steps between two evaluations; all steps are a multiple of them."""
        return -(-self.steps // self.evaluations)

    def train_config(self, learning_rate: float) -> TrainConfig:
        """Return the settings of the training run, in which an evaluation ends an epoch.

        Args:
            learning_rate: The peak learning rate.
        """
        names = (
            "batch_size",
            "schedule",
            "warmup",
            "weight_decay",
            "clip_norm",
            "seed",
            "jit",
            "checkpoint_minutes",
            "tensorboard",
        )
        same = {name: getattr(self, name) for name in names}
        return TrainConfig(out=self.out, epochs=self.evaluations, learning_rate=learning_rate, **same)
