"""A vocabulary with special and added tokens: the part of a tokenizer that needs no engine."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, TypedDict

from kerasbert.errors import KerasBertError
from kerasbert.text.tokenizer_files import SPECIAL_TOKENS

_UNLIMITED = 1_000_000_000  # Hugging Face writes int(1e30) for "no limit"


class VocabularySettings(TypedDict, total=False):
    """The keyword arguments that all tokenizers share; see `Tokenizer`."""

    unk_token: str | None
    cls_token: str | None
    sep_token: str | None
    pad_token: str | None
    mask_token: str | None
    added_tokens: Sequence[Mapping]
    model_max_length: int | None


class Vocabulary:
    """Tokens with their ids, special tokens and added tokens; see `Tokenizer` for the arguments."""

    special_names: ClassVar[Mapping[str, str]]  # the default special tokens
    mask_takes_space: ClassVar[bool] = False  # True if the mask token includes the space before it

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
    ) -> None:
        check_not_a_path(vocabulary, "the vocabulary as a list of tokens in the order of their ids")
        self._vocabulary = tuple(vocabulary)
        self._ids = _token_ids(self._vocabulary)
        self.unk_token = unk_token or self.special_names["unk_token"]
        self.cls_token = cls_token or self.special_names["cls_token"]
        self.sep_token = sep_token or self.special_names["sep_token"]
        self.pad_token = pad_token or self.special_names["pad_token"]
        self.mask_token = mask_token or self.special_names["mask_token"]
        self.added_tokens = tuple(dict(token) for token in added_tokens)
        if model_max_length is not None:
            model_max_length = int(model_max_length) if model_max_length < _UNLIMITED else None
        self.model_max_length = model_max_length
        for role, token in self.special_tokens().items():
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

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The tokens in the order of their ids."""
        return self._vocabulary

    @property
    def vocabulary_size(self) -> int:
        """Number of tokens, special and added ones included."""
        return len(self._vocabulary)

    @property
    def pad_id(self) -> int:
        """Id of the padding token."""
        return self._ids[self.pad_token]

    @property
    def unk_id(self) -> int:
        """Id of the unknown token."""
        return self._ids[self.unk_token]

    @property
    def cls_id(self) -> int:
        """Id of the token at the start of a sequence."""
        return self._ids[self.cls_token]

    @property
    def sep_id(self) -> int:
        """Id of the token after each text."""
        return self._ids[self.sep_token]

    @property
    def mask_id(self) -> int:
        """Id of the mask token."""
        return self._ids[self.mask_token]

    def special_tokens(self) -> dict[str, str]:
        """Return the special tokens by role, such as `{"unk_token": "[UNK]", ...}`."""
        return {role: getattr(self, role) for role in SPECIAL_TOKENS}

    def model_ids(self) -> dict[str, int]:
        """Return token -> id of the tokens that the model itself produces.

        As in `tokenizers`, these are all but the added tokens at the end of the vocabulary.
        """
        added = {token["content"] for token in self.added_tokens} - set(self.special_tokens().values())
        size = len(self._vocabulary)
        while size and self._vocabulary[size - 1] in added:
            size -= 1
        return {token: number for token, number in self._ids.items() if number < size}


def check_not_a_path(value: object, expected: str) -> None:
    """Check that the contents of a file were passed, not its name, and that their order is that of the ids.

    Args:
        value: The argument of a tokenizer.
        expected: What it has to be, for the error.

    Raises:
        KerasBertError: When it is a text, a path, a mapping, a set or no collection.
    """
    unordered = isinstance(value, str | bytes | os.PathLike | Mapping | set | frozenset)
    if unordered or not isinstance(value, Iterable):
        received = repr(value) if isinstance(value, str | os.PathLike) else type(value).__name__
        raise KerasBertError(
            f"expected {expected}, received {received:.200}; read a folder of files with kb.text.tokenizer_from_folder"
        )


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
    if vocabulary and not vocabulary[-1]:  # it would be lost in a file with one token on each line
        raise KerasBertError(f"expected a last token of at least one character, received '' as token {len(ids) - 1}")
    return ids
