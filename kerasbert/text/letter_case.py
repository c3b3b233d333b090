"""The letter case and accents of a vocabulary: whether texts have to be lowercased for it, where no file says so.

Google's cased downloads (`cased_L-12_H-768_A-12`, `multi_cased_L-12_H-768_A-12`) have no file with settings. transformers 4.57 and 5.24
lowercase texts then, and remove accents. A third of the tokens can never occur, and the others stand for other words. The vocabulary itself
tells: one that was learned from lowercased texts has no capitals, and one that was learned without accents has none of them.
"""

import string
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from kerasbert.console.strictness import note_once

# Added words and symbols, such as "COVID" in an uncased vocabulary, are rarer. Capitals are 1.2% of KoELECTRA's vocabulary, where they are
# rarest among the cased vocabularies that were counted: 29% of bert-base-cased, 16% of mBERT, 4% of bert-base-japanese-v3.
_SHARE = 0.01
_PREFIXES = ("##", "▁")


@dataclass(frozen=True)
class LetterCase:
    """Counts of a vocabulary's tokens, without names in brackets such as `[unused1]` and `<S>`.

    Attributes:
        tokens: All tokens.
        capitals: Tokens that change when they are lowercased.
        accents: Tokens that change when accents are removed: also Hangul, which is decomposed.
        letters: True if the vocabulary has the letters A to Z, at least half as many as a to z.
    """

    tokens: int
    capitals: int
    accents: int
    letters: bool

    @classmethod
    def of(cls, vocabulary: Iterable[str]) -> "LetterCase":
        """Count the tokens of a vocabulary."""
        words = [_word(token) for token in vocabulary if not _is_name(token)]
        known = set(words)
        small, large = (sum(letter in known for letter in letters) for letters in _LETTERS)
        return cls(
            tokens=len(words),
            capitals=sum(word.lower() != word for word in words),
            accents=sum(not word.isascii() and _without_accents(word) != word for word in words),
            letters=large > 0 and 2 * large >= small,
        )

    @property
    def is_cased(self) -> bool:
        """True if the vocabulary was learned from texts with capitals."""
        return self.letters or self._is_part(self.capitals)

    @property
    def has_accents(self) -> bool:
        """True if the vocabulary was learned from texts with accents."""
        return self._is_part(self.accents)

    def _is_part(self, count: int) -> bool:
        return count > 0 and count >= _SHARE * self.tokens


def choose_letter_case(vocabulary: Iterable[str], where: object) -> tuple[bool, bool]:
    """Decide by a vocabulary whether texts are lowercased, and whether their accents are removed. A note names the decision.

    Args:
        vocabulary: The tokens.
        where: The file or folder, for the note.

    Returns:
        True if texts are to be lowercased, and True if accents are to be removed.
    """
    case = LetterCase.of(vocabulary)
    if case.is_cased:
        note_once(
            f"note: {where}: texts keep their capitals and accents, because {case.capitals:,} of {case.tokens:,} tokens have capitals and "
            "do_lower_case is not set; set it in tokenizer_config.json"
        )
        return False, False
    if case.has_accents:
        note_once(
            f"note: {where}: texts are lowercased but keep their accents, because {case.accents:,} of {case.tokens:,} tokens have accents "
            "and strip_accents is not set; set it in tokenizer_config.json"
        )
        return True, False
    if case.capitals:
        note_once(
            f"note: {where}: {case.capitals:,} of {case.tokens:,} tokens have capitals and never occur, because texts are lowercased; set "
            "do_lower_case in tokenizer_config.json"
        )
    return True, True


def check_letter_case(vocabulary: Iterable[str], lowercase: bool, strip_accents: bool, where: object) -> None:
    """Note settings that make tokens of a vocabulary impossible.

    Args:
        vocabulary: The tokens.
        lowercase: True if texts are lowercased.
        strip_accents: True if accents are removed.
        where: The file or folder, for the note.
    """
    if not (lowercase or strip_accents):
        return
    case = LetterCase.of(vocabulary)
    if lowercase and case.is_cased:
        _note_lost(where, case.capitals, case.tokens, "capitals", "texts are lowercased (do_lower_case)")
    elif strip_accents and case.has_accents:
        _note_lost(where, case.accents, case.tokens, "accents", "accents are removed (strip_accents, keep_accents)")


def _note_lost(where: object, count: int, tokens: int, kind: str, reason: str) -> None:
    note_once(
        f"note: {where}: {count:,} of {tokens:,} tokens have {kind} and never occur, because {reason}; is tokenizer_config.json that of "
        "this vocabulary?"
    )


_LETTERS = (string.ascii_lowercase, string.ascii_uppercase)


def _is_name(token: str) -> bool:
    return len(token) > 2 and (token[0], token[-1]) in (("[", "]"), ("<", ">"))


def _word(token: str) -> str:
    for prefix in _PREFIXES:
        if token.startswith(prefix) and len(token) > len(prefix):
            return token.removeprefix(prefix)
    return token


def _without_accents(word: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFD", word) if unicodedata.category(letter) != "Mn")
