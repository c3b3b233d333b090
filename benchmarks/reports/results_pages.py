"""Writes the tables and the plots of docs/results/, of README.md and of docs/index.md from benchmarks/results/ and zoo/results.csv.

    python -m benchmarks.reports.results_pages

A table is between `<!-- name -->` and `<!-- end -->`. Those of the zoo are between `<!-- zoo: name -->` and `<!-- end -->`, and
`python -m kerasbert.zoo.documents` writes them as well, with the model cards and the tables of other pages.
"""

import argparse
from pathlib import Path

from benchmarks.common.record import ROOT
from benchmarks.reports import (
    accuracy_tables,
    backends_tables,
    compression_tables,
    fine_tuning_tables,
    front_tables,
    index_tables,
    plots,
    pretraining_tables,
    size_tables,
    speed_tables,
    tokenizers_tables,
    zoo_tables,
)
from benchmarks.reports.markdown_tables import fill
from benchmarks.reports.results import Table, load
from kerasbert.zoo import documents

IMAGES = ROOT / "docs" / "images"
PAGES: dict[str, dict[str, Table]] = {
    "accuracy": accuracy_tables.TABLES,
    "speed": speed_tables.TABLES,
    "size": size_tables.TABLES,
    "backends": backends_tables.TABLES,
    "pretraining": pretraining_tables.TABLES,
    "fine-tuning": fine_tuning_tables.TABLES,
    "compression": compression_tables.TABLES,
    "tokenizers": tokenizers_tables.TABLES,
    "zoo": zoo_tables.TABLES,
    "index": index_tables.TABLES,
}
PAGES["index"] = {**PAGES["index"], "files": index_tables.files(PAGES)}
# Pages with the main results, and the folder of the result pages seen from them.
FRONT_PAGES = {"README.md": "docs/results", "docs/index.md": "results"}
THROUGHPUT = ("training_throughput", "training_throughput_avx2", "training_throughput_xeon")


def page_path(name: str, root: Path = ROOT) -> Path:
    """The file of a page."""
    return root / "docs" / "results" / f"{name}.md"


def generated(root: Path = ROOT) -> dict[Path, str]:
    """Return the content of every page of results, and of the front pages.

    Args:
        root: The repository.
    """
    with_zoo_tables = documents.generated(root)
    contents = {}
    for name, tables in PAGES.items():
        path = page_path(name, root)
        text = with_zoo_tables.get(path) or path.read_text("utf-8")
        contents[path] = fill(text, {table: each.lines() for table, each in tables.items()})
    for name, folder in FRONT_PAGES.items():
        path = root / name
        text = with_zoo_tables.get(path) or path.read_text("utf-8")
        sources = map(load, ("quantized_tasks", "onnxruntime_latency", "finetuning", "targets", *THROUGHPUT))
        support = front_tables.support(load("targets"))
        contents[path] = fill(text, {"headlines": front_tables.headlines(folder, *sources), "support": support})
    return contents


def main() -> None:
    """Write all pages and plots."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    for path, text in generated().items():
        path.write_text(text, "utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    plots.write(IMAGES)


if __name__ == "__main__":
    main()
