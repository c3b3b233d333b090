"""Comparisons of the same models on several tasks as one table: the tasks are its columns, as in the literature."""

import csv
import io
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kerasbert.arguments import check_path, shown
from kerasbert.console.tables import Block, Table as TextTable, render
from kerasbert.errors import KerasBertError
from kerasbert.export.comparison.comparison import ModelComparison
from kerasbert.export.comparison.results import ComparedModel, Estimate
from kerasbert.export.comparison.saving import save_by_suffix
from kerasbert.export.comparison.table import bounds, format_share, format_times
from kerasbert.export.reporting.report import Bars, Table, write_html

_ALIKE = "name the models alike in both: --name of `kerasbert compare`, or a dict in Python"


@dataclass(frozen=True)
class JoinedModel:
    """A model that was compared on several tasks.

    Attributes:
        name: Its name in each comparison.
        tasks: What was measured on each task, by the task's name; a task without the model is missing.
        kept: The mean of the shares kept; None where a task is missing.
        smaller: The mean ratio of sizes (geometric) over the tasks that have the model.
        faster: The mean ratio of latencies (geometric); None where one was not measured.
    """

    name: str
    tasks: Mapping[str, ComparedModel]
    kept: Estimate | None
    smaller: float
    faster: float | None


@dataclass(frozen=True)
class JoinedComparison:
    """The same models on several tasks; what `join_comparisons` returns.

    Attributes:
        tasks: The comparison on each task, by the task's name.
        models: The models, the reference first.

    Example:
        ```python
        comparison = kb.export.compare(["runs/mine", "mine.tflite"], "dev.tsv", latency=False)
        joined = kb.export.join_comparisons({"first": comparison, "second": comparison})
        print(joined.table())
        joined.save("tasks.html")
        ```
    """

    tasks: Mapping[str, ModelComparison]
    models: tuple[JoinedModel, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the table as a dict for JSON."""
        return {
            "tasks": {name: each.as_dict() for name, each in self.tasks.items()},
            "models": [
                {
                    "name": model.name,
                    "kept": None if model.kept is None else asdict(model.kept),
                    "smaller": model.smaller,
                    "faster": model.faster,
                }
                for model in self.models
            ],
        }

    def json(self) -> str:
        """Return the table as JSON."""
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False)

    def blocks(self) -> list[Block]:
        """Return the table and lines, for `kerasbert.console.tables.render`."""
        reference = self.models[0].name
        head = f"share of the score of {reference} that is kept, on {len(self.tasks)} tasks"
        means = [
            f"{model.name}, 95 % sure: mean kept {bounds(model.kept, lambda v: f'{v:.2%}')}"
            for model in self.models[1:]
            if bounds(model.kept, lambda v: f"{v:.2%}")
        ]
        scores = [
            f"{name}: {each.metric} {each.reference.score.value:.4f} of {reference}, {each.rows:,} examples of {each.data}"
            for name, each in self.tasks.items()
            if each.reference.score is not None
        ]
        return [head, "", TextTable(self._columns, self._rows(), spare=("faster", "smaller")), *means, *scores]

    @property
    def _columns(self) -> list[str]:
        faster = ["faster"] if any(model.faster is not None for model in self.models) else []
        return ["model", "smaller", *faster, *self.tasks, "mean"]

    def _rows(self) -> list[list[str]]:
        timed = "faster" in self._columns
        return [
            [
                model.name,
                format_times(model.smaller),
                *([format_times(model.faster)] if timed else []),
                *(format_share(model.tasks[task].kept) if task in model.tasks else "-" for task in self.tasks),
                format_share(model.kept),
            ]
            for model in self.models
        ]

    def table(self) -> str:
        """Return the table as plain text."""
        return render(self.blocks())

    def save(self, path: str | os.PathLike, overwrite: bool = False) -> Path:
        """Write the table by the path's suffix: a page (`.html`), `.json` or `.csv`.

        Args:
            path: The file. It is replaced in one step.
            overwrite: Whether an existing `.csv` file is replaced. Other files are replaced if kerasbert wrote them.

        Returns:
            The path.

        Raises:
            KerasBertError: When the path has another suffix, or a file is there that may not be replaced.
        """
        pages = {".html": self._write_page, ".htm": self._write_page}
        return save_by_suffix(path, overwrite, pages, self.as_dict, self._csv)

    def _write_page(self, path: Path) -> Path:
        note = "Each task: share of the reference's score, with bounds of 95 % confidence each. Mean: of these shares."
        rows = [
            [*cells[: -len(self.tasks) - 1], *map(_with_bounds, self._kept(model))]
            for cells, model in zip(self._rows(), self.models, strict=True)
        ]
        kept = [(model.name, model.kept.value) for model in self.models if model.kept is not None]
        sections = [
            Table(f"Share of the score of {self.models[0].name}", self._columns, rows, note),
            *([Bars("Mean kept", kept, "percent")] if kept else []),
        ]
        machine = next(iter(self.tasks.values())).machine
        return write_html(
            path, title=f"{len(self.models)} models on {', '.join(self.tasks)}", sections=sections, machine=machine
        )

    def _kept(self, model: JoinedModel) -> list[Estimate | None]:
        return [*(model.tasks[task].kept if task in model.tasks else None for task in self.tasks), model.kept]

    def _csv(self) -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        names = [f"{name}{end}" for name in (*self.tasks, "mean") for end in ("", "_low", "_high")]
        writer.writerow(["model", "smaller", "faster", *names])
        for model in self.models:
            values = [
                value
                for each in self._kept(model)
                for value in ((each.value, each.low, each.high) if each else (None,) * 3)
            ]
            writer.writerow([model.name, model.smaller, model.faster, *values])
        return text.getvalue()


def join_comparisons(comparisons: Mapping[str, Any] | Sequence[Any]) -> JoinedComparison:
    """Join comparisons of the same models on several tasks to one table.

    Models are matched by name: name them alike in each comparison.

    Args:
        comparisons: What `compare` returned, or JSON files of it, by the name of the task; a list of files is named by the files.

    Returns:
        The table, with the models in the order of the first comparison.

    Raises:
        KerasBertError: When there are fewer than two comparisons, one is given twice, the references or no other models have the same
            name, or a file is no comparison.

    Example:
        ```python
        comparison = kb.export.compare({"float": "runs/mine", "int8": "mine.tflite"}, "dev.tsv", latency=False)
        comparison.save("reviews.json")
        kb.export.join_comparisons({"reviews": "reviews.json", "again": comparison}).models[1].kept
        ```
    """
    tasks = {name: _comparison(each) for name, each in _by_name(comparisons).items()}
    first_task, first = next(iter(tasks.items()))
    for task, each in tasks.items():
        if each.against != first.against:
            raise KerasBertError(
                f"expected comparisons against models of the same name, received {first.against} ({first_task}) and {each.against} "
                f"({task}); {_ALIKE}"
            )
        others = {model.name for model in each.models[1:]}
        if not others & {model.name for model in first.models[1:]}:
            raise KerasBertError(
                f"expected models of the same names, received {', '.join(model.name for model in first.models[1:])} ({first_task}) and "
                f"{', '.join(sorted(others))} ({task}); {_ALIKE}"
            )
    names = dict.fromkeys(model.name for each in tasks.values() for model in each.models)
    return JoinedComparison(tasks, tuple(_joined(name, tasks) for name in names))


def _by_name(comparisons: Any) -> dict[str, Any]:
    if isinstance(comparisons, Mapping):
        named = {str(name): each for name, each in comparisons.items()}
    elif isinstance(comparisons, list | tuple):
        paths = [check_path(each, "the path of a comparison, or a dict of comparisons by task") for each in comparisons]
        named = {Path(path).stem: path for path in paths}
        if len(named) < len(paths):
            raise KerasBertError(
                f"expected JSON files of different names, which name the tasks, received {', '.join(paths)}; rename one"
            )
    else:
        raise KerasBertError(
            f"expected comparisons as a list of files, or as a dict by task, received {shown(comparisons)}; pass one of these"
        )
    if len(named) < 2:
        raise KerasBertError(f"expected two or more comparisons, received {len(named)}; give one for each task")
    return named


def _comparison(comparison: Any) -> ModelComparison:
    return comparison if isinstance(comparison, ModelComparison) else ModelComparison.read(comparison)


def _joined(name: str, tasks: Mapping[str, ModelComparison]) -> JoinedModel:
    found = {task: model for task, each in tasks.items() for model in each.models if model.name == name}
    faster = [model.faster.value for model in found.values() if model.faster is not None]
    return JoinedModel(
        name,
        found,
        _mean_kept([found[task].kept if task in found else None for task in tasks]),
        math.exp(sum(math.log(model.smaller) for model in found.values()) / len(found)),
        math.exp(sum(map(math.log, faster)) / len(faster)) if len(faster) == len(found) else None,
    )


def _mean_kept(estimates: Sequence[Estimate | None]) -> Estimate | None:
    """Return the mean over tasks. Their data are independent, so the squares of the distances to their bounds add up."""
    known = [each for each in estimates if each is not None]
    if len(known) < len(estimates):
        return None
    mean = sum(each.value for each in known) / len(known)
    if any(each.low is None or each.high is None for each in known):
        return Estimate(mean)
    below = math.hypot(*(each.value - (each.low or 0.0) for each in known)) / len(known)
    above = math.hypot(*((each.high or 0.0) - each.value for each in known)) / len(known)
    return Estimate(mean, mean - below, mean + above)


def _with_bounds(estimate: Estimate | None) -> str:
    text = bounds(estimate, lambda v: f"{v:.2%}")
    return format_share(estimate) + (f" ({text})" if text else "")
