"""Learning a tokenizer of any kind from a corpus: one function, and the table of what it knows."""

import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from kerasbert.arguments import check_choice, check_flag, check_whole_number, shown
from kerasbert.errors import KerasBertError
from kerasbert.text.byte_bpe import ByteLevelBPE
from kerasbert.text.japanese import JapaneseTokenizer
from kerasbert.text.sentence_piece import SentencePiece
from kerasbert.text.strings import each_string
from kerasbert.text.tokenizer import Tokenizer
from kerasbert.text.wordpiece import WordPiece

# What `learn_tokenizer` learns, by name: a function of the texts, the size and the settings of the kind.
LEARNED_TOKENIZERS: dict[str, Callable[..., Tokenizer]] = {
    "wordpiece": WordPiece.train,
    "sentencepiece": SentencePiece.train,
    "bpe": ByteLevelBPE.train,
    "japanese": partial(JapaneseTokenizer.train, subwords="wordpiece"),
    "japanese-characters": partial(JapaneseTokenizer.train, subwords="character"),
}
_MARKS = "#▁Ġ"  # of a token that continues a word, or that begins one
_LEAST = 6  # tokens: the special ones and a character


def learn_tokenizer(
    kind: str,
    texts: Iterable[str],
    vocabulary_size: int,
    *,
    lowercase: bool | None = None,
    min_frequency: int | None = None,
    dictionary: str | None = None,
) -> Tokenizer:
    """Learn a tokenizer from a corpus. The same texts in the same order give the same vocabulary.

    The texts are read once and not kept: `wordpiece`, `bpe` and the Japanese kinds count words. `sentencepiece` draws texts of 50 million
    characters if there are more.

    Args:
        kind: "wordpiece" (BERT; also of Chinese, whose ideographs are words), "sentencepiece" (ALBERT), "bpe" (byte-level, RoBERTa),
            "japanese" (MeCab's words, then WordPiece) or "japanese-characters". The Japanese kinds require the extra
            `kerasbert[japanese]`.
        texts: The texts, of any iterable, such as a generator over the lines of files.
        vocabulary_size: The maximum number of tokens, special ones included.
        lowercase: Lowercase the texts, in training and when encoding. None: True for "wordpiece" and "sentencepiece", else False. "bpe"
            keeps the case.
        min_frequency: The minimum number of occurrences of a token. None: 2. Of "wordpiece", "bpe" and "japanese".
        dictionary: The Python package of MeCab's dictionary. None: "unidic_lite". Of the Japanese kinds.

    Returns:
        The tokenizer. Its `save` writes files that `kb.text.tokenizer_from_folder` and transformers read.

    Raises:
        KerasBertError: When the kind is unknown or lacks a setting, there are no texts, an entry is not a text, the size is too small for
            the characters of the texts, one text has nothing to learn but characters, or a package is not installed.

    Example:
        ```python
        tokenizer = kb.text.learn_tokenizer("wordpiece", texts, vocabulary_size=200)
        tokenizer.encode(["the film was dull"], max_length=16).input_ids
        ```
    """
    check_choice(kind, "a kind of tokenizer of", LEARNED_TOKENIZERS)
    check_whole_number(vocabulary_size, "vocabulary_size", _LEAST)
    given = {"lowercase": lowercase, "min_frequency": min_frequency, "dictionary": dictionary}
    settings = _settings(kind, {name: value for name, value in given.items() if value is not None})
    counted = _Counted(texts)
    tokenizer = LEARNED_TOKENIZERS[kind](counted, vocabulary_size, **settings)
    if counted.count == 1 and kind != "japanese-characters" and not _has_learned(tokenizer):
        raise KerasBertError(
            f"expected texts in which words repeat, received one text, of which {kind} learned only characters; "
            "give a corpus with a text in each line"
        )
    return tokenizer


class _Counted:
    """An iterable that counts the texts that it gave."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = each_string(texts)
        self.count = 0

    def __iter__(self) -> Iterator[str]:
        for text in self._texts:
            self.count += 1
            yield text


def _settings(kind: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a kind.

    Raises:
        KerasBertError: When it lacks one, or one has the wrong type.
    """
    known = inspect.signature(LEARNED_TOKENIZERS[kind]).parameters
    if given.get("lowercase") is False and "lowercase" not in known:
        del given["lowercase"]  # it keeps the case anyway
    for name, value in given.items():
        if name not in known or (kind == "japanese-characters" and name == "min_frequency"):
            raise KerasBertError(
                f"expected no {name} for {kind}, which has none, received {shown(value)}; leave it out"
            )
    if "lowercase" in given:
        check_flag(given["lowercase"], "lowercase")
    if "min_frequency" in given:
        check_whole_number(given["min_frequency"], "min_frequency")
    return given


def _has_learned(tokenizer: Tokenizer) -> bool:
    """Tell whether a vocabulary has more than special tokens and characters."""
    special = set(tokenizer.special_tokens().values())
    return any(len(token.lstrip(_MARKS)) > 1 for token in tokenizer.vocabulary if token not in special)
