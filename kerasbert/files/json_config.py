"""Settings that are read from a JSON object such as `config.json`, and written to one."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Self

from kerasbert.errors import KerasBertError

_TYPE_NAMES = {int: "a whole number", float: "a number", str: "a string", bool: "true or false"}


@dataclass(frozen=True)
class JsonConfig:
    """The base of a dataclass whose fields are keys of a JSON object. Types are those of the defaults.

    Attributes:
        aliases: the keys of the JSON object by the names of our fields, where they differ.

    Raises:
        KerasBertError: when a value has another type than its field.
    """

    aliases: ClassVar[Mapping[str, str]] = {}

    def __post_init__(self) -> None:
        self.check()

    @classmethod
    def from_dict(cls, config: Mapping[str, Any]) -> Self:
        """Read a parsed JSON object. Keys without a field are ignored.

        Raises:
            KerasBertError: when a value has the wrong type or is out of range.
        """
        keys = {field.name: cls._key(field.name) for field in fields(cls)}
        return cls(**{name: config[key] for name, key in keys.items() if key in config})

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object that `from_dict` reads."""
        return {self._key(name): value for name, value in asdict(self).items()}

    def check(self) -> None:
        """Check the values; subclasses add ranges.

        Raises:
            KerasBertError: when a value has the wrong type or is out of range.
        """
        for field in fields(self):
            value, kind = getattr(self, field.name), type(field.default)
            numbers = (int, float) if kind is float else kind
            fits = isinstance(value, numbers) and (kind is bool or not isinstance(value, bool))
            self._expect(fits, field.name, _TYPE_NAMES[kind])

    def _expect(self, fits: bool, name: str, expected: str) -> None:
        if not fits:
            received = repr(getattr(self, name))
            raise KerasBertError(f"config.json: expected {self._key(name)!r} to be {expected}, received {received}")

    @classmethod
    def _key(cls, name: str) -> str:
        return cls.aliases.get(name, name)
