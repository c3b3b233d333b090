"""Parts of a page of which one is seen at a time, with a button for each."""

from collections.abc import Mapping
from html import escape

from kerasbert.plots.scripts import script


def panels(what: str, contents: Mapping[str, str], chosen: int) -> str:
    """Return parts of a page with a button for each.

    Args:
        what: What the buttons choose.
        contents: The markup of each part by the name on its button.
        chosen: The number of the part that is seen first.
    """
    buttons = "".join(
        f'<button type="button" aria-pressed="{str(number == chosen).lower()}">{escape(name)}</button>'
        for number, name in enumerate(contents)
    )
    parts = "".join(
        f'<div class="panel"{"" if number == chosen else " hidden"}>{content}</div>'
        for number, content in enumerate(contents.values())
    )
    choice = f'<div class="choice"><span>{escape(what)}</span>{buttons}</div>'
    return f'<div class="panels">{choice}{parts}</div>{script("panels.js")}'
