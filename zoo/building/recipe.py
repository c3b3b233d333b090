"""The recipe of a zoo encoder: `recipe.toml` in its folder."""

import os
from dataclasses import dataclass, replace
from typing import Any, Self

from kerasbert.files.record import Record, setting
from kerasbert.files.toml_text import read_toml
from kerasbert.files.training_recommendation import Recommendation

FILE = "recipe.toml"


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
        objectives: Distillation objectives beside the vectors, such as `hidden=1,relations=1`. The teacher then runs in every step.
        layer_map: `[student layer, teacher layer]` of each compared pair; empty for the objectives' own map.
        pairs: Share of the texts that get a second text in their row; see `kerasbert.zoo.building.pairs`.
    """

    epochs: int = setting(at_least=0)
    learning_rate: float = setting(at_least=0)
    texts: int | None = setting(None, at_least=1)
    batch_size: int = setting(128, at_least=1)
    warmup: float = setting(0.05, at_least=0, at_most=1)
    pooled: float = setting(0.5, at_least=0)
    cosines: float = setting(0.0, at_least=0)
    objectives: str = ""
    layer_map: list[list[int]] = setting(list)
    pairs: float = setting(0.0, at_least=0, at_most=1)


@dataclass(frozen=True)
class Recipe(Record):
    """What determines a zoo encoder, beside its texts and its teacher.

    Attributes:
        vocabulary: Number of tokens, the most frequent ones of the training texts.
        sentences: Number of sentences among the training texts.
        passages: Number of passages among them.
        stages: The stages of the training.
        layers: The teacher's layers that the student begins with; empty for a student of other sizes.
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
    layers: list[int] = setting(list, at_least=0)
    model_type: str = "bert"
    sizes: dict[str, Any] = setting(dict)
    seed: int = setting(27, at_least=0)
    precision: str = setting("float32", choices=("float32", "mixed_bfloat16"))
    fine_tuning: Recommendation | None = None

    def used_texts(self, count: int) -> int:
        """Return the number of training texts that any stage uses, of `count` texts."""
        return max((stage.texts or count for stage in self.stages), default=count)

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
