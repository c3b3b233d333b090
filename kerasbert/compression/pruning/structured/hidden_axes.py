"""The axes of weights that the hidden size has, and what they hold: the residual stream, or the pooled vector."""

from collections.abc import Mapping

from kerasbert.errors import KerasBertError
from kerasbert.heads.head_set import HeadSet
from kerasbert.heads.own_head import OwnHead
from kerasbert.tasks.base import Task

STREAM, POOLED = "stream", "pooled"
Axes = Mapping[
    str, tuple[str | None, ...]
]  # path of a variable -> what each of its axes holds; None: nothing that is cut


def check_cuttable(task: Task) -> None:
    """Check that it is known what every weight of a task reads.

    Raises:
        KerasBertError: When the encoder is no transformer; when a head is a user's, or decodes with channels beside the stream.
    """
    if not task.encoder.is_transformer:
        raise KerasBertError(
            f"expected a transformer to cut hidden dimensions of, received a {task.config.model_type}; cut another model"
        )
    parts = task.head.parts.values() if isinstance(task.head, HeadSet) else [task.head]
    if own := [part for part in parts if isinstance(part, OwnHead)]:
        raise KerasBertError(
            f"expected a task without a head of your own to cut hidden dimensions, received {own[0].name!r}; "
            "cut before you add the head"
        )
    if "masked_lm.further_decoder" in task.variables_by_path():
        raise KerasBertError(
            "expected a masked language model whose decoder is the token table, received a MobileBERT with further channels; "
            "cut another model"
        )


def hidden_axes(task: Task, smaller: Task) -> Axes:
    """Return the axes of the weights of a task that are shorter in one with a smaller hidden size.

    Raises:
        KerasBertError: When the smaller one has other weights: a projection of embeddings is one of two different sizes.
    """
    before, after = task.variables_by_path(), smaller.variables_by_path()
    if before.keys() != after.keys():
        raise KerasBertError(
            f"expected a hidden size other than that of the embeddings, received {smaller.config.hidden_size}; take another one"
        )
    axes = {}
    for path, variable in before.items():
        shapes = zip(variable.shape, after[path].shape, strict=True)
        changed = [old != new for old, new in shapes]
        if any(changed):
            axes[path] = tuple(_holds(task, path, axis) if change else None for axis, change in enumerate(changed))
    return axes


def _holds(task: Task, path: str, axis: int) -> str:
    """What an axis of a weight holds: what the pooler writes and the heads of pooled vectors read, or the stream."""
    if task.encoder.pooler is None:
        return STREAM
    if path.startswith("encoder."):
        return POOLED if (path, axis) in (("encoder.pooler.kernel", 1), ("encoder.pooler.bias", 0)) else STREAM
    head = task.head.parts[path.split(".")[1]] if isinstance(task.head, HeadSet) else task
    return POOLED if getattr(head, "reads", None) == "pooled" else STREAM
