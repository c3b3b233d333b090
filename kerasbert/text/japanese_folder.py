"""Loading the tokenizer of a Japanese checkpoint's folder, whatever its files say about words."""

from kerasbert.console.strictness import note_once
from kerasbert.errors import KerasBertError
from kerasbert.text import tokenizer_files, tokenizer_keys
from kerasbert.text.japanese import WORD_TOKENIZER, JapaneseTokenizer
from kerasbert.text.tokenizer import Tokenizer
from kerasbert.text.tokenizer_files import TokenizerFolder
from kerasbert.text.wordpiece import WordPiece


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
