"""`kerasbert teach`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from kerasbert.cli.arguments import options
from kerasbert.cli.arguments.option_groups import OptionGroup, with_options
from kerasbert.cli.arguments.zoo_names import file_or_name
from kerasbert.cli.outputs.results import Result
from kerasbert.data.file_options import FileOptions

if TYPE_CHECKING:
    from kerasbert.few_shot.classifier import Taught

Examples = Annotated[
    Path,
    Argument(metavar="EXAMPLES", help="A few texts of each label: .csv, .tsv or .jsonl, with columns text and label."),
]
Model = Annotated[
    str,
    Option(
        metavar="MODEL", callback=file_or_name,
        help="Sentence encoder: a .tflite file, a model of the zoo, or a folder, which is converted.",
    ),
]  # fmt: skip
OutFile = Annotated[
    Path, Option("--out", "-o", metavar="FILE", help="Output file, .tflite. Its metadata is also written to FILE.json.")
]
Dev = Annotated[Path | None, Option(metavar="FILE", help="Other labelled texts, on which the result is evaluated.")]
Method = Annotated[
    str,
    Option(
        metavar="NAME",
        help="centre, logistic, or auto, which compares them by cross-validation; trained also trains the encoder of a folder.",
    ),
]
Fallback = Annotated[
    str | None,
    Option(
        metavar="LABEL",
        help="Label of texts that belong to no class, such as oos. Rows of this label are examples of them.",
    ),
]
FallbackBelow = Annotated[
    float | None,
    Option(
        metavar="PROBABILITY", help="Probability below which a text gets the fallback. Default: by cross-validation."
    ),
]
Keep = Annotated[
    float,
    Option(
        metavar="SHARE", help="Share of the right predictions that the fallback keeps, where no rows have its label."
    ),
]

_SEED = 1
_READING = OptionGroup(FileOptions, without=("pair_column", "label_separator"))


@with_options("strict", reading=_READING)
def teach(
    examples: Examples,
    out: OutFile,
    reading: FileOptions,
    model: Model = "search",
    method: Method = "auto",
    dev: Dev = None,
    fallback: Fallback = None,
    fallback_below: FallbackBelow = None,
    keep: Keep = 0.95,
    threads: options.Threads = 1,
) -> Result:
    """Teach a sentence encoder labels by a few examples each, without training: a .tflite file in seconds.

    The encoder stays as it is, unless --method is trained. The file holds the labels beside it.

    Example: kerasbert teach examples.csv --model search -o mine.tflite
    """
    from kerasbert.cli.inputs.data_files import check_labels, read_described, require_labels
    from kerasbert.cli.outputs.destinations import check_out_file
    from kerasbert.cli.process.progress import progress
    from kerasbert.files.own_files import MODEL
    from kerasbert.processors import processor_class
    from kerasbert.processors.few_shot import TRAINED

    check_out_file(out, "--out", MODEL, ending=".tflite")
    kind = processor_class("single_label")
    table = read_described(kind, examples, reading)
    require_labels(kind, table)
    dev_table = None if dev is None else read_described(kind, dev, reading)
    if dev_table is not None:
        require_labels(kind, dev_table)
    with progress("loading the model"):
        from kerasbert.few_shot.classifier import FewShotClassifier

        if method == TRAINED:
            import tf_keras as keras

            keras.utils.set_random_seed(_SEED)  # the same command trains the same model
        classifier = FewShotClassifier(
            model, method=method, fallback=fallback, fallback_below=fallback_below, keep=keep, threads=threads
        )
    with progress("teaching"):
        taught = classifier.fit(table).taught
    scores = None
    if dev_table is not None:
        check_labels(classifier.model.processor, dev_table)
        scores = classifier.score(dev_table)
    classifier.save(out)
    return _result(taught, scores, out)


def _result(taught: "Taught", scores: dict[str, float] | None, out: Path) -> Result:
    from dataclasses import asdict

    from kerasbert.console.numbers import format_bytes
    from kerasbert.console.tables import Facts

    facts = [
        ("labels", f"{len(taught.labels):,}"),
        ("examples of a label", f"{min(taught.examples):,} to {max(taught.examples):,}"),
        ("method", taught.method),
        *((f"accuracy, {name}, cross-validated", f"{value:.4f}") for name, value in taught.accuracy.items()),
        *((("fallback below", f"{taught.fallback_below:.4f}"),) if taught.fallback_below is not None else ()),
        *((f"dev {name}", f"{value:.4f}") for name, value in (scores or {}).items()),
    ]
    data = {"file": out, "bytes": out.stat().st_size, **asdict(taught), "dev": scores}
    written = f"wrote {out}: {format_bytes(out.stat().st_size)}"
    return Result(data, [Facts(facts), written])
