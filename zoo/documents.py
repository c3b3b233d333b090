"""Writes what is generated from the catalog and `results.csv`: the cards, and the zoo's tables of the README and of docs/.

    python -m kerasbert.zoo.documents
    python -m kerasbert.zoo.documents --golden small-en    # after a new build

A table lies between the lines `<!-- zoo: NAME -->` and `<!-- end -->`.
"""

import argparse
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from kerasbert.zoo import tables
from kerasbert.zoo.cards import card
from kerasbert.zoo.catalog import ROOT, checksums, find, models, write_checksums
from kerasbert.zoo.golden import write_golden
from kerasbert.zoo.results import Result, read_results

PAGES = ("README.md", "docs/guides/zoo.md", "docs/results/zoo.md")
TABLES: dict[str, Callable[[Sequence[Result]], str]] = {
    "models": tables.models_table,
    "encoders": tables.encoders_table,
    "files": tables.files_table,
    "probes": tables.probes_table,
    "published": tables.published_table,
}
_MARKED = re.compile(r"(<!-- zoo: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def generated(root: Path) -> dict[Path, str]:
    """Return the content of every generated file. The card of a model whose training the catalog does not describe is none.

    Args:
        root: The repository, for the pages with tables. Pages that do not exist are left out.
    """
    results = read_results()
    contents = {model.card: card(model, results) for model in models() if model.training}
    for page in (root / name for name in PAGES):
        if page.is_file():
            contents[page] = _MARKED.sub(lambda match: _table(match, results), page.read_text("utf-8"))
    return contents


def _table(match: re.Match, results: Sequence[Result]) -> str:
    return f"{match[1]}{TABLES[match[2]](results)}\n{match[3]}"


def main() -> None:
    """Write the checksums, the cards and the tables, and the golden files of the models that are named."""
    parser = argparse.ArgumentParser(description="Writes the zoo's checksums, cards, tables and golden files.")
    parser.add_argument(
        "--golden", nargs="+", default=[], metavar="NAME", help="models whose golden outputs are computed anew"
    )
    golden = parser.parse_args().golden
    write_checksums()
    checksums.cache_clear()
    for name in golden:
        write_golden(find(name))
    for path, text in generated(ROOT.parent).items():
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
