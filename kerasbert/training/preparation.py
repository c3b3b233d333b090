"""Puts a config's methods on a task: frozen parts, optimizer, schedule, loss, devices."""

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kerasbert.errors import KerasBertError
from kerasbert.processors.classification import SingleLabel
from kerasbert.processors.embedding import Embedding
from kerasbert.processors.token_classification.processor import Tagging
from kerasbert.training.config import TrainConfig

if TYPE_CHECKING:
    import tf_keras as keras

    from kerasbert.processors import Features


def prepare(task: Any, config: TrainConfig, data: Any) -> tuple:
    """Freezes, and compiles the task with the config's optimizer, schedule and loss.

    Args:
        task: A task, or a `Distiller`.
        config: The settings.
        data: The training data's table.

    Returns:
        The callbacks that the config's methods need.

    Raises:
        KerasBertError: When a method does not fit the task.
    """
    from kerasbert.optimizers.adamw import adamw
    from kerasbert.training.unfreezing import GradualUnfreezing

    choose_parts(task, config)
    examples, features = task.features(data.x)
    optimizer = adamw(
        config.learning_rate, config.warmup, -(-len(features) // config.batch_size) * config.epochs, config.weight_decay, config.clip_norm,
        decay=config.schedule, layer_decay=config.layer_decay, rates=config.rates or None,
    )  # fmt: skip
    task.compile(optimizer=optimizer, loss=loss_of(task, config, data, examples, features), jit_compile=config.jit)
    return (GradualUnfreezing(task),) if config.unfreeze else ()


def choose_parts(task: Any, config: TrainConfig) -> None:
    """Freezes the parts that the config does not train."""
    from kerasbert.tasks.adapters import train_adapters
    from kerasbert.tasks.freezing import freeze, train_only

    if config.freeze:
        freeze(task, *(part.strip() for part in config.freeze.split(",")))
    elif config.top_layers:
        train_only(task, config.top_layers)
    elif config.adapters:
        train_adapters(task)


def loss_of(
    task: Any, config: TrainConfig, data: Any, examples: list | None, features: "Features"
) -> "keras.losses.Loss | None":
    """The loss that the config chooses; None for the task's own.

    Raises:
        KerasBertError: When it does not fit the task.
    """
    examples = features.example if examples is None else examples
    from kerasbert.losses import pairs as pair_losses
    from kerasbert.losses.classes import CrossEntropy

    if isinstance(task.processor, Embedding):
        if data.y is None or config.pair_loss == "in-batch-negatives":
            return pair_losses.InBatchNegatives()
        if config.pair_loss == "contrastive":
            return pair_losses.ContrastiveLoss()
        scores = task.processor.encode_labels(data.y, examples, features)
        if scores.ndim == 2:  # vectors of single texts
            return None
        return pair_losses.CosineLoss(scores=(min(0.0, float(scores.min())), float(scores.max())))
    if not config.label_smoothing and not config.class_weights:
        return None
    if not isinstance(task.processor, SingleLabel | Tagging):
        raise KerasBertError(
            f"expected --label-smoothing and --class-weights for classes, received them for a task of {task.processor.name!r}"
        )
    targets = task.processor.encode_labels(data.y, examples, features) if config.class_weights == "balanced" else None
    return CrossEntropy(config.label_smoothing, class_weights_of(config.class_weights, task.labels, targets))


def class_weights_of(text: str | None, labels: Sequence[str], encoded: Any) -> list[float] | None:
    """Class weights as one weight a label, in their order.

    Args:
        text: `balanced`, or `rare=5,common=1`; labels that are not named have 1. None for no weights.
        labels: The labels.
        encoded: The training data's labels as numbers; used by `balanced` alone.

    Raises:
        KerasBertError: When a label is none of the task's, or a weight no number.
    """
    from kerasbert.losses.classes import balanced_weights

    if not text:
        return None
    if text == "balanced":
        return balanced_weights(encoded, len(labels))
    weights = dict.fromkeys(labels, 1.0)
    for word in text.split(","):
        label, _, weight = (part.strip() for part in word.rpartition("="))
        try:
            number = float(weight)
        except ValueError:
            number = -1.0
        if label not in weights or number < 0:
            raise KerasBertError(
                f"expected --class-weights as balanced, or LABEL=WEIGHT with labels of {', '.join(labels)}, received {word!r}"
            )
        weights[label] = number
    return list(weights.values())


class _OneDevice:
    """A strategy for one device."""

    @staticmethod
    def scope() -> contextlib.AbstractContextManager:
        return contextlib.nullcontext()


def strategy_named(name: str | None) -> Any:
    """A `tf.distribute` strategy: `mirrored` (this machine's GPUs), `multi-worker` (the workers that TF_CONFIG names), `tpu`, or None.

    Raises:
        KerasBertError: When there is nothing to distribute to.
    """
    import tensorflow as tf

    if name is None:
        return _OneDevice()
    if name == "mirrored":
        return tf.distribute.MirroredStrategy()
    if name == "multi-worker":
        import os

        if not os.environ.get("TF_CONFIG"):
            raise KerasBertError(
                "expected the cluster in TF_CONFIG for --distribute multi-worker, received none; start the same command on each "
                'worker with {"cluster": {"worker": ["host:port", ...]}, "task": {"type": "worker", "index": 0}} in it'
            )
        return tf.distribute.MultiWorkerMirroredStrategy()
    try:
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver.connect()
    except (ValueError, tf.errors.OpError) as error:
        raise KerasBertError(
            f"expected a TPU for --distribute tpu, received none ({str(error).splitlines()[0]})"
        ) from error
    return tf.distribute.TPUStrategy(resolver)


def is_chief() -> bool:
    """Whether this process is its cluster's chief, which writes; True without a cluster."""
    import os

    from kerasbert.files.json_text import parse_json

    config = parse_json(os.environ.get("TF_CONFIG") or "{}", "TF_CONFIG")
    task = config.get("task", {})
    if "chief" in config.get("cluster", {}):
        return task.get("type") == "chief"
    return task.get("index", 0) == 0
