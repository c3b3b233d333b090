"""Texts in figures: fonts that have their characters, and no formulas."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from kerasbert.console.strictness import note_once

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MISSING = "\N{WHITE SQUARE}"
# Fonts with ideographs, kana or Hangul on Linux, macOS and Windows; matplotlib's own has none.
_FURTHER_FONTS = (
    "Noto Sans CJK JP", "Noto Sans JP", "Noto Serif CJK JP", "IPAexGothic", "IPAGothic", "IPAPGothic", "TakaoGothic", "VL Gothic",
    "Hiragino Sans", "Yu Gothic", "MS Gothic", "Droid Sans Fallback", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "Arial Unicode MS",
    "Noto Sans Devanagari", "Noto Sans Arabic", "Noto Sans Thai", "FreeSans", "Unifont",
)  # fmt: skip
_SHORT = 3  # characters of a column's label that is not turned
_OWN_FONT = "DejaVu Sans"


@cache
def _fonts() -> dict[str, Any]:
    """Return matplotlib's own font and those of `_FURTHER_FONTS` on this machine, by name."""
    from matplotlib import font_manager
    from matplotlib.ft2font import FT2Font

    paths = {entry.name: entry.fname for entry in font_manager.fontManager.ttflist}
    return {name: FT2Font(paths[name]) for name in (_OWN_FONT, *_FURTHER_FONTS) if name in paths}


def drawable(texts: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return texts as this machine's fonts can draw them, and the names of these fonts.

    A character that no font has becomes a white square, which a note says.

    Args:
        texts: The texts.
    """
    texts = list(texts)
    fonts = _fonts()
    characters = {character for text in texts for character in text}
    known = {
        character for character in characters if any(font.get_char_index(ord(character)) for font in fonts.values())
    }
    if missing := sorted(character for character in characters - known if character.isprintable()):
        note_once(
            f"note: no font of this machine has {len(missing)} characters such as {missing[0]!r}, so a picture shows squares; a page "
            "(.html) has them"
        )
    return ["".join(each if each in known else _MISSING for each in text) for text in texts], list(fonts)


def label_axes(axes: "Axes", columns: Sequence[str] | None, rows: Sequence[str] | None, size: float) -> None:
    """Write labels at the columns and rows of an image, or none.

    Args:
        axes: The axes.
        columns: The labels of the columns; None for none.
        rows: The labels of the rows; None for none.
        size: The font size in points.
    """
    upright = max(map(len, columns or [""])) <= _SHORT
    for names, axis, turned in ((columns, "x", 0.0 if upright else 90.0), (rows, "y", 0.0)):
        texts, fonts = drawable(names or ())
        style = {"fontsize": size, "fontfamily": fonts, "parse_math": False, "rotation": turned}
        getattr(axes, f"set_{axis}ticks")(range(len(texts)), texts, **(style if texts else {}))
    axes.tick_params(length=0)
