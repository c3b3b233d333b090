"""The exception for user errors."""

import re

MAX_LENGTH = 500
_TAIL_LENGTH = 120
_LINE_BREAK = re.compile(r"\s*[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]\s*")


class KerasBertError(ValueError):
    """Invalid input, described in one line: `expected ..., received ...; <what to do>`.

    The command line prints the message and exits with code 2; `--debug` adds the traceback. It is a `ValueError`, so code that
    handles Keras' own errors catches it too.

    A message of more than 500 characters, such as one that quotes a huge cell, is shortened in its middle. Its start, the expected
    value, and its end, the advice, remain. Line breaks become spaces. Lone surrogates, which no terminal or file accepts, become escapes.

    Args:
        args: The message, one string.

    Example:
        ```python
        try:
            kb.load_task("no-such-folder")
        except kb.KerasBertError as error:
            print(error)
        ```
    """

    # Keras adds the arguments of a layer's call to errors, in many lines. tf_keras 2.21 leaves those with this attribute as they are.
    _keras_call_info_injected = True

    def __init__(self, *args: object) -> None:
        if args and isinstance(args[0], str):
            args = (_printable(args[0]), *args[1:])
        super().__init__(*args)


def _printable(message: str) -> str:
    encodable = message.encode("utf-8", "backslashreplace").decode("utf-8")
    return _shorten(_LINE_BREAK.sub(" ", encodable.strip()))


def _shorten(message: str) -> str:
    if len(message) <= MAX_LENGTH:
        return message
    ellipsis = " ... ({:,} characters left out) ... "
    head_length = MAX_LENGTH - _TAIL_LENGTH - len(ellipsis.format(len(message)))
    omitted = len(message) - head_length - _TAIL_LENGTH
    return message[:head_length] + ellipsis.format(omitted) + message[-_TAIL_LENGTH:]
