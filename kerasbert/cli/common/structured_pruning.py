"""Structured pruning as a part of `kerasbert prune`: layers, heads, feed-forward neurons and words are taken out of a saved model."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kerasbert.cli.common.results import Result
from kerasbert.cli.common.training_run import score
from kerasbert.errors import KerasBertError
from kerasbert.training.config import TrainConfig
from kerasbert.training.config_fields import check_fields, flag, option

if TYPE_CHECKING:
    from kerasbert.processors import Processor
    from kerasbert.tasks.base import Task

_SIZES = {
    "layers": "layers",
    "heads": "heads",
    "feed_forward": "feed-forward",
    "vocabulary": "vocabulary",
    "parameters": "parameters",
    "bytes": "bytes of weights",
}


@dataclass(frozen=True)
class StructuredConfig:
    """The parts to take out.

    Raises:
        KerasBertError: When a share is none, or an option lacks another that it belongs to.
    """

    layers: int | None = option(None, "Number of layers to keep.")
    strategy: str = option(
        "top", "Layers to remove: top, bottom, alternate, alternate-top, symmetric or contribution.", "NAME"
    )
    heads: float | None = option(None, "Share of the attention heads to remove.", "SHARE")
    heads_per_layer: bool = option(False, "Remove as many heads in every layer.")
    feed_forward: float | None = option(None, "Share of the feed-forward neurons to remove.", "SHARE")
    vocabulary: str | None = option(
        None, "Texts whose words are kept alone: lines of .txt, or a file of the task's data.", "FILE"
    )
    characters: bool = option(True, "Keep all tokens of one character, for words that the texts do not have.")
    data: str | None = option(
        None, "Labelled data by which importance is measured; a few hundred rows are enough.", "FILE"
    )

    def __post_init__(self):
        check_fields(self)
        for name in ("heads", "feed_forward"):
            share = getattr(self, name)
            if share is not None and not 0 < share < 1:
                raise KerasBertError(f"expected {flag(name)} as a share above 0 and below 1, received {share:g}")
        for name, needed, asked in (
            (f"--strategy {self.strategy}", "layers", self.strategy != "top"),
            ("--heads-per-layer", "heads", self.heads_per_layer),
            ("--no-characters", "vocabulary", not self.characters),
        ):
            if asked and getattr(self, needed) is None:
                raise KerasBertError(f"expected {flag(needed)} with {name}, received none")
        measured = [flag(name) for name in ("heads", "feed_forward") if getattr(self, name) is not None]
        measured += ["--strategy contribution"] if self.strategy == "contribution" else []
        if measured and self.data is None:
            raise KerasBertError(f"expected --data to measure importance on for {measured[0]}, received none")

    @property
    def removes(self) -> list[str]:
        """The options that take something out, as they are given."""
        names = ("layers", "heads", "feed_forward", "vocabulary")
        return [flag(name) for name in names if getattr(self, name) is not None]

    @property
    def needs_labels(self) -> bool:
        """Whether importance is measured by the loss."""
        return self.heads is not None or self.feed_forward is not None


def prune_structures(model: str, config: StructuredConfig, training: TrainConfig) -> Result:
    """Takes layers, heads, feed-forward neurons and words out of a saved model, in this order, and saves it.

    Args:
        model: A saved folder or a hub name.
        config: The parts.
        training: Of its settings, `dev`, `out`, `batch_size` and those for reading files.

    Raises:
        KerasBertError: When a file cannot be used, or the model lacks the parts.
    """
    from kerasbert.cli.common.data_files import check_known, check_labels, read_described
    from kerasbert.cli.common.layer_counts import check_layer_count
    from kerasbert.cli.common.loading import loading
    from kerasbert.cli.common.training_data import saved_processor
    from kerasbert.training.run_folder import RunFolder

    out = Path(str(training.out))
    if config.layers is not None:
        check_layer_count(model, config.layers, fewer=True)
    processor = saved_processor(model)
    tables = {path: read_described(type(processor), path, training) for path in (config.data, training.dev) if path}
    labelled = [path for path in (config.data if config.needs_labels else None, training.dev) if path]
    for path in labelled:
        check_known(processor, tables[path])
    texts = _texts(processor, config.vocabulary, training) if config.vocabulary else None
    with loading("the model"):
        from kerasbert.compression.pruning.structured.model_surgery import check_float
        from kerasbert.tasks.auto import load_task

        task = load_task(model)
        check_float(task)
    for path in labelled:
        check_labels(task.processor, tables[path])
    dev = tables[training.dev] if training.dev else None
    before, dev_before = _sizes(task), score(task, dev, "the model as it is")
    pruned = _pruned(task, config, tables[config.data] if config.data else None, texts, training.batch_size)
    dev_after = score(pruned, dev, "the pruned model")
    pruned.save_pretrained(out)
    RunFolder(out).clear()  # of the model that was there before
    data = {
        "model": model, "out": out, "before": before, "after": _sizes(pruned), "dev_before": dev_before, "dev_after": dev_after,
    }  # fmt: skip
    return Result(data, _blocks(data))


def _pruned(task: "Task", config: StructuredConfig, data: Any, texts: Any, batch_size: int) -> "Task":
    from kerasbert.cli.common.progress import progress
    from kerasbert.compression.pruning import structured

    with progress("pruning"):
        if config.layers is not None:
            task = structured.drop_layers(
                task, config.layers, strategy=config.strategy, data=data, batch_size=batch_size
            )
        if config.heads is not None:
            task = structured.prune_heads(
                task, config.heads, data=data, per_layer=config.heads_per_layer, batch_size=batch_size
            )
        if config.feed_forward is not None:
            task = structured.prune_feed_forward(task, config.feed_forward, data=data, batch_size=batch_size)
        if texts is not None:
            task = structured.trim_vocabulary(task, texts, characters=config.characters)
    return task


def _texts(processor: "Processor", path: str, training: TrainConfig) -> Any:
    """The texts of a file of lines, or the examples of one of the task's data."""
    from kerasbert.cli.common.data_files import read_described
    from kerasbert.cli.common.progress import note
    from kerasbert.data.plain_text import read_text
    from kerasbert.data.records import data_suffix

    if data_suffix(Path(path)) != ".txt":
        return read_described(type(processor), path, training)
    table = read_text(path)
    note(table.describe())
    return table


def _sizes(task: "Task") -> dict[str, object]:
    """A model's sizes, JSON-able."""
    from kerasbert.compression.pruning.structured.model_surgery import feed_forward_widths, head_counts, weights_by_path

    values = weights_by_path(task).values()
    return {
        "layers": task.config.num_hidden_layers,
        "heads": head_counts(task),
        "feed_forward": feed_forward_widths(task),
        "vocabulary": task.config.vocab_size,
        "parameters": sum(value.size for value in values),
        "bytes": sum(value.nbytes for value in values),
    }


def _blocks(data: dict) -> list:
    from kerasbert.console.tables import Table
    from kerasbert.training.trainer import format_metrics

    rows = [(title, *(_short(data[side][name]) for side in ("before", "after"))) for name, title in _SIZES.items()]
    blocks = [f"saved {data['out']}", "", Table(("size", "before", "after"), rows)]
    if data["dev_after"]:
        blocks.append(f"dev {format_metrics(data['dev_after'])}; before {format_metrics(data['dev_before'])}")
    return blocks


def _short(value) -> str:
    """A number; of numbers by layer the one that all are, or the lowest and the highest."""
    if not isinstance(value, list):
        return f"{value:,}"
    low, high = min(value), max(value)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
