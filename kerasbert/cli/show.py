"""`kerasbert show`: pictures of what is inside a model."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from kerasbert.cli.arguments import options
from kerasbert.cli.arguments.option_groups import with_options
from kerasbert.cli.outputs.results import Result

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
Out = Annotated[
    Path | None, Option("--out", "-o", metavar="FILE", help="Write a picture (.png, .svg) or a page (.html).")
]
Overwrite = Annotated[bool, Option("--overwrite", help="Replace an existing --out file.")]


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
