"""Builds an encoder of the zoo from its recipe, text files and a teacher; a build that was interrupted goes on."""

import contextlib
import hashlib
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kerasbert.console.progress import Progress
from kerasbert.data.dataset import Dataset
from kerasbert.errors import KerasBertError
from kerasbert.files.atomic import atomic_file
from kerasbert.zoo.building.pairs import make_rows, single_rows
from kerasbert.zoo.building.recipe import Recipe, Stage
from kerasbert.zoo.building.texts import TextCounts, sample_texts

if TYPE_CHECKING:
    import kerasbert as kb
    from kerasbert.zoo.building.students import Student

DEV_TEXTS, DEV_SHARE = (
    2048,
    0.1,
)  # texts that are held out, to measure each epoch: this number, or this share of few texts
FEWEST_TEXTS = 100
MAX_LENGTH = 128  # tokens of a training text, and positions of a student
READING = "reading texts"
TEACHER = "teacher's vectors"
# Tokens of a single character that stay in the vocabulary whatever the texts are.
_CHARACTERS = [chr(code) for code in range(33, 127) if not chr(code).isupper()]


def build_encoder(
    recipe: Recipe, files: Sequence[Path], teacher: Path, work: Path, progress: Progress | None = None
) -> "Student":
    """Train an encoder of the zoo.

    Args:
        recipe: The recipe.
        files: Text files, one paragraph a line.
        teacher: The folder of a sentence encoder.
        work: The folder of the teacher's vectors, the checkpoints and the finished stages. A second run with the same arguments goes on
            from there.
        progress: Receives the progress.

    Returns:
        The trained student.

    Raises:
        KerasBertError: When there are too few texts, or the teacher has another kind of vocabulary or a smaller one, or has fewer
            layers than the recipe needs.
    """
    import kerasbert as kb
    from kerasbert.zoo.building.vectors import teacher_vectors

    progress = progress or Progress()
    texts = sample_texts(files, TextCounts(recipe.sentences, recipe.passages), recipe.seed)
    random.Random(recipe.seed).shuffle(texts)
    texts = texts[: recipe.used_texts(len(texts)) + DEV_TEXTS]
    if len(texts) < FEWEST_TEXTS:
        raise KerasBertError(f"expected at least {FEWEST_TEXTS} sentences, received {len(texts)}; give more texts")
    full_teacher = kb.SentenceEncoder.from_pretrained(teacher, sequence_length=MAX_LENGTH)
    _check_teacher(full_teacher, recipe)

    def encode(batch: list[str]) -> np.ndarray:
        progress.begin(TEACHER, len(batch), "texts")
        return teacher_vectors(full_teacher, batch, work / "vectors", progress.advance)

    vectors = encode(texts)
    path = work / "texts.txt"
    work.mkdir(parents=True, exist_ok=True)
    with atomic_file(path) as partial:
        partial.write_text("\n".join(texts) + "\n", "utf-8")
    with _precision(recipe.precision):
        return _train_stages(recipe, teacher, TeacherTexts(path, texts, vectors, vectors, encode), work, progress)


@dataclass(frozen=True)
class TeacherTexts:
    """The training texts with the teacher's vectors; the last texts are held out, see `held_out`.

    Attributes:
        path: The file of the texts, whose digest tells whether a checkpoint belongs to them.
        texts: The texts.
        vectors: The teacher's vectors.
        targets: The vectors that a student learns: the teacher's, along fewer directions for a student of fewer dimensions.
        encode: Computes the teacher's vectors of other texts.
    """

    path: Path
    texts: list[str]
    vectors: np.ndarray
    targets: np.ndarray
    encode: Callable[[list[str]], np.ndarray]

    def tables(self, stage: Stage, seed: int) -> tuple[Dataset, Dataset]:
        """Return the rows of a stage, and those that are held out.

        Args:
            stage: The stage.
            seed: The seed of the choice of second texts.
        """
        dev_count = held_out(len(self.texts))
        count = min(stage.texts or len(self.texts), len(self.texts) - dev_count)
        rows, labels = self.texts[:count], single_rows(self.targets)
        if stage.pairs:
            rows, labels[:count, -1] = make_rows(rows, self.vectors[:count], stage.pairs, seed, self.encode)
        return (
            Dataset(self.path, rows, labels[:count]),
            Dataset(self.path, self.texts[-dev_count:], labels[-dev_count:]),
        )


