"""WordPiece inside a TensorFlow graph, for `tf.data` and for SavedModels that take strings.

The steps are those of the host engine, one by one, on `tensorflow-text`'s and TensorFlow's string operators:
special tokens, clean-up, CJK characters, accents, lower case, punctuation, words, pieces. tensorflow-text's own
`BertTokenizer` and `FastBertTokenizer` are not used, since they fold letters (final sigma, "ª", "²"), turn control characters into
spaces, limit words by bytes, know no special tokens in a text, and always split CJK characters.
"""

import tensorflow as tf
import tf_keras as keras

from kerasbert.errors import KerasBertError
from kerasbert.optional import import_optional
from kerasbert.text.character_classes import CharacterClasses, character_classes
from kerasbert.text.wordpiece import WordPiece

_LONGEST_WORD = 100  # characters; a longer word is unknown, in tokenizers as in Google's BERT
_CHARACTER_BYTES = 4
# Special tokens become single characters of a plane in which Unicode has none; such characters in a text become another.
_MARKS = 0x40000
_OTHER = "\U0004fffd"

# TensorFlow lowers by ICU's rules for the process's language and for a sigma's place in its word, tokenizers by neither.
# What those rules touch is lowered beforehand: Turkish, Azerbaijani and Lithuanian I and J, and Sigma.
_LOWER_FIRST = {"I": "i", "J": "j", "Σ": "σ"}
_LOWER_FIRST_WITH_ACCENTS = {"İ": "i̇", "Į": "į", "Ì": "ì", "Í": "í", "Ĩ": "ĩ"}


