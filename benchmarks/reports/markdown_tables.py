"""Markdown tables, and the places of measured tables in a document: between `<!-- name -->` and `<!-- end -->`."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def header(*names: str) -> list[str]:
    """Format the first two lines of a table."""
    return [row(*names), "|" + "---|" * len(names)]


def row(*cells: str) -> str:
    """Format a line of a table."""
    return "| " + " | ".join(cells) + " |"


def replace_tables(page: Path, tables: dict[str, list[str]]) -> None:
    """Replace the tables of a document.

    Args:
        page: The document.
        tables: Lines of each table, by name.

    Raises:
        ValueError: When a table has no place in the document, which is not changed then.
    """
    text = page.read_text("utf-8")
    for name, lines in tables.items():
        between = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text, places = between.subn(lambda match, lines=lines: "\n".join([match[1].rstrip(), *lines, match[2]]), text)
        if places != 1:
            raise ValueError(
                f"expected one place <!-- {name} --> in {page.name}, received {places}; add it and <!-- end -->"
            )
    page.write_text(text, "utf-8")
    print(f"wrote {page}")
