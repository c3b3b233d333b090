"""A recipe's methods put on a task: what is trained, optimizer, schedule, loss, devices."""

import contextlib

from kerasbert.errors import KerasBertError
from kerasbert.processors.classification import SingleLabel
from kerasbert.processors.embedding import Embedding
from kerasbert.processors.token_classification.processor import Tagging
from kerasbert.training.config import Recipe


def prepare(task, recipe: Recipe, train) -> tuple:
    """Compiles the task as the recipe says, and gives the callbacks that its methods need. train: the training data's table.

    Raises KerasBertError for methods that do not fit the task.
    """
    from kerasbert.optimizers.adamw import adamw
    from kerasbert.training.unfreezing import GradualUnfreezing

    choose_parts(task, recipe)
    examples, rows = task.features(train.x)
    optimizer = adamw(
        recipe.learning_rate, recipe.warmup, -(-len(rows) // recipe.batch_size) * recipe.epochs, recipe.weight_decay, recipe.clip_norm,
        decay=recipe.schedule, layer_decay=recipe.layer_decay, rates=recipe.rates or None,
    )  # fmt: skip
    task.compile(optimizer=optimizer, loss=loss_of(task, recipe, train, examples, rows), jit_compile=recipe.jit)
    return (GradualUnfreezing(task),) if recipe.unfreeze else ()


def choose_parts(task, recipe: Recipe) -> None:
    """Freezes what the recipe does not train."""
    from kerasbert.tasks.adapters import train_adapters
    from kerasbert.tasks.freezing import freeze, train_only

    if recipe.freeze:
        freeze(task, *(part.strip() for part in recipe.freeze.split(",")))
    elif recipe.top_layers:
        train_only(task, recipe.top_layers)
    elif recipe.adapters:
        train_adapters(task)


def loss_of(task, recipe: Recipe, train, examples, rows):
    """The loss that the recipe asks for; None for the task's own."""
    from kerasbert.losses import pairs as pair_losses
    from kerasbert.losses.classes import CrossEntropy

    if isinstance(task.processor, Embedding):
        if train.y is None or recipe.pair_loss == "in-batch-negatives":
            return pair_losses.InBatchNegatives()
        if recipe.pair_loss == "contrastive":
            return pair_losses.ContrastiveLoss()
        scores = task.processor.encode_labels(train.y, examples, rows)
        if scores.ndim == 2:  # vectors of single texts
            return None
        return pair_losses.CosineLoss(scores=(min(0.0, float(scores.min())), float(scores.max())))
    if not recipe.label_smoothing and not recipe.class_weights:
        return None
    if not isinstance(task.processor, SingleLabel | Tagging):
        raise KerasBertError(
            f"expected --label-smoothing and --class-weights for classes, received them for a task of {task.processor.name!r}"
        )
    targets = task.processor.encode_labels(train.y, examples, rows) if recipe.class_weights == "balanced" else None
    return CrossEntropy(recipe.label_smoothing, class_weights_of(recipe.class_weights, task.labels, targets))


def class_weights_of(text: str | None, labels, targets) -> list[float] | None:
    """`balanced`, or `rare=5,common=1` (labels that are not named: 1), as one weight a label in their order.

    Raises KerasBertError for a label that is not one of them, and what is no number.
    """
    from kerasbert.losses.classes import balanced_weights

    if not text:
        return None
    if text == "balanced":
        return balanced_weights(targets, len(labels))
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
    """What stands for a strategy where there is none."""

    @staticmethod
    def scope():
        return contextlib.nullcontext()


def strategy_named(name: str | None):
    """A `tf.distribute` strategy: `mirrored` (this machine's GPUs), `multi-worker` (the workers that TF_CONFIG names), `tpu`, or None.

    Raises KerasBertError where there is nothing to distribute to.
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
    """Whether this process is the one of its cluster that writes; without a cluster it is."""
    import os

    from kerasbert.files.json_text import parse_json

    config = parse_json(os.environ.get("TF_CONFIG") or "{}", "TF_CONFIG")
    task = config.get("task", {})
    if "chief" in config.get("cluster", {}):
        return task.get("type") == "chief"
    return task.get("index", 0) == 0
