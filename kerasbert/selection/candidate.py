"""A candidate: an encoder, what is left of it, its learning rate and recipe; and the commands that make its file."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from kerasbert.files.record import Record, setting
from kerasbert.zoo.building.file_recipe import FileStep

DEFAULT_RECIPE = "dynamic_wi8_afp32"
_RANKED_ROWS = 512  # of training, by which neurons are ranked
_SECOND_RATE = 0.6  # share of the rate with which a narrowed model trains on, as in `kerasbert prune`


@dataclass(frozen=True)
class Candidate(Record):
    """A model that may be trained.

    Attributes:
        model: The encoder: a name in the zoo, a folder or a hub name.
        layers: The number of layers that are kept; None for all.
        feed_forward: The fraction of feed-forward neurons that are removed once the model is trained; it then trains again.
        vocabulary: Whether only the tokens of the training texts are kept.
        recipe: The recipe of the file.
        rate: Its learning rate over the recommended one.
    """

    file: ClassVar[str] = "the candidate"

    model: str
    layers: int | None = setting(None, at_least=1)
    feed_forward: float | None = setting(None, above=0, below=1)
    vocabulary: bool = False
    recipe: str = DEFAULT_RECIPE
    rate: float = setting(1.0, above=0)

    @property
    def name(self) -> str:
        """Everything but the rate, such as `small-en, 2 layers, own vocabulary`."""
        parts = [
            self.model,  # whole: two folders may end alike
            "" if self.layers is None else f"{self.layers} layer{'s' * (self.layers > 1)}",
            "" if self.feed_forward is None else f"{self.feed_forward:.0%} of neurons removed",
            "own vocabulary" if self.vocabulary else "",
            "" if self.recipe == DEFAULT_RECIPE else self.recipe,
        ]
        return ", ".join(filter(None, parts))

    def __str__(self) -> str:
        return self.name if self.rate == 1 else f"{self.name}, {self.rate:g} x rate"

    @property
    def structure(self) -> "Candidate":
        """The candidate with the recommended rate: what its cost depends on."""
        return Candidate(**{**self.to_dict(), "rate": 1.0})

    def slug(self) -> str:
        """The name of its folder."""
        parts = [
            os.path.basename(os.path.normpath(self.model)),
            f"layers-{self.layers}" if self.layers else "",
            f"neurons-{1 - self.feed_forward:g}" if self.feed_forward else "",
            "own-vocabulary" if self.vocabulary else "",
        ]
        digest = hashlib.sha256(self.model.encode()).hexdigest()[:6] if os.sep in self.model else ""
        return "_".join(filter(None, [*parts, digest]))


@dataclass(frozen=True)
class Data:
    """The data that all candidates are trained on.

    Attributes:
        train: The training data.
        texts: A file with the training texts, one a line.
        options: Options of `train` for all candidates, by field, such as the task and the columns.
        labelled: Those of them that `prune` needs to read the data.
        reading: Those of them that `convert` needs.
        lengths: The sequence lengths of a file, in tokens.
    """

    train: str
    texts: Path
    options: Mapping[str, Any]
    labelled: Mapping[str, Any]
    reading: Mapping[str, Any]
    lengths: tuple[int, ...]


@dataclass(frozen=True)
class Step:
    """A command of a candidate.

    Attributes:
        step: The command and its options.
        model: The model that it reads.
        out: Its result.
    """

    step: FileStep
    model: str
    out: Path

    def arguments(self) -> list[str]:
        """Return the command line after `kerasbert`."""
        return self.step.arguments(self.model, self.out, {})


def steps(candidate: Candidate, data: Data, work: Path, rows: int | None, *, probe: bool = False) -> list[Step]:
    """Return the commands that make a candidate's file, the last one `convert`; the one before it saves the trained model.

    Args:
        candidate: The candidate.
        data: The data.
        work: The folder of all results. Commands that candidates share have one result.
        rows: The number of training rows; None for all.
        probe: Whether the model is trained for one epoch only, to measure what its file costs.
    """
    folder, model, found = work / candidate.slug(), candidate.model, []
    if candidate.layers or candidate.vocabulary:
        options = {
            "layers": candidate.layers or False,
            "vocabulary": str(data.texts) if candidate.vocabulary else False,
        }
        found.append(Step(FileStep("prune", options), model, folder / "pruned"))
        model = str(found[-1].out)
    folder /= "probe" if probe else f"rate-{candidate.rate:g}" + ("" if rows is None else f"_rows-{rows}")
    training = {"train": data.train, **data.options, **({} if rows is None else {"train_rows": rows})}
    training |= {"epochs": 1} if probe else _rate(candidate.rate)
    found.append(Step(FileStep("train", training), model, folder / "trained"))
    model = str(found[-1].out)
    if candidate.feed_forward:
        ranked = min(_RANKED_ROWS, rows or _RANKED_ROWS)
        narrow = {"feed_forward": candidate.feed_forward, "data": data.train, "max_rows": ranked, **data.labelled}
        found.append(Step(FileStep("prune", narrow), model, folder / "narrow"))
        if not probe:  # what its file costs does not depend on its weights
            again = {**training, **_rate(_SECOND_RATE * candidate.rate)}
            found.append(Step(FileStep("train", again), str(found[-1].out), folder / "trained-narrow"))
        model = str(found[-1].out)
    convert: dict[str, Any] = {"recipe": candidate.recipe, "length": list(data.lengths)}
    if candidate.recipe.startswith("static"):
        convert |= {"calibration": data.train, **data.reading}
    return [*found, Step(FileStep("convert", convert), model, folder / f"{candidate.recipe}.tflite")]


def _rate(factor: float) -> dict[str, Any]:
    """The option of the learning rates; none where they are the recommended ones."""
    return {} if factor == 1 else {"rate_factor": f"{factor:g}"}
