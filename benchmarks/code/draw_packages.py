"""The drawing of the architecture page: every package on a level of its own, with arrows to the packages that it imports.

    python -m benchmarks.code.draw_packages
    python -m benchmarks.code.draw_packages --check

Drawn from the imports of the sources. An arrow is left out where a longer way leads to the same package. `--check` compares only.
"""

import argparse
import re
from pathlib import Path

from benchmarks.code.import_graph import import_graph

ROOT = Path(__file__).parents[2]
DRAWING = ROOT / "docs" / "images" / "architecture.svg"
PAGE = ROOT / "docs" / "contribute" / "architecture.md"
_WIDTH, _BOX, _ROW, _HEIGHT, _TOP = 780, 580, 46, 36, 20
_LABEL = "The packages of kerasbert, one on each level; arrows point from a package to packages that it imports, always downwards"


def main() -> None:
    """Write the drawing, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare the committed drawing, and write nothing")
    if not parser.parse_args().check:
        DRAWING.write_text(drawing(), "utf-8")
    elif DRAWING.read_text("utf-8") != drawing():
        raise SystemExit(f"expected {DRAWING.name} as the imports are, received another; draw it again without --check")


def packages() -> dict[str, str]:
    """Return the packages and their contents from the table of the architecture page, from the bottom up."""
    table = PAGE.read_text("utf-8").partition("`layers` and `export` have packages")[0]
    return {name: text.strip() for name, text in re.findall(r"^\| `(\w+)` \|([^|]*)\|[^|]*\|$", table, re.MULTILINE)}


def package_imports(names: list[str]) -> dict[str, set[str]]:
    """Return the packages that each package imports, without those that it reaches through another one.

    Args:
        names: The packages, from the bottom up.
    """
    direct: dict[str, set[str]] = {name: set() for name in names}
    for module, others in import_graph(ROOT).items():
        parts = {other.split(".")[1] for other in others if other.count(".")} & direct.keys()
        if module.count(".") and (package := module.split(".")[1]) in direct:
            direct[package] |= parts - {package}
    reached: dict[str, set[str]] = {}
    for name in names:
        reached[name] = direct[name].union(*(reached[other] for other in direct[name]))
    return {
        name: {each for each in found if not any(each in reached[o] for o in found)} for name, found in direct.items()
    }


def drawing() -> str:
    """Return the drawing as SVG."""
    contents = packages()
    names = list(contents)
    height = 2 * _TOP + _ROW * len(names) - (_ROW - _HEIGHT)
    middle = {name: _TOP + _ROW * (len(names) - 1 - level) + _HEIGHT / 2 for level, name in enumerate(names)}
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{_LABEL}" '
        'font-family="system-ui, -apple-system, Segoe UI, Roboto, sans-serif">',
        '<defs><marker id="down" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="6" markerHeight="6" orient="auto">'
        '<path d="M0 0L10 5L0 10z" fill="#00796b"/></marker></defs>',
        f'<rect width="{_WIDTH}" height="{height}" rx="14" fill="#f4f7f7"/>',
    ]
    for name in names:
        y = middle[name]
        lines += [
            f'<rect x="24" y="{y - _HEIGHT / 2:g}" width="{_BOX}" height="{_HEIGHT}" rx="8" fill="#ffffff" stroke="#80b5ae"/>',
            f'<text x="40" y="{y + 6:g}" font-size="17" font-weight="600" fill="#12312d">{name}</text>',
            f'<text x="176" y="{y + 5:g}" font-size="13" fill="#3f5b57">{_shortened(contents[name])}</text>',
        ]
    for name, others in package_imports(names).items():
        lines += [_arrow(middle[name] + 4, middle[other] - 4) for other in sorted(others)]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _arrow(start: float, end: float) -> str:
    """Draw an arc beside the boxes; a longer way down bends further out."""
    right = 24 + _BOX
    bend = right + 24 + (end - start) * 0.45
    path = f"M{right} {start:g}C{min(bend, _WIDTH + 60):g} {start:g} {min(bend, _WIDTH + 60):g} {end:g} {right + 3} {end:g}"
    return f'<path d="{path}" fill="none" stroke="#00796b" stroke-width="1.4" marker-end="url(#down)"/>'


def _shortened(text: str) -> str:
    text = text.replace("`", "").replace("&", "&amp;")
    return text if len(text) <= 62 else text[:62].rpartition(" ")[0].rstrip(",;") + " ..."


if __name__ == "__main__":
    main()
