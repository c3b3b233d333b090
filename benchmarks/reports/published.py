"""Scores from papers, in `published.csv`: for orientation, not measured here."""

import csv
from pathlib import Path

from benchmarks.reports.markdown_tables import percent, table

_FILE = Path(__file__).with_suffix(".csv")


def published(page: str) -> list[str]:
    """Format the published scores of a page.

    Args:
        page: `quantization` or `compression`.
    """
    with open(_FILE, newline="", encoding="utf-8") as file:
        entries = [entry for entry in csv.DictReader(file) if entry["page"] == page]
    columns = ("paper", "model", "metric", "score", "reference", "score of the reference", "share (%)")
    return table(columns, [_row(entry) for entry in entries])


def _row(entry: dict[str, str]) -> tuple[str | None, ...]:
    reference = entry["reference score"]
    share = percent(float(entry["score"]) / float(reference)) if reference else None
    cells = (entry[name] or None for name in ("paper", "model", "metric", "score", "reference", "reference score"))
    return (*cells, share)
