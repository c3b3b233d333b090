"""Loading the tokenizer of a Japanese checkpoint's folder, whatever its files say about words."""

import re
from collections.abc import Sequence
from typing import Any

from kerasbert.console.strictness import note_once
from kerasbert.errors import KerasBertError
from kerasbert.text import tokenizer_files, tokenizer_keys
from kerasbert.text.japanese import WORD_TOKENIZER, JapaneseTokenizer
from kerasbert.text.tokenizer import Tokenizer
from kerasbert.text.tokenizer_files import TokenizerFolder
from kerasbert.text.wordpiece import WordPiece

_KANA, _IDEOGRAPHS = re.compile("[\u3041-\u3096\u30a1-\u30fa]"), re.compile("[\u4e00-\u9fff]{2}")
_SHARE = 0.01  # of the tokens. Those of bert-base-japanese-v3 with two ideographs are 25 %, and a WordPiece that splits them has none
# Words of IPADIC, each frequent; UniDic divides all of them.
_IPADIC_WORDS = {"という", "として", "について", "によって", "において", "に対して"}


def japanese_from_folder(opened: TokenizerFolder) -> Tokenizer:
    """Load the tokenizer of a folder whose `tokenizer_class` is `BertJapaneseTokenizer`, or whose vocabulary is Japanese.

    A folder that says nothing about words is read with MeCab if its vocabulary shows MeCab's words or characters alone, and a note says
    so. transformers would take its default, the word tokenizer "basic", which splits words as BERT does. With that word tokenizer, or
    with a vocabulary that shows neither, the result is a `WordPiece` that does not split CJK ideographs.

    Raises:
        KerasBertError: When a file is missing or damaged, or a setting is not supported. The message names the setting.
    """
    folder, config = opened.path, opened.config
    words = config.get(WORD_TOKENIZER)
    if words is None:
        if shown := _settings_of(opened):
            return JapaneseTokenizer._from_folder(opened, shown)
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


def has_japanese_words(folder: TokenizerFolder) -> bool:
    """Tell whether a folder has a `vocab.txt` of Japanese words, and no settings of BERT's own tokenizer.

    Such are the three files of a download: configuration, weights and vocabulary.
    """
    if "tokenize_chinese_chars" in folder.config or not folder.has(WordPiece.files):
        return False
    return _has_words(tokenizer_files.read_vocabulary(folder.path / tokenizer_files.VOCABULARY))


def _settings_of(folder: TokenizerFolder) -> dict[str, Any]:
    """Return the settings that a folder does not name and its vocabulary shows, with a note; nothing if it shows none."""
    path = folder.path / tokenizer_files.VOCABULARY
    vocabulary = tokenizer_files.read_vocabulary(path) if path.is_file() else []
    if _has_words(vocabulary):
        dictionary = "ipadic" if _IPADIC_WORDS & set(vocabulary) else "unidic_lite"
        settings, parts = (
            {"subwords": "wordpiece", "dictionary": dictionary},
            f"words of MeCab's dictionary {dictionary}",
        )
    elif _has_characters(vocabulary):
        settings, parts = {"subwords": "character"}, "characters alone"
    else:
        return {}
    note_once(
        f"note: {folder.path}: no {WORD_TOKENIZER} in {tokenizer_files.TOKENIZER_CONFIG}, and {path.name} has {parts}: texts are split by "
        f"MeCab; if the checkpoint was made with another program or dictionary, copy its {tokenizer_files.TOKENIZER_CONFIG}"
    )
    if "subword_tokenizer_type" in folder.config:
        del settings["subwords"]
    if folder.config.get("mecab_kwargs"):
        settings.pop("dictionary", None)
    return settings


def _has_words(vocabulary: Sequence[str]) -> bool:
    """Tell whether tokens have kana, and others several ideographs, which BERT's own tokenizer divides."""
    least = _SHARE * len(vocabulary)
    return all(0 < least <= sum(map(bool, map(each.search, vocabulary))) for each in (_KANA, _IDEOGRAPHS))


def _has_characters(vocabulary: Sequence[str]) -> bool:
    """Tell whether all tokens but the special ones are single characters, and some are kana."""
    tokens = [token for token in vocabulary if not (token.startswith("[") and token.endswith("]"))]
    return any(map(_KANA.search, tokens)) and all(len(token) <= 1 for token in tokens)


class _BasicWords(WordPiece):
    """A WordPiece that is read from a folder of `BertJapaneseTokenizer`."""

    config_keys = tokenizer_keys.JAPANESE
