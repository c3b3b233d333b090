"""The base class of all tokenizers.

The engine is Hugging Face's `tokenizers`, built from the same components as the checkpoint's own tokenizer. Ids and offsets therefore equal
those of that tokenizer. Special tokens and truncation are applied here (see `kerasbert.text.truncation`).
"""

import inspect
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from kerasbert.errors import KerasBertError
from kerasbert.files.known_keys import KnownKeys
from kerasbert.text import tokenizer_files
from kerasbert.text.added_tokens import AddedTokens, merge_added_tokens, read_added_tokens
from kerasbert.text.config_check import check_config
from kerasbert.text.encoded import Encoded, Segment, Template
from kerasbert.text.engine_errors import engine_errors
from kerasbert.text.long_texts import PIECE, PiecedSegment, by_chunk, growing_batches, pieces, word_ends
from kerasbert.text.strings import as_strings
from kerasbert.text.tokenizer_files import SettingFile, TokenizerFolder
from kerasbert.text.tokenizer_keys import check_settings_files
from kerasbert.text.truncation import text_budget, truncated_lengths
from kerasbert.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Engine

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class Tokenizer(Vocabulary):
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
    word_spaces: str = " "  # the characters that end a word wherever they stand between two letters
    splits_punctuation: bool = False  # whether each punctuation character is a word of its own, see `word_ends`
    splits_ideographs: bool = False  # whether each ideograph is

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
        if self.added_tokens:
            config["added_tokens_decoder"] = {
                str(self._ids[token["content"]]): {**tokenizer_files.ADDED_TOKEN_FIELDS, **token}
                for token in self.added_tokens
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

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.vocabulary_size} tokens)"

    def __reduce__(self) -> tuple:
        return type(self).from_config, (self.get_config(),)

    @cached_property
    def _engine(self) -> "Engine":
        """The `tokenizers.Tokenizer`. It adds no special tokens around a text."""
        from tokenizers import AddedToken

        with engine_errors():
            engine = self._build_engine()
        # As in Hugging Face, a special token's name inside a text is that token, for example "[MASK]" in a cloze.
        fields: dict[str, dict[str, Any]] = {token: {"normalized": False} for token in self.special_tokens().values()}
        if self.mask_takes_space:
            fields[self.mask_token] = {"normalized": False, "lstrip": True}
        fields |= {token["content"]: {"normalized": False, **token} for token in self.added_tokens}
        for token in fields.values():
            token.pop("content", None)
        with engine_errors():
            ordered = sorted(fields, key=lambda token: self._ids[token])
            engine.add_special_tokens([AddedToken(token, **fields[token]) for token in ordered])
        return engine

    @cached_property
    def _word_ends(self) -> re.Pattern[str] | None:
        """The places at which a long text may be cut."""
        return word_ends(
            self._found_tokens(),
            self.word_spaces,
            splits_punctuation=self.splits_punctuation,
            splits_ideographs=self.splits_ideographs,
        )

    def _found_tokens(self) -> list[str]:
        """Return the tokens that are found in a text, as they are and normalized. One that takes the space behind it has it."""
        normalizer, found = self._engine.normalizer, list(self.special_tokens().values())
        for token in self.added_tokens:
            found.append(token["content"] + (" " if token.get("rstrip") else ""))
            if token.get("normalized") and normalizer is not None:
                found.append(normalizer.normalize_str(token["content"]))
        return found

    def _token_ids(self, texts: list[str], limit: int) -> list[list[int]]:
        """Return the token ids of each text. A text with more than `limit` tokens may lack some behind them."""
        return by_chunk(
            texts,
            self._batch_ids,
            lambda text: list(islice(chain.from_iterable(self._piece_ids(text)), limit + 1)),
        )

    def _batch_ids(self, texts: list[str]) -> list[list[int]]:
        engine = self._engine
        with engine_errors():
            encodings = engine.encode_batch_fast(texts, add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def _piece_ids(self, text: str) -> Iterator[list[int]]:
        """Yield the token ids of the pieces of a long text."""
        for batch in growing_batches(pieces(text, self._word_ends)):
            yield from self._batch_ids([piece for _, piece in batch])

    def _count(self, text: str) -> int:
        """Return the number of tokens of a text."""
        return sum(map(len, self._piece_ids(text)))

    def _segments(self, texts: list[str], limit: int) -> Sequence[Segment]:
        """Return the tokens of each text without special tokens around it, at least the first `limit` ones."""
        return by_chunk(texts, self._batch_segments, lambda text: self._long_segment(text, limit))

    def _batch_segments(self, texts: list[str]) -> Sequence[Segment]:
        engine = self._engine
        with engine_errors():
            return engine.encode_batch(texts, add_special_tokens=False)

    def _long_segment(self, text: str, limit: int) -> Segment:
        pieced = PiecedSegment()
        for batch in growing_batches(pieces(text, self._word_ends)):
            segments = self._batch_segments([piece for _, piece in batch])
            for (start, _), segment in zip(batch, segments, strict=True):
                pieced.extend(self._shifted(segment.offsets, start), segment.word_ids)
            if len(pieced) >= limit:
                break
        return pieced

    def _shifted(self, offsets: list[tuple[int, int]], start: int) -> list[tuple[int, int]]:
        """Return the offsets of a piece in its text."""
        return [(first + start, end + start) for first, end in offsets]

    def _build_engine(self) -> "Engine":
        """Build a `tokenizers.Tokenizer` without special tokens."""
        raise NotImplementedError

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
