"""The tokenizer of Japanese BERT checkpoints; its ids equal those of Hugging Face's `BertJapaneseTokenizer`."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from kerasbert.arguments import check_choice
from kerasbert.errors import KerasBertError
from kerasbert.text import tokenizer_files, tokenizer_keys
from kerasbert.text.corpus import Corpus
from kerasbert.text.encoded import Numbered
from kerasbert.text.long_texts import by_chunk
from kerasbert.text.mecab import DICTIONARIES, Word, mecab_surfaces, mecab_words
from kerasbert.text.tokenizer import Tokenizer
from kerasbert.text.tokenizer_files import TokenizerFolder
from kerasbert.text.vocabulary import VocabularySettings
from kerasbert.text.vocabulary_learning import SPECIAL_TOKENS, learn_characters, learn_wordpiece

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer as Engine

SUBWORDS = ("wordpiece", "character")
WORD_TOKENIZER = "word_tokenizer_type"  # a key of tokenizer_config.json that only Japanese checkpoints have
# The white space of Python's str.split; \s in `re` is the same set.
_WHITE_SPACE, _NO_WHITE_SPACE = re.compile(r"\s"), re.compile(r"\S+")
_BATCH = 4096  # parts of a long text that the engine takes at once
UnitT = TypeVar("UnitT")
_Units = list[tuple[Word, int]]  # parts that the engine looks up, and the number of their word


@dataclass(frozen=True)
class _JapaneseTokens:
    """The tokens of one text; see `kerasbert.text.encoded.Numbered`."""

    ids: list[int]
    word_ids: list[int]


@dataclass(frozen=True)
class _JapaneseSegment(_JapaneseTokens):
    """The tokens of one text; see `kerasbert.text.encoded.Segment`."""

    offsets: list[tuple[int, int]]


class JapaneseTokenizer(Tokenizer):
    """MeCab words, split by greedy longest match or into characters. Requires the extra `kerasbert[japanese]`.

    The ids equal those of `BertJapaneseTokenizer` with the word tokenizer "mecab". The text is normalized to Unicode form NFKC first, but
    offsets refer to the original text.

    Args:
        vocabulary: The tokens in the order of their ids. Continuations start with `##`, except for characters.
        subwords: "wordpiece" or "character".
        lowercase: Lowercase the words.
        dictionary: The Python package of MeCab's dictionary: "unidic_lite" (part of the extra), "ipadic" or "unidic".
        **common: Special tokens (default: those of BERT) and `model_max_length`; see `Tokenizer`. `added_tokens` are found literally,
            and their other fields are ignored.

    Raises:
        KerasBertError: When `Tokenizer` raises, or `subwords` or `dictionary` is unknown; while encoding, when fugashi or the dictionary
            is not installed.

    Example:
        ```python
        from kerasbert.text import JapaneseTokenizer
        vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "東京", "は", "晴れ"]
        tokenizer = JapaneseTokenizer(vocabulary)
        tokenizer.encode(["東京は晴れ"], max_length=8).input_ids
        ```
    """

    kind = "japanese"
    special_names = tokenizer_files.BERT_SPECIAL_TOKENS
    config_keys = tokenizer_keys.JAPANESE
    flags = {"do_lower_case": "lowercase"}
    settings = ("subwords", "lowercase", "dictionary")
    files, hub_class = tokenizer_files.WORDPIECE_FILES, "BertJapaneseTokenizer"

    def __init__(
        self,
        vocabulary: Sequence[str],
        *,
        subwords: str = "wordpiece",
        lowercase: bool = False,
        dictionary: str = "unidic_lite",
        **common: Unpack[VocabularySettings],
    ) -> None:
        super().__init__(vocabulary, **common)
        check_choice(subwords, "subwords to be one of", SUBWORDS)
        check_choice(dictionary, "dictionary to be one of", DICTIONARIES)
        self.subwords = subwords
        self.lowercase = bool(lowercase)
        self.dictionary = dictionary

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        vocabulary_size: int,
        subwords: str = "wordpiece",
        lowercase: bool = False,
        dictionary: str = "unidic_lite",
        min_frequency: int = 2,
    ) -> Self:
        """Learn a vocabulary of MeCab's words and their pieces, or of characters. Training is deterministic, and keeps counts only.

        The vocabulary has the most frequent 1,000 characters, or as many more as make up 99.95 % of the text.

        Args:
            texts: The texts, of any iterable. It is read once.
            vocabulary_size: The maximum number of tokens, the five special ones included.
            subwords: "wordpiece" or "character".
            lowercase: Lowercase the words, in training and when encoding.
            dictionary: The Python package of MeCab's dictionary; see the class.
            min_frequency: The minimum number of occurrences of a token, of WordPiece only.

        Returns:
            A tokenizer with that vocabulary.

        Raises:
            KerasBertError: When there are no texts, an entry is not a text, the texts have more characters than `vocabulary_size`, or
                fugashi or the dictionary is not installed.

        Example:
            ```python
            from kerasbert.text import JapaneseTokenizer
            JapaneseTokenizer.train(["東京は晴れ", "京都は雨"], vocabulary_size=50).vocabulary_size
            ```
        """
        settings: dict[str, Any] = {"subwords": subwords, "lowercase": lowercase, "dictionary": dictionary}
        untrained, corpus = cls(SPECIAL_TOKENS, **settings), Corpus(texts)
        words = Counter(chain.from_iterable(map(untrained._learned_units, corpus.pieces(None))))
        corpus.check_words(words)
        if subwords == "character":
            return cls(learn_characters(words, vocabulary_size), **settings)
        return cls(learn_wordpiece(words, vocabulary_size, min_frequency), **settings)

    def _learned_units(self, text: str) -> Iterator[str]:
        names = self._special_pattern
        return (unit for unit, _ in self._surfaces(text) if not names.fullmatch(unit))

    @cached_property
    def _special_pattern(self) -> re.Pattern[str]:
        names = {*self.special_tokens().values(), *(token["content"] for token in self.added_tokens)}
        return re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True))))

    def _build_engine(self) -> "Engine":
        import tokenizers
        from tokenizers import models

        if self.subwords == "character":
            return tokenizers.Tokenizer(models.WordLevel(self.model_ids(), unk_token=self.unk_token))
        return tokenizers.Tokenizer(
            models.WordPiece(self.model_ids(), unk_token=self.unk_token, max_input_chars_per_word=100)
        )

    def _batch_ids(self, texts: list[str]) -> list[list[int]]:
        return self._unit_ids([[unit for unit, _ in self._surfaces(text)] for text in texts])

    def _piece_ids(self, text: str) -> Iterator[list[int]]:
        for units in _batches(self._surfaces(text)):
            yield from self._unit_ids([[unit for unit, _ in units]])

    def _unit_ids(self, units_of_texts: list[list[str]]) -> list[list[int]]:
        encodings = self._engine.encode_batch_fast(units_of_texts, is_pretokenized=True, add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def _numbered(self, texts: list[str]) -> Sequence[Numbered]:
        return by_chunk(texts, self._batch_numbered, lambda text: self._batch_numbered([text])[0])

    def _batch_numbered(self, texts: list[str]) -> list[Numbered]:
        units_of_texts = [list(self._surfaces(text)) for text in texts]
        surfaces = [[unit for unit, _ in units] for units in units_of_texts]
        encodings = self._engine.encode_batch(surfaces, is_pretokenized=True, add_special_tokens=False)
        return [
            _JapaneseTokens(encoding.ids, [units[index][1] for index in encoding.word_ids if index is not None])
            for units, encoding in zip(units_of_texts, encodings, strict=True)
        ]

    def _batch_segments(self, texts: list[str]) -> list[_JapaneseSegment]:
        units_of_texts = [list(self._units(text)) for text in texts]
        surfaces = [[unit.surface for unit, _ in units] for units in units_of_texts]
        encodings = self._engine.encode_batch(surfaces, is_pretokenized=True, add_special_tokens=False)
        return [_align(units, encoding) for units, encoding in zip(units_of_texts, encodings, strict=True)]

    def _long_segment(self, text: str, limit: int) -> _JapaneseSegment:
        segment = _JapaneseSegment([], [], [])
        for units in _batches(self._units(text)):
            surfaces = [unit.surface for unit, _ in units]
            part = _align(units, self._engine.encode(surfaces, is_pretokenized=True, add_special_tokens=False))
            segment.ids.extend(part.ids)
            segment.offsets.extend(part.offsets)
            segment.word_ids.extend(part.word_ids)
            if len(segment.offsets) >= limit:
                break
        return segment

    def _units(self, text: str) -> Iterator[tuple[Word, int]]:
        """Split a text into the parts that the engine looks up, special tokens in the text included, with the number of their word."""
        number = 0
        for start, section, is_token in self._sections(text):
            if is_token:
                yield Word(section, start), number
                number += 1
                continue
            for word in mecab_words(section, self.dictionary, start):
                placed = word.lower() if self.lowercase else word
                for span in self._part_spans(placed.surface):
                    yield _slice(placed, *span), number
                number += 1

    def _surfaces(self, text: str) -> Iterator[tuple[str, int]]:
        """Split a text into the parts of `_units` without their places, which take most of its time."""
        number = 0
        for _, section, is_token in self._sections(text):
            if is_token:
                yield section, number
                number += 1
                continue
            for word in mecab_surfaces(section, self.dictionary):
                surface = word.lower() if self.lowercase else word
                for first, last in self._part_spans(surface):
                    yield surface[first:last], number
                number += 1

    def _sections(self, text: str) -> Iterator[tuple[int, str, bool]]:
        """Yield the place of each section of a text, the section, and whether it is the name of a special or added token."""
        start = 0
        for match in self._special_pattern.finditer(text):
            if match.start() > start:
                yield start, text[start : match.start()], False
            yield match.start(), match.group(), True
            start = match.end()
        if start < len(text):
            yield start, text[start:], False

    def _part_spans(self, surface: str) -> Iterable[tuple[int, int]]:
        """Return the places of a word's characters, or for WordPiece of its parts between white space, which MeCab rarely leaves."""
        if self.subwords == "character":
            return zip(range(len(surface)), range(1, len(surface) + 1), strict=True)
        if not _WHITE_SPACE.search(surface):
            return ((0, len(surface)),)
        return [match.span() for match in _NO_WHITE_SPACE.finditer(surface)]

    def _file_settings(self) -> dict[str, Any]:
        return {
            **super()._file_settings(),
            "word_tokenizer_type": "mecab",
            "subword_tokenizer_type": self.subwords,
            "mecab_kwargs": {"mecab_dic": self.dictionary},
        }

    @classmethod
    def _read_files(cls, folder: TokenizerFolder) -> dict[str, Any]:
        config = folder.config
        mecab = config.get("mecab_kwargs") or {}
        _check_settings(folder.path, config, mecab)
        return {
            **super()._read_files(folder),
            "subwords": config.get("subword_tokenizer_type", "wordpiece"),
            "dictionary": mecab.get("mecab_dic", "unidic_lite"),
        }


