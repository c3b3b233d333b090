"""Keys of a settings file: used, known to be harmless, refused, or unknown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kerasbert.console.strictness import unknown
from kerasbert.errors import KerasBertError
from kerasbert.values import short_repr


@dataclass(frozen=True)
class KnownKeys:
    """What a reader does with each key of a mapping. A key is in one place only.

    Attributes:
        used: Keys that the reader uses.
        harmless: Keys that do not affect results here.
        only: Keys that affect results, with the values under which they do not, such as `{"is_decoder": (False, None)}`. Any other
            value is an error.
        refused: Keys that affect results in every case, with the reason, such as `{"crf": "a CRF is not supported"}`.

    Example:
        ```python
        KEYS = KnownKeys(used=frozenset({"pooling_mode"}), only={"include_prompt": (True,)})
        KEYS.check({"pooling_mode": "cls"}, "1_Pooling/config.json")
        ```
    """

    used: frozenset[str] = frozenset()
    harmless: frozenset[str] = frozenset()
    only: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)

    def check(self, mapping: Mapping[str, Any], where: object, advice: str = "load another model") -> None:
        """Check every key of a mapping.

        Args:
            mapping: The content of a file.
            where: The file, for messages.
            advice: What to do about a value that is not supported.

        Raises:
            KerasBertError: When a key is refused, or has a value that is not supported. Unknown keys under `strict` too.
        """
        for key in sorted(mapping.keys() & self.refused.keys()):
            raise KerasBertError(
                f"{where}: expected no {key}, received {short_repr(mapping[key])}; {self.refused[key]}"
            )
        for key in sorted(mapping.keys() & self.only.keys()):
            if not any(_same(mapping[key], value) for value in self.only[key]):
                supported = " or ".join(short_repr(value) for value in self.only[key])
                raise KerasBertError(
                    f"{where}: expected {key} {supported}, the only supported value"
                    f"{'s' if len(self.only[key]) > 1 else ''}, received {short_repr(mapping[key])}; {advice}"
                )
        names = sorted(str(key) for key in mapping.keys() - self.known)
        if names:
            unknown(where, "known keys only", f"{_count(names)} ({_first_three(names)})")

    @property
    def known(self) -> set[str]:
        """All keys that are not unknown."""
        return {*self.used, *self.harmless, *self.only, *self.refused}


def _same(value: Any, supported: Any) -> bool:
    return type(value) is type(supported) and value == supported


def _count(names: list[str]) -> str:
    return f"{len(names)} unknown key" + ("" if len(names) == 1 else "s")


def _first_three(names: list[str]) -> str:
    shown = ", ".join(name if name.isidentifier() and len(name) <= 100 else short_repr(name) for name in names[:3])
    return shown + (f" and {len(names) - 3} more" if len(names) > 3 else "")
