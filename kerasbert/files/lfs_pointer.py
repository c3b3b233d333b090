"""Git LFS pointers: the few lines that stand for a large file in a clone without its content."""

from kerasbert.errors import KerasBertError

_START = b"version https://git-lfs."


def refuse_pointer(path: object, start: bytes) -> None:
    """Check that a file is not a pointer of Git LFS.

    Args:
        path: the file, for messages.
        start: its first bytes.

    Raises:
        KerasBertError: when it is one.
    """
    if start.startswith(_START):
        raise KerasBertError(
            f"{path}: expected the file itself, received a pointer of Git LFS to it; run `git lfs pull` in its folder"
        )
