"""What commands hand back, and how numbers become fit for JSON."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kerasbert.console.tables import Block


@dataclass(frozen=True)
class Result:
    """data: for `--json`. text: for people, lines and tables. exit_code: 0 only on success."""

    data: Mapping[str, Any]
    text: Block | Sequence[Block]
    exit_code: int = 0

    def __post_init__(self):
        object.__setattr__(self, "data", plain(self.data))


def plain(value):
    """Nested data as JSON can hold it: NumPy numbers as Python's, paths as text, NaN and infinity as None."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)
