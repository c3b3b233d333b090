"""A budget: the most milliseconds of a text, megabytes of a file, and loss against the best model."""

import math
import re
from dataclasses import dataclass
from typing import ClassVar, Self

from kerasbert.errors import KerasBertError
from kerasbert.files.record import Record, setting

FORM = 'a list such as "2 ms, 8 MB, -1 %"'
_PART = re.compile(r"(-?[0-9]*\.?[0-9]+)\s*(us|µs|ms|s|kB|KB|MB|GB|%)", re.ASCII)
_SECONDS = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0}
_BYTES = {"kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9}


@dataclass(frozen=True)
class Cost(Record):
    """What a file costs.

    Attributes:
        seconds: The median of a text.
        bytes: The size of the file.
    """

    file: ClassVar[str] = "the costs"

    seconds: float = setting(above=0)
    bytes: int = setting(at_least=1)

    def describe(self) -> str:
        """Return the cost as text, such as "0.42 ms, 4.7 MB"."""
        return f"{1e3 * self.seconds:.3g} ms, {self.bytes / 1e6:.3g} MB"


@dataclass(frozen=True)
class Budget(Record):
    """The limits of a file, each None for none.

    Attributes:
        seconds: The largest median of a text.
        bytes: The largest size.
        loss: The largest share of the best model's score that may be lost.
    """

    file: ClassVar[str] = "the budget"

    seconds: float | None = setting(None, above=0)
    bytes: float | None = setting(None, above=0)
    loss: float | None = setting(None, at_least=0, below=1)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a budget such as `2 ms, 8 MB, -1 %`. A text without limits is an error.

        Args:
            text: Limits, separated by commas, each of another kind.

        Raises:
            KerasBertError: When a part is no limit, a kind occurs twice, or a limit is out of range.
        """
        limits: dict[str, float] = {}
        for part in text.split(","):
            found = _PART.fullmatch(part.strip())
            if found is None:
                raise KerasBertError(f"expected a budget as {FORM}, received {text!r}; correct {part.strip()!r}")
            number, unit = float(found[1]), found[2]
            if unit == "%":
                name, value = "loss", abs(number) / 100
            else:
                name, value = (
                    ("seconds", number * _SECONDS[unit]) if unit in _SECONDS else ("bytes", number * _BYTES[unit])
                )
            if name in limits:
                raise KerasBertError(f"expected each kind of limit once, received {text!r}; leave one of them out")
            if value <= 0 and name != "loss" or name == "loss" and value >= 1:
                raise KerasBertError(f"expected a budget as {FORM}, received {text!r}; correct {part.strip()!r}")
            limits[name] = value
        return cls(**limits)

    def __str__(self) -> str:
        parts = [
            "" if self.seconds is None else f"{1e3 * self.seconds:g} ms",
            "" if self.bytes is None else f"{self.bytes / 1e6:g} MB",
            "" if self.loss is None else f"-{100 * self.loss:g} %",
        ]
        return ", ".join(filter(None, parts))

    @property
    def limits_cost(self) -> bool:
        """Whether time or size is limited."""
        return self.seconds is not None or self.bytes is not None

    def excess(self, cost: Cost) -> float:
        """Return by how many times a cost exceeds its limit, of the limit that is exceeded most; at most 1 within the budget."""
        ratios = [0.0]
        ratios += [] if self.seconds is None else [cost.seconds / self.seconds]
        ratios += [] if self.bytes is None else [cost.bytes / self.bytes]
        return max(ratios)

    def keeps(self, score: float, best: float) -> bool:
        """Tell whether a score is within the loss that is allowed against the best one."""
        if self.loss is None:
            return True
        least = best - self.loss * abs(best)  # a correlation may be negative
        return score >= least or math.isclose(score, least)
