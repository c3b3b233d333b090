"""A pretraining run: the model of a preset, a config or a checkpoint, its tokenizer, and the training on a text stream."""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import tf_keras as keras

from kerasbert.checkpoints.hugging_face import max_sequence_length, read_config, resolve
from kerasbert.console.output import note
from kerasbert.console.progress import Progress
from kerasbert.data.text_stream import TextStream
from kerasbert.encoders import PRESETS, encoder_class, preset
from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import read_json_object
from kerasbert.layers.config import EncoderConfig
from kerasbert.optimizers.adamw import adamw
from kerasbert.processors.pretraining_rows import PAIRINGS
from kerasbert.tasks.pretrainer import Pretrainer
from kerasbert.tasks.pretraining_objectives import objective_weights
from kerasbert.text import Tokenizer, has_tokenizer
from kerasbert.training.pretrain_config import MODEL_FORMS, PretrainConfig
from kerasbert.training.result import TrainResult
from kerasbert.training.run_folder import RunFolder
from kerasbert.training.trainer import train

# Rates by hidden size, from scratch: Clark et al. 2020 table 6 (5e-4 small, 2e-4 base) and Devlin et al. 2018 (1e-4 large).
_RATES = ((1024, 1e-4), (768, 2e-4), (0, 5e-4))
_CONTINUED = 0.2  # of those for a checkpoint


def model_config(source: str) -> EncoderConfig | None:
    """Return the sizes of a preset or a config file; None for a checkpoint.

    Args:
        source: The name of a preset, a `config.json`, a folder, or a hub name.

    Raises:
        KerasBertError: When the file is no config of a known architecture.
    """
    if source in PRESETS or source.removesuffix("-v2") in PRESETS:
        return preset(source)
    if source.endswith(".json") and os.path.isfile(source):
        config = read_json_object(source)
        kind = encoder_class(config.get("model_type")).config_class
        known = {kind.aliases.get(name, name) for name in kind.__dataclass_fields__}
        return kind.from_dict({name: value for name, value in config.items() if name in known}, source)
    return None


def parse_weights(text: str) -> dict[str, float | None]:
    """Parse objectives in the notation of the command line, `masked-lm=1,next-sentence`.

    Args:
        text: NAME=WEIGHT pairs, separated by commas. A name without a weight has the default one, None.

    Raises:
        KerasBertError: When a name occurs twice, or a weight is not a number.
    """
    weights: dict[str, float | None] = {}
    for word in text.split(","):
        name, separator, weight = (part.strip() for part in word.partition("="))
        if name in weights:
            raise KerasBertError(f"expected each objective once, received {name} twice; keep one")
        try:
            weights[name] = float(weight) if separator else None
        except ValueError:
            raise KerasBertError(
                f"expected objectives as NAME=WEIGHT, such as masked-lm=1, received {word!r}; correct the weight"
            ) from None
    return weights


def weights_of(config: PretrainConfig, model_type: str) -> dict[str, float]:
    """Return the weight of each objective of the settings.

    Args:
        config: The settings.
        model_type: The architecture.

    Raises:
        KerasBertError: When an objective is unknown, a weight is wrong, or objectives exclude each other.
    """
    return objective_weights(None if config.objectives is None else parse_weights(config.objectives), model_type)


def new_pretrainer(config: PretrainConfig, sizes: EncoderConfig, tokenizer: Tokenizer) -> Pretrainer:
    """Make a task with random weights.

    Args:
        config: The settings.
        sizes: The sizes of the encoder; those of the vocabulary and of the longest row are replaced.
        tokenizer: The tokenizer.

    Raises:
        KerasBertError: When objectives do not fit the architecture.
    """
    changes: dict[str, Any] = {"vocab_size": tokenizer.vocabulary_size, "pad_token_id": tokenizer.pad_id}
    if config.dropout is not None:
        sizes = sizes.with_dropout(config.dropout)
    sizes = replace(sizes, **{name: value for name, value in changes.items() if hasattr(sizes, name)})
    kind = encoder_class(sizes.model_type)
    weights = weights_of(config, sizes.model_type)
    paired = any(name in weights for name in PAIRINGS)
    keras.utils.set_random_seed(config.seed)
    encoder = kind(sizes, pooler=kind.pooler_is_trained and (paired or sizes.model_type in ("bert", "albert")))
    return Pretrainer(encoder, tokenizer, **_settings(config))


