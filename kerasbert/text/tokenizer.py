"""What all tokenizers share: special tokens, rows cut to a length, settings that can be saved.

The engine is Hugging Face's `tokenizers`, with the parts the checkpoint's own tokenizer is put together from, so the
ids and offsets are that tokenizer's. Rows are put together here (see `kerasbert.text.truncation`).
"""

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from kerasbert.errors import KerasBertError
from kerasbert.text import tokenizer_files
from kerasbert.text.config_check import check_config
from kerasbert.text.encoded import Encoded, Template
from kerasbert.text.engine_errors import engine_errors
from kerasbert.text.strings import as_strings
from kerasbert.text.truncation import kept, room

ROLES = ("unk_token", "cls_token", "sep_token", "pad_token", "mask_token")
_UNLIMITED = 1_000_000_000  # Hugging Face writes int(1e30) for "no limit"
_CHUNK = 8192  # rows encoded at once: the engine's own results are large and are gone before the next chunk


class Tokenizer:
    """The base of all tokenizers; a subclass builds the engine and knows its own settings and files.

    Args:
      vocabulary: the tokens; a token's place is its id.
      unk_token, cls_token, sep_token, pad_token, mask_token: the special tokens, each in the vocabulary; None takes
        the name that the kind of checkpoint uses.
      added_tokens: further tokens that are found in a text before it is split into words, as `AddedToken` fields:
        `content`, and where they are true `lstrip`, `rstrip`, `single_word`, `normalized`. Each is in the vocabulary.
        One of the special tokens may be among them, to give it other fields.
      model_max_length: the longest row the checkpoint was made for, special tokens included; None if unknown.

    Raises:
      KerasBertError: a vocabulary with a duplicate, a line break or an empty last token, or without a special token.
    """

    kind: ClassVar[str]
    special_names: ClassVar[Mapping[str, str]]  # the special tokens where none are named
    flags: ClassVar[Mapping[str, str]] = {}  # Hugging Face's names of the settings -> ours
    template: ClassVar[Template] = Template()
    mask_takes_space: ClassVar[bool] = False  # whether the mask token includes the space before it

    def __init__(
        self,
        vocabulary: Sequence[str],
        *,
        unk_token: str | None = None,
        cls_token: str | None = None,
        sep_token: str | None = None,
        pad_token: str | None = None,
        mask_token: str | None = None,
        added_tokens: Sequence[Mapping] = (),
        model_max_length: int | None = None,
    ):
        self._vocabulary = tuple(vocabulary)
        self._ids = _token_ids(self._vocabulary)
        self.unk_token = unk_token or self.special_names["unk_token"]
        self.cls_token = cls_token or self.special_names["cls_token"]
        self.sep_token = sep_token or self.special_names["sep_token"]
        self.pad_token = pad_token or self.special_names["pad_token"]
        self.mask_token = mask_token or self.special_names["mask_token"]
        self.added_tokens = tuple(dict(token) for token in added_tokens)
        limited = model_max_length is not None and model_max_length < _UNLIMITED
        self.model_max_length = int(model_max_length) if limited else None
        for role, token in self._special_tokens().items():
            if token not in self._ids:
                raise KerasBertError(
                    f"expected the {role} in the vocabulary, received {len(self._ids)} tokens without {token!r}; "
                    f"add it, or name the right token with {role}="
                )
        for token in self.added_tokens:
            if token["content"] not in self._ids:
                raise KerasBertError(
                    f"expected every added token in the vocabulary, received {len(self._ids)} tokens without "
                    f"{token['content']!r}"
                )

    @classmethod
    def from_folder(cls, path: str | os.PathLike):
        """Reads a Hugging Face folder's vocabulary files of this kind, and what there is of `tokenizer_config.json`
        and `special_tokens_map.json`; `kerasbert.text.tokenizer_from_folder` also reads `tokenizer.json`.

        Raises:
          KerasBertError: a missing or damaged file, or a vocabulary that the constructor refuses.
        """
        settings = {**cls._read_files(Path(path)), **tokenizer_files.read_settings(path, cls.flags)}
        added = tokenizer_files.read_added_tokens(path)
        try:
            return cls.from_config(cls.with_added_tokens(settings, added))
        except KerasBertError as error:
            raise KerasBertError(f"{path}: {error}") from None

    @classmethod
    def with_added_tokens(cls, settings: dict, added: Mapping[str, tuple[int | None, Mapping]]) -> dict:
        """`settings` for `from_config` with tokens added to its vocabulary.

        Args:
          settings: `vocabulary`, and whatever else is known.
          added: token -> its id and its `AddedToken` fields (`lstrip`, `normalized`, `rstrip`, `single_word`); without
            an id (None) it has that of the vocabulary, or the next one behind it.

        Raises:
          KerasBertError: an id that leaves a gap behind the vocabulary, or is another token's.
        """
        vocabulary, further = list(settings["vocabulary"]), []
        special = {settings.get(role) or name: {} for role, name in cls.special_names.items()}
        if cls.mask_takes_space:
            special[settings.get("mask_token") or cls.special_names["mask_token"]] = {"lstrip": True}
        ids = {token: number for number, token in enumerate(vocabulary)}
        numbered = [(ids.get(token) if number is None else number, token) for token, (number, _) in added.items()]
        for number, token in sorted(numbered, key=lambda item: (item[0] is None, item[0])):
            fields, number = added[token][1], len(vocabulary) if number is None else number
            if number == len(vocabulary):
                vocabulary.append(token)
            if not 0 <= number < len(vocabulary) or vocabulary[number] != token:
                raise KerasBertError(
                    f"expected added tokens right behind a vocabulary of {len(settings['vocabulary'])}, or in it, "
                    f"received {token!r} with id {number}"
                )
            true = {name: True for name in ("lstrip", "normalized", "rstrip", "single_word") if fields.get(name)}
            if true != special.get(token):
                further.append({"content": token, **true})
        return {**settings, "vocabulary": vocabulary, **({"added_tokens": further} if further else {})}

    @classmethod
    def from_config(cls, config: Mapping):
        """The tokenizer that `get_config` described.

        Raises:
          KerasBertError: a config of another kind of tokenizer, or a setting that is unknown or of another type.
        """
        config = dict(config)
        kind = config.pop("kind", cls.kind)
        if kind != cls.kind:
            raise KerasBertError(f"expected the config of a {cls.kind} tokenizer, received one of kind {kind!r}")
        check_config(config, cls)
        return cls(**config)

    def save(self, folder: str | os.PathLike) -> None:
        """Writes the files from which `from_folder`, and Hugging Face's own class, make this tokenizer again."""
        Path(folder).mkdir(parents=True, exist_ok=True)
        self._write_files(Path(folder))
        flags = {key: getattr(self, name) for key, name in self.flags.items()}
        limit = {} if self.model_max_length is None else {"model_max_length": self.model_max_length}
        config = {**self._file_settings(), **flags, **self._special_tokens(), **limit}
        if self.added_tokens:
            config["added_tokens_decoder"] = {
                str(self._ids[token["content"]]): {**tokenizer_files.ADDED_TOKEN_FIELDS, **token}
                for token in self.added_tokens
            }
        tokenizer_files.write_json(Path(folder) / tokenizer_files.TOKENIZER_CONFIG, config)

    def get_config(self) -> dict:
        """All settings, the vocabulary (a list, id = place) included, as JSON-able values for `from_config`."""
        config = {"kind": self.kind, "vocabulary": list(self._vocabulary), **self._settings(), **self._special_tokens()}
        if self.added_tokens:
            config["added_tokens"] = [dict(token) for token in self.added_tokens]
        return {**config, "model_max_length": self.model_max_length}

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
        texts = as_strings(texts, "texts")
        pairs = None if pairs is None else as_strings(pairs, "pairs")
        if pairs is not None and len(pairs) != len(texts):
            raise KerasBertError(f"expected as many pairs as texts, received {len(texts)} texts, {len(pairs)} pairs")
        paired = pairs is not None
        space = room(max_length, self.template.special_tokens(paired), truncation, paired)
        first = self._token_ids(texts)
        if pairs is None:
            rows = self._single_rows(first, space)
        else:
            rows = self._paired_rows(first, self._token_ids(pairs), space, truncation)
        return Encoded(*rows, self.template, lambda: self._both_segments(texts, pairs))

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
        return f"{type(self).__name__}({self.vocabulary_size} tokens)"

    def __reduce__(self):
        return type(self).from_config, (self.get_config(),)

    @cached_property
    def _engine(self):
        """The `tokenizers.Tokenizer`; it adds no special tokens around a text."""
        from tokenizers import AddedToken

        with engine_errors():
            engine = self._build_engine()
        # As in Hugging Face, a special token's name inside a text is that token: "[MASK]" in a cloze, for example.
        fields = {token: {"normalized": False} for token in self._special_tokens().values()}
        if self.mask_takes_space:
            fields[self.mask_token] = {"normalized": False, "lstrip": True}
        fields |= {token["content"]: {"normalized": False, **token} for token in self.added_tokens}
        for token in fields.values():
            token.pop("content", None)
        with engine_errors():
            engine.add_special_tokens(
                [AddedToken(token, **fields[token]) for token in sorted(fields, key=self._ids.get)]
            )
        return engine

    def _model_ids(self) -> dict[str, int]:
        """The tokens that the model itself may produce: all but added tokens behind them, as in `tokenizers`."""
        added = {token["content"] for token in self.added_tokens} - set(self._special_tokens().values())
        size = len(self._vocabulary)
        while size and self._vocabulary[size - 1] in added:
            size -= 1
        return {token: number for token, number in self._ids.items() if number < size}

    def _special_tokens(self) -> dict[str, str]:
        return {role: getattr(self, role) for role in ROLES}

    def _token_ids(self, texts: list[str]) -> list[list[int]]:
        rows: list[list[int]] = []
        for start in range(0, len(texts), _CHUNK):
            engine = self._engine
            with engine_errors():
                chunk = engine.encode_batch_fast(texts[start : start + _CHUNK], add_special_tokens=False)
            rows += [row.ids for row in chunk]
        return rows

    def _segments(self, texts: list[str]) -> list:
        """Per text something with `offsets` and `word_ids` of its tokens, special ones around it left out."""
        engine = self._engine
        with engine_errors():
            return engine.encode_batch(texts, add_special_tokens=False)

    def _both_segments(self, texts: list[str], pairs: list[str] | None) -> tuple[list, list | None]:
        return self._segments(texts), pairs if pairs is None else self._segments(pairs)

    def _single_rows(self, first: list[list[int]], space: int) -> tuple[list, list, int]:
        before, behind = [self.cls_id], [self.sep_id]
        input_ids = [before + row[:space] + behind for row in first]
        truncated = sum(len(row) > space for row in first)
        return input_ids, list(map(len, input_ids)), truncated

    def _paired_rows(self, first: list, second: list, space: int, truncation: str) -> tuple[list, list, int]:
        before, between, behind = [self.cls_id], [self.sep_id] * self.template.separators, [self.sep_id]
        input_ids, boundaries, truncated = [], [], 0
        for row, (a, b) in enumerate(zip(first, second, strict=True)):
            keep_a, keep_b = kept(len(a), len(b), space, truncation, row)
            truncated += keep_a + keep_b < len(a) + len(b)
            input_ids.append(before + a[:keep_a] + between + b[:keep_b] + behind)
            boundaries.append(1 + keep_a + len(between))
        return input_ids, boundaries, truncated

    # What a subclass gives.

    def _build_engine(self):
        """A `tokenizers.Tokenizer` without special tokens."""
        raise NotImplementedError

    def _settings(self) -> dict:
        """This kind's own settings, by the names of the constructor's arguments, JSON-able."""
        raise NotImplementedError

    def _file_settings(self) -> dict:
        """What `tokenizer_config.json` says beside `flags`, special tokens and the longest row."""
        raise NotImplementedError

    def _write_files(self, folder: Path) -> None:
        """Writes the vocabulary files."""
        raise NotImplementedError

    @classmethod
    def _read_files(cls, folder: Path) -> dict:
        """The arguments of `from_config` that the vocabulary files hold."""
        raise NotImplementedError


def _token_ids(vocabulary: Sequence[str]) -> dict[str, int]:
    ids: dict[str, int] = {}
    for number, token in enumerate(vocabulary):
        if not isinstance(token, str) or "\n" in token or "\r" in token:
            raise KerasBertError(
                f"expected tokens as strings without line breaks, received {token!r} as token {number}"
            )
        if token in ids:
            raise KerasBertError(f"expected distinct tokens, received {token!r} as tokens {ids[token]} and {number}")
        ids[token] = number
    if vocabulary and not vocabulary[-1]:  # it would be lost in a file of one token a line
        raise KerasBertError(f"expected a last token of at least one character, received '' as token {len(ids) - 1}")
    return ids