def _check_teacher(teacher: "kb.SentenceEncoder", recipe: Recipe) -> None:
    """Check that a student's vocabulary and layers can be taken from a teacher.

    Raises:
        KerasBertError: When they cannot.
    """
    from kerasbert.text import WordPiece

    tokenizer = teacher.tokenizer if teacher.has_tokenizer else None
    if not isinstance(tokenizer, WordPiece) or tokenizer.vocabulary_size < recipe.vocabulary:
        received = "none" if tokenizer is None else f"{tokenizer.vocabulary_size} of {type(tokenizer).__name__}"
        raise KerasBertError(
            f"expected a teacher with at least the recipe's {recipe.vocabulary} WordPiece tokens, received {received}; take another "
            "teacher, such as all-MiniLM-L6-v2"
        )
    layers = teacher.config.num_hidden_layers
    needed = max(recipe.layers) + 1 if recipe.layers else recipe.sizes.get("num_hidden_layers", 0)
    if needed > layers:
        raise KerasBertError(
            f"expected a teacher with at least the recipe's {needed} layers, received one of {layers}; take another teacher, such as "
            "all-MiniLM-L6-v2"
        )


def _train_stages(
    recipe: Recipe,
    teacher_folder: Path,
    data: TeacherTexts,
    work: Path,
    progress: Progress,
) -> "Student":
    import tf_keras as keras

    import kerasbert as kb
    from kerasbert.compression.pruning.structured import trim_vocabulary
    from kerasbert.zoo.building.students import projected_targets, student_of_layers, student_of_sizes
    from kerasbert.zoo.building.vectors import principal_directions

    keras.utils.set_random_seed(recipe.seed)
    full_teacher = kb.SentenceEncoder.from_pretrained(
        teacher_folder, sequence_length=MAX_LENGTH, max_position_embeddings=MAX_LENGTH
    )
    characters = _single_characters(full_teacher.tokenizer.vocabulary)
    teacher = trim_vocabulary(full_teacher, data.texts, characters, characters=False, size=recipe.vocabulary)
    if recipe.layers:
        student = student_of_layers(teacher, recipe.layers)
    else:
        student = student_of_sizes(teacher, recipe.model_type, recipe.sizes)
    width = student.config.hidden_size
    if width < data.vectors.shape[1]:
        data = replace(data, targets=projected_targets(data.vectors, principal_directions(data.vectors, width)))
    done: list[Stage] = []
    for stage in recipe.stages:
        done.append(stage)
        folder = work / f"stage-{len(done)}-{_digest(recipe, done)}"
        train_stage(student, teacher, stage, data, folder, recipe.seed, progress)
    return student


def train_stage(
    student: "Student",
    teacher: "kb.SentenceEncoder",
    stage: Stage,
    data: TeacherTexts,
    folder: Path,
    seed: int,
    progress: Progress,
) -> None:
    """Train a student in one stage, or read its weights if the stage has been finished before.

    Args:
        student: The student, trained in place.
        teacher: The teacher with the student's vocabulary.
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
    from kerasbert.zoo.building.students import VectorLoss, mean_cosine, pair_error

    run = RunFolder(folder)
    if (folder / "config.json").is_file() and not run.unfinished:
        finished = kb.SentenceEncoder.from_pretrained(folder)
        for name, variable in student.variables_by_path().items():
            variable.assign(finished.variables_by_path()[name])
        return
    train_rows, dev_rows = data.tables(stage, seed)
    config = TrainConfig(epochs=stage.epochs, batch_size=stage.batch_size, seed=seed, learning_rate=stage.learning_rate)
    model = student
    if stage.objectives:
        objectives = parse_objectives(
            stage.objectives, layers={student: teacher for student, teacher in stage.layer_map} or None
        )
        model = Distiller(student, teacher, objectives, label_weight=1.0)
    steps = stage.epochs * -(-len(train_rows) // stage.batch_size)
    optimizer = kb.adamw(stage.learning_rate, stage.warmup, steps)
    model.compile(
        optimizer,
        loss=VectorLoss(stage.pooled, stage.cosines),
        metrics=[mean_cosine, pair_error] if stage.pairs else [mean_cosine],
    )
    resume = run.unfinished
    if not resume:
        run.begin(config)
    train(model, train_rows, dev_rows, config, run, resume=resume, progress=progress)


def held_out(count: int) -> int:
    """Return the number of texts that are held out of `count` texts, to measure each epoch."""
    return min(DEV_TEXTS, round(DEV_SHARE * count))


def _single_characters(vocabulary: Sequence[str]) -> list[str]:
    known = set(vocabulary)
    return [token for letter in _CHARACTERS for token in (letter, f"##{letter}") if token in known]


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
