"""`kerasbert cut`."""

from pathlib import Path
from typing import Annotated

from typer import Option

from kerasbert.cli.common import options
from kerasbert.cli.common.results import Result

Layers = Annotated[int | None, Option(metavar="N", help="Keep so many layers.")]
Strategy = Annotated[
    str,
    Option(metavar="NAME", help="Which layers go: top, bottom, alternate, alternate-top, symmetric or contribution."),
]
Heads = Annotated[float | None, Option(metavar="SHARE", help="Cut this share of the attention heads.")]
PerLayer = Annotated[bool, Option("--heads-per-layer", help="Cut as many heads in every layer.")]
FeedForward = Annotated[float | None, Option(metavar="SHARE", help="Cut this share of the feed-forward neurons.")]
Vocabulary = Annotated[
    Path | None,
    Option(metavar="FILE", help="Keep the words of these texts alone: lines of .txt, or a file of the task's data."),
]
Characters = Annotated[
    bool,
    Option("--characters/--no-characters", help="Keep all tokens of one character, for words the texts do not have."),
]
Data = Annotated[
    Path | None, Option(metavar="FILE", help="Labelled data on which importance is found; a few hundred rows will do.")
]
Dev = Annotated[Path | None, Option(metavar="FILE", help="Labelled data that is scored before and after.")]


def cut(
    model: options.Folder,
    out: options.OutFolder,
    layers: Layers = None,
    strategy: Strategy = "top",
    heads: Heads = None,
    heads_per_layer: PerLayer = False,
    feed_forward: FeedForward = None,
    vocabulary: Vocabulary = None,
    characters: Characters = True,
    data: Data = None,
    dev: Dev = None,
    text_column: options.TextColumn = None,
    pair_column: options.PairColumn = None,
    label_column: options.LabelColumn = None,
    delimiter: options.Delimiter = None,
    skip_bad_rows: options.SkipBadRows = False,
    batch_size: options.BatchSize = 32,
    max_rows: options.MaxRows = None,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
    debug: options.Debug = False,
) -> Result:
    """Cut layers, heads, feed-forward neurons and words out of a saved model, in this order; `kerasbert train` goes on with what is left.

    Example: kerasbert cut runs/mine --layers 6 --heads 0.25 --feed-forward 0.4 --data train.tsv --dev dev.tsv --out runs/mine-small
    """
    given = dict(locals())
    from kerasbert.cli.common.data_files import check_known, check_labels, file_options, read_described
    from kerasbert.cli.common.destinations import check_out_folder
    from kerasbert.cli.common.layer_counts import check_layer_count
    from kerasbert.cli.common.loading import loading
    from kerasbert.cli.common.progress import progress
    from kerasbert.cli.common.training_data import saved_processor
    from kerasbert.training.run_folder import RunFolder

    how = file_options(given)
    labelled = _check_asked(layers, strategy, heads, feed_forward, vocabulary, data, heads_per_layer, characters)
    check_out_folder(out, model, overwrite=overwrite)
    if layers is not None:
        check_layer_count(model, layers, fewer=True)
    processor = saved_processor(model)
    tables = {path: read_described(type(processor), path, how) for path in (data, dev) if path}
    to_check = ([data] if labelled else []) + ([dev] if dev else [])
    for path in to_check:
        check_known(processor, tables[path])
    texts = _texts(processor, vocabulary, how) if vocabulary else None
    with loading("the model"):
        from kerasbert.compression.pruning import structured
        from kerasbert.compression.pruning.structured.model_surgery import check_float
        from kerasbert.tasks.auto import load_task

        task = load_task(model)
        check_float(task)
    for path in to_check:
        check_labels(task.processor, tables[path])
    whole, table = task, tables.get(data)
    with progress("cutting"):
        if layers is not None:
            task = structured.drop_layers(task, layers, strategy=strategy, data=table, batch_size=batch_size)
        if heads is not None:
            task = structured.prune_heads(task, heads, data=table, per_layer=heads_per_layer, batch_size=batch_size)
        if feed_forward is not None:
            task = structured.prune_feed_forward(task, feed_forward, data=table, batch_size=batch_size)
        if texts is not None:
            task = structured.trim_vocabulary(task, texts, characters=characters)
    with progress("evaluating both") as bar:
        dev_before, dev_after = (each.score(tables[dev], report=bar.rows) if dev else None for each in (whole, task))
    task.save_pretrained(out)
    RunFolder(out).clear()  # of the model that was there before
    found = {
        "model": model, "out": out, "before": _sizes(whole), "after": _sizes(task),
        "dev_before": dev_before, "dev_after": dev_after,
    }  # fmt: skip
    return Result(found, _told(found))


