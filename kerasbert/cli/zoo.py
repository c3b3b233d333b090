"""`kerasbert zoo`: the models that ship with the package."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from kerasbert.cli.arguments import options
from kerasbert.cli.arguments.option_groups import with_options
from kerasbert.cli.outputs.results import Result

if TYPE_CHECKING:
    from kerasbert.zoo.catalog import ZooModel

Name = Annotated[str, Argument(metavar="NAME", help="A model of the zoo; `kerasbert zoo list` shows them.")]
Task = Annotated[
    str | None, Option(metavar="NAME", help="Only models for this task, such as classification, tagging or embedding.")
]
Whole = Annotated[bool, Option("--all", help="Show the whole card: every result, training, licences, files.")]
Texts = Annotated[
    list[Path] | None,
    Option(
        metavar="PATH", help="For an encoder: text files (.txt, .txt.gz), one paragraph a line, or folders of them. Repeatable."
    ),
]  # fmt: skip
Teacher = Annotated[
    list[str] | None,
    Option(
        metavar="FOLDER",
        help="A sentence encoder with a WordPiece vocabulary. For an encoder repeatable: the recipe's teachers, in its order.",
    ),
]
MaxTexts = Annotated[
    int | None,
    Option(metavar="N", min=100, help="For an encoder: train on at most N texts, to try the command. Default: those of the recipe."),
]  # fmt: skip
Train = Annotated[str | None, Option(metavar="FILE", help="For a file: the training data. Default: the bundled data.")]
Dev = Annotated[str | None, Option(metavar="FILE", help="For a file: the development data. Default: the bundled data.")]
Unlabelled = Annotated[
    str | None, Option(metavar="FILE", help="For a file that is distilled: more examples without labels, which the teacher labels.")
]  # fmt: skip
Out = Annotated[Path, Option("--out", "-o", metavar="PATH", help="The file or folder to write.")]
Work = Annotated[
    Path | None,
    Option(metavar="FOLDER", help="Folder of intermediate results and checkpoints. Default: --out with `.build` added."),
]  # fmt: skip


@with_options()
def list_models(task: Task = None) -> Result:
    """List the models with quality, size and latency of their int8 files.

    Example: kerasbert zoo list --task tagging
    """
    from kerasbert.console.tables import Table
    from kerasbert.errors import KerasBertError
    from kerasbert.suggestions import nearest
    from kerasbert.zoo import tables
    from kerasbert.zoo.catalog import models
    from kerasbert.zoo.results import read_results

    tasks = list(dict.fromkeys(model.task for model in models()))
    if task is not None and task not in tasks:
        suggestion = nearest(task, tasks)
        advice = f"did you mean {suggestion}?" if suggestion else "leave --task out to see all models"
        raise KerasBertError(f"expected --task as one of {', '.join(tasks)}, received {task!r}; {advice}")
    chosen, results = [model for model in models() if task in (None, model.task)], read_results()
    lines = [
        Table(tables.COLUMNS, tables.rows(chosen, results)),
        f"ms: {tables.LATENCY_DATA}. `kerasbert zoo show NAME` tells more.",
        *_second_package(chosen),
    ]
    return Result({"models": tables.records(chosen, results)}, lines)


def _second_package(chosen: "list[ZooModel]") -> list[str]:
    """A line on the models of `kerasbert-zoo`, if there are any."""
    from kerasbert.zoo.catalog import SECOND_PACKAGE

    second = [model for model in chosen if model.package == SECOND_PACKAGE]
    if not second:
        return []
    state = "installed" if second[0].is_installed else f"not installed: pip install {SECOND_PACKAGE}"
    return [f"{', '.join(model.name for model in second)}: in the package {SECOND_PACKAGE} ({state})."]


@with_options()
def show(name: Name, whole: Whole = False) -> Result:
    """Show the use, the main results and the limits of a model; --all adds every result, the training and the licences.

    Example: kerasbert zoo show small-en
    """
    from kerasbert.zoo import tables
    from kerasbert.zoo.cards import card, terminal_card
    from kerasbert.zoo.catalog import check_files, find
    from kerasbert.zoo.results import read_results, select

    model, results = find(name), read_results()
    check_files(model)
    measured = [
        {"file": each.file, "data": each.data, "metric": each.metric, "value": each.value, "backend": each.backend}
        for each in select(results, model=name)
    ]
    data = {**tables.records([model], results)[0], "results": measured, "card": card(model, results)}
    return Result(data, terminal_card(model, results, whole))


@with_options()
def get(
    name: Name,
    out: Out,
    overwrite: options.Overwrite = False,
) -> Result:
    """Copy a model: a .tflite file, or the folder of an encoder.

    Example: kerasbert zoo get intents -o intents.tflite
    """
    import shutil

    from kerasbert.cli.outputs.destinations import check_out_file, check_out_folder
    from kerasbert.files.atomic import atomic_file, atomic_folder
    from kerasbert.files.model_folder import is_model_file
    from kerasbert.files.own_files import MODEL
    from kerasbert.zoo.catalog import FILE, check_files, find

    model = find(name)
    check_files(model)
    if model.kind == FILE:
        check_out_file(out, "--out", MODEL, ".tflite")
        with atomic_file(out) as partial:
            shutil.copyfile(model.path, partial)
    else:
        check_out_folder(out, overwrite=overwrite)
        with atomic_folder(out, owns=is_model_file) as partial:
            for part in model.parts().values():
                target = partial / part.relative_to(model.path)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(part, target)
    return Result({"name": name, "out": out}, f"copied {name} to {out}")


@with_options()
def build(
    name: Name,
    out: Out,
    texts: Texts = None,
    teacher: Teacher = None,
    max_texts: MaxTexts = None,
    train: Train = None,
    dev: Dev = None,
    unlabelled: Unlabelled = None,
    work: Work = None,
    overwrite: options.Overwrite = False,
) -> Result:
    """Build a model of the zoo again: an encoder from texts and a teacher, a file from an encoder and labelled data.

    The same command continues a build that was interrupted.

    Example: kerasbert zoo build mini-en --texts texts/ --teacher all-MiniLM-L6-v2 --out mini-en
    """
    from kerasbert.errors import KerasBertError
    from kerasbert.zoo.catalog import ENCODER, find

    model, work = find(name), work or out.with_name(f"{out.name}.build")
    if model.kind == ENCODER:
        return _build_encoder(model, texts or [], teacher or [], max_texts, out, work, overwrite)
    if len(teacher or []) > 1:
        raise KerasBertError(f"expected one --teacher for a file, received {len(teacher or [])}; leave the others out")
    given = {"train": train, "dev": dev, "unlabelled": unlabelled, "teacher": next(iter(teacher or []), None)}
    return _build_file(model, given, out, work)


def _build_encoder(
    model: "ZooModel", texts: list[Path], teachers: list[str], max_texts: int | None, out: Path, work: Path, overwrite: bool
) -> Result:  # fmt: skip
    from kerasbert.cli.outputs.destinations import check_out_folder
    from kerasbert.cli.process.progress import progress
    from kerasbert.errors import KerasBertError
    from kerasbert.training.trainer import TRAINING
    from kerasbert.zoo.building.build import build_encoder
    from kerasbert.zoo.building.recipe import Recipe
    from kerasbert.zoo.building.saving import save_encoder
    from kerasbert.zoo.building.texts import text_files

    files = text_files(texts)
    if not teachers:
        raise KerasBertError("expected --teacher, a sentence encoder such as all-MiniLM-L6-v2, received none; add it")
    recipe = Recipe.read(model.recipe)
    recipe = recipe if max_texts is None else recipe.reduced(max_texts)
    for teacher in teachers:
        check_out_folder(out, teacher, overwrite=overwrite)
    with progress(TRAINING) as bar:
        student = build_encoder(recipe, files, [Path(teacher) for teacher in teachers], work, bar)
    facts = save_encoder(student, out, model.name, recipe.fine_tuning)
    text = f"saved {out}: {facts['parameters']:,} parameters; {work} can be deleted"
    return Result({"name": model.name, "out": out, "work": work, **facts}, text)


def _build_file(model: "ZooModel", given: dict[str, str | None], out: Path, work: Path) -> Result:
    import shutil

    from kerasbert.cli.outputs.destinations import check_out_file
    from kerasbert.cli.runs.command_steps import run_steps
    from kerasbert.files.atomic import atomic_file
    from kerasbert.files.own_files import MODEL
    from kerasbert.zoo.building.file_recipe import FileRecipe

    recipe = FileRecipe.read(model.recipe)
    data = recipe.data_files(**given)
    check_out_file(out, "--out", MODEL, ".tflite")
    built = run_steps(recipe, data, work)
    with atomic_file(out) as partial:
        shutil.copyfile(built, partial)
    size = out.stat().st_size
    text = f"saved {out}: {size / 1e6:.2f} MB; {work} can be deleted"
    return Result({"name": model.name, "out": out, "work": work, "bytes": size}, text)
