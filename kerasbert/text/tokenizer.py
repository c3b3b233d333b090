"""The base class of all tokenizers.

The engine is Hugging Face's `tokenizers`, built from the same components as the checkpoint's own tokenizer. Ids and offsets therefore equal
those of that tokenizer. Special tokens and truncation are applied here (see `kerasbert.text.truncation`).
"""

import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.files.known_keys import KnownKeys
from kerasbert.text import tokenizer_files
from kerasbert.text.added_tokens import AddedTokens, merge_added_tokens, read_added_tokens
from kerasbert.text.config_check import check_config
from kerasbert.text.encoded import Encoded, Numbered, Segment, Template
from kerasbert.text.engine_tokens import EngineTokens
from kerasbert.text.long_texts import PIECE
from kerasbert.text.segmenters import joined_words, words_by
from kerasbert.text.strings import as_strings
from kerasbert.text.tokenizer_files import SettingFile, TokenizerFolder
from kerasbert.text.tokenizer_keys import check_settings_files
from kerasbert.text.truncation import WHOLE, text_budget, truncated_lengths

_TEXTS = 1024  # whose tokens are converted to arrays at once
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class Tokenizer(EngineTokens):
    """The base of all tokenizers. A subclass builds the engine, and defines its settings and files.

    Args:
        vocabulary: The tokens in the order of their ids.
        unk_token: The unknown token, in the vocabulary. Default, here and below: the usual name for this kind of checkpoint.
        cls_token: The token at the start of a sequence.
        sep_token: The token after each text.
        pad_token: The padding token.
        mask_token: The mask token.
        added_tokens: Tokens that are found before a text is split into words, as `AddedToken` fields: `content`, and those of `lstrip`,
            `rstrip`, `single_word` and `normalized` that are true. All are in the vocabulary. A special token may be among them, to
            change its fields.
        model_max_length: The maximum sequence length of the checkpoint, special tokens included, or None.

    Raises:
        KerasBertError: When a token of the vocabulary is a duplicate or contains a line break, the last one is empty, or a special or
            added token is missing.

    Example:
        ```python
        tokenizer = task.tokenizer
        encoded = tokenizer.encode(["wake me at six"], ["set an alarm"], max_length=16)
        encoded.input_ids[0], encoded.token_type_ids[0]
        ```
    """

    kind: ClassVar[str]
    flags: ClassVar[Mapping[str, str]] = {}  # Hugging Face's name -> ours, of Boolean settings
    settings: ClassVar[
        Sequence[str]
    ] = ()  # the constructor's arguments in `get_config` beside the common ones; default: the flags
    files: ClassVar[Mapping[str, SettingFile]]  # the vocabulary files by the arguments that they hold
    hub_class: ClassVar[str]  # `tokenizer_class` of tokenizer_config.json
    config_keys: ClassVar[KnownKeys]  # of tokenizer_config.json
    template: ClassVar[Template] = Template()

    @classmethod
    def from_folder(cls, path: str | os.PathLike) -> Self:
        """Read the vocabulary files of this kind, `tokenizer_config.json` and `special_tokens_map.json` of a Hugging Face folder.

        `kerasbert.text.tokenizer_from_folder` also reads `tokenizer.json`.

        Args:
            path: The folder.

        Returns:
            The tokenizer.

        Raises:
            KerasBertError: When a file is missing or damaged, or the constructor rejects the vocabulary.
        """
        return cls._from_folder(path, {})

    @classmethod
    def _from_folder(cls, path: str | os.PathLike | TokenizerFolder, defaults: Mapping[str, Any]) -> Self:
        """Read a folder as `from_folder` does. `defaults` are settings that apply if the files contain none."""
        folder = TokenizerFolder.of(path)
        check_settings_files(folder, cls.config_keys, cls.template.second_type)
        settings = {**cls._read_files(folder), **defaults, **tokenizer_files.read_settings(folder, cls.flags)}
        settings = cls._with_letter_case(settings, folder.path)
        return cls._from_settings(settings, read_added_tokens(folder), folder.path)

    @classmethod
    def _from_settings(cls, settings: Mapping[str, Any], added: AddedTokens, path: Path) -> Self:
        """Build a tokenizer from the settings and the added tokens of a file or folder, which errors name."""
        try:
            return cls.from_config(merge_added_tokens(cls, settings, added))
        except KerasBertError as error:
            raise KerasBertError(f"{path}: {error}") from None

    @classmethod
    def from_config(cls, config: Mapping) -> Self:
        """Build a tokenizer from the result of `get_config`.

        Args:
            config: The result of `get_config`.

        Returns:
            The tokenizer.

        Raises:
            KerasBertError: When the config is that of another kind, or a setting is unknown or of the wrong type.
        """
        arguments = dict(config)
        kind = arguments.pop("kind", cls.kind)
        if kind != cls.kind:
            raise KerasBertError(f"expected the config of a {cls.kind} tokenizer, received one of kind {kind!r}")
        signatures = (inspect.signature(base.__init__) for base in cls.__mro__)
        parameters = [parameter for signature in signatures for parameter in signature.parameters.values()]
        known = {parameter.name for parameter in parameters if parameter.kind in _NAMED} - {"self"}
        check_config(arguments, cls.kind, known, cls.flags.values())
        return cls(**arguments)

    def save(self, folder: str | os.PathLike) -> None:
        """Write the files from which `from_folder`, and Hugging Face's own class, rebuild this tokenizer.

        Args:
            folder: The folder.
        """
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, file in self.files.items():
            file.write(Path(folder) / file.name, getattr(self, name))
        flags = {key: getattr(self, name) for key, name in self.flags.items()}
        limit = {} if self.model_max_length is None else {"model_max_length": self.model_max_length}
        config = {**self._file_settings(), **flags, **self.special_tokens(), **limit}
        if described := self._described_tokens():
            config["added_tokens_decoder"] = {
                str(self._ids[token["content"]]): {**tokenizer_files.ADDED_TOKEN_FIELDS, **token} for token in described
            }
        tokenizer_files.write_json(Path(folder) / tokenizer_files.TOKENIZER_CONFIG, config)

    def get_config(self) -> dict[str, Any]:
        """Return all settings for `from_config` as JSON-compatible values, the vocabulary as a list included."""
        config = {"kind": self.kind, "vocabulary": list(self._vocabulary), **self._settings(), **self.special_tokens()}
        if self.added_tokens:
            config["added_tokens"] = [dict(token) for token in self.added_tokens]
        return {**config, "model_max_length": self.model_max_length}

    def effective_config(self) -> dict[str, Any]:
        """Return the settings that decide token ids: those of `get_config` with defaults resolved, without settings of no effect.

        Two tokenizers with equal results convert every text to the same ids.
        """
        config = {name: value for name, value in self.get_config().items() if name != "model_max_length"}
        plain: dict[str, dict[str, Any]] = {token: {} for token in self.special_tokens().values()}
        if self.mask_takes_space:
            plain[self.mask_token] = {"lstrip": True}
        flags = {
            token["content"]: {name: True for name, flag in sorted(token.items()) if name != "content" and flag}
            for token in self.added_tokens
        }
        config["added_tokens"] = {token: flags[token] for token in sorted(flags) if flags[token] != plain.get(token)}
        return config

    def encode(
        self,
        texts: Sequence[str],
        pairs: Sequence[str] | None = None,
        *,
        max_length: int,
        truncation: str = "longest_first",
    ) -> Encoded:
        """Convert texts, or pairs of texts, to token ids.

        Args:
            texts: A list, tuple or one-dimensional array of strings. Bytes are decoded as UTF-8.
            pairs: A second text for each entry.
            max_length: The maximum length of a sequence, special tokens included. Tokens are removed from the end of a text.
            truncation: The text that is truncated: "longest_first" (the longer one, then both), "only_first" or "only_second".

        Returns:
            The token ids, without padding.

        Raises:
            KerasBertError: When an entry is not a text, the numbers of texts and pairs differ, or `truncation` is unknown. When
                `max_length` is too small for the special tokens, or for the text that must not be truncated.
        """
        texts = as_strings(texts, "texts")
        pairs = None if pairs is None else as_strings(pairs, "pairs")
        if pairs is not None and len(pairs) != len(texts):
            raise KerasBertError(f"expected as many pairs as texts, received {len(texts)} texts, {len(pairs)} pairs")
        paired = pairs is not None
        budget = text_budget(max_length, self.template.special_tokens(paired), truncation, paired)
        first = self._token_ids(texts, budget)
        second = None if pairs is None else self._token_ids(pairs, budget)

        def segments() -> tuple[Sequence[Segment], Sequence[Segment] | None]:
            return self._segments(texts, budget), None if pairs is None else self._segments(pairs, budget)

        if pairs is None or second is None:
            input_ids, truncated = self.template.assemble(first, budget, self.cls_id, self.sep_id)
            return Encoded(input_ids, list(map(len, input_ids)), truncated, self.template, segments)
        input_ids, boundaries, truncated = [], [], 0
        for row, (a, b) in enumerate(zip(first, second, strict=True)):
            count_a, count_b = len(a), len(b)
            decisive = {"only_first": count_b, "only_second": count_a}.get(truncation, min(count_a, count_b))
            if decisive > budget and max(len(texts[row]), len(pairs[row])) > PIECE:
                # Tokens were left out whose number decides which text is longer, or is part of an error.
                count_a, count_b = self._count(texts[row]), self._count(pairs[row])
            length_a, length_b = truncated_lengths(count_a, count_b, budget, truncation, row)
            truncated += length_a + length_b < count_a + count_b
            ids, boundary = self.template.assemble_pair(a[:length_a], b[:length_b], self.cls_id, self.sep_id)
            input_ids.append(ids)
            boundaries.append(boundary)
        return Encoded(input_ids, boundaries, truncated, self.template, segments)

    def _described_tokens(self) -> list[Mapping[str, Any]]:
        """Return the added tokens, and a mask that takes the space before it: transformers 5 knows that of published folders only."""
        named = {token["content"] for token in self.added_tokens}
        takes_space = self.mask_takes_space and self.mask_token not in named
        return [*self.added_tokens, *([{"content": self.mask_token, "lstrip": True}] if takes_space else [])]

    def token_ids(self, texts: Iterable[str]) -> list[np.ndarray]:
        """Convert whole texts to token ids alone: no special tokens around them, no truncation, nothing else kept.

        Args:
            texts: A list, tuple or one-dimensional array of strings. Bytes are decoded as UTF-8.

        Returns:
            The token ids of each text, int32 `(tokens,)`.

        Raises:
            KerasBertError: When an entry is not a text.

        Example:
            ```python
            task.tokenizer.token_ids(["wake me at six"])[0].dtype  # dtype('int32')
            ```
        """
        rows: list[np.ndarray] = []
        for part in _parts(as_strings(texts)):
            rows += [np.array(ids, np.int32) for ids in self._token_ids(part, WHOLE)]
        return rows

    def token_words(
        self, texts: Iterable[str], words: str | Callable[[str], Iterable[str]] | None = None
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Convert whole texts to token ids, with the number of the word that each token belongs to.

        Args:
            texts: A list, tuple or one-dimensional array of strings. Bytes are decoded as UTF-8.
            words: What finds words. None: the tokenizer, see `Encoded.word_ids`. "jieba": Chinese words by jieba, of the extra
                `kerasbert[chinese]`. "spaces": words are separated by white space in the texts. Or a function that returns the words of
                a text in their order; it may leave characters out. A word of the tokenizer is never divided.

        Returns:
            The token ids of each text, as of `token_ids`, and their word numbers, int32 `(tokens,)`. Numbers increase along a text.

        Raises:
            KerasBertError: When an entry is not a text, `words` is unknown or its package is not installed, or a function returns
                something else than words of the text.

        Example:
            ```python
            ids, words = task.tokenizer.token_words(["wake me at six"])
            ids[0].shape == words[0].shape  # True
            ```
        """
        bounds_of = None if words is None else words_by(words)
        ids: list[np.ndarray] = []
        numbers: list[np.ndarray] = []
        for part in _parts(as_strings(texts)):
            if bounds_of is None:
                rows: Sequence[Numbered] = self._numbered(part)
                numbers += [joined_words(row.word_ids) for row in rows]
            else:
                rows = segments = self._segments(part, WHOLE)
                for text, segment in zip(part, segments, strict=True):
                    numbers.append(joined_words(segment.word_ids, segment.offsets, bounds_of(text)))
            ids += [np.array(row.ids, np.int32) for row in rows]
        return ids, numbers

    def tokens(self, text: str | Sequence[int] | np.ndarray) -> list[str]:
        """Return the tokens of a text, or those of token ids.

        Args:
            text: A text, whose tokens are those of `token_ids`; or the ids of one row, `(tokens,)`, such as one of `input_ids`.

        Returns:
            The tokens as they stand in the vocabulary. Those of ids include special ones.

        Raises:
            KerasBertError: When it is neither, or an id is not in the vocabulary.

        Example:
            ```python
            task.tokenizer.tokens("wake me at six")
            task.tokenizer.tokens([2, 43, 3])[0]  # '[CLS]'
            ```
        """
        return self._tokens_of(self.token_ids([text])[0] if isinstance(text, str) else text)

    def decode(self, ids: Sequence[int] | np.ndarray, skip_special_tokens: bool = False) -> str:
        """Join the tokens of ids to a text: pieces of a word together, no space before punctuation.

        What the tokenizer removes is not in it, such as capitals and further white space. Japanese words have spaces between them.

        Args:
            ids: The ids of one row, `(tokens,)`.
            skip_special_tokens: Whether to leave out `[CLS]`, `[SEP]`, `[PAD]`, `[MASK]` and `[UNK]`.

        Returns:
            The text.

        Raises:
            KerasBertError: When an id is not in the vocabulary.

        Example:
            ```python
            ids = task.tokenizer.encode(["Wake me!"], max_length=16).input_ids[0]
            task.tokenizer.decode(ids)  # '[CLS] wake me! [SEP]'
            ```
        """
        special = set(self.special_tokens().values()) if skip_special_tokens else ()
        return self._decoder().decode([token for token in self._tokens_of(ids) if token not in special])

    def _tokens_of(self, ids: Sequence[int] | np.ndarray) -> list[str]:
        row = np.asarray(ids)
        if row.ndim != 1 or (row.size and row.dtype.kind not in "iu"):
            received = f"{type(ids).__name__} of shape {row.shape} and type {row.dtype}"
            raise KerasBertError(
                f"expected the token ids of one row as whole numbers, received {received}; pass one row"
            )
        if row.size and not 0 <= row.min() <= row.max() < self.vocabulary_size:
            wrong = int(row[(row < 0) | (row >= self.vocabulary_size)][0])
            raise KerasBertError(
                f"expected token ids from 0 to {self.vocabulary_size - 1}, received {wrong}; pass ids of this vocabulary"
            )
        return [self._vocabulary[number] for number in row.tolist()]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.vocabulary_size} tokens)"

    def __reduce__(self) -> tuple:
        return type(self).from_config, (self.get_config(),)

    def _settings(self) -> dict[str, Any]:
        """Return the settings of this kind under the names of the constructor's arguments, as JSON-compatible values."""
        values = {name: getattr(self, name) for name in self.settings or self.flags.values()}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    def _file_settings(self) -> dict[str, Any]:
        """Return the content of `tokenizer_config.json` beside `flags`, special tokens and the maximum length."""
        return {"tokenizer_class": self.hub_class}

    @classmethod
    def _with_letter_case(cls, settings: dict[str, Any], folder: str | os.PathLike) -> dict[str, Any]:
        """Return the settings with those about letter case and accents, if the files of the folder contain none."""
        return settings

    @classmethod
    def _read_files(cls, folder: TokenizerFolder) -> dict[str, Any]:
        """Read the arguments of `from_config` that the vocabulary files hold."""
        return {name: file.read(folder.path / file.name) for name, file in cls.files.items()}


def _parts(texts: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(texts), _TEXTS):
        yield texts[start : start + _TEXTS]
