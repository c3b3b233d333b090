"""The result of `compare`: a table as text, JSON, CSV, a page or a picture."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kerasbert.arguments import check_path
from kerasbert.console.tables import Block, render
from kerasbert.export.comparison.page import write_page
from kerasbert.export.comparison.picture import write_picture
from kerasbert.export.comparison.results import ComparisonRecord
from kerasbert.export.comparison.saving import save_by_suffix
from kerasbert.export.comparison.table import comparison_blocks, comparison_csv
from kerasbert.files.json_text import read_json_object

_FORMAT = 1


@dataclass(frozen=True)
class ModelComparison(ComparisonRecord):
    """Models on the same data, beside a reference; what `compare` returns.

    Attributes:
        data: The name of the data.
        rows: Examples that were scored.
        task: The task type, see `kerasbert.processors`.
        metric: The task's main metric, by which models are compared.
        against: The name of the reference.
        models: The models, the reference first.
        threads: CPU threads.
        sequence_length: Tokens of the row that was timed; None where texts of the data were.
        machine: The processor, the operating system and the versions of the runtime.
        notes: Lines for the reader.

    Example:
        ```python
        comparison = kb.export.compare(["runs/mine", "mine.tflite"], "dev.tsv", latency=False)
        comparison.models[1].kept.value, comparison.models[1].smaller
        comparison.save("comparison.json")
        kb.export.ModelComparison.read("comparison.json")
        ```
    """

    @classmethod
    def read(cls, path: str | os.PathLike) -> "ModelComparison":
        """Read a comparison that `save`, or `kerasbert compare --json`, wrote as JSON.

        Args:
            path: The file.

        Returns:
            The comparison.

        Raises:
            KerasBertError: When it is no such file.
        """
        return cls.from_dict(read_json_object(Path(check_path(path, "the path of a comparison"))), path)

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison as a dict for JSON."""
        return {"format": _FORMAT, **self.to_dict()}

    def json(self) -> str:
        """Return the comparison as JSON."""
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False)

    def blocks(self) -> list[Block]:
        """Return the comparison as lines and a table, for `kerasbert.console.tables.render`."""
        return comparison_blocks(self)

    def table(self) -> str:
        """Return the comparison as plain text."""
        return render(self.blocks())

    def save(self, path: str | os.PathLike, overwrite: bool = False) -> Path:
        """Write the comparison by the path's suffix: a page (`.html`), `.json`, `.csv`, or a picture (`.png`, `.svg`).

        Args:
            path: The file. It is replaced in one step.
            overwrite: Whether an existing `.csv` file is replaced. Other files are replaced if kerasbert wrote them.

        Returns:
            The path.

        Raises:
            KerasBertError: When the path has another suffix, or a file is there that may not be replaced.
        """
        pages = {
            **dict.fromkeys((".html", ".htm"), lambda to: write_page(to, self)),
            **dict.fromkeys((".png", ".svg"), lambda to: write_picture(to, self)),
        }
        return save_by_suffix(path, overwrite, pages, self.as_dict, lambda: comparison_csv(self))
