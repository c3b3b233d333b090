"""Scripts of pages, as elements inside of them."""

from pathlib import Path


def script(name: str) -> str:
    """Return a script of this package as an element.

    Args:
        name: The name of its file.
    """
    return f"<script>\n{Path(__file__).with_name(name).read_text('utf-8')}</script>"