def loaded_pretrainer(config: PretrainConfig) -> Pretrainer:
    """Load a checkpoint to continue its pretraining. A note says when it gets more positions.

    Args:
        config: The settings.

    Raises:
        KerasBertError: When it cannot be loaded, has no tokenizer, or lacks what an objective reads.
    """
    folder = resolve(config.model)
    if not has_tokenizer(folder):
        raise KerasBertError(
            f"expected --model as {MODEL_FORMS}, received {config.model!r} without a tokenizer; correct it"
        )
    if config.learn is not None or config.tokenizer is not None:
        raise KerasBertError(
            f"expected a preset or a config.json with --tokenizer and --learn, received the checkpoint {config.model!r}, which has a "
            "tokenizer; leave the option out"
        )
    keras.utils.set_random_seed(config.seed)
    positions = max_sequence_length(read_config(folder))
    settings = {**_settings(config), "sequence_length": min(config.sequence_length, positions)}
    task = Pretrainer.from_pretrained(folder, **settings)
    if config.sequence_length > positions:
        task = task.with_sequence_length(config.sequence_length)
        note(
            f"note: the checkpoint has {positions} positions; those up to {config.sequence_length} begin as copies of them and are learned"
        )
    return task if config.dropout is None else task.with_dropout(config.dropout)


def _settings(config: PretrainConfig) -> dict[str, Any]:
    return {
        "sequence_length": config.sequence_length,
        "share": config.mask_share,
        "objectives": None if config.objectives is None else parse_weights(config.objectives),
        "masking": config.masking,
        "masks": config.masks,
        "generator_size": config.generator_size,
        "accumulate": config.accumulate,
        "words_by": config.words_by,
    }


def recommended_rate(task: Pretrainer, continued: bool) -> float:
    """Return the peak learning rate for a width.

    Args:
        task: The task.
        continued: Whether it was loaded from a checkpoint.
    """
    rate = next(rate for least, rate in _RATES if task.config.hidden_size >= least)
    return rate * _CONTINUED if continued else rate


def pretrain(
    task: Pretrainer,
    texts: TextStream,
    dev: TextStream | None,
    config: PretrainConfig,
    learning_rate: float,
    folder: RunFolder | None = None,
    *,
    resume: bool = False,
    progress: Progress | None = None,
    callbacks: Sequence[keras.callbacks.Callback] = (),
) -> TrainResult:
    """Compile and train a task on a text stream, and save it after every evaluation.

    Args:
        task: The task.
        texts: The texts.
        dev: The texts of evaluations, or None.
        config: The settings.
        learning_rate: The peak learning rate.
        folder: The run folder; None saves nothing.
        resume: Whether to continue from the folder's state. The results equal those of an uninterrupted run.
        progress: Receives the progress.
        callbacks: Additional Keras callbacks.

    Returns:
        The losses of every evaluation, and the speed. The task has the weights of the last step.

    Raises:
        KerasBertError: When a file cannot be used, or the loss is not finite.

    Example:
        ```python
        from kerasbert.training import PretrainConfig, pretrain
        texts = kb.data.TextStream("texts.txt")
        config = PretrainConfig(model="small-en", text="texts.txt", out="runs/api-pretrained", steps=4, evaluate_every=2, batch_size=4)
        pretrainer = kb.Pretrainer.from_pretrained("small-en", sequence_length=32, objectives=["masked-lm"])
        result = pretrain(pretrainer, texts, None, config, learning_rate=1e-4)
        result.epochs[-1]["loss"], result.examples_per_second
        ```
    """
    run = config.train_config(learning_rate)
    steps = config.steps_per_evaluation
    with task.distribute_strategy.scope():
        optimizer = adamw(
            learning_rate,
            config.warmup,
            steps * config.evaluations,
            config.weight_decay,
            config.clip_norm,
            config.schedule,
        )
        task.compile(optimizer=optimizer, jit_compile=config.jit)
    batches = task.batches(texts, config.batch_size, config.seed, steps)
    held_out = None if dev is None else task.batches(dev, config.batch_size)
    return train(
        task, batches, None, run, folder, resume=resume, keep_state=True, callbacks=callbacks, progress=progress, validation=held_out
    )  # fmt: skip


def describe_objectives(task: Pretrainer) -> str:
    """Return a line about what is learned."""
    weights = ", ".join(f"{name} {weight:g}" for name, weight in task.objective_weights.items())
    processor = task.processor
    together = f", by {processor.unit}" if processor.unit != "tokens" else ""
    return f"objectives {weights}; {processor.share:.0%} of the tokens masked{together}"
