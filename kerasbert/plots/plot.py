"""The base of all plots: a picture, a page, the numbers behind them, and their display in a notebook."""

import os
from html import escape
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kerasbert.errors import KerasBertError
from kerasbert.export.reporting.html_page import PAGE, STYLE_FILE
from kerasbert.files.atomic import atomic_file
from kerasbert.files.own_files import PLOT, REPORT, check_own, mark

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENDINGS = (".png", ".svg", ".html")
_DOTS_PER_INCH = 120
_STYLE = Path(__file__).with_name("style.css")


class Plot:
    """What the functions of `kb.plots` return. A notebook shows it as its page.

    Attributes:
        height: Height of the page in a notebook, in pixels.

    Example:
        ```python
        plot = kb.plots.attention("small-en", "The cup fell off the table because it was wobbly")
        plot.save("cup.png")
        plot.save("cup.html")
        ```
    """

    height = 640

    def figure(self) -> "Figure":
        """Draw the plot with matplotlib. No display is needed.

        Returns:
            The figure.
        """
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers behind the plot, JSON-able, as `--json` prints them."""
        raise NotImplementedError

    def title(self) -> str:
        """Return the headline of the page."""
        raise NotImplementedError

    def body(self) -> str:
        """Return the content of the page below its headline, as markup."""
        raise NotImplementedError

    def page(self) -> str:
        """Return the plot as one self-contained HTML page.

        Returns:
            The page. It needs no network, and follows the light or dark mode of the reader.
        """
        style = STYLE_FILE.read_text("utf-8") + _STYLE.read_text("utf-8")
        header = f"<header><p class='brand'>kerasbert</p><h1>{escape(self.title())}</h1></header>"
        return PAGE.format(title=escape(self.title()), style=style, body=f"{header}\n{self.body()}")

    def save(self, path: str | os.PathLike) -> Path:
        """Write the plot.

        Args:
            path: The file: `.png` or `.svg` for a picture, `.html` for a page.

        Returns:
            The path.

        Raises:
            KerasBertError: When the name has another ending, or a file is there that kerasbert did not write.
        """
        target = Path(path)
        check_own(target, REPORT if check_ending(target) == ".html" else PLOT, "a plot")
        with atomic_file(target) as partial:
            if target.suffix == ".html":
                partial.write_text(self.page(), "utf-8")
            else:
                partial.write_bytes(_picture(self.figure(), target.suffix[1:]))
        return target

    def _repr_html_(self) -> str:
        frame = "width: 100%; border: 0; border-radius: 10px"
        return f'<iframe srcdoc="{escape(self.page())}" style="{frame}; height: {self.height}px"></iframe>'

    def _repr_png_(self) -> bytes:
        return _picture(self.figure(), "png")


def check_ending(path: Path) -> str:
    """Return the ending of a plot's file.

    Raises:
        KerasBertError: When it is none of a plot.
    """
    if path.suffix not in ENDINGS:
        raise KerasBertError(f"expected a file name ending in {', '.join(ENDINGS)}, received {str(path)!r}; rename it")
    return path.suffix


def _picture(figure: "Figure", kind: str) -> bytes:
    stream = BytesIO()
    metadata = {"Title" if kind == "svg" else "Software": mark(PLOT)}
    figure.savefig(stream, format=kind, dpi=_DOTS_PER_INCH, metadata=metadata)
    return stream.getvalue()
