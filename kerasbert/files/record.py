"""Settings that are read from JSON or TOML, or written there: frozen dataclasses whose fields declare what a value may be."""

import dataclasses
import functools
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from kerasbert.errors import KerasBertError
from kerasbert.files.known_keys import KnownKeys
from kerasbert.suggestions import nearest
from kerasbert.values import INFINITE, Rule, short_repr

REQUIRED = dataclasses.MISSING
_BOUNDS = ("at_least", "at_most", "above", "below", "choices", "number_as_text")


def setting(
    default: Any = REQUIRED,
    help: str = "",
    metavar: str = "N",
    *,
    at_least: float | None = None,
    at_most: float = INFINITE,
    above: float | None = None,
    below: float | None = None,
    choices: Sequence[Any] = (),
    off: str = "",
    number_as_text: bool = False,
    omitted_if_none: bool = False,
    hash: bool | None = None,
) -> Any:
    """Declare a field of a record. Its annotation is the type of the value. A field that a subclass declares anew keeps its bounds.

    Args:
        default: The default. `dict` and `list` create a new value for each record; `REQUIRED` declares a field without a default.
        help: The text of `--help`.
        metavar: The placeholder for the value in `--help`.
        at_least: The smallest number allowed.
        at_most: The largest number allowed.
        above: The number below all that are allowed.
        below: The number above all that are allowed.
        choices: The values allowed; any if empty.
        off: The option that turns a flag off, without dashes; by default `no-` before its name.
        number_as_text: Whether a number is accepted for a string, and kept as its text.
        omitted_if_none: Whether `to_dict` leaves the field out while it is None, as for files that older versions read.
        hash: False for a value without a hash, such as a dict.
    """
    metadata = {
        "help": help, "metavar": metavar, "off": off, "number_as_text": number_as_text, "omitted_if_none": omitted_if_none,
        "at_least": at_least, "at_most": at_most, "above": above, "below": below, "choices": tuple(choices),
    }  # fmt: skip
    if default in (dict, list):
        return dataclasses.field(default_factory=default, hash=hash, metadata=metadata)
    return dataclasses.field(default=default, hash=hash, metadata=metadata)


def same_setting(record: "type[Record]", name: str) -> Any:
    """Declare the field of another record again, with its default, bounds and help.

    Args:
        record: The record that has the field.
        name: The field's name.
    """
    each = next(each for each in dataclasses.fields(record) if each.name == name)
    return dataclasses.field(default=each.default, metadata=each.metadata)


def flag(name: str) -> str:
    """Return the command line option of a field: `--batch-size` for `batch_size`."""
    return "--" + name.replace("_", "-")


