"""Builds an encoder of the zoo from its recipe, text files and teachers; a build that was interrupted goes on."""

import contextlib
import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kerasbert.console.progress import Progress
from kerasbert.errors import KerasBertError
from kerasbert.files.atomic import atomic_file
from kerasbert.zoo.building.recipe import Recipe, Stage
from kerasbert.zoo.building.teacher import DEV_TEXTS, Teacher, TeacherTexts
from kerasbert.zoo.building.texts import TextCounts, sample_texts

if TYPE_CHECKING:
    import kerasbert as kb
    from kerasbert.zoo.building.students import Student

FEWEST_TEXTS = 100


def build_encoder(
    recipe: Recipe, files: Sequence[Path], teachers: Sequence[Path], work: Path, progress: Progress | None = None
) -> "Student":
    """Train an encoder of the zoo.

    Args:
        recipe: The recipe.
        files: Text files, one paragraph a line.
        teachers: The folders of the recipe's teachers, which are sentence encoders; a recipe that names none has one.
        work: The folder of the teachers' vectors, the checkpoints and the finished stages. A second run with the same arguments goes on
            from there.
        progress: Receives the progress.

    Returns:
        The trained student.

    Raises:
        KerasBertError: When there are too few texts; when the number of teachers is another than the recipe's; when a teacher has another
            kind of vocabulary or a smaller one, or has fewer layers than the recipe needs.
    """
    progress = progress or Progress()
    _check_teachers(recipe, teachers)
    texts = sample_texts(files, TextCounts(recipe.sentences, recipe.passages), recipe.seed)
    random.Random(recipe.seed).shuffle(texts)
    texts = texts[: recipe.used_texts(len(texts)) + DEV_TEXTS]
    if len(texts) < FEWEST_TEXTS:
        raise KerasBertError(f"expected at least {FEWEST_TEXTS} sentences, received {len(texts)}; give more texts")
    path = work / "texts.txt"
    work.mkdir(parents=True, exist_ok=True)
    with atomic_file(path) as partial:
        partial.write_text("\n".join(texts) + "\n", "utf-8")
    return _train_stages(recipe, teachers, path, texts, work, progress)


def _check_teachers(recipe: Recipe, teachers: Sequence[Path]) -> None:
    if len(teachers) != max(1, len(recipe.teachers)):
        names = ", ".join(recipe.teachers) or "one"
        received = ", ".join(map(str, teachers)) or "none"
        raise KerasBertError(f"expected the recipe's teachers in this order: {names}; received {received}")
    for stage in recipe.stages:
        recipe.teacher_of(stage)  # an unknown name is an error before the hours of the stages before it


def _train_stages(
    recipe: Recipe, folders: Sequence[Path], path: Path, texts: list[str], work: Path, progress: Progress
) -> "Student":
    import tf_keras as keras

    from kerasbert.zoo.building.students import student_of_layers, student_of_sizes

    keras.utils.set_random_seed(recipe.seed)
    needed = max(recipe.layers) + 1 if recipe.layers else recipe.sizes.get("num_hidden_layers", 0)
    teachers = [
        Teacher(folder, recipe, texts, needed if number == 0 else 0, work, progress)
        for number, folder in enumerate(folders)
    ]
    with _precision(recipe.precision):
        trimmed = teachers[0].trimmed()
        if recipe.layers:
            student = student_of_layers(trimmed, recipe.layers)
        else:
            student = student_of_sizes(trimmed, recipe.model_type, recipe.sizes)
    done: list[Stage] = []
    results: list[list[Path]] = []  # of each stage: the folders whose weights are averaged
    for stage in recipe.stages:
        done.append(stage)
        folder = work / f"stage-{len(done)}-{_digest(recipe, done)}"
        results.append([each for number in stage.average for each in results[number - 1]] or [folder])
        if stage.average or _is_finished(folder):
            _read_weights(student, results[-1])
            continue
        if stage.begins_with is not None:
            _read_weights(student, results[stage.begins_with - 1])
        number = recipe.teacher_of(stage)
        data = teachers[number].texts_for(student, path, stage, second=number > 0)
        with _precision(recipe.precision):
            teacher = teachers[number].trimmed() if stage.objectives else None
            train_stage(student, teacher, stage, data, folder, recipe.seed, progress)
    return student


def train_stage(
    student: "Student",
    teacher: "kb.SentenceEncoder | None",
    stage: Stage,
    data: TeacherTexts,
    folder: Path,
    seed: int,
    progress: Progress,
) -> None:
    """Train a student in one stage; a stage that was interrupted goes on.

    Args:
        student: The student, trained in place.
        teacher: The teacher with the student's vocabulary; None for a stage without `objectives`.
        stage: The stage.
        data: The training texts.
        folder: The folder of the stage's checkpoint and result.
        seed: Seed of the order of the texts.
        progress: Receives the progress.
    """
    import kerasbert as kb
    from kerasbert.training.config import TrainConfig
    from kerasbert.training.distillation import Distiller, parse_objectives
    from kerasbert.training.run_folder import RunFolder
    from kerasbert.training.trainer import train
    from kerasbert.zoo.building.students import VectorLoss, stage_metrics

    run = RunFolder(folder)
    train_rows, dev_rows = data.tables(stage, seed)
    config = TrainConfig(epochs=stage.epochs, batch_size=stage.batch_size, seed=seed, learning_rate=stage.learning_rate)
    model = student
    if teacher is not None:
        objectives = parse_objectives(
            stage.objectives, layers={student: teacher for student, teacher in stage.layer_map} or None
        )
        model = Distiller(student, teacher, objectives, label_weight=1.0)
    steps = stage.epochs * -(-len(train_rows) // stage.batch_size)
    optimizer = kb.adamw(stage.learning_rate, stage.warmup, steps)
    model.compile(
        optimizer,
        loss=VectorLoss(stage.pooled, stage.cosines, stage.distance, stage.neighbours, temperature=stage.temperature),
        metrics=stage_metrics(stage.pairs, stage.learns_directions),
    )
    resume = run.unfinished
    if not resume:
        run.begin(config)
    train(model, train_rows, dev_rows, config, run, resume=resume, progress=progress)


def _is_finished(folder: Path) -> bool:
    from kerasbert.training.run_folder import RunFolder

    return (folder / "config.json").is_file() and not RunFolder(folder).unfinished


def _read_weights(student: "Student", folders: Sequence[Path]) -> None:
    """Give a student the mean of the weights of finished stages."""
    import kerasbert as kb

    found = [kb.SentenceEncoder.from_pretrained(folder).variables_by_path() for folder in folders]
    for name, variable in student.variables_by_path().items():
        variable.assign(sum(each[name].numpy() for each in found) / len(found))


def _digest(recipe: Recipe, stages: Sequence[Stage]) -> str:
    """Eight hex digits of everything in the recipe that determines the result of these stages; a new setting does not change them."""
    values = {
        **_without_defaults(replace(recipe, fine_tuning=None)),
        "stages": [_without_defaults(stage) for stage in stages],
    }
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:8]


def _without_defaults(settings: Recipe | Stage) -> dict[str, Any]:
    defaults = {
        each.name: each.default if each.default_factory is MISSING else each.default_factory()
        for each in fields(settings)
    }
    return {name: value for name, value in asdict(settings).items() if value != defaults[name]}


@contextlib.contextmanager
def _precision(name: str) -> Iterator[None]:
    import tf_keras as keras

    before = keras.mixed_precision.global_policy()
    keras.mixed_precision.set_global_policy(name)
    try:
        yield
    finally:
        keras.mixed_precision.set_global_policy(before)