def _check_asked(layers, strategy: str, heads, feed_forward, vocabulary, data, heads_per_layer, characters) -> bool:
    """Whether labels are needed. Raises KerasBertError for nothing to cut, shares that are none, and data that is missing."""
    from kerasbert.errors import KerasBertError

    asked = {"--layers": layers, "--heads": heads, "--feed-forward": feed_forward, "--vocabulary": vocabulary}
    if all(value is None for value in asked.values()):
        raise KerasBertError(f"expected something to cut, one or more of {', '.join(asked)}, received none")
    for name in ("--heads", "--feed-forward"):
        if asked[name] is not None and not 0 < asked[name] < 1:
            raise KerasBertError(f"expected {name} as a share above 0 and below 1, received {asked[name]:g}")
    if layers is None and strategy != "top":
        raise KerasBertError(f"expected --layers with --strategy {strategy}, received none")
    if heads_per_layer and heads is None:
        raise KerasBertError("expected --heads with --heads-per-layer, received none")
    if not characters and vocabulary is None:
        raise KerasBertError("expected --vocabulary with --no-characters, received none")
    needing = [name for name in ("--heads", "--feed-forward") if asked[name] is not None]
    needing += ["--strategy contribution"] if layers is not None and strategy == "contribution" else []
    if needing and data is None:
        raise KerasBertError(f"expected --data for {needing[0]}: what matters least is found on it; received none")
    return heads is not None or feed_forward is not None


def _texts(processor, path: Path, how):
    """The texts of a file of lines, or the examples of one of the task's data."""
    from kerasbert.cli.common.data_files import read_described
    from kerasbert.cli.common.progress import note
    from kerasbert.data.plain_text import read_text
    from kerasbert.data.records import data_suffix

    if data_suffix(path) != ".txt":
        return read_described(type(processor), path, how)
    table = read_text(path)
    note(table.describe())
    return table


def _sizes(task) -> dict[str, object]:
    """What a model consists of, JSON-able."""
    from kerasbert.compression.pruning.structured.model_surgery import (
        feed_forward_widths,
        head_counts,
        weights_by_path,
    )

    values = weights_by_path(task).values()
    return {
        "layers": task.config.num_hidden_layers,
        "heads": head_counts(task),
        "feed_forward": feed_forward_widths(task),
        "vocabulary": task.config.vocab_size,
        "parameters": sum(value.size for value in values),
        "bytes": sum(value.nbytes for value in values),
    }


def _told(found: dict) -> list:
    from kerasbert.console.tables import Table
    from kerasbert.training.trainer import shown

    sizes = [(words, *(_short(found[side][name]) for side in ("before", "after"))) for name, words in _NAMES.items()]
    blocks = [f"saved {found['out']}", "", Table(("size", "before", "after"), sizes)]
    if found["dev_after"]:
        blocks.append(f"dev {shown(found['dev_after'])}; before {shown(found['dev_before'])}")
    return blocks


_NAMES = {
    "layers": "layers",
    "heads": "heads",
    "feed_forward": "feed-forward",
    "vocabulary": "vocabulary",
    "parameters": "parameters",
    "bytes": "bytes of weights",
}


def _short(value) -> str:
    """A number; of numbers by layer the one that all are, or the lowest and the highest."""
    if not isinstance(value, list):
        return f"{value:,}"
    low, high = min(value), max(value)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
