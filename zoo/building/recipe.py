"""The recipe of a zoo encoder: `recipe.toml` in its folder."""

import os
from dataclasses import dataclass, replace
from typing import Any, Self

from kerasbert.errors import KerasBertError
from kerasbert.files.record import Record, setting
from kerasbert.files.toml_text import read_toml
from kerasbert.files.training_recommendation import Recommendation


@dataclass(frozen=True)
class Stage(Record):
    """A stage of the training.

    Attributes:
        epochs: Number of epochs.
        learning_rate: The peak learning rate.
        texts: Number of training texts, the first ones; None for all.
        batch_size: Texts in a batch.
        warmup: Fraction of the steps for the warm-up.
        pooled: Weight of the pooled vector's distance; see `VectorLoss`.
        cosines: Weight of the differences of a batch's cosines; see `VectorLoss`.
        distance: Weight of the mean vector's distance; see `VectorLoss`.
        neighbours: Weight of the divergence of the softmax over a batch's cosines; see `VectorLoss`.
        temperature: What the teacher's cosines are divided by in that softmax; the student's are divided by `TEMPERATURE`.
        topic: Texts of a topic: batches are of one topic, found by the teacher's vectors. 0 for batches of any texts.
        centred: For a teacher after the first: whether its vectors are centred.
        objectives: Distillation objectives beside the vectors, such as `hidden=1,relations=1`. The teacher then runs in every step.
        layer_map: `[student layer, teacher layer]` of each compared pair; empty for the objectives' own map.
        pairs: Share of the texts that get a second text in their row; see `kerasbert.zoo.building.pairs`.
        teacher: The teacher, one of the recipe's `teachers`; "" is the first.
        query_prompt: What the teacher reads before a question, such as `query: `. Its token states are those of the text alone.
        passage_prompt: What it reads before a passage, such as `passage: `. A text that is no question has the direction between the
            vectors with either prompt, for it may be compared with its like as well as be searched.
        begins_with: The number of the stage whose weights it begins with, from 1; None for the one before.
        average: Numbers of stages. Their weights are averaged (Wortsman et al. 2022) in place of a training.
    """

    epochs: int = setting(at_least=0)
    learning_rate: float = setting(at_least=0)
    texts: int | None = setting(None, at_least=1)
    batch_size: int = setting(128, at_least=1)
    warmup: float = setting(0.05, at_least=0, at_most=1)
    pooled: float = setting(0.5, at_least=0)
    cosines: float = setting(0.0, at_least=0)
    distance: float = setting(1.0, at_least=0)
    neighbours: float = setting(0.0, at_least=0)
    temperature: float = setting(0.05, above=0)
    topic: int = setting(0, at_least=0)
    centred: bool = True
    objectives: str = ""
    layer_map: list[list[int]] = setting(list)
    pairs: float = setting(0.0, at_least=0, at_most=1)
    teacher: str = ""
    query_prompt: str = ""
    passage_prompt: str = ""
    begins_with: int | None = setting(None, at_least=1)
    average: list[int] = setting(list, at_least=1)

    @property
    def learns_directions(self) -> bool:
        """Whether the student's vectors have the directions of the targets; otherwise their cosines alone count."""
        return bool(self.distance or self.pooled)


@dataclass(frozen=True)
class Recipe(Record):
    """What determines a zoo encoder, beside its texts and its teachers.

    Attributes:
        vocabulary: Number of tokens, the most frequent ones of the training texts.
        sentences: Number of sentences among the training texts.
        passages: Number of passages among them.
        stages: The stages of the training.
        teachers: The names of the teachers, for people. The student's vocabulary and first weights are from the first.
        layers: The first teacher's layers that the student begins with; empty for a student of other sizes.
        model_type: The architecture of a student of other sizes.
        sizes: Values of its config.
        seed: Seed of the sample, of new weights and of the order of the texts.
        precision: `float32` or `mixed_bfloat16`, which is faster on processors with such instructions.
        fine_tuning: What suits fine-tuning; the folder carries it.
    """

    vocabulary: int = setting(at_least=1)
    sentences: int = setting(at_least=0)
    passages: int = setting(at_least=0)
    stages: list[Stage] = setting(list)
    teachers: list[str] = setting(list)
    layers: list[int] = setting(list, at_least=0)
    model_type: str = "bert"
    sizes: dict[str, Any] = setting(dict)
    seed: int = setting(27, at_least=0)
    precision: str = setting("float32", choices=("float32", "mixed_bfloat16"))
    fine_tuning: Recommendation | None = None

    def check(self) -> None:
        for number, stage in enumerate(self.stages, start=1):
            for named in (*stage.average, *filter(None, [stage.begins_with])):
                if named >= number:
                    raise KerasBertError(
                        f"expected stage {number} to name earlier stages, received {named}; correct it"
                    )

    def teacher_of(self, stage: Stage) -> int:
        """Return the number of a stage's teacher, from 0.

        Raises:
            KerasBertError: When the recipe has no teacher of this name.
        """
        if not stage.teacher:
            return 0
        if stage.teacher not in self.teachers:
            raise KerasBertError(
                f"expected a stage's teacher as one of the recipe's {', '.join(self.teachers) or 'teachers (none)'}, received "
                f"{stage.teacher!r}; add it to `teachers`"
            )
        return self.teachers.index(stage.teacher)

    def used_texts(self, count: int) -> int:
        """Return the number of training texts that any stage uses, of `count` texts."""
        return max((stage.texts or count for stage in self.stages if not stage.average), default=count)

    def reduced(self, texts: int) -> Self:
        """Return a recipe of the same model that trains on fewer texts in every stage.

        Args:
            texts: The largest number of training texts.
        """
        stages = [replace(stage, texts=min(stage.texts or texts, texts)) for stage in self.stages]
        return replace(self, stages=stages)

    @classmethod
    def read(cls, path: str | os.PathLike) -> Self:
        """Read a recipe.

        Args:
            path: The TOML file.

        Raises:
            KerasBertError: When the file is missing or not TOML, or a setting is unknown or missing.
        """
        return cls.from_dict(read_toml(path, expected="the recipe of a zoo encoder in TOML"), path)