@dataclass(frozen=True)
class Record:
    """The base of everything that is read or written as settings. Its values are checked whenever one is made.

    Attributes:
        aliases: Keys in the file by the names of our fields, where they differ.
        file: The file that it is read from, for messages.
        others: What becomes of keys without a field. None: each is an error.
        ignores_others: Whether keys without a field are ignored instead, where `strict` is not asked for.
        advice: What to do about a wrong value, for messages.

    Raises:
        KerasBertError: When a value has another type than its field, or is out of range.

    Example:
        ```python
        @dataclass(frozen=True)
        class Stage(Record):
            epochs: int = setting(at_least=1)
            warmup: float = setting(0.05, at_least=0, at_most=1)

        Stage.from_dict({"epochs": 3}, "recipe.toml")
        ```
    """

    aliases: ClassVar[Mapping[str, str]] = {}
    file: ClassVar[str] = "the settings"
    ignores_others: ClassVar[bool] = False
    others: ClassVar[KnownKeys | None] = None
    advice: ClassVar[str] = "correct it"

    def __post_init__(self) -> None:
        for name, rule in rules(type(self)).items():
            object.__setattr__(self, name, rule.check(getattr(self, name), self.label(name), advice=self.advice))
        self.check()

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], where: object = None, *, strict: bool = False) -> Self:
        """Read a parsed JSON object or TOML table.

        Args:
            values: The values by key.
            where: The file, for messages; by default `file`.
            strict: Whether a key without a field is an error in any case.

        Raises:
            KerasBertError: When a key is missing, refused or unknown, or a value has the wrong type or is out of range.
        """
        where = cls.file if where is None else where
        given = cls.given(values, where, strict=strict)
        for each in dataclasses.fields(cls):
            if each.default is REQUIRED and each.default_factory is REQUIRED and each.name not in given:
                raise KerasBertError(f"{where}: expected {cls.key(each.name)}, received none; add it")
        try:
            return cls(**given)
        except KerasBertError as error:
            raise KerasBertError(f"{where}: {error}") from None

    @classmethod
    def given(cls, values: Mapping[str, Any], where: object, *, strict: bool = False) -> dict[str, Any]:
        """Return the values of a parsed JSON object or TOML table by the names of our fields, each checked. Missing ones stay missing.

        Args:
            values: The values by key.
            where: The file, for messages.
            strict: Whether a key without a field is an error in any case.

        Raises:
            KerasBertError: As `from_dict`, but for missing keys.
        """
        names = {cls.key(name): name for name in rules(cls)}
        if not isinstance(values, Mapping):
            raise KerasBertError(f"{where}: expected an object of {', '.join(names)}, received {short_repr(values)}")
        refuses = strict or (cls.others is None and not cls.ignores_others)
        if refuses:
            check_names(values, [*names, *sorted((cls.others or KnownKeys()).known)], where)
        if cls.others is not None:
            replace(cls.others, used=cls.others.used | names.keys()).check(values, where, cls.advice)
        given = {}
        for key in values.keys() & names.keys():
            rule = rules(cls)[names[key]]
            value = _nested(values[key], rule.kinds, f"{where}, {key}", refuses)
            given[names[key]] = rule.check(value, key, where, cls.advice)
        return given

    def to_dict(self) -> dict[str, Any]:
        """Return the object that `from_dict` reads."""
        values, declared = dataclasses.asdict(self), type(self).__dataclass_fields__
        return {
            self.key(name): value
            for name, value in values.items()
            if value is not None or not declared[name].metadata.get("omitted_if_none")
        }

    def check(self) -> None:
        """Check the values together; a subclass does.

        Raises:
            KerasBertError: When they do not fit each other.
        """

    def expect(self, fits: bool, name: str, expected: str) -> None:
        """Raise the error about a field unless its value fits.

        Args:
            fits: Whether it does.
            name: The field's name.
            expected: What was expected, such as "as a divisor of 8".

        Raises:
            KerasBertError: When the value does not fit.
        """
        if not fits:
            received = short_repr(getattr(self, name))
            raise KerasBertError(f"expected {self.label(name)} {expected}, received {received}; {self.advice}")

    @classmethod
    def key(cls, name: str) -> str:
        """Return the key of a field in the file."""
        return cls.aliases.get(name, name)

    @classmethod
    def label(cls, name: str) -> str:
        """Return the name of a field in messages about a record that was not read from a file."""
        return cls.key(name)


@dataclass(frozen=True)
class Options(Record):
    """The base of records that options of commands and files share. Messages name the option."""

    @classmethod
    def label(cls, name: str) -> str:
        return flag(name)

    def __post_init__(self) -> None:
        super().__post_init__()
        for each in dataclasses.fields(self):
            value = getattr(self, each.name)
            for text in (value,) if isinstance(value, str) else value if isinstance(value, dict) else ():
                # A path may contain other bytes than UTF-8, which a config file cannot store.
                if any("\ud800" <= letter <= "\udfff" for letter in text):
                    raise KerasBertError(
                        f"expected {flag(each.name)} in UTF-8, received {text!r}; rename it, because a config file cannot store it"
                    )


def check_names(given: Iterable[Any], known: Iterable[str], where: object) -> None:
    """Check that settings have names that are known.

    Args:
        given: The names in a file or a call.
        known: The names that exist, in the order in which a message lists them.
        where: The file, for the message.

    Raises:
        KerasBertError: When one does not exist; the message suggests the nearest that does.
    """
    known = list(known)
    if unknown := sorted(str(name) for name in given if name not in known):
        suggestion = nearest(unknown[0], known)
        advice = f"did you mean {suggestion}?" if suggestion else f"the settings are {', '.join(known)}"
        raise KerasBertError(f"{where}: expected the name of a setting, received {short_repr(unknown[0])}; {advice}")


@functools.cache
def rules(record: type[Record]) -> Mapping[str, Rule]:
    """Return what the value of each field of a record must be.

    Args:
        record: The record's class.
    """
    hints, found = typing.get_type_hints(record), {}
    for each in dataclasses.fields(record):
        bases = (base.__dict__.get("__dataclass_fields__", {}).get(each.name) for base in record.__mro__)
        declared = next((base.metadata for base in bases if base is not None and base.metadata), {})
        found[each.name] = Rule(hints[each.name], **{name: declared[name] for name in _BOUNDS if name in declared})
    return found


def _nested(value: Any, kinds: Sequence[Any], where: str, strict: bool) -> Any:
    """Read the records inside of a value."""
    for kind in kinds:
        if isinstance(kind, type) and issubclass(kind, Record) and isinstance(value, Mapping):
            return kind.from_dict(value, where, strict=strict)
        items = typing.get_args(kind)
        if isinstance(value, list) and items and isinstance(items[0], type) and issubclass(items[0], Record):
            return [
                items[0].from_dict(item, f"{where} {number}", strict=strict) for number, item in enumerate(value, 1)
            ]
    return value
