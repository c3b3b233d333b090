"""WordPiece: text to the token ids of a BERT checkpoint.

The engine is Hugging Face's `tokenizers`, with the parts `BertTokenizerFast` is put together from, so the ids are
those of the checkpoint's own tokenizer. Only cutting to a length is done here: `tokenizers` keeps truncation as a
setting of the shared engine and builds every cut-off piece, for two long texts every combination of them.
"""

import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.text import tokenizer_files
from kerasbert.text.encoded import Encoded
from kerasbert.text.rows import text_rows
from kerasbert.text.vocabulary_learning import SPECIAL_TOKENS, learn_vocabulary

TRUNCATIONS = ("longest_first", "only_first", "only_second")
_UNLIMITED = 1_000_000_000  # Hugging Face writes int(1e30) for "no limit"


class WordPiece:
    """BERT's tokenizer (Devlin et al. 2019, arXiv:1810.04805): words, then greedy longest match in a vocabulary.

    Args:
      vocabulary: the tokens; a token's place is its id. Continuations start with `##`.
      lowercase: lower the text; False for cased checkpoints.
      strip_accents: remove accents; None does so exactly when `lowercase` is on.
      tokenize_chinese_chars: make every CJK ideograph a word of its own.
      unk_token, cls_token, sep_token, pad_token, mask_token: the special tokens; each must be in the vocabulary.
      model_max_length: the longest row the checkpoint was made for, special tokens included; None if unknown.

    Raises:
      KerasBertError: a vocabulary with a duplicate, an empty token or a line break in one, or without a special token.
    """

    def __init__(
        self,
        vocabulary: Sequence[str],
        *,
        lowercase: bool = True,
        strip_accents: bool | None = None,
        tokenize_chinese_chars: bool = True,
        unk_token: str = "[UNK]",
        cls_token: str = "[CLS]",
        sep_token: str = "[SEP]",
        pad_token: str = "[PAD]",
        mask_token: str = "[MASK]",
        model_max_length: int | None = None,
    ):
        self._vocabulary = tuple(vocabulary)
        self._ids = _token_ids(self._vocabulary)
        self.lowercase = bool(lowercase)
        self.strip_accents = strip_accents if strip_accents is None else bool(strip_accents)
        self.tokenize_chinese_chars = bool(tokenize_chinese_chars)
        self.unk_token = unk_token
        self.cls_token = cls_token
        self.sep_token = sep_token
        self.pad_token = pad_token
        self.mask_token = mask_token
        limited = model_max_length is not None and model_max_length < _UNLIMITED
        self.model_max_length = int(model_max_length) if limited else None
        for role, token in self._special_tokens().items():
            if token not in self._ids:
                raise KerasBertError(
                    f"Expected the {role} in the vocabulary. Received: {len(self._ids)} tokens without {token!r}. "
                    f"Add it, or name the right token with {role}=."
                )

    @classmethod
    def from_folder(cls, path: str | os.PathLike) -> "WordPiece":
        """Reads the tokenizer of a Hugging Face folder: `vocab.txt`, and what there is of `tokenizer_config.json`
        and `special_tokens_map.json`. Without them the settings are those of an uncased BERT, as in Hugging Face.

        Raises:
          KerasBertError: a missing or damaged file, or a vocabulary that the constructor refuses.
        """
        vocabulary = tokenizer_files.read_vocabulary(Path(path) / tokenizer_files.VOCABULARY)
        settings = tokenizer_files.read_settings(path)
        try:
            return cls(vocabulary, **settings)
        except KerasBertError as error:
            raise KerasBertError(f"{path}: {error}") from None

    @classmethod
    def from_config(cls, config: dict) -> "WordPiece":
        """The tokenizer that `get_config` described."""
        return cls(**config)

    @classmethod
    def train(
        cls, texts: Iterable[str], vocabulary_size: int, lowercase: bool = True, min_frequency: int = 2
    ) -> "WordPiece":
        """Learns a vocabulary from texts.

        Args:
          texts: the texts, one string each.
          vocabulary_size: the most tokens to end with, the five special ones included; fewer if the texts hold fewer.
          lowercase: lower the texts, now and when encoding.
          min_frequency: a word piece must occur so often to become a token.

        Raises:
          KerasBertError: no texts, a row that is not a text, or fewer tokens asked for than the texts have characters.
        """
        rows = text_rows(texts)
        engine = cls(SPECIAL_TOKENS, lowercase=lowercase)._engine
        return cls(learn_vocabulary(engine, rows, vocabulary_size, min_frequency), lowercase=lowercase)

    def save(self, folder: str | os.PathLike) -> None:
        """Writes `vocab.txt` and `tokenizer_config.json`, as Hugging Face's `BertTokenizer` reads them."""
        tokenizer_files.write(folder, self._vocabulary, self._settings())

    def get_config(self) -> dict:
        """All settings, the vocabulary included, as JSON-able values for `from_config`."""
        return {"vocabulary": list(self._vocabulary), **self._settings()}

    def encode(
        self,
        texts: Sequence[str],
        pairs: Sequence[str] | None = None,
        *,
        max_length: int,
        truncation: str = "longest_first",
    ) -> Encoded:
        """Token ids of texts, or of pairs of texts.

        Args:
          texts: list, tuple or one-dimensional array of strings; bytes are read as UTF-8.
          pairs: a second text for every row.
          max_length: the most tokens a row may have, special tokens included; tokens are cut off at the end of a text.
          truncation: which text gives way: "longest_first" (the longer one, then both), "only_first", "only_second".

        Raises:
          KerasBertError: a row that is not a text, another number of pairs than texts, an unknown `truncation`, a
            `max_length` too small for the special tokens, or rows that cannot be cut to it by the rule asked for.
        """
        texts = text_rows(texts, "texts")
        pairs = None if pairs is None else text_rows(pairs, "pairs")
        if pairs is not None and len(pairs) != len(texts):
            raise KerasBertError(f"Expected as many pairs as texts. Received: {len(texts)} texts, {len(pairs)} pairs.")
        room = self._room(max_length, truncation, paired=pairs is not None)
        if pairs is None:
            truncation = "longest_first"
        first = self._token_ids(texts)
        second = None if pairs is None else self._token_ids(pairs)

        cls_id, sep_id = [self.cls_id], [self.sep_id]
        input_ids, token_type_ids, truncated = [], [], 0
        for row, a in enumerate(first):
            b = second[row] if second is not None else []
            keep_a, keep_b = _kept(len(a), len(b), room, truncation, row)
            truncated += keep_a + keep_b < len(a) + len(b)
            ids = cls_id + a[:keep_a] + sep_id
            types = [0] * len(ids)
            if second is not None:
                ids += b[:keep_b] + sep_id
                types += [1] * (keep_b + 1)
            input_ids.append(ids)
            token_type_ids.append(types)
        return Encoded(input_ids, token_type_ids, truncated, lambda: self._with_offsets(texts, pairs))

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The tokens in the order of their ids."""
        return self._vocabulary

    @property
    def vocabulary_size(self) -> int:
        return len(self._vocabulary)

    @property
    def pad_id(self) -> int:
        return self._ids[self.pad_token]

    @property
    def unk_id(self) -> int:
        return self._ids[self.unk_token]

    @property
    def cls_id(self) -> int:
        return self._ids[self.cls_token]

    @property
    def sep_id(self) -> int:
        return self._ids[self.sep_token]

    @property
    def mask_id(self) -> int:
        return self._ids[self.mask_token]

    def __repr__(self) -> str:
        return f"WordPiece({self.vocabulary_size} tokens, {'uncased' if self.lowercase else 'cased'})"

    def __reduce__(self):
        return _from_config, (self.get_config(),)

    def _settings(self) -> dict:
        return {
            "lowercase": self.lowercase,
            "strip_accents": self.strip_accents,
            "tokenize_chinese_chars": self.tokenize_chinese_chars,
            **self._special_tokens(),
            "model_max_length": self.model_max_length,
        }

    def _special_tokens(self) -> dict[str, str]:
        return {role: getattr(self, role) for role in tokenizer_files.SPECIAL_TOKENS}

    @cached_property
    def _engine(self):
        from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

        engine = Tokenizer(models.WordPiece(self._ids, unk_token=self.unk_token, max_input_chars_per_word=100))
        engine.normalizer = normalizers.BertNormalizer(
            clean_text=True,
            handle_chinese_chars=self.tokenize_chinese_chars,
            strip_accents=self.strip_accents,
            lowercase=self.lowercase,
        )
        engine.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        # As in BertTokenizerFast, a special token's name inside a text is that token: "[MASK]" in a cloze, for example.
        engine.add_special_tokens([AddedToken(token, normalized=False) for token in self._special_tokens().values()])
        return engine

    def _token_ids(self, texts: list[str]) -> list[list[int]]:
        return [row.ids for row in self._engine.encode_batch_fast(texts, add_special_tokens=False)]

    def _with_offsets(self, texts: list[str], pairs: list[str] | None) -> tuple[list, list | None]:
        first = self._engine.encode_batch(texts, add_special_tokens=False)
        return first, pairs if pairs is None else self._engine.encode_batch(pairs, add_special_tokens=False)

    def _room(self, max_length: int, truncation: str, paired: bool) -> int:
        if truncation not in TRUNCATIONS:
            raise KerasBertError(
                f"Expected truncation to be one of {', '.join(TRUNCATIONS)}. Received: {truncation!r}."
            )
        if truncation == "only_second" and not paired:
            raise KerasBertError('Expected pairs for truncation="only_second". Received: single texts.')
        special = 3 if paired else 2
        if not hasattr(max_length, "__index__") or max_length < special:
            kind = "pairs" if paired else "texts"
            raise KerasBertError(
                f"Expected max_length to be a whole number of at least {special}, the special tokens of {kind}. "
                f"Received: {max_length!r}."
            )
        return int(max_length) - special


def _from_config(config: dict) -> WordPiece:
    return WordPiece.from_config(config)


def _token_ids(vocabulary: Sequence[str]) -> dict[str, int]:
    ids: dict[str, int] = {}
    for number, token in enumerate(vocabulary):
        if not isinstance(token, str) or not token or "\n" in token or "\r" in token:
            raise KerasBertError(
                f"Expected tokens of at least one character, no line breaks. Received: {token!r} as token {number}."
            )
        if token in ids:
            raise KerasBertError(f"Expected distinct tokens. Received: {token!r} as tokens {ids[token]} and {number}.")
        ids[token] = number
    return ids


def _kept(first: int, second: int, room: int, truncation: str, row: int) -> tuple[int, int]:
    """How many tokens stay of two segments that share `room`; the counts are those of `tokenizers`' truncation."""
    if first + second <= room:
        return first, second
    if truncation == "longest_first":
        short = min(first, second)
        if 2 * short > room:
            short, long = room // 2, room - room // 2
        else:
            long = room - short
        # Of two equally long texts the second keeps the odd token.
        return (long, short) if first > second else (short, long)
    other = second if truncation == "only_first" else first
    if other >= room:
        raise KerasBertError(
            f'Expected truncation="{truncation}" to leave tokens of both texts. Received: row {row}, whose other '
            f"text has {other} tokens where there is room for {room}. Raise max_length or take longest_first."
        )
    return (room - other, other) if truncation == "only_first" else (other, room - other)
