"""A teacher of the zoo's encoders: its vectors of the training texts, and the model with the student's vocabulary."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kerasbert.console.progress import Progress
from kerasbert.data.dataset import Dataset
from kerasbert.errors import KerasBertError
from kerasbert.zoo.building.pairs import make_rows, single_rows
from kerasbert.zoo.building.recipe import Recipe, Stage
from kerasbert.zoo.building.topics import TopicDataset, find_topics
from kerasbert.zoo.building.vectors import as_file, centred, principal_directions, rotation, teacher_vectors

if TYPE_CHECKING:
    import kerasbert as kb
    from kerasbert.zoo.building.students import Student

# Texts that are held out, to measure each epoch: this number, or this share of few texts.
DEV_TEXTS, DEV_SHARE = 2048, 0.1
MAX_LENGTH = 128  # tokens of a training text, and positions of a student
READING = "reading texts"
VECTORS = "teacher's vectors"
_SMALLEST = 1e-9  # length of a vector
_ALIGNED = 8192  # texts whose vectors say how those of a second teacher are turned
# Tokens of a single character that stay in the vocabulary whatever the texts are.
_CHARACTERS = [chr(code) for code in range(33, 127) if not chr(code).isupper()]


@dataclass(frozen=True)
class TeacherTexts:
    """The training texts with the teacher's vectors; the last texts are held out, see `held_out`.

    Attributes:
        path: The file of the texts, whose digest tells whether a checkpoint belongs to them.
        texts: The texts.
        vectors: The teacher's vectors.
        targets: The vectors that a student learns: the teacher's, along fewer directions for a student of fewer dimensions.
        encode: Computes the teacher's vectors of other texts. Those of a teacher after the first are `centred`.
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
        dev = Dataset(self.path, self.texts[-dev_count:], labels[-dev_count:])
        if not stage.topic:
            return Dataset(self.path, rows, labels[:count]), dev
        topics = find_topics(self.vectors[:count], stage.topic, stage.epochs, seed)
        return TopicDataset(self.path, rows, labels[:count], topics=topics), dev


class Teacher:
    """A sentence encoder that a student learns from.

    Args:
        folder: Its folder.
        recipe: The student's recipe.
        texts: The training texts.
        layers: The fewest layers that it must have.
        work: The folder of its vectors.
        progress: Receives the progress.

    Raises:
        KerasBertError: When its vocabulary or layers do not suit the recipe.
    """

    def __init__(
        self, folder: Path, recipe: Recipe, texts: list[str], layers: int, work: Path, progress: Progress
    ) -> None:
        import kerasbert as kb

        self._folder, self._recipe, self._texts = folder, recipe, texts
        self._work, self._progress = work, progress
        model = kb.SentenceEncoder.from_pretrained(folder, sequence_length=MAX_LENGTH)
        _check_teacher(model, recipe, layers)
        self._file, self._width = as_file(model, work), model.width

    def trimmed(self) -> "kb.SentenceEncoder":
        """Return the teacher with the student's vocabulary and number of positions, in the precision of the moment."""
        import kerasbert as kb
        from kerasbert.compression.pruning.structured import trim_vocabulary

        whole = kb.SentenceEncoder.from_pretrained(
            self._folder, sequence_length=MAX_LENGTH, max_position_embeddings=MAX_LENGTH
        )
        characters = _single_characters(whole.tokenizer.vocabulary)
        return trim_vocabulary(whole, self._texts, characters, characters=False, size=self._recipe.vocabulary)

    def texts_for(self, student: "Student", path: Path, stage: Stage, second: bool) -> TeacherTexts:
        """Return the training texts with the vectors that a student learns.

        Args:
            student: The student before the stage.
            path: The file of the texts.
            stage: The stage.
            second: Whether it is a teacher after the first, whose vectors have other directions: they are turned towards the student's
                own, and centred where the stage says so.
        """
        centre = second and stage.centred
        vectors, means = self._vectors(self._texts, stage, centre)

        def encode(texts: list[str]) -> np.ndarray:
            return self._vectors(texts, stage, centre, means)[0]

        width = student.config.hidden_size
        if not stage.learns_directions:
            return TeacherTexts(path, self._texts, vectors, vectors, encode)
        targets = (
            projected_targets(vectors, principal_directions(vectors, width)) if width < vectors.shape[1] else vectors
        )
        if second:
            first = self._texts[:_ALIGNED]
            targets = targets @ rotation(targets[: len(first)], student.predict(first, batch_size=64))
        return TeacherTexts(path, self._texts, vectors, targets, encode)

    def _vectors(
        self, texts: list[str], stage: Stage, centre: bool, means: Sequence[np.ndarray] = ()
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """The vectors of texts, and the mean of those with each prompt, which `means` has for other texts than the training's."""
        prompts = list(dict.fromkeys((stage.query_prompt, stage.passage_prompt)))
        questions = np.array([is_question(text) for text in texts])
        total, found = np.zeros((), np.float32), []
        for number, prompt in enumerate(prompts):
            # Questions are not searched: they have no vector of a passage.
            rows = np.arange(len(texts)) if number == 0 else np.flatnonzero(~questions)
            vectors = np.zeros((len(texts), self._width), np.float32)
            if len(rows):
                chosen = [texts[row] for row in rows.tolist()]
                self._progress.begin(VECTORS, len(chosen), "texts")
                folder = self._work / "vectors"
                read = teacher_vectors(self._file, chosen, folder, prompt, self._progress.advance)
                found.append(means[number] if means else read.mean(axis=0))
                vectors[rows] = centred(read, found[-1]) if centre else read
            total = total + vectors
        return total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), _SMALLEST), found


def is_question(text: str) -> bool:
    """Whether a text is one that somebody searches with."""
    return text.rstrip().endswith("?")


def projected_targets(vectors: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Return unit vectors `(texts, width)` along some directions `(hidden, width)`."""
    projected = vectors @ directions
    return projected / np.maximum(np.linalg.norm(projected, axis=1, keepdims=True), _SMALLEST)


def held_out(count: int) -> int:
    """Return the number of texts that are held out of `count` texts, to measure each epoch."""
    return min(DEV_TEXTS, round(DEV_SHARE * count))


def _check_teacher(teacher: "kb.SentenceEncoder", recipe: Recipe, needed: int) -> None:
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
    if needed > layers:
        raise KerasBertError(
            f"expected a teacher with at least the recipe's {needed} layers, received one of {layers}; take another teacher, such as "
            "all-MiniLM-L6-v2"
        )


def _single_characters(vocabulary: Sequence[str]) -> list[str]:
    known = set(vocabulary)
    return [token for letter in _CHARACTERS for token in (letter, f"##{letter}") if token in known]
