"""Removal of whole layers (Sajjad et al. 2020, "Poor Man's BERT", arXiv 2004.03844)."""

from collections.abc import Sequence
from typing import Any

from kerasbert.compression.pruning.structured.layer_search import check_keep, search_layers
from kerasbert.compression.pruning.structured.layer_strategies import (
    FIXED_STRATEGIES,
    kept_layers,
    layer_similarities,
)
from kerasbert.compression.pruning.structured.layer_surgery import with_layers
from kerasbert.compression.pruning.structured.model_surgery import check_exactly_one, check_float, check_indices
from kerasbert.errors import KerasBertError
from kerasbert.tasks.base import Task

STRATEGIES = (*FIXED_STRATEGIES, "search")


def drop_layers(
    task: Task,
    keep: int | None = None,
    layers: Sequence[int] | None = None,
    strategy: str | None = None,
    data: Any = None,
    batch_size: int = 32,
) -> Task:
    """Return a copy of a task with fewer layers (Sajjad et al. 2020, "Poor Man's BERT").

    Layers of an ALBERT are calls of shared blocks: it gets fewer calls, and blocks without a call are removed.

    Args:
        task: The task, in float.
        keep: Number of layers to keep.
        layers: Layers to keep, counted from 0, in place of `keep`.
        strategy: Choice of the layers to remove. `top` removes those next to the head, `bottom` those next to the embeddings.
            `alternate` removes every second one from the top down, from the second on; `alternate-top` from the top one on. `symmetric`
            removes those in the middle; for an odd `keep` one more stays below. `contribution` removes those with the highest
            `layer_similarities`. `search` tries choices and takes the best one, see `search_layers`. None: `search` with data, else
            `top`; without a search for an encoder with a weighted sum of its layers.
        data: Texts, or anything that `predict` takes; needed for `contribution` and `search`.
        batch_size: Rows in a batch.

    Returns:
        The copy.

    Raises:
        KerasBertError: When the task is quantized; when the strategy is unknown or cannot keep `keep` layers; when a layer does not exist;
            and when data are missing.

    Example:
        ```python
        from kerasbert.compression.pruning.structured import drop_layers
        smaller = drop_layers(task, keep=2, strategy="alternate")
        smaller.compile(optimizer=kb.adamw(5e-4))
        smaller.fit(texts, labels)
        ```
    """
    check_float(task)
    check_exactly_one(keep=keep, layers=layers)
    count = task.config.num_hidden_layers
    if count < 2:
        raise KerasBertError(f"expected a model of at least 2 layers, received one of {count}; cut another model")
    if strategy is None:
        strategy = "top" if data is None or task.encoder.layer_mix is not None else "search"
    if strategy not in STRATEGIES:
        raise KerasBertError(f"expected a strategy of {', '.join(STRATEGIES)}, received {strategy!r}")
    kept = check_indices(layers, count, "layers") if keep is None else _chosen(task, keep, strategy, data, batch_size)
    if not 0 < len(kept) < count:
        raise KerasBertError(f"expected from 1 to {count - 1} layers to keep, received {len(kept)}")
    return with_layers(task, kept)


def _chosen(task: Task, keep: int, strategy: str, data: Any, batch_size: int) -> list[int]:
    """Return the layers that a strategy keeps."""
    count = check_keep(task, keep)
    if strategy == "search":
        return list(search_layers(task, keep, data, batch_size=batch_size)[0].layers)
    similarities = layer_similarities(task, data, batch_size) if strategy == "contribution" else None
    return kept_layers(count, keep, strategy, similarities)
