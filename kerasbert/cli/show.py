"""`kerasbert show`: pictures of what is inside a model."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from kerasbert.cli.arguments import options
from kerasbert.cli.arguments.option_groups import OptionGroup, with_options
from kerasbert.cli.outputs.results import Result
from kerasbert.cli.runs.shown_models import PROBED, TRAINED, settings_without
from kerasbert.data.file_options import FileOptions
from kerasbert.errors import KerasBertError
from kerasbert.training.config import TrainConfig

if TYPE_CHECKING:
    from kerasbert.console.tables import Block
    from kerasbert.plots.plot import Plot

Text = Annotated[str, Option("--text", metavar="TEXT", help="The text.")]
Pair = Annotated[str | None, Option("--pair", metavar="TEXT", help="The second text of a pair.")]
AttentionLayer = Annotated[
    int | None, Option(metavar="N", help="Only one layer: 1 for the first, -1 for the last. Default: all.")
]
Head = Annotated[
    int | None, Option("--head-number", metavar="N", min=1, help="Only one head of each layer. Default: all.")
]
Word = Annotated[str, Option("--word", metavar="WORD", help="The word, in any letter case; or several in a row.")]
Sentences = Annotated[
    list[str] | None,
    Argument(metavar="TEXT...", help="Sentences with the word; - reads them from stdin, one per line."),
]
File = Annotated[Path | None, Option(metavar="FILE", help="A file with one sentence per line.")]
WordLayer = Annotated[
    int,
    Option(metavar="N", help="The layer of the picture: 0 for the embeddings, 1 for the first layer, -1 for the last."),
]
Before = Annotated[
    str, Argument(metavar="BEFORE", help="A saved folder, an encoder of the zoo, or a hub name such as org/name.")
]
After = Annotated[str, Argument(metavar="AFTER", help="A model of the same sizes, such as BEFORE after fine-tuning.")]
Vectors = Annotated[
    str,
    Option(metavar="NAME", help="What a probe of a classifier reads: mean (of all tokens) or cls (the first token)."),
]
Seeds = Annotated[
    int, Option(metavar="N", min=1, help="Probes of each layer, with other first weights and orders of the rows.")
]
ProbeEpochs = Annotated[
    int | None,
    Option(
        "--epochs",
        metavar="N",
        min=1,
        help="Passes of the probes over the training data. Default: 20; more for small data.",
    ),
]
Start = Annotated[
    str,
    Argument(
        metavar="START", help="The checkpoint that was fine-tuned: a folder, an encoder of the zoo, or a hub name."
    ),
]
Tuned = Annotated[str, Argument(metavar="TUNED", help="The saved folder of the fine-tuned model.")]
Data = Annotated[Path, Option(metavar="FILE", help="Labelled data for the loss.")]
Other = Annotated[
    str | None, Option(metavar="FOLDER", help="A third model for the plane, fine-tuned from START for the same labels.")
]
Rows = Annotated[int, Option(metavar="N", min=1, help="Rows of --data to use: the first ones.")]
Points = Annotated[int, Option(metavar="N", min=2, help="Points of a line.")]
PlanePoints = Annotated[int, Option(metavar="N", min=2, help="Points of each axis of the plane.")]
Out = Annotated[
    Path | None, Option("--out", "-o", metavar="FILE", help="Write a picture (.png, .svg) or a page (.html).")
]
Overwrite = Annotated[bool, Option("--overwrite", help="Replace an existing --out file.")]


_PROBING = OptionGroup(
    TrainConfig,
    without=settings_without(*PROBED),
    required=("train", "dev"),
    given_only=True,
    help={
        "dev": "Data to score the probes on: a file, or a fraction of the training rows such as 0.1.",
        "task": "For a model without labels: classification, multi-label, regression or tagging.",
        "seed": "Random seed of a fraction as --dev.",
    },
)
_TRAINING = OptionGroup(
    TrainConfig,
    without=settings_without(*TRAINED),
    given_only=True,
    help={
        "train": "Training data for the model from random weights. Default: it is not trained.",
        "seed": "Random seed of a new head and of random weights; the same as in the training of TUNED.",
        "max_rows": "Read at most the first N rows of --train.",
    },
)


@with_options("folder_task", "head", "strict")
def attention(
    model: options.Folder,
    text: Text,
    pair: Pair = None,
    layer: AttentionLayer = None,
    head_number: Head = None,
    out: Out = None,
    overwrite: Overwrite = False,
) -> Result:
    """Show to which tokens of a text each token attends, by layer and head.

    Example: kerasbert show attention small-en --text "The cup fell off the table because it was wobbly" -o attention.html
    """
    _check_out(out, overwrite)
    from kerasbert.cli.outputs.shown_plots import attention_blocks
    from kerasbert.cli.process.progress import loading

    with loading("the model"):
        from kerasbert import plots
        from kerasbert.tasks.state_reader import StateReader

        reader = StateReader.open(model)
    plot = plots.attention(reader, text, pair, layer=layer, head=head_number)
    return _result(plot, model, attention_blocks(plot), out)


@with_options("folder_task", "head", "strict")
def words(
    model: options.Folder,
    word: Word,
    sentences: Sentences = None,
    file: File = None,
    layer: WordLayer = -1,
    out: Out = None,
    overwrite: Overwrite = False,
) -> Result:
    """Show how similar the vectors of a word are in different sentences.

    Example: kerasbert show words small-en --word bank "We sat on the bank of the river." "The bank lends money." -o bank.png
    """
    _check_out(out, overwrite)
    from kerasbert.cli.inputs.texts import given_texts
    from kerasbert.cli.outputs.shown_plots import word_blocks
    from kerasbert.cli.process.progress import loading, progress

    texts = given_texts(sentences or [], file)
    with loading("the model"):
        from kerasbert import plots
        from kerasbert.tasks.state_reader import StateReader

        reader = StateReader.open(model)
    with progress("reading hidden states"):
        plot = plots.words(reader, word, texts, layer=layer)
    return _result(plot, model, word_blocks(plot), out)


@with_options("strict")
def changes(before: Before, after: After, out: Out = None, overwrite: Overwrite = False) -> Result:
    """Show which weights of an encoder moved in fine-tuning: the relative distance of each part and layer.

    Example: kerasbert show changes small-en runs/mine -o changes.png
    """
    _check_out(out, overwrite)
    from kerasbert.cli.outputs.shown_plots import change_blocks
    from kerasbert.cli.process.progress import loading

    with loading("the models"):
        from kerasbert import plots

        plot = plots.changes(before, after)
    return _result(plot, None, change_blocks(plot), out)


@with_options("head", "strict", probing=_PROBING)
def layers(
    model: options.Folder,
    probing: dict[str, Any],
    vectors: Vectors = "mean",
    seeds: Seeds = 3,
    probe_epochs: ProbeEpochs = None,
    out: Out = None,
    overwrite: Overwrite = False,
) -> Result:
    """Show what each layer knows about labels: the score of a linear probe on its hidden states.

    A saved classifier or tagger gives the labels. Any other model needs --task and learns the labels of the training data.

    Example: kerasbert show layers small-en --train train.tsv --dev dev.tsv -o layers.png
    """
    _check_out(out, overwrite)
    from kerasbert.cli.outputs.shown_plots import layer_blocks
    from kerasbert.cli.process.progress import progress
    from kerasbert.cli.runs.shown_models import probed_task

    task, train, dev = probed_task(model, probing)
    from kerasbert import plots

    with progress("reading hidden states", "rows") as bar:
        plot = plots.layers(task, train, dev, vectors=vectors, seeds=seeds, epochs=probe_epochs, progress=bar)
    return _result(plot, model, layer_blocks(plot), out)


@with_options("head", "strict", training=_TRAINING)
def landscape(
    start: Start,
    tuned: Tuned,
    data: Data,
    training: dict[str, Any],
    other: Other = None,
    rows: Rows = 128,
    points: Points = 25,
    plane_points: PlanePoints = 9,
    out: Out = None,
    overwrite: Overwrite = False,
) -> Result:
    """Show the loss around a fine-tuned model: on the line from its start, and on a plane through a third model.

    --train also trains the model from random weights, and shows both.

    Example: kerasbert show landscape small-en runs/mine --data dev.tsv --train train.tsv -o landscape.html
    """
    _check_out(out, overwrite)
    if other is not None and "train" in training:
        raise KerasBertError("expected --train or --other for the third model, received both; leave one out")
    from kerasbert.cli.inputs.data_files import read_model_data
    from kerasbert.cli.outputs.shown_plots import landscape_blocks
    from kerasbert.cli.process.progress import progress
    from kerasbert.cli.runs.shown_models import check_is_folder, landscape_models, train_from_random

    check_is_folder(tuned, "weights to move")
    reading = {name: value for name, value in training.items() if name in FileOptions.__dataclass_fields__}
    table = read_model_data(tuned, data, FileOptions(**{**reading, "max_rows": rows}))
    models = landscape_models(start, tuned, other, training.get("seed", TrainConfig.seed))
    random = train_from_random(models[1], training) if "train" in training else None
    from kerasbert import plots

    with progress("loss", "points") as bar:
        plot = plots.landscape(
            models[0], models[1], table, random=random, other=models[2], points=points, plane_points=plane_points, progress=bar
        )  # fmt: skip
    return _result(plot, tuned, landscape_blocks(plot), out)


def _check_out(out: Path | None, overwrite: bool) -> None:
    """Check the file of --out before the work starts."""
    if out is not None:
        from kerasbert.cli.outputs.destinations import check_new_file
        from kerasbert.files.own_files import PLOT, REPORT

        check_new_file(out, overwrite, (".png", ".svg", ".html"), REPORT if out.suffix == ".html" else PLOT)


def _result(plot: "Plot", model: str | None, blocks: Sequence["Block"], out: Path | None) -> Result:
    if out is not None:
        plot.save(out)
    named = {} if model is None else {"model": model}
    return Result({**named, **plot.to_dict(), "file": out}, [*blocks, *([f"wrote {out}"] if out else [])])
