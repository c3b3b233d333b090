"""Structured pruning for `kerasbert prune`: removes layers, heads, neurons, hidden dimensions and tokens; makes low-rank factors."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kerasbert.cli.outputs.results import Result
from kerasbert.cli.runs.training_run import score
from kerasbert.errors import KerasBertError
from kerasbert.training.config import TrainConfig

if TYPE_CHECKING:
    from kerasbert.compression.pruning.config import StructuredConfig
    from kerasbert.compression.pruning.structured import LayerChoice
    from kerasbert.console.tables import Block
    from kerasbert.data.dataset import Dataset
    from kerasbert.processors import Processor
    from kerasbert.tasks.base import Task
    from kerasbert.text import Tokenizer

_SIZES = {
    "layers": "layers",
    "groups": "sets of weights",
    "heads": "heads",
    "feed_forward": "feed-forward",
    "hidden": "hidden size",
    "vocabulary": "vocabulary",
    "dimensions": "numbers in a vector",
    "parameters": "parameters",
    "bytes": "bytes of weights",
}
_SHOWN_CHOICES = 5  # of a search, beside those of fixed strategies


def prune_structures(model: str, config: "StructuredConfig", training: TrainConfig) -> Result:
    """Remove parts of a saved model, in the order of the options' help, and save it.

    Args:
        model: A saved folder or a hub name.
        config: The parts.
        training: The settings `dev`, `out`, `batch_size` and the options for reading files are used.

    Raises:
        KerasBertError: When a file cannot be used, or the model lacks the parts.
    """
    from kerasbert.cli.inputs.data_files import check_labels
    from kerasbert.cli.process.progress import loading
    from kerasbert.training.run_folder import RunFolder

    out = Path(training.require("out"))
    tables = _read_tables(model, config, training)
    with loading("the model"):
        from kerasbert.compression.pruning.structured.dimensions import check_reducible
        from kerasbert.compression.pruning.structured.model_surgery import check_float
        from kerasbert.tasks.auto import load_task

        task = load_task(model)
        check_float(task)
    if config.dimensions is not None:
        check_reducible(task, config.dimensions)
    for name in _labelled(config, training):
        check_labels(task.processor, tables[name])
    dev = tables.get(training.dev or "")
    before, dev_before = _sizes(task, config), score(task, dev, "the original model")
    strategy = _strategy(task, config, training.dev)
    search = _search(task, config, strategy, tables.get(config.data or training.dev or ""))
    pruned = _prune(task, config, strategy, search, tables, training)
    pruned, low_rank = _factorize(pruned, config, tables.get(config.data or ""), training.batch_size)
    dev_after = score(pruned, dev, "the pruned model")
    pruned.save_pretrained(out)
    _note_cut(pruned)
    RunFolder(out).clear()  # of a model that was replaced
    data = {
        "model": model, "out": out, "before": before, "after": _sizes(pruned, config), "dev_before": dev_before, "dev_after": dev_after,
        "strategy": strategy, **low_rank, **_search_data(task, search),
    }  # fmt: skip
    return Result(data, _blocks(data))


def _note_cut(task: "Task") -> None:
    """Print a line about sizes that only kerasbert reads."""
    from kerasbert.cli.process.progress import note

    if task.encoder.cut is not None:
        names = ", ".join(task.encoder.cut.to_dict())
        note(f"note: transformers cannot load the model: its config.json has no keys for these sizes ({names})")


def _labelled(config: "StructuredConfig", training: TrainConfig) -> list[str]:
    """Return the files whose labels are used."""
    return [path for path in (config.data if config.needs_labels else None, training.dev) if path]


def _read_tables(model: str, config: "StructuredConfig", training: TrainConfig) -> "dict[str, Dataset]":
    """Read all data files by their names, and check them and the options against the model's files before TensorFlow is loaded."""
    from kerasbert.checkpoints.layer_counts import check_layer_count
    from kerasbert.cli.inputs.data_files import check_known_labels, read_described
    from kerasbert.cli.inputs.training_data import load_processor

    if config.kept_layers is not None:
        check_layer_count(model, config.kept_layers, fewer=True)
    processor = load_processor(model)
    if config.vocabulary_of is not None:
        _tokenizer_of(config.vocabulary_of)
    if config.dimensions is not None and processor.name != "embedding":
        raise KerasBertError(
            f"expected a sentence encoder for --dimensions, received a model of the task type {processor.name!r}; leave --dimensions out"
        )
    labelled = _labelled(config, training)
    tables = {path: read_described(type(processor), path, training) for path in dict.fromkeys(labelled)}
    for path in labelled:
        check_known_labels(processor, tables[path])
    for path in (config.data, config.vocabulary):
        if path and path not in tables:
            tables[path] = _read_texts(processor, path, training)
    return tables


