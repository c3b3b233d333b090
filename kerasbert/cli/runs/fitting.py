"""What `kerasbert fit` makes and measures its candidates with: commands in processes of their own, whose results are kept."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from kerasbert.cli.runs.command_steps import run_commands
from kerasbert.cli.runs.ray_trials import RayTrials
from kerasbert.console.progress import Progress
from kerasbert.data.dataset import Dataset
from kerasbert.errors import KerasBertError
from kerasbert.selection.budget import Cost
from kerasbert.selection.candidate import Candidate, Data, Step, steps

if TYPE_CHECKING:
    from kerasbert.export.comparison.comparison import ModelComparison

PROBE_ROWS = 64  # of training: what a file costs does not depend on its weights
_TIMED_TEXTS, _RUNS = 64, 192


@dataclass
class Commands:
    """The `Workshop` of `kerasbert.selection.search`.

    Attributes:
        data: The data of the commands.
        dev: The rows that files are measured on.
        work: The folder of all results.
        threads: CPU threads of the files.
        progress: Receives the progress.
        ray: Trains the candidates of a round at once; None for one after another.
        comparison: The last comparison of finalists.
    """

    data: Data
    dev: Dataset
    work: Path
    threads: int
    progress: Progress
    ray: RayTrials | None = None
    comparison: "ModelComparison" = field(init=False)

    def cost(self, candidate: Candidate) -> Cost:
        """Train a structure on a few rows, convert it, and measure the file."""
        from kerasbert.export.measurement.benchmarking import benchmark

        self._begin(f"measuring {candidate}")
        made = self._steps(candidate, PROBE_ROWS, probe=True)
        run_commands(made)
        file = made[-1].out
        measured = benchmark(
            file, threads=self.threads, runs=_RUNS, data=self.dev, rows=min(_TIMED_TEXTS, len(self.dev))
        )
        return Cost(measured.measurements[0].latency.p50, file.stat().st_size)

    def scores(
        self, candidates: Sequence[Candidate], rows: int | None
    ) -> Iterator[tuple[Candidate, float | KerasBertError]]:
        """Train candidates, and return the first metric of the kept epoch of each on dev, or the error of those that failed."""
        on = "" if rows is None else f" on {rows:,} rows"
        commands = {each: self._steps(each, rows)[:-1] for each in candidates}
        faults: dict[Path, KerasBertError] = {}
        if self.ray is not None:
            jobs = {made[-1].out: made for made in commands.values()}  # candidates of several recipes share a training
            faults = self.ray.run(list(jobs.values()), self.work, f"training with Ray{on}", self.progress)
        for candidate, made in commands.items():
            if made[-1].out in faults:
                yield candidate, faults[made[-1].out]
                continue
            self._begin(f"training {candidate}{on}")
            try:
                result = run_commands(made)  # those of a trial are finished
            except KerasBertError as error:
                yield candidate, error
            else:
                yield candidate, float(next(iter(result["dev"].values())))

    def finals(self, candidates: Sequence[Candidate]) -> dict[Candidate, tuple[Cost, float]]:
        """Convert trained candidates, and compare their files on dev."""
        from kerasbert.export.comparer import compare

        files = {each: self._steps(each, None)[-1].out for each in candidates}
        for each in candidates:
            self._begin(f"converting {each}")
            run_commands(self._steps(each, None))
        models = {str(each): str(file) for each, file in files.items()}
        if len(models) == 1:  # a comparison has two models
            folder = self._steps(candidates[0], None)[-1].model
            models[f"{candidates[0]}, float"] = folder
        self.comparison = compare(
            models, self.dev, runs=_RUNS, threads=self.threads, progress=self.progress, isolated=True
        )
        found: dict[Candidate, tuple[Cost, float]] = {}
        for each, model in zip(candidates, self.comparison.models, strict=False):
            if model.latency is not None and model.score is not None:
                found[each] = Cost(model.latency.p50, files[each].stat().st_size), model.score.value
        return found

    def file(self, candidate: Candidate) -> Path:
        """Return the file of a candidate that was trained on all rows."""
        return self._steps(candidate, None)[-1].out

    def commands(self, candidate: Candidate) -> list[list[str]]:
        """Return the command lines that make this file, without `kerasbert`."""
        return [each.arguments() for each in self._steps(candidate, None)]

    def _begin(self, stage: str) -> None:
        self.progress.begin(stage)
        self.progress.advance(0)

    def _steps(self, candidate: Candidate, rows: int | None, probe: bool = False) -> list[Step]:
        return steps(candidate, self.data, self.work, rows, probe=probe)
