"""Rows of a file that cannot be read: refused, or where that is asked for left out and counted."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kerasbert.errors import KerasBertError

_SHOWN = 3


@dataclass
class BadRows:
    """What was left out of a file. skip: leave rows out; else the first one raises.

    Attributes:
      count: rows left out so far.
      first: what was wrong with the first three, each with its line.
    """

    path: Path
    skip: bool = False
    count: int = 0
    first: list[str] = field(default_factory=list)

    def refuse(self, line: int, what: str, advice: str = "") -> None:
        """Counts a row; unless rows are skipped, raises KerasBertError naming file and line. what: "expected ..., received ..."."""
        if not self.skip:
            raise KerasBertError(f"{self.path}, line {line}: {what}; {advice}{', or ' if advice else ''}{ADVICE}")
        self._add(f"line {line}: {what}")

    def refuse_as(self, error: KerasBertError) -> None:
        """The same for an error that says all by itself."""
        if not self.skip:
            raise error
        self._add(str(error).removeprefix(f"{self.path}, ").removeprefix(f"{self.path}: "))

    def _add(self, told: str) -> None:
        self.count += 1
        if len(self.first) < _SHOWN:
            self.first.append(told)

    def describe(self) -> str:
        """One line about all of them; "" where there are none."""
        if not self.count:
            return ""
        more = f"; and {self.count - _SHOWN:,} more" if self.count > _SHOWN else ""
        rows = "1 bad row" if self.count == 1 else f"{self.count:,} bad rows"
        return f"{self.path.name}: {rows} left out: {'; '.join(self.first)}{more}"


ADVICE = "leave bad rows out with `skip_bad_rows=`"


def peek(rows: Iterator, count: int) -> tuple[list, Iterator]:
    """The first `count` rows, and all rows once more. What their reading raises is raised when they are reached."""
    seen: list = []
    failure: list[KerasBertError] = []
    try:
        for row in rows:
            seen.append(row)
            if len(seen) == count:
                break
    except KerasBertError as error:
        failure.append(error)

    def again():
        yield from seen
        if failure:
            raise failure[0]
        yield from rows

    return seen, again()