def _strategy(task: "Task", config: "StructuredConfig", dev: str | None) -> str | None:
    """Return the strategy by which layers are chosen, and print a line about a default; None where no layers are chosen."""
    from kerasbert.cli.process.progress import note

    if config.strategy is not None or not isinstance(config.kept_layers, int):
        return config.strategy
    file = config.data or dev
    if file is None or task.encoder.layer_mix is not None:
        reason = (
            "the output of this model is a sum of its layers"
            if file
            else "measured on no data; --data chooses the layers by search"
        )
        note(f"strategy top: {reason}")
        return "top"
    note(f"strategy search: the layers whose outputs on {Path(file).name} are closest to the model's")
    return "search"


def _search(
    task: "Task", config: "StructuredConfig", strategy: str | None, data: "Dataset | None"
) -> "list[LayerChoice]":
    """Return the choices of layers that a search tries, the best one first; none without a search."""
    from kerasbert.cli.process.progress import progress
    from kerasbert.compression.pruning.structured import search_layers

    if strategy != "search" or not isinstance(config.kept_layers, int):
        return []
    with progress("searching layers"):
        return search_layers(task, config.kept_layers, data)


def _prune(
    task: "Task",
    config: "StructuredConfig",
    strategy: str | None,
    search: "list[LayerChoice]",
    tables: "dict[str, Dataset]",
    training: TrainConfig,
) -> "Task":
    from kerasbert.cli.process.progress import progress
    from kerasbert.compression.pruning import structured

    data, layers = tables.get(config.data or ""), list(search[0].layers) if search else config.kept_layers
    batch_size = training.batch_size
    with progress("pruning"):
        if isinstance(layers, list):
            task = structured.drop_layers(task, layers=layers)
        elif layers is not None:
            task = structured.drop_layers(task, layers, strategy=strategy, data=data, batch_size=batch_size)
        if config.share_layers is not None:
            task = _share_layers(task, config, tables, training)
        if config.heads is not None:
            task = structured.prune_heads(
                task, config.heads, data=data, per_layer=config.heads_per_layer, batch_size=batch_size
            )
        if config.feed_forward is not None:
            task = structured.prune_feed_forward(task, config.feed_forward, data=data, batch_size=batch_size)
        if config.hidden is not None:
            size: Any = config.hidden_size
            task = structured.prune_hidden(task, **size, data=data, batch_size=batch_size)
        if config.vocabulary is not None:
            kept = {"characters": config.characters, "size": config.vocabulary_size}
            task = structured.trim_vocabulary(task, tables[config.vocabulary], **kept)
        if config.vocabulary_of is not None:
            task = structured.match_vocabulary(task, _tokenizer_of(config.vocabulary_of))
        if config.dimensions is not None:
            task = structured.reduce_dimensions(task, config.dimensions, data, batch_size)
    return task


def _tokenizer_of(model: str) -> "Tokenizer":
    from kerasbert.checkpoints.hugging_face import resolve
    from kerasbert.text import tokenizer_from_folder

    return tokenizer_from_folder(resolve(model))


def _share_layers(
    task: "Task", config: "StructuredConfig", tables: "dict[str, Dataset]", training: TrainConfig
) -> "Task":
    """Return the task with shared layers, and print a line about the default of their weights."""
    from kerasbert.cli.process.progress import note
    from kerasbert.compression.pruning.structured.layer_sharing import DEFAULT_WEIGHTS, share_layers

    file, weights = config.data or training.dev or "", config.shared_weights
    if weights is None and file and task.encoder.layer_mix is None:
        note(
            f"shared weights search: the layers whose repeated outputs on {Path(file).name} are closest to the model's"
        )
    elif weights is None:
        weights = DEFAULT_WEIGHTS
        note(f"shared weights {weights}: measured on no data; --data chooses the layers by search")
    return share_layers(task, config.share_layers or 1, weights, tables.get(file), training.batch_size)


