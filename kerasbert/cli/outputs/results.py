"""Results of commands, and their conversion to JSON."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kerasbert.console.tables import Block


@dataclass(frozen=True)
class Result:
    """The result of a command.

    Attributes:
        data: The content of `--json`.
        text: Lines and tables for a terminal.
        exit_code: 0 only on success.
        then: Called after the result was printed, by a command that goes on until Ctrl-C.
        more: Results of further parts of the input. Each is printed when it is made; `--json` joins their lists.
    """

    data: Mapping[str, Any]
    text: Block | Sequence[Block]
    exit_code: int = 0
    then: Callable[[], None] | None = None
    more: Iterator["Result"] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", to_jsonable(self.data))

    def printed(self, write: Callable[[Block | Sequence[Block]], None] | None) -> "Result":
        """Print all parts but the last one as they are made, and return the last one; or join all parts.

        Args:
            write: Prints the text of a part; None joins the lists of the parts' data.

        Returns:
            A result without further parts, with the largest exit code of all.
        """
        last, data, code = self, dict(self.data), self.exit_code
        for part in self.more or ():
            if write is None:
                for name, value in part.data.items():
                    if isinstance(value, list):
                        data[name].extend(value)
            else:
                write(last.text)
                data = part.data
            last, code = part, max(code, part.exit_code)
        return replace(last, data=data, exit_code=code, more=None)


def to_jsonable(value: Any) -> Any:
    """Convert nested data to types that JSON has: NumPy numbers to Python's, paths to strings, NaN and infinity to None.

    Args:
        value: The data.
    """
    if isinstance(value, Mapping):
        return {str(key): to_jsonable(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [to_jsonable(item) for item in value]
    if (tolist := getattr(value, "tolist", None)) is not None:
        return to_jsonable(tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)
