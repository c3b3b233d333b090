"""The one exception that a user of kerasbert is meant to read."""

import re

MAX_LENGTH = 500
_KEPT_END = 120
_LINE_BREAK = re.compile(r"\s*[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]\s*")


class KerasBertError(ValueError):
    """Wrong input, told in one line: what was expected, what was received, what to do.

    The command line prints the message and ends with exit code 2; a traceback appears only with `--debug`.
    It is a `ValueError`, so code written for Keras' own complaints catches it too.

    A message of more than 500 characters, such as one that quotes a huge cell, is cut in its middle: what was expected stands at the
    start, what to do at the end. Line breaks become spaces, and lone surrogates, which no terminal or file takes, escapes.
    """

    def __init__(self, *args):
        if args and isinstance(args[0], str):
            args = (_printable(args[0]), *args[1:])
        super().__init__(*args)


def _printable(message: str) -> str:
    whole = message.encode("utf-8", "backslashreplace").decode("utf-8")
    return _cut(_LINE_BREAK.sub(" ", whole.strip()))


def _cut(message: str) -> str:
    if len(message) <= MAX_LENGTH:
        return message
    middle = " ... ({:,} characters left out) ... "
    start = MAX_LENGTH - _KEPT_END - len(middle.format(len(message)))
    return message[:start] + middle.format(len(message) - start - _KEPT_END) + message[-_KEPT_END:]
