"""WordPiece inside a TensorFlow graph, for `tf.data` and for SavedModels that take strings.

The steps equal those of the host engine, on string operators of `tensorflow-text` and TensorFlow: special tokens, clean-up, CJK characters,
accents, lower case, punctuation, words, pieces. tensorflow-text's `BertTokenizer` and `FastBertTokenizer` are not used. They fold letters
(final sigma, "ª", "²"), replace control characters by spaces, limit words by bytes, do not find special tokens in a text, and always split
CJK characters.
"""

from types import ModuleType
from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.errors import KerasBertError
from kerasbert.optional import import_optional
from kerasbert.text.character_classes import CharacterClasses, character_classes
from kerasbert.text.wordpiece import WordPiece

_LONGEST_WORD = 100  # characters; a longer word is unknown, in tokenizers as in Google's BERT
_CHARACTER_BYTES = 4
# Special tokens are replaced by single characters ("marks") of an unassigned Unicode plane. Marks in the text itself are replaced first.
_FIRST_MARK = 0x40000
_REPLACEMENT = "\U0004fffd"

# TensorFlow lowercases by ICU's rules, which depend on the process's language and on a sigma's position in its word. `tokenizers` does
# neither. Affected letters are therefore lowercased beforehand: I and J (Turkish, Azerbaijani, Lithuanian), and Sigma.
_LOWER_FIRST = {"I": "i", "J": "j", "Σ": "σ"}
_LOWER_FIRST_WITH_ACCENTS = {"İ": "i̇", "Į": "į", "Ì": "ì", "Í": "í", "Ĩ": "ĩ"}


