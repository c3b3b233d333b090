"""The encoding of a text file: named by the user, by a byte order mark, or else UTF-8."""

import codecs
from pathlib import Path

from kerasbert.arguments import argument
from kerasbert.errors import KerasBertError

_BOMS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, with whose mark it begins
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_NUL_SHARE = 0.2  # of the bytes, from which on a file is no UTF-8


def encoding_advice() -> str:
    """Return what to do about a file in another encoding, for messages."""
    return f"name its encoding with {argument('encoding')}, such as cp1252"


def check_encoding(name: str | None) -> None:
    """Check the name of an encoding.

    Args:
        name: The name; None detects the encoding.

    Raises:
        KerasBertError: When Python does not know the encoding.
    """
    if name is None:
        return
    try:
        known = isinstance(name, str) and codecs.lookup(name)._is_text_encoding  # pyright: ignore[reportAttributeAccessIssue]
    except (LookupError, ValueError):
        known = False
    if not known:
        raise KerasBertError(
            f"expected an encoding such as utf-8, utf-16 or cp1252, received {name!r}; use another name"
        )


def encoding_of(path: Path, head: bytes, name: str | None) -> str:
    """Return the encoding of a file.

    Args:
        path: The file, for errors.
        head: Its first bytes.
        name: The encoding that the user named, or None.

    Raises:
        KerasBertError: When the file begins with the mark of another encoding, or looks like UTF-16 without one.
    """
    marked = next((encoding for bom, encoding in _BOMS.items() if head.startswith(bom)), None)
    if marked is not None:
        family = codecs.lookup(name or marked).name
        if not family.startswith(marked):
            raise KerasBertError(
                f"{path}: expected {name}, received a file that begins with the mark of {marked.upper()}; leave {argument('encoding')} out"
            )
        return marked
    if name is None and head.count(0) > _NUL_SHARE * len(head):
        little = head[1::2].count(0) >= head[::2].count(0)
        raise KerasBertError(
            f"{path}: expected text in UTF-8, received bytes of 0 as in UTF-16; name it with {argument('encoding')}, such as "
            f"utf-16-{'le' if little else 'be'}"
        )
    return name or "utf-8"


def is_ascii_compatible(encoding: str) -> bool:
    """Return True if a line ends with the same byte as in ASCII, so that lines can be split before they are decoded.

    Args:
        encoding: The encoding.
    """
    return "a\r\n".encode(encoding) == b"a\r\n"
