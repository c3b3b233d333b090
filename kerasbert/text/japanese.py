"""The tokenizer of Japanese BERT checkpoints; its ids equal those of Hugging Face's `BertJapaneseTokenizer`."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from kerasbert.arguments import check_choice
from kerasbert.console.strictness import note_once
from kerasbert.errors import KerasBertError
from kerasbert.text import tokenizer_files, tokenizer_keys
from kerasbert.text.encoded import Segment
from kerasbert.text.mecab import DICTIONARIES, Word, mecab_words
from kerasbert.text.tokenizer import Tokenizer
from kerasbert.text.tokenizer_files import TokenizerFolder
from kerasbert.text.vocabulary import VocabularySettings
from kerasbert.text.wordpiece import WordPiece

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Engine

SUBWORDS = ("wordpiece", "character")
WORD_TOKENIZER = "word_tokenizer_type"  # a key of tokenizer_config.json that only Japanese checkpoints have
# The white space of Python's str.split; \s in `re` is the same set.
_WHITE_SPACE, _NO_WHITE_SPACE = re.compile(r"\s"), re.compile(r"\S+")
_BATCH = 4096  # parts of a long text that the engine takes at once
_Units = list[tuple[Word, int]]  # parts that the engine looks up, and the number of their word


@dataclass(frozen=True)
class _JapaneseSegment:
    """The tokens of one text; see `kerasbert.text.encoded.Segment`."""

    offsets: list[tuple[int, int]]
    word_ids: list[int]


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
        return self._unit_ids([list(self._units(text)) for text in texts])

    def _piece_ids(self, text: str) -> Iterator[list[int]]:
        for units in _batches(self._units(text)):
            yield from self._unit_ids([units])

    def _unit_ids(self, units_of_texts: list[_Units]) -> list[list[int]]:
        surfaces = [[unit.surface for unit, _ in units] for units in units_of_texts]
        encodings = self._engine.encode_batch_fast(surfaces, is_pretokenized=True, add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def _batch_segments(self, texts: list[str]) -> list[_JapaneseSegment]:
        units_of_texts = [list(self._units(text)) for text in texts]
        surfaces = [[unit.surface for unit, _ in units] for units in units_of_texts]
        encodings = self._engine.encode_batch(surfaces, is_pretokenized=True, add_special_tokens=False)
        return [_align(units, encoding) for units, encoding in zip(units_of_texts, encodings, strict=True)]

    def _long_segment(self, text: str, limit: int) -> _JapaneseSegment:
        segment = _JapaneseSegment([], [])
        for units in _batches(self._units(text)):
            surfaces = [unit.surface for unit, _ in units]
            part = _align(units, self._engine.encode(surfaces, is_pretokenized=True, add_special_tokens=False))
            segment.offsets.extend(part.offsets)
            segment.word_ids.extend(part.word_ids)
            if len(segment.offsets) >= limit:
                break
        return segment

    def _units(self, text: str) -> Iterator[tuple[Word, int]]:
        """Split a text into the parts that the engine looks up, special tokens in the text included."""
        start = number = 0
        for match in chain(self._special_pattern.finditer(text), (None,)):
            for word in self._words(text[start : match.start() if match else None], start):
                for part in self._parts(word):
                    yield part, number
                number += 1
            if match:
                yield Word(match.group(), match.start()), number
                number += 1
                start = match.end()

    def _words(self, text: str, shift: int) -> Iterator[Word]:
        words = mecab_words(text, self.dictionary, shift) if text else iter(())
        return (word.lower() for word in words) if self.lowercase else words

    def _parts(self, word: Word) -> Iterable[Word]:
        """Split a word into characters, or for WordPiece at white space, which MeCab rarely leaves in a word."""
        if self.subwords == "character":
            return [_slice(word, place, place + 1) for place in range(len(word.surface))]
        if not _WHITE_SPACE.search(word.surface):
            return (word,)
        return [_slice(word, *match.span()) for match in _NO_WHITE_SPACE.finditer(word.surface)]

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


def japanese_from_folder(opened: TokenizerFolder) -> Tokenizer:
    """Load the tokenizer of a folder whose `tokenizer_class` is `BertJapaneseTokenizer`.

    The default word tokenizer of that class is "basic", which splits words as BERT does. The result is then a `WordPiece` that does not
    split CJK ideographs. A folder that says nothing about words is noted, because published checkpoints need MeCab.

    Raises:
        KerasBertError: When a file is missing or damaged, or a setting is not supported. The message names the setting.
    """
    folder, config = opened.path, opened.config
    words = config.get(WORD_TOKENIZER)
    if words is None:
        note_once(
            f"note: {folder}: no {WORD_TOKENIZER} in {tokenizer_files.TOKENIZER_CONFIG}: words are split at spaces and punctuation, as in "
            "transformers; most Japanese checkpoints need MeCab, so copy that file from the checkpoint"
        )
    elif words != "basic":
        return JapaneseTokenizer._from_folder(opened, {})
    if (subwords := config.get("subword_tokenizer_type", "wordpiece")) != "wordpiece":
        raise KerasBertError(
            f'expected subword_tokenizer_type "wordpiece" with the word tokenizer "basic" in {folder}, '
            f"received {subwords!r}"
        )
    settings = _BasicWords._from_folder(opened, {"lowercase": False}).get_config()
    return WordPiece.from_config({**settings, "strip_accents": None, "tokenize_chinese_chars": False})


class _BasicWords(WordPiece):
    """A WordPiece that is read from a folder of `BertJapaneseTokenizer`."""

    config_keys = tokenizer_keys.JAPANESE


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


def _batches(units: Iterator[tuple[Word, int]]) -> Iterator[_Units]:
    """Yield the parts of a long text in batches for the engine."""
    while batch := list(islice(units, _BATCH)):
        yield batch


def _slice(word: Word, first: int, last: int) -> Word:
    places = None if word.places is None else word.places[first:last]
    return Word(word.surface[first:last], word.start + (first if places is None else 0), places)


def _align(units: _Units, encoding: Segment) -> _JapaneseSegment:
    """Map the tokens of an encoding, whose words are units, to the original text and its words."""
    indices = [index for index in encoding.word_ids if index is not None]
    offsets = [units[index][0].span(*span) for index, span in zip(indices, encoding.offsets, strict=True)]
    return _JapaneseSegment(offsets, [units[index][1] for index in indices])
