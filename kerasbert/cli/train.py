"""`kerasbert train`."""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from kerasbert.cleanup import temporary_folder
from kerasbert.cli.common import options
from kerasbert.cli.common.results import Result
from kerasbert.cli.common.train_options import recipe_options
from kerasbert.training.config import Recipe

RecipeFile = Annotated[
    Path | None, Argument(metavar="[RECIPE.TOML]", help="Settings in a file, under the options' names; flags win.")
]
Resume = Annotated[bool, Option("--resume", help="Go on with an interrupted training in --out.")]


@recipe_options(Recipe)
def train(
    recipe: RecipeFile = None,
    resume: Resume = False,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
    debug: options.Debug = False,
    *,
    given: dict,
) -> Result:
    """Fine-tune a checkpoint, for any task.

    Example: kerasbert train --task classification --model FOLDER --train train.tsv --dev dev.tsv --out runs/mine
    """
    from kerasbert.errors import KerasBertError

    asked = Recipe(**{**(Recipe.read(recipe) if recipe else {}), **given})
    for name in ("model", "train", "out"):
        if getattr(asked, name) is None:
            raise KerasBertError(f"expected --{name}, received none; `kerasbert train --help` shows an example")
    with _destination(asked, resume) as out:
        return _train(asked, out, resume, overwrite)


def _train(asked, out: Path, resume: bool, overwrite: bool) -> Result:
    from kerasbert.cli.common import fitting
    from kerasbert.cli.common.destinations import check_out_folder
    from kerasbert.cli.common.layer_counts import check_layer_count
    from kerasbert.cli.common.progress import note
    from kerasbert.cli.common.training_data import read_data
    from kerasbert.optional import require_package
    from kerasbert.training.run_folder import RunFolder, check_resumable

    check_out_folder(out, asked.model, resume=resume, overwrite=overwrite)
    if asked.tensorboard:
        require_package("tensorboard", "--tensorboard")
    if asked.top_layers is not None:
        check_layer_count(asked.model, asked.top_layers, option="--top-layers")
    folder = RunFolder(out)
    if resume:
        check_resumable(folder, asked)
    data = read_data(asked)
    task = fitting.new_task(asked, data)
    from kerasbert.training.trainer import shown

    with fitting.training() as listener:
        fitted = fitting.fit(task, data, asked, folder, resume, listener)
    record = fitting.write_record(
        out, fitted, fitting.settings_of(asked), data.train, data.dev,
        task=asked.task, model=asked.model, labels=task.labels, sequence_length=task.sequence_length,
    )  # fmt: skip
    note(f"{fitted.seconds:.0f} s of training, {fitted.examples_per_second:,.0f} examples/s")
    said = f"saved {out}" + (f": dev {shown(fitted.dev)}" if fitted.dev else "")
    return Result({"out": out, "dev": fitted.dev, **record}, said)


@contextlib.contextmanager
def _destination(asked: Recipe, resume: bool = False) -> Iterator[Path]:
    """Where this process writes: --out, or for all workers of a cluster but the chief a folder that goes away, with the state to resume.

    Raises KerasBertError where another worker than the chief cannot see the folder of a training that it resumes.
    """
    from kerasbert.errors import KerasBertError
    from kerasbert.files.model_folder import RUN_FOLDER
    from kerasbert.training.preparation import is_chief

    if asked.distribute != "multi-worker" or is_chief():
        yield Path(asked.out)
        return
    begun = Path(asked.out, RUN_FOLDER)
    if resume and not begun.is_dir():
        raise KerasBertError(
            f"expected the interrupted training's folder {str(begun)!r} on every worker, received none here; put --out on a disk that all "
            "workers share"
        )
    with temporary_folder("worker") as folder:  # which has a file of its own in it
        if resume:
            shutil.copytree(begun, folder / "model" / RUN_FOLDER, symlinks=True)
        yield folder / "model"
