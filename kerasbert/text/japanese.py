"""Japanese BERT checkpoints: words by MeCab, then WordPiece or characters, as Hugging Face's `BertJapaneseTokenizer`."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.text import tokenizer_files
from kerasbert.text.mecab import DICTIONARIES, Word, mecab_words
from kerasbert.text.tokenizer import Tokenizer
from kerasbert.text.wordpiece import WordPiece

SUBWORDS = ("wordpiece", "character")
# What Python's str.split takes for white space; \s in `re` is the same set.
_WHITE_SPACE, _NO_WHITE_SPACE = re.compile(r"\s"), re.compile(r"\S+")
_Units = list[tuple[Word, int]]


@dataclass(frozen=True)
class _Segment:
    offsets: list[tuple[int, int]]
    word_ids: list[int]


class JapaneseTokenizer(Tokenizer):
    """Words by MeCab, each split by greedy longest match or into characters; needs the extra `kerasbert[japanese]`.

    The ids are those of `BertJapaneseTokenizer` with the word tokenizer "mecab". The text is brought to Unicode form
    NFKC first; offsets are nevertheless those of the text as given.

    Args:
      vocabulary: the tokens; a token's place is its id. Continuations start with `##` (not for characters).
      subwords: "wordpiece" or "character".
      lowercase: lower the words.
      dictionary: the Python package of MeCab's dictionary: "unidic_lite" (the one of the extra), "ipadic", "unidic".
      **common: special tokens (those of BERT unless named) and `model_max_length`, see `Tokenizer`; `added_tokens` are
        found as they are, without the fields.

    Raises:
      KerasBertError: as `Tokenizer`, an unknown `subwords` or `dictionary`; while encoding, if fugashi or the
        dictionary is not installed.
    """

    kind = "japanese"
    special_names = tokenizer_files.BERT_SPECIAL_TOKENS
    flags = {"do_lower_case": "lowercase"}

    def __init__(
        self,
        vocabulary: Sequence[str],
        *,
        subwords: str = "wordpiece",
        lowercase: bool = False,
        dictionary: str = "unidic_lite",
        **common,
    ):
        super().__init__(vocabulary, **common)
        if subwords not in SUBWORDS:
            raise KerasBertError(f"expected subwords to be one of {', '.join(SUBWORDS)}, received {subwords!r}")
        if dictionary not in DICTIONARIES:
            raise KerasBertError(f"expected dictionary to be one of {', '.join(DICTIONARIES)}, received {dictionary!r}")
        self.subwords = subwords
        self.lowercase = bool(lowercase)
        self.dictionary = dictionary

    @cached_property
    def _special_pattern(self) -> re.Pattern:
        names = {*self._special_tokens().values(), *(token["content"] for token in self.added_tokens)}
        return re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True))))

    def _build_engine(self):
        from tokenizers import Tokenizer as Engine
        from tokenizers import models

        if self.subwords == "character":
            return Engine(models.WordLevel(self._model_ids(), unk_token=self.unk_token))
        return Engine(models.WordPiece(self._model_ids(), unk_token=self.unk_token, max_input_chars_per_word=100))

    def _token_ids(self, texts: list[str]) -> list[list[int]]:
        rows = [[unit.surface for unit, _ in self._units(text)] for text in texts]
        return [row.ids for row in self._engine.encode_batch_fast(rows, is_pretokenized=True, add_special_tokens=False)]

    def _segments(self, texts: list[str]) -> list[_Segment]:
        rows = [self._units(text) for text in texts]
        surfaces = [[unit.surface for unit, _ in units] for units in rows]
        encoded = self._engine.encode_batch(surfaces, is_pretokenized=True, add_special_tokens=False)
        return [_placed(units, row) for units, row in zip(rows, encoded, strict=True)]

    def _units(self, text: str) -> _Units:
        """What the engine looks up, special tokens in the text included, with the number of its word."""
        units: _Units = []
        start = number = 0
        for match in (*self._special_pattern.finditer(text), None):
            for word in self._words(text[start : match.start() if match else None], start):
                units += [(part, number) for part in self._parts(word)]
                number += 1
            if match:
                units.append((Word(match.group(), match.start()), number))
                number += 1
                start = match.end()
        return units

    def _words(self, text: str, shift: int) -> list[Word]:
        words = mecab_words(text, self.dictionary, shift) if text else []
        return [word.lower() for word in words] if self.lowercase else words

    def _parts(self, word: Word) -> Iterable[Word]:
        """Characters; or for WordPiece the whole word, in which there is rarely some exotic white space to split at."""
        if self.subwords == "character":
            return [_cut(word, place, place + 1) for place in range(len(word.surface))]
        if not _WHITE_SPACE.search(word.surface):
            return (word,)
        return [_cut(word, *match.span()) for match in _NO_WHITE_SPACE.finditer(word.surface)]

    def _settings(self) -> dict:
        return {"subwords": self.subwords, "lowercase": self.lowercase, "dictionary": self.dictionary}

    def _file_settings(self) -> dict:
        return {
            "tokenizer_class": "BertJapaneseTokenizer",
            "word_tokenizer_type": "mecab",
            "subword_tokenizer_type": self.subwords,
            "mecab_kwargs": {"mecab_dic": self.dictionary},
        }

    def _write_files(self, folder: Path) -> None:
        tokenizer_files.write_vocabulary(folder / tokenizer_files.VOCABULARY, self._vocabulary)

    @classmethod
    def _read_files(cls, folder: Path) -> dict:
        config = tokenizer_files.read_tokenizer_config(folder)
        mecab = config.get("mecab_kwargs") or {}
        _check_settings(folder, config, mecab)
        return {
            "vocabulary": tokenizer_files.read_vocabulary(folder / tokenizer_files.VOCABULARY),
            "subwords": config.get("subword_tokenizer_type", "wordpiece"),
            "dictionary": mecab.get("mecab_dic", "unidic_lite"),
        }


def japanese_from_folder(folder: Path) -> Tokenizer:
    """The tokenizer of a folder whose `tokenizer_class` is `BertJapaneseTokenizer`.

    Its word tokenizer "basic", which is the default there, splits as BERT does: that is a `WordPiece` without words of
    single CJK ideographs, followed as `BertTokenizerFast` does it.

    Raises:
      KerasBertError: missing or damaged files, or settings that are not supported; it names the setting.
    """
    config = tokenizer_files.read_tokenizer_config(folder)
    if config.get("word_tokenizer_type", "basic") != "basic":
        return JapaneseTokenizer.from_folder(folder)
    if (subwords := config.get("subword_tokenizer_type", "wordpiece")) != "wordpiece":
        raise KerasBertError(
            f'expected subword_tokenizer_type "wordpiece" with the word tokenizer "basic" in {folder}, '
            f"received {subwords!r}"
        )
    read = WordPiece.from_folder(folder).get_config()
    named = {"lowercase": bool(config.get("do_lower_case", False)), "tokenize_chinese_chars": False}
    return WordPiece.from_config({**read, **named})


def _check_settings(folder: Path, config: Mapping, mecab: object) -> None:
    if not isinstance(mecab, Mapping):
        raise KerasBertError(f"expected mecab_kwargs in {folder} as a JSON object, received {mecab!r}")
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


def _cut(word: Word, first: int, last: int) -> Word:
    places = None if word.places is None else word.places[first:last]
    return Word(word.surface[first:last], word.start + (first if places is None else 0), places)


def _placed(units: _Units, row) -> _Segment:
    offsets = [units[unit][0].span(*span) for unit, span in zip(row.word_ids, row.offsets, strict=True)]
    return _Segment(offsets, [units[unit][1] for unit in row.word_ids])
