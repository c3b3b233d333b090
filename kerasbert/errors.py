"""The one exception that a user of kerasbert is meant to read."""


class KerasBertError(ValueError):
    """Wrong input, told in one line: what was expected, what was received, what to do.

    The command line prints the message and ends with exit code 2; a traceback appears only with `--debug`.
    It is a `ValueError`, so code written for Keras' own complaints catches it too.
    """
