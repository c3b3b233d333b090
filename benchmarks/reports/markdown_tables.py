"""Tables of Markdown, and the places in a document where measured ones stand: between `<!-- name -->` and `<!-- end -->`."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def header(*names: str) -> list[str]:
    """The first two lines of a table."""
    return [row(*names), "|" + "---|" * len(names)]


def row(*cells: str) -> str:
    """A line of a table."""
    return "| " + " | ".join(cells) + " |"


def put(page: Path, tables: dict[str, list[str]]) -> None:
    """Replaces a document's tables by these, by their names.

    Raises ValueError for a table that has no place in the document; it stays as it was then.
    """
    text = page.read_text("utf-8")
    for name, lines in tables.items():
        between = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text, places = between.subn(lambda found, lines=lines: "\n".join([found[1].rstrip(), *lines, found[2]]), text)
        if places != 1:
            raise ValueError(f"expected one place <!-- {name} --> in {page.name}, found {places}")
    page.write_text(text, "utf-8")
    print(f"written: {page}")
