"""Applies a config to a task: frozen parts, optimizer, schedule, loss and distribution strategy."""

import contextlib
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kerasbert.console.output import note
from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import parse_json
from kerasbert.processors.classification import SingleLabel
from kerasbert.processors.embedding import Embedding
from kerasbert.processors.tagging import Tagging
from kerasbert.training.config import TrainConfig
from kerasbert.training.recommended import settled

if TYPE_CHECKING:
    import tf_keras as keras

    from kerasbert.data.dataset import Dataset
    from kerasbert.processors import Features
    from kerasbert.tasks.base import Task
    from kerasbert.training.distillation import StudentTraining


def prepare(
    task: "Task | StudentTraining", config: TrainConfig, data: "Dataset"
) -> "tuple[keras.callbacks.Callback, ...]":
    """Freeze parts of a task, and compile it with the config's optimizer, schedule and loss.

    Args:
        task: A task, or a `StudentTraining`.
        config: The settings.
        data: The training data.

    Returns:
        The callbacks that the config's methods need.

    Raises:
        KerasBertError: When a method does not fit the task.
    """
    from kerasbert.optimizers.adamw import adamw
    from kerasbert.training.unfreezing import GradualUnfreezing

    freeze_parts(task, config)
    examples, features = task.features(data)
    config, _ = settled(config, task, len(data))
    rate, epochs = config.learning_rate or 0.0, config.epochs or 1
    optimizer = adamw(
        rate, config.warmup, -(-len(features) // config.batch_size) * epochs, config.weight_decay, config.clip_norm,
        decay=config.schedule, layer_decay=config.layer_decay, rates=config.rates or None,
    )  # fmt: skip
    loss = make_loss(task, config, data, list(features.example) if examples is None else examples, features)
    task.compile(optimizer=optimizer, loss=loss, jit_compile=config.jit)
    return (GradualUnfreezing(task),) if config.unfreeze else ()


def freeze_parts(task: "Task | StudentTraining", config: TrainConfig) -> None:
    """Freeze the parts that the config does not train.

    Args:
        task: A task, or a `StudentTraining`.
        config: The settings.

    Raises:
        KerasBertError: When the task has no such part.
    """
    from kerasbert.optimizers.parameter_groups import group_names
    from kerasbert.tasks.adapters import train_adapters
    from kerasbert.tasks.freezing import freeze, train_only

    student: Any = getattr(task, "student", task)
    chosen = config.freeze or config.top_layers or config.unfreeze or config.adapters
    if student.has_new_exits and not student.has_new_head and not chosen:  # the second stage of DeeBERT
        note(
            "only the new exits are trained, as the model is trained already; --freeze or --top-layers choose other parts"
        )
        freeze(student, *(part for part in group_names(student) if part != "exits"))
    elif config.freeze:
        freeze(task, *(part.strip() for part in config.freeze.split(",")))
    elif config.top_layers:
        train_only(task, config.top_layers)
    elif config.adapters:
        train_adapters(task)


def make_loss(
    task: "Task | StudentTraining", config: TrainConfig, data: "Dataset", examples: Sequence, features: "Features"
) -> "keras.losses.Loss | None":
    """Create the loss that the config selects.

    Args:
        task: A task, or a `StudentTraining`.
        config: The settings.
        data: The training data.
        examples: The examples of the data.
        features: The features of the examples.

    Returns:
        The loss, or None for the task's default.

    Raises:
        KerasBertError: When the selection does not fit the task.
    """
    from kerasbert.losses import pairs as pair_losses
    from kerasbert.losses.classes import CrossEntropy
    from kerasbert.tasks.base import Task

    if isinstance(task.processor, Embedding):
        if data.y is None and features.group == 1 and not isinstance(task, Task):  # the teacher's vectors are enough
            return None
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
            "expected a task with classes for --label-smoothing and --class-weights, received one of the type "
            f"{task.processor.name!r}; leave them out"
        )
    balanced = config.class_weights == "balanced"
    if balanced and data.added:
        raise KerasBertError(
            "expected labels for all rows with --class-weights balanced, received some without; name the weights"
        )
    labels = task.processor.encode_labels(data.y, examples, features) if balanced else ()
    return CrossEntropy(config.label_smoothing, parse_class_weights(config.class_weights, task.labels or (), labels))


def parse_class_weights(
    text: str | None, names: Sequence[str], labels: np.ndarray | Sequence[np.ndarray] = ()
) -> list[float] | None:
    """Return one weight for each label, in the order of the labels.

    Args:
        text: `balanced`, or `rare=5,common=1`, where a missing label has the weight 1. None for no weights.
        names: The names of the labels.
        labels: The training data's labels as numbers, for `balanced`.

    Returns:
        The weights, or None for no weights.

    Raises:
        KerasBertError: When the task has no such label, or a weight is not a number of at least 0.
    """
    from kerasbert.losses.classes import balanced_weights

    if not text:
        return None
    if text == "balanced":
        return balanced_weights(labels, len(names))
    weights = dict.fromkeys(names, 1.0)
    for word in text.split(","):
        label, _, weight = (part.strip() for part in word.rpartition("="))
        try:
            number = float(weight)
        except ValueError:
            number = -1.0
        if label not in weights or number < 0:
            raise KerasBertError(
                f"expected --class-weights as balanced, or LABEL=WEIGHT with labels of {', '.join(names)}, received {word!r}"
            )
        weights[label] = number
    return list(weights.values())


class _OneDevice:
    """A distribution strategy for one device."""

    @staticmethod
    def scope() -> contextlib.AbstractContextManager:
        return contextlib.nullcontext()


def strategy_named(name: str | None) -> Any:
    """Create a `tf.distribute` strategy.

    Args:
        name: `mirrored` (the GPUs of this machine), `multi-worker` (the workers in TF_CONFIG), `tpu`, or None for one device.

    Raises:
        KerasBertError: When there are no devices for it.
    """
    import tensorflow as tf

    if name is None:
        return _OneDevice()
    if name == "mirrored":
        return tf.distribute.MirroredStrategy()
    if name == "multi-worker":
        if not os.environ.get("TF_CONFIG"):
            raise KerasBertError(
                "expected the cluster in TF_CONFIG for --distribute multi-worker, received none; start the same command on each "
                'worker with TF_CONFIG={"cluster": {"worker": ["host:port", ...]}, "task": {"type": "worker", "index": 0}}'
            )
        return tf.distribute.MultiWorkerMirroredStrategy()
    try:
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver.connect()
    except (ValueError, tf.errors.OpError) as error:
        raise KerasBertError(
            f"expected a TPU for --distribute tpu, received none ({str(error).splitlines()[0]}); "
            "leave out --distribute to train without one"
        ) from error
    return tf.distribute.TPUStrategy(resolver)


def is_chief() -> bool:
    """Return True for the chief worker of a cluster, which writes the files, and for a process without a cluster.

    Raises:
        KerasBertError: When TF_CONFIG is not JSON.
    """
    config = parse_json(os.environ.get("TF_CONFIG") or "{}", "TF_CONFIG")
    task = config.get("task", {})
    if "chief" in config.get("cluster", {}):
        return task.get("type") == "chief"
    return task.get("index", 0) == 0
