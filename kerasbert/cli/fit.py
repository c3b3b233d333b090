"""`kerasbert fit`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from kerasbert.cli.arguments import options
from kerasbert.cli.arguments.option_groups import OptionGroup, with_options
from kerasbert.cli.outputs.results import Result
from kerasbert.training.config import TrainConfig

if TYPE_CHECKING:
    from kerasbert.cli.inputs.training_data import TrainingData
    from kerasbert.cli.runs.fitting import Commands
    from kerasbert.cli.runs.ray_trials import RayTrials
    from kerasbert.data.dataset import Dataset

Train = Annotated[
    str,
    Argument(metavar="TRAIN", help="Training data: .tsv, .csv, .jsonl, CoNLL or SQuAD, optionally compressed (.gz)."),
]
BudgetText = Annotated[
    str,
    Option(
        "--budget", metavar="LIMITS",
        help='Limits of the file: milliseconds of a text (the median of --dev on this machine), size, and loss against the best file, '
        'such as "2 ms, 8 MB, -1 %".',
    ),
]  # fmt: skip
Out = Annotated[
    Path, Option("--out", "-o", metavar="FILE", help="Output file, .tflite. Its metadata is also written to FILE.json.")
]
Models = Annotated[
    str | None,
    Option(
        "--model", metavar="A,B,...",
        help="Encoders to try, the best one first: names in the zoo, folders or hub names. Default: those of the zoo.",
    ),
]  # fmt: skip
Recipes = Annotated[
    str,
    Option("--recipe", metavar="A,B,...", help="Recipes to try, such as dynamic_wi8_afp32,dynamic_wi4_afp32."),
]
Trials = Annotated[int, Option(metavar="N", min=1, help="The most candidates that are trained in the first round.")]
Report = Annotated[Path | None, Option(metavar="FILE", help="The page with all candidates. Default: --out with .html.")]
Work = Annotated[
    Path | None,
    Option(metavar="FOLDER", help="Folder of trained candidates. Default: --out with `.build` added."),
]
Ray = Annotated[
    str | None,
    Option(
        "--ray", metavar="ADDRESS",
        help="Train the candidates of a round at once, as trials of Ray Tune: local for a Ray that is started on this machine, auto or "
        "HOST:PORT for a running one, whose machines share this folder and --work.",
    ),
]  # fmt: skip
RayCpus = Annotated[int | None, Option(metavar="N", min=1, help="Processor cores of each trial of --ray. Default: 1.")]

_DATA = "data.json"  # in the folder of trained candidates: what they were trained on
_LENGTHS = (16, 32, 64, 128, 256)
_SETTINGS = (
    "dev", "task", "text_column", "pair_column", "label_column", "labels", "delimiter", "encoding", "label_separator", "skip_bad_rows",
    "max_rows", "sequence_length", "no_answer", "stride", "max_answer_length", "epochs", "batch_size", "class_weights", "seed",
)  # fmt: skip
_OTHERS = tuple(name for name in TrainConfig.__dataclass_fields__ if name not in _SETTINGS)
_READING = ("text_column", "pair_column", "delimiter", "encoding", "skip_bad_rows")  # for `convert` too
_LABELS = ("label_column", "label_separator")


@with_options("strict", settings=OptionGroup(TrainConfig, without=_OTHERS, given_only=True))
def fit(
    train: Train,
    budget: BudgetText,
    out: Out,
    settings: dict[str, Any],
    model: Models = None,
    recipe: Recipes = "dynamic_wi8_afp32",
    trials: Trials = 12,
    threads: options.Threads = 1,
    report: Report = None,
    work: Work = None,
    ray: Ray = None,
    ray_cpus: RayCpus = None,
) -> Result:
    """Find the best file under a budget of time, size and loss: encoders, layers, vocabulary, learning rates and recipes.

    What candidates cost is measured first. Those within the budget are trained on a part of the rows, the best of them on more, and the
    finalists on all. The same command continues a search that was interrupted.

    Example: kerasbert fit train.csv --dev 0.1 --budget "2 ms, 8 MB, -1 %" -o mine.tflite
    """
    from kerasbert.cli.outputs.destinations import check_out_file
    from kerasbert.cli.process.progress import progress
    from kerasbert.errors import KerasBertError
    from kerasbert.export.passes.recipes import recipe_named
    from kerasbert.files.own_files import MODEL, REPORT
    from kerasbert.selection.budget import Budget

    limits = Budget.parse(budget)
    report = report or out.with_suffix(".html")
    check_out_file(out, "--out", MODEL, ".tflite")
    check_out_file(report, "--report", REPORT, ".html")
    machines = _machines(ray, ray_cpus)
    names = _names(model)
    for each in (recipes := _list(recipe)):
        recipe_named(each)
    data = _read(train, names, settings)
    if data.dev is None:
        raise KerasBertError(
            "expected --dev to score candidates on, received none; name a file or a fraction such as 0.1"
        )
    work = work or out.with_name(f"{out.name}.build")
    _check_work(work, train, settings["dev"])
    with progress("measuring candidates") as bar:
        if machines is not None:
            machines.check()
        commands, space = _prepared(train, names, recipes, data, data.dev, settings, trials, threads, work, bar)
        commands.ray = machines
        from kerasbert.selection.search import search

        outcome = search(space, limits, commands, bar)
    return _written(outcome, limits, commands, train, out, report)


def _check_work(work: Path, train: str, dev: str) -> None:
    """Check that a folder is new, empty, or that of an earlier search on the same data.

    Raises:
        KerasBertError: When it holds other files, or the results of other data.
    """
    import hashlib
    import json
    import os

    from kerasbert.cli.process.claims import claim, make_parent
    from kerasbert.errors import KerasBertError
    from kerasbert.files.atomic import atomic_file
    from kerasbert.files.json_text import read_json_object

    make_parent(work)
    claim(work)  # a second search in the folder would read half-trained models
    files = [Path(each) for each in (train, dev) if os.path.exists(each)]
    found = {"dev": dev, "sha256": [hashlib.sha256(each.read_bytes()).hexdigest() for each in files]}
    record = work / _DATA
    if record.is_file():
        if read_json_object(record) != found:
            raise KerasBertError(
                f"expected the data of the earlier search in {str(work)!r}, received other data; delete that folder, or name another as "
                "--work"
            )
        return
    if work.exists() and (not work.is_dir() or os.listdir(work)):
        raise KerasBertError(
            f"expected a new or empty folder as --work, received {str(work)!r}, which holds other files; name another"
        )
    work.mkdir(parents=True, exist_ok=True)
    with atomic_file(record) as partial:
        partial.write_text(json.dumps(found), "utf-8")


def _machines(address: str | None, cpus: int | None) -> "RayTrials | None":
    """Return where trials run; None without Ray.

    Raises:
        KerasBertError: When the address is none, Ray is not installed, or cores are named without it.
    """
    from kerasbert.cli.runs.ray_trials import RayTrials
    from kerasbert.errors import KerasBertError

    if address is None:
        if cpus is not None:
            raise KerasBertError(f"expected --ray with --ray-cpus, received --ray-cpus {cpus} alone; add --ray local")
        return None
    return RayTrials.parse(address, cpus or 1)


def _names(models: str | None) -> list[str]:
    """Return the encoders to try."""
    if models is not None:
        return _list(models)
    from kerasbert.zoo import catalog

    return [each.name for each in catalog.models() if each.kind == catalog.ENCODER]


def _list(text: str) -> list[str]:
    return list(dict.fromkeys(each.strip() for each in text.split(",") if each.strip()))


def _read(train: str, names: list[str], settings: dict[str, Any]) -> "TrainingData":
    from kerasbert.cli.inputs.training_data import read_data

    return read_data(TrainConfig(**{**settings, "model": names[0], "train": train}))


def _prepared(
    train: str, names: list[str], recipes: list[str], data: "TrainingData", dev: "Dataset", settings: dict[str, Any], trials: int,
    threads: int, work: Path, bar: Any,
) -> tuple["Commands", Any]:  # fmt: skip
    """Return what makes the candidates, and the space that they are from."""
    from kerasbert.checkpoints.hugging_face import max_sequence_length, read_config, resolve
    from kerasbert.checkpoints.layer_counts import layer_count
    from kerasbert.cli.runs.fitting import Commands
    from kerasbert.files.atomic import atomic_file
    from kerasbert.processors.texts import columns
    from kerasbert.selection.candidate import Data
    from kerasbert.selection.search import Space

    layers, length = {}, data.length
    for name in names:
        config = read_config(resolve(name))
        layers[name] = layer_count(config)
        length = min(length, max_sequence_length(config))
    first, second = columns(data.processor.examples(data.train.x))
    texts = work / "texts.txt"
    with atomic_file(texts) as partial:
        partial.write_text("\n".join(" ".join(text.split()) for text in [*first, *(second or [])]) + "\n", "utf-8")
    chosen = {name: value for name, value in settings.items() if value is not None} | {"sequence_length": length}
    reading = {name: chosen[name] for name in _READING if name in chosen}
    labelled = {name: chosen[name] for name in (*_READING, *_LABELS) if name in chosen}
    lengths = (*(each for each in _LENGTHS if each < length), length)
    made = Data(train, texts, chosen, labelled, reading, lengths)
    return Commands(made, dev, work, threads, bar), Space(layers, recipes, len(data.train), trials)


def _written(outcome: Any, limits: Any, commands: "Commands", train: str, out: Path, report: Path) -> Result:
    """Write the page and the chosen file."""
    import shutil

    from kerasbert.errors import KerasBertError
    from kerasbert.files.atomic import atomic_file
    from kerasbert.selection import report as pages

    comparison = commands.comparison
    pages.write_page(
        report, outcome, limits, comparison.metric, Path(train).name, commands.commands, comparison.machine
    )
    if outcome.chosen is None:
        raise KerasBertError(
            f"expected a budget that a file can meet, received {str(limits)!r}; {outcome.reason}; see {report}"
        )
    for suffix in ("", ".json"):
        target = out.with_name(out.name + suffix)
        with atomic_file(target) as partial:
            shutil.copyfile(f"{commands.file(outcome.chosen)}{suffix}", partial)
    found = pages.as_dict(outcome, limits, comparison.metric, commands.commands)
    lines = [
        *pages.blocks(outcome, limits, comparison.metric),
        *comparison.notes,
        f"wrote {out}",
        f"wrote {report}; {commands.work} can be deleted",
    ]
    return Result({"out": out, "report": report, "work": commands.work, **found}, lines)
