"""The recipe of a zoo encoder: `recipe.toml` in its folder."""

import os
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self

from kerasbert.errors import KerasBertError
from kerasbert.files.toml_text import read_toml
from kerasbert.files.training_recommendation import Recommendation
from kerasbert.suggestions import nearest

FILE = "recipe.toml"


@dataclass(frozen=True)
class Stage:
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

    epochs: int
    learning_rate: float
    texts: int | None = None
    batch_size: int = 128
    warmup: float = 0.05
    pooled: float = 0.5
    cosines: float = 0.0
    objectives: str = ""
    layer_map: list[list[int]] = field(default_factory=list)
    pairs: float = 0.0


@dataclass(frozen=True)
class Recipe:
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
        fine_tuning: The `learning_rate`, `epochs` and `head_factor` that suit fine-tuning; the folder carries them.
    """

    vocabulary: int
    sentences: int
    passages: int
    stages: list[Stage]
    layers: list[int] = field(default_factory=list)
    model_type: str = "bert"
    sizes: dict[str, Any] = field(default_factory=dict)
    seed: int = 27
    precision: str = "float32"
    fine_tuning: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.fine_tuning:
            Recommendation(**self.fine_tuning, source="")  # a wrong name is an error before the build

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
        values = read_toml(Path(path), expected="the recipe of a zoo encoder in TOML")
        stages = [_checked(Stage, stage, path) for stage in values.pop("stages", [])]
        return _checked(cls, {**values, "stages": stages}, path)


def _checked(kind: Any, values: dict[str, Any], path: str | os.PathLike) -> Any:
    names = {each.name for each in fields(kind)}
    if unknown := sorted(values.keys() - names):
        suggestion = nearest(unknown[0], names)
        advice = f"did you mean {suggestion}?" if suggestion else f"the settings are {', '.join(sorted(names))}"
        raise KerasBertError(f"{path}: expected the name of a setting, received {unknown[0]!r}; {advice}")
    try:
        return kind(**values)
    except TypeError as error:
        raise KerasBertError(f"{path}: expected every setting of a recipe, received {error}") from error