def _check_settings(folder: Path, config: Mapping, mecab: object) -> None:
    if not isinstance(mecab, Mapping):
        raise KerasBertError(f"expected mecab_kwargs in {folder} as a JSON object, received {mecab!r}")
    tokenizer_keys.MECAB.check(mecab, f"mecab_kwargs in {folder}")
    checks = [
        ("word_tokenizer_type", config.get("word_tokenizer_type", "mecab"), ("mecab", "basic")),
        ("subword_tokenizer_type", config.get("subword_tokenizer_type", "wordpiece"), SUBWORDS),
        ("do_word_tokenize", config.get("do_word_tokenize", True), (True,)),
        ("do_subword_tokenize", config.get("do_subword_tokenize", True), (True,)),
        ("normalize_text of mecab_kwargs", mecab.get("normalize_text", True), (True,)),
        ("mecab_option of mecab_kwargs", mecab.get("mecab_option") or None, (None,)),
        ("mecab_dic of mecab_kwargs", mecab.get("mecab_dic", "unidic_lite"), DICTIONARIES),
    ]
    for name, received, supported in checks:
        if received not in supported:
            names = ", ".join(map(str, supported))
            raise KerasBertError(f"expected {name} in {folder} to be one of {names}, received {received!r}")


def _batches(units: Iterator[UnitT]) -> Iterator[list[UnitT]]:
    """Yield the parts of a long text in batches for the engine."""
    while batch := list(islice(units, _BATCH)):
        yield batch


def _slice(word: Word, first: int, last: int) -> Word:
    places = None if word.places is None else word.places[first:last]
    return Word(word.surface[first:last], word.start + (first if places is None else 0), places)


def _align(units: _Units, encoding: "Encoding") -> _JapaneseSegment:
    """Map the tokens of an encoding, whose words are units, to the original text and its words."""
    indices = [index for index in encoding.word_ids if index is not None]
    offsets = [units[index][0].span(*span) for index, span in zip(indices, encoding.offsets, strict=True)]
    return _JapaneseSegment(encoding.ids, [units[index][1] for index in indices], offsets)