@keras.utils.register_keras_serializable("kerasbert")
class GraphWordPiece(keras.layers.Layer):
    """A layer of string operators from texts to the three inputs of an encoder.

    Special tokens, truncation ("longest_first") and token types equal those of `WordPiece.encode` and `pack`. Invalid bytes are dropped,
    while the host engine rejects them. Loading a SavedModel requires `import tensorflow_text` first.

    Args:
        tokenizer: A `WordPiece`. Its settings and vocabulary become part of the graph.
        length: Tokens in a sequence, special tokens and padding included.
        **layer: Arguments of `keras.layers.Layer`, such as `name`.

    Raises:
        KerasBertError: When tensorflow-text is not installed, the tokenizer is of another kind, the graph cannot find an added token, or
            `length` is too small for the special tokens.
    """

    def __init__(self, tokenizer: WordPiece, length: int, **layer: Any) -> None:
        super().__init__(**layer)
        self._text = import_tensorflow_text()
        if type(tokenizer) is not WordPiece:
            raise KerasBertError(
                f"expected a WordPiece tokenizer, received {type(tokenizer).__name__}; "
                "tokenize with its encode() before the graph"
            )
        if not hasattr(length, "__index__") or length < 2:
            raise KerasBertError(
                f"expected length to be a whole number of at least 2, the special tokens, received {length!r}"
            )
        self.tokenizer = tokenizer
        self.length = int(length)
        self._classes = character_classes()
        self._marks = _marks(tokenizer)
        self._pieces = self._text.FastWordpieceTokenizer(
            vocab=_model_vocabulary(tokenizer, self._marks),
            max_bytes_per_word=_CHARACTER_BYTES * _LONGEST_WORD,
            token_out_type=tf.int32,
            unknown_token=tokenizer.unk_token,
            no_pretokenization=True,
        )
        marked = [tokenizer.vocabulary.index(token) for token in self._marks]
        self._ids = tf.constant([*range(tokenizer.vocabulary_size), *marked], tf.int32)

    def call(self, texts: tf.Tensor, pairs: tf.Tensor | None = None) -> dict[str, tf.Tensor]:
        """Tokenize texts.

        Args:
            texts: UTF-8 strings of shape (batch,).
            pairs: A second text for each entry.

        Returns:
            `input_ids`, `attention_mask` and `token_type_ids`, int32 of shape (batch, length).

        Raises:
            KerasBertError: When the texts are not strings of shape (batch,), or `length` is 2 for pairs.
        """
        first = self.tokenize(texts)
        if pairs is None:
            return self._pack(first, None)
        if self.length < 3:
            raise KerasBertError(f"expected length of at least 3 for pairs, received {self.length}")
        return self._pack(first, self.tokenize(pairs))

    def tokenize(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Return token ids without truncation, `[CLS]` and `[SEP]`.

        Args:
            texts: UTF-8 strings of shape (batch,).

        Returns:
            int32 of shape (batch, tokens).

        Raises:
            KerasBertError: When the texts are not strings of shape (batch,).
        """
        texts = tf.convert_to_tensor(texts)
        if texts.dtype != tf.string or texts.shape.rank != 1:
            raise KerasBertError(
                f"expected strings of shape (batch,), received {texts.dtype.name} of shape {texts.shape}"
            )
        words = tf.strings.split(self._separate_words(self._mark_special_tokens(texts)))
        too_long = tf.strings.length(words.flat_values, "UTF8_CHAR") > _LONGEST_WORD
        unknown = self._marks[self.tokenizer.unk_token]
        words = words.with_flat_values(tf.where(too_long, unknown, words.flat_values))
        pieces = self._pieces.tokenize(words).merge_dims(1, 2)
        return pieces.with_flat_values(tf.gather(self._ids, pieces.flat_values))

    def get_config(self) -> dict:
        return {**super().get_config(), "tokenizer": self.tokenizer.get_config(), "length": self.length}

    @classmethod
    def from_config(cls, config: dict) -> "GraphWordPiece":
        return cls(**{**config, "tokenizer": WordPiece.from_config(config["tokenizer"])})

    def _mark_special_tokens(self, texts: tf.Tensor) -> tf.Tensor:
        """Replace special tokens in the original text by words of one character each."""
        texts = tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8", errors="replace")
        texts = tf.strings.regex_replace(texts, f"[{''.join(self._marks.values())}]", _REPLACEMENT)
        for token, mark in self._marks.items():
            texts = tf.strings.regex_replace(texts, _literal(token), f" {mark} ")
        return texts

    def _separate_words(self, texts: tf.Tensor) -> tf.Tensor:
        """Normalize texts, and insert spaces between words."""
        classes: CharacterClasses = self._classes
        replace = tf.strings.regex_replace
        texts = replace(texts, f"[{classes.dropped}]", "")
        texts = replace(texts, f"[{classes.space}]", " ")
        if self.tokenizer.tokenize_chinese_chars:
            texts = replace(texts, f"[{classes.ideographs}]", r" \0 ")
        strip_accents = self.tokenizer.strip_accents
        if strip_accents is None:
            strip_accents = self.tokenizer.lowercase
        if strip_accents:
            texts = replace(self._text.normalize_utf8(texts, "NFD"), f"[{classes.accents}]", "")
        if self.tokenizer.lowercase:
            texts = _lowercase(texts, with_accents=not strip_accents)
        return replace(texts, f"[{classes.punctuation}]", r" \0 ")

    def _pack(self, first: tf.RaggedTensor, second: tf.RaggedTensor | None) -> dict[str, tf.Tensor]:
        batch = first.nrows(tf.int32)
        cls_column, sep_column = (
            tf.fill([batch, 1], number) for number in (self.tokenizer.cls_id, self.tokenizer.sep_id)
        )
        if second is None:
            ids = tf.concat([cls_column, first[:, : self.length - 2], sep_column], axis=1)
            boundaries = tf.fill([batch], self.length)
        else:
            first_length, second_length = _truncated_lengths(_lengths(first), _lengths(second), self.length - 3)
            first, second = _truncate(first, first_length), _truncate(second, second_length)
            ids = tf.concat([cls_column, first, sep_column, second, sep_column], axis=1)
            boundaries = first_length + 2
        positions = tf.range(self.length)
        mask = tf.cast(positions < _lengths(ids)[:, None], tf.int32)
        return {
            "input_ids": ids.to_tensor(self.tokenizer.pad_id, shape=(None, self.length)),
            "attention_mask": mask,
            "token_type_ids": mask * tf.cast(positions >= boundaries[:, None], tf.int32),
        }


def import_tensorflow_text() -> ModuleType:
    """Import `tensorflow_text`.

    Raises:
        KerasBertError: When it is not installed.
    """
    return import_optional("tensorflow_text", "tokenizing in a graph")


def _marks(tokenizer: WordPiece) -> dict[str, str]:
    """Return special or added token -> its mark. Longer tokens come first, because they take precedence."""
    names = ("unk_token", "cls_token", "sep_token", "pad_token", "mask_token")
    tokens = {getattr(tokenizer, name): None for name in names}
    for token in tokenizer.added_tokens:
        # lstrip and rstrip only remove spaces, which are not tokens here.
        if token.get("normalized") or token.get("single_word"):
            raise KerasBertError(
                "expected added tokens without normalized and single_word, which need the host engine, "
                f"received {token['content']!r}"
            )
        tokens[token["content"]] = None
    ordered = sorted(tokens, key=len, reverse=True)
    return {token: chr(_FIRST_MARK + number) for number, token in enumerate(ordered)}


def _model_vocabulary(tokenizer: WordPiece, marks: dict[str, str]) -> list[str]:
    """Return the tokens of the model, then the marks. A token that no text can contain keeps its id under a name with spaces."""
    reachable = tokenizer.model_ids()
    tokens = (token if token and token in reachable else f"[no text {token}]" for token in tokenizer.vocabulary)
    return [*tokens, *marks.values()]


def _lowercase(texts: tf.Tensor, with_accents: bool) -> tf.Tensor:
    for upper, lower in {**_LOWER_FIRST, **(_LOWER_FIRST_WITH_ACCENTS if with_accents else {})}.items():
        texts = tf.strings.regex_replace(texts, upper, lower)
    return tf.strings.lower(texts, encoding="utf-8")


def _literal(token: str) -> str:
    """Return a regular expression that matches exactly the token."""
    return "".join(rf"\x{{{ord(character):x}}}" for character in token)


def _truncated_lengths(first: tf.Tensor, second: tf.Tensor, budget: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the lengths of pairs after truncation, as `kerasbert.text.truncation.truncated_lengths` for whole columns."""
    short = tf.minimum(tf.minimum(first, second), budget // 2)
    fits = first + second <= budget
    first_length = tf.where(first > second, budget - short, short)
    return tf.where(fits, first, first_length), tf.where(fits, second, budget - first_length)


def _lengths(ids: tf.RaggedTensor) -> tf.Tensor:
    return tf.cast(ids.row_lengths(), tf.int32)


def _truncate(ids: tf.RaggedTensor, lengths: tf.Tensor) -> tf.RaggedTensor:
    starts = tf.cast(ids.row_starts(), tf.int32)
    indices = tf.ragged.range(starts, starts + lengths, row_splits_dtype=tf.int64)
    return tf.gather(ids.flat_values, indices)
