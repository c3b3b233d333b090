"""The tags of a file as a whole: their scheme is recognized, and they are brought into the usual form `B-PER`."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from kerasbert.data.entities import OTHER_OUTSIDE, OUTSIDE, PREFIXES
from kerasbert.errors import KerasBertError

_SCHEMES = {"IOB": "BI", "IOBES": "BIES", "BILOU": "BILU", "BMES": "BMES", "BMEWO": "BMEW"}
_LETTERS = "".join(sorted(PREFIXES))
_PREFIXED = re.compile(f"[{_LETTERS}]-.+")
# Other ways to write a prefix: `b-per`, `B_PER`, `PER-B`, each with the usual form.
_WRITTEN: tuple[tuple[re.Pattern[str], Callable[[str], str]], ...] = (
    (re.compile(f"[{_LETTERS.lower()}]-.+"), lambda tag: tag[0].upper() + tag[1:]),
    (re.compile(f"[{_LETTERS}][_:./].+"), lambda tag: f"{tag[0]}-{tag[2:]}"),
    (re.compile(f".+-[{_LETTERS}]"), lambda tag: f"{tag[-1]}-{tag[:-2]}"),
)
_BRACKETED = re.compile(r"\*|\*\)|\([^()]+\*?\)?")  # CoNLL-2005 and 2012
_SURE_OUTSIDE = ("o", "0")  # beside `O` too
_PIECE = "X"


@dataclass(frozen=True)
class FileTags:
    """What the tags of a file mean.

    Attributes:
        usual: Each tag in the usual form.
        faults: The reason to refuse a tag, as "expected ..., received ...; what to do".
        notes: What was changed beside the form of prefixes.
    """

    usual: dict[str, str]
    faults: dict[str, str]
    notes: tuple[str, ...] = ()

    def fault(self, tags: Sequence[str]) -> str:
        """Return the reason to refuse a sentence's tags, or ""."""
        return next((self.faults[tag] for tag in tags if tag in self.faults), "") if self.faults else ""

    def apply(self, tags: Sequence[str]) -> list[str]:
        """Return a sentence's tags in the usual form."""
        return [self.usual.get(tag, tag) for tag in tags]


def recognize_tags(tags: Iterable[str], where: object) -> FileTags:
    """Recognize the scheme of all tags of a file.

    Tags without any prefix, such as parts of speech, stay as they are.

    Args:
        tags: The distinct tags.
        where: The file, for errors.

    Raises:
        KerasBertError: When the prefixes belong to no scheme, or tags are written with brackets.
    """
    found = set(tags)
    entities = found - {OUTSIDE}
    if entities and all(map(_BRACKETED.fullmatch, entities)) and any("(" in tag for tag in entities):
        raise KerasBertError(
            f"{where}: expected one tag for each word, such as B-PER, received brackets around entities ({_first(entities)}); "
            "convert them to IOB2, or choose another column"
        )
    usual = _with_usual_prefixes(entities)
    prefixed = {tag for tag in entities if _PREFIXED.fullmatch(usual.get(tag, tag))}
    if not prefixed:
        return FileTags(usual, {})
    _check_prefixes({usual.get(tag, tag)[0] for tag in prefixed}, where)
    faults, notes = {}, []
    for tag in sorted(entities - prefixed):
        if tag in _SURE_OUTSIDE or (tag in OTHER_OUTSIDE - {_PIECE} and OUTSIDE not in found):
            usual[tag] = OUTSIDE
            notes.append(f"the tag {tag!r} is read as O, outside of entities")
        else:
            faults[tag] = _fault(tag, sorted(prefixed))
    return FileTags(usual, faults, tuple(notes))


def _with_usual_prefixes(tags: set[str]) -> dict[str, str]:
    """Return the usual form of tags that all have a prefix in another place or form; nothing for other tags."""
    others = {tag for tag in tags if tag not in OTHER_OUTSIDE}
    if not others or all(map(_PREFIXED.fullmatch, others)):
        return {}
    for pattern, convert in _WRITTEN:
        if all(map(pattern.fullmatch, others)):
            return {tag: convert(tag) for tag in others}
    return {}


def _check_prefixes(prefixes: set[str], where: object) -> None:
    if not any(prefixes <= set(letters) for letters in _SCHEMES.values()):
        raise KerasBertError(
            f"{where}: expected tags of one scheme among {', '.join(_SCHEMES)}, received the prefixes {', '.join(sorted(prefixes))}; "
            "correct the tags"
        )


def _fault(tag: str, prefixed: list[str]) -> str:
    beside = f"{tag!r} beside {_first(prefixed)}"
    if tag == _PIECE:
        return f"expected a tag for each word, received {beside}; join the pieces of words that are tagged X"
    if tag in OTHER_OUTSIDE:
        return f"expected one tag for words outside of entities, received {tag!r} and 'O'; replace one of them"
    return f"expected O, or a prefix among {', '.join(_LETTERS)} and a label, received {beside}; correct the tag"


def _first(tags: Iterable[str]) -> str:
    return ", ".join(sorted(tags)[:3])