@keras.utils.register_keras_serializable("kerasbert")
class GraphWordPiece(keras.layers.Layer):
    """Texts to the three inputs of an encoder, as a layer of string operators.

    Special tokens, truncation ("longest_first") and token types are those of `WordPiece.encode` and `pack`. Invalid bytes are dropped;
    the host engine refuses them. A loaded SavedModel needs `import tensorflow_text` first.

    Args:
      tokenizer: a `WordPiece`; its settings and vocabulary become part of the graph.
      length: tokens a row, special tokens and padding included.

    Raises:
      KerasBertError: tensorflow-text is not installed, another kind of tokenizer, an added token that the graph cannot find, or a
        `length` too small for the special tokens.
    """

    def __init__(self, tokenizer: WordPiece, length: int, **layer):
        super().__init__(**layer)
        self._text = tensorflow_text()
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
        """`input_ids`, `attention_mask` and `token_type_ids`, int32 of shape (rows, length).

        Args:
          texts: UTF-8 strings of shape (rows,).
          pairs: a second text for every row.

        Raises:
          KerasBertError: not strings of shape (rows,), or a `length` of 2 with pairs.
        """
        first = self.tokenize(texts)
        if pairs is None:
            return self._packed(first, None)
        if self.length < 3:
            raise KerasBertError(f"expected length of at least 3 for pairs, received {self.length}")
        return self._packed(first, self.tokenize(pairs))

    def tokenize(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """The token ids of texts of shape (rows,), int32 of shape (rows, tokens), not cut and without `[CLS]` and `[SEP]`.

        Raises:
          KerasBertError: not strings of shape (rows,).
        """
        texts = tf.convert_to_tensor(texts)
        if texts.dtype != tf.string or texts.shape.rank != 1:
            raise KerasBertError(
                f"expected strings of shape (rows,), received {texts.dtype.name} of shape {texts.shape}"
            )
        words = tf.strings.split(self._separated(self._with_marks(texts)))
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

    def _with_marks(self, texts: tf.Tensor) -> tf.Tensor:
        """Special tokens, which are found in the text as it was given, become words of one character each."""
        texts = tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8", errors="replace")
        texts = tf.strings.regex_replace(texts, f"[{''.join(self._marks.values())}]", _OTHER)
        for token, mark in self._marks.items():
            texts = tf.strings.regex_replace(texts, _literal(token), f" {mark} ")
        return texts

    def _separated(self, texts: tf.Tensor) -> tf.Tensor:
        """Normalized texts with spaces between words."""
        classes: CharacterClasses = self._classes
        replace = tf.strings.regex_replace
        texts = replace(texts, f"[{classes.dropped}]", "")
        texts = replace(texts, f"[{classes.space}]", " ")
        if self.tokenizer.tokenize_chinese_chars:
            texts = replace(texts, f"[{classes.ideographs}]", r" \0 ")
        accents_go = self.tokenizer.strip_accents
        if accents_go is None:
            accents_go = self.tokenizer.lowercase
        if accents_go:
            texts = replace(self._text.normalize_utf8(texts, "NFD"), f"[{classes.accents}]", "")
        if self.tokenizer.lowercase:
            texts = _lowered(texts, with_accents=not accents_go)
        return replace(texts, f"[{classes.punctuation}]", r" \0 ")

    def _packed(self, first: tf.RaggedTensor, second: tf.RaggedTensor | None) -> dict[str, tf.Tensor]:
        rows = first.nrows(tf.int32)
        cls_column, sep_column = (
            tf.fill([rows, 1], number) for number in (self.tokenizer.cls_id, self.tokenizer.sep_id)
        )
        if second is None:
            ids = tf.concat([cls_column, first[:, : self.length - 2], sep_column], axis=1)
            boundaries = tf.fill([rows], self.length)
        else:
            keep_first, keep_second = _kept(_lengths(first), _lengths(second), self.length - 3)
            first, second = _cut(first, keep_first), _cut(second, keep_second)
            ids = tf.concat([cls_column, first, sep_column, second, sep_column], axis=1)
            boundaries = keep_first + 2
        places = tf.range(self.length)
        mask = tf.cast(places < _lengths(ids)[:, None], tf.int32)
        return {
            "input_ids": ids.to_tensor(self.tokenizer.pad_id, shape=(None, self.length)),
            "attention_mask": mask,
            "token_type_ids": mask * tf.cast(places >= boundaries[:, None], tf.int32),
        }


def tensorflow_text():
    """The package. Raises KerasBertError where it is not installed."""
    return import_optional("tensorflow_text", "tokenizing in a graph")


def _marks(tokenizer: WordPiece) -> dict[str, str]:
    """Token to look for in a text -> the character that stands for it; longer tokens first, as they win."""
    names = ("unk_token", "cls_token", "sep_token", "pad_token", "mask_token")
    tokens = {getattr(tokenizer, name): None for name in names}
    for token in tokenizer.added_tokens:
        # lstrip and rstrip only take spaces away, which are no tokens here.
        if token.get("normalized") or token.get("single_word"):
            raise KerasBertError(
                "expected added tokens without normalized and single_word, which need the host engine, "
                f"received {token['content']!r}"
            )
        tokens[token["content"]] = None
    ordered = sorted(tokens, key=len, reverse=True)
    return {token: chr(_MARKS + number) for number, token in enumerate(ordered)}


def _model_vocabulary(tokenizer: WordPiece, marks: dict[str, str]) -> list[str]:
    """What words are split into, then the marks. A token that no text has keeps its id under a name with spaces."""
    reachable = tokenizer._model_ids()
    tokens = (token if token and token in reachable else f"[no text {token}]" for token in tokenizer.vocabulary)
    return [*tokens, *marks.values()]


def _lowered(texts: tf.Tensor, with_accents: bool) -> tf.Tensor:
    for upper, lower in {**_LOWER_FIRST, **(_LOWER_FIRST_WITH_ACCENTS if with_accents else {})}.items():
        texts = tf.strings.regex_replace(texts, upper, lower)
    return tf.strings.lower(texts, encoding="utf-8")


def _literal(token: str) -> str:
    """A regex for the token itself."""
    return "".join(rf"\x{{{ord(character):x}}}" for character in token)


def _kept(first: tf.Tensor, second: tf.Tensor, room: int) -> tuple[tf.Tensor, tf.Tensor]:
    """How many tokens stay of two texts that share `room`: `kerasbert.text.truncation.kept` on whole columns."""
    short = tf.minimum(tf.minimum(first, second), room // 2)
    short_and_long = short, room - short
    fits = first + second <= room
    keep_first = tf.where(first > second, short_and_long[1], short)
    return tf.where(fits, first, keep_first), tf.where(fits, second, room - keep_first)


def _lengths(rows: tf.RaggedTensor) -> tf.Tensor:
    return tf.cast(rows.row_lengths(), tf.int32)


def _cut(rows: tf.RaggedTensor, counts: tf.Tensor) -> tf.RaggedTensor:
    starts = tf.cast(rows.row_starts(), tf.int32)
    places = tf.ragged.range(starts, starts + counts, row_splits_dtype=tf.int64)
    return tf.gather(rows.flat_values, places)