def _factorize(
    task: "Task", config: "StructuredConfig", data: "Dataset | None", batch_size: int
) -> "tuple[Task, dict[str, Any]]":
    """Return the task with factors in place of some matrices, and what the result says about them."""
    from kerasbert.cli.process.progress import progress
    from kerasbert.compression.pruning.structured import factorize, low_rank_report
    from kerasbert.compression.pruning.structured.ranks import plan_ranks

    if not config.ranks:
        return task, {}
    plan = plan_ranks(task, **config.ranks)
    with progress("factorizing"):
        factorized = factorize(task, **config.ranks, data=data, batch_size=batch_size)
    report = low_rank_report(task, factorized)
    found = {"ranks": report.ranks, "energies": report.energies, "kept": report.kept, "whole": plan.whole}
    return factorized, {"low_rank": found}


def _read_texts(processor: "Processor", path: str, training: TrainConfig) -> "Dataset":
    """Return the lines of a .txt file, or the table of a data file of the task."""
    from kerasbert.cli.inputs.data_files import read_described
    from kerasbert.cli.process.progress import note
    from kerasbert.data.plain_text import read_text
    from kerasbert.data.records import data_suffix

    if data_suffix(Path(path)) != ".txt":
        return read_described(type(processor), path, training)
    table = read_text(path, encoding=training.encoding)
    note(table.describe())
    return table


def _sizes(task: "Task", config: "StructuredConfig") -> dict[str, Any]:
    """Return a model's sizes, JSON-able."""
    from kerasbert.compression.pruning.structured.model_surgery import feed_forward_widths, head_counts, weights_by_path

    values, width = weights_by_path(task).values(), getattr(task.processor, "width", None)
    return {
        "layers": task.config.num_hidden_layers,
        **({} if config.share_layers is None else {"groups": len(task.encoder.layers)}),
        "heads": head_counts(task),
        "feed_forward": feed_forward_widths(task),
        "hidden": task.config.hidden_size,
        "vocabulary": task.config.vocab_size,
        **({} if width is None else {"dimensions": width}),
        "parameters": sum(value.size for value in values),
        "bytes": sum(value.nbytes for value in values),
    }


def _search_data(task: "Task", search: "list[LayerChoice]") -> dict[str, Any]:
    """Return the layers that were chosen, and the choices that are shown: the best ones, and those of fixed strategies."""
    from kerasbert.compression.pruning.structured.output_similarity import measure_name

    if not search:
        return {}
    shown = [choice for place, choice in enumerate(search) if place < _SHOWN_CHOICES or choice.strategies]
    return {
        "layers": search[0].layers,
        "tried": len(search),
        "measure": measure_name(task.processor.compared_as),
        "search": [asdict(choice) for choice in shown],
    }


def _search_rows(choices: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return [
        (",".join(map(str, choice["layers"])), f"{choice['similarity']:.4f}", ", ".join(choice["strategies"]))
        for choice in choices
    ]


def _blocks(data: dict[str, Any]) -> "list[Block]":
    from kerasbert.console.tables import Table
    from kerasbert.training.result import format_metrics

    rows = [
        (title, *(_format_size(data[side][name]) for side in ("before", "after")))
        for name, title in _SIZES.items()
        if name in data["before"]
    ]
    blocks: list[Block] = [f"saved {data['out']}", "", Table(("size", "before", "after"), rows)]
    if "search" in data:
        blocks += ["", Table(("layers kept", data["measure"], "strategy"), _search_rows(data["search"]))]
    if "low_rank" in data:
        found = data["low_rank"]
        blocks.append(f"{len(found['ranks'])} matrices are two factors, which keep {found['kept']:.1%} of their energy")
    if data["dev_after"]:
        blocks.append(f"dev {format_metrics(data['dev_after'])}; before {format_metrics(data['dev_before'])}")
    return blocks


def _format_size(value: int | list[int]) -> str:
    """Format a number, or the range of the numbers of all layers."""
    if not isinstance(value, list):
        return f"{value:,}"
    low, high = min(value), max(value)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
