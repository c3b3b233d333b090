"""Added tokens: tokens of a checkpoint's files that extend its vocabulary, or change how one of its tokens is found."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.files.known_keys import KnownKeys
from kerasbert.text import tokenizer_files
from kerasbert.text.tokenizer_files import TokenizerFolder
from kerasbert.text.vocabulary import Vocabulary
from kerasbert.values import Rule, is_whole_number

AddedTokens = Mapping[str, tuple[int | None, Mapping]]  # token -> its id, and its `AddedToken` fields

SPECIAL_ROLES = ("bos_token", "eos_token", *tokenizer_files.SPECIAL_TOKENS)
LISTS = (
    "additional_special_tokens",
    "extra_special_tokens",
)  # the second one is also written as an object, name -> token
_FLAGS = ("lstrip", "normalized", "rstrip", "single_word")
ADDED_TOKEN = KnownKeys(used=frozenset({"content", "id", *_FLAGS}), harmless=frozenset({"special", "__type"}))
_ID = re.compile("[0-9]{1,9}")


def read_added_tokens(folder: TokenizerFolder) -> dict[str, tuple[int | None, Mapping]]:
    """Read the added tokens in `added_tokens.json`, `tokenizer_config.json` and `special_tokens_map.json`.

    As in the fast tokenizers of transformers 4.57, special tokens are found in the text as it is. Other tokens of `added_tokens.json` are
    found after normalization: in a lowercased text, "COVID" is found as "covid" too.

    Args:
        folder: A Hugging Face folder.

    Returns:
        Token -> its id and its `AddedToken` fields. The id is None if the files do not contain it.

    Raises:
        KerasBertError: When a file is damaged.
    """
    path, config, special_map = folder.path / tokenizer_files.TOKENIZER_CONFIG, folder.config, folder.special_map
    decoder = config.get("added_tokens_decoder") or {}
    if not isinstance(decoder, dict):
        raise KerasBertError(f"{path}: expected added_tokens_decoder as an object, received {str(decoder)[:100]}")
    special = {}
    for fields in _special_tokens(config, special_map, path):
        parse_added_token(fields, path, numbered=False)
        special[fields["content"]] = fields
    added: dict[str, tuple[int | None, Mapping]] = {}
    further = folder.path / tokenizer_files.ADDED_TOKENS
    for token, number in tokenizer_files.read_json(further).items():
        fields = special.get(token, {"normalized": True})
        added[token] = parse_added_token({**fields, "content": token, "id": number}, further)
    for number, token in decoder.items():
        if isinstance(token, dict):
            token = {**token, "id": int(number) if _ID.fullmatch(number) else number}
        parsed = parse_added_token(token, path)
        added[token["content"]] = parsed
    # A role of a sequence that is only a name leaves the token as it is by default: RoBERTa's mask token takes the space before it.
    names = [config.get(role, special_map.get(role)) for role in tokenizer_files.SPECIAL_TOKENS]
    for token, fields in special.items():
        if token not in names:
            added.setdefault(token, (None, fields))
    return added


def _special_tokens(config: Mapping, special_map: Mapping, path: Path) -> Iterator[Mapping]:
    """Yield the fields of the special tokens, those of a sequence included, in the order in which transformers adds them."""
    for role in SPECIAL_ROLES:
        token = config.get(role, special_map.get(role))
        if token is not None:
            yield {"content": token} if isinstance(token, str) else token
    for name in LISTS:
        tokens = config.get(name) or special_map.get(name) or ()
        if isinstance(tokens, dict):
            tokens = tuple(tokens.values())
        if not isinstance(tokens, list | tuple):
            raise KerasBertError(f"{path}: expected {name} as a list, received {type(tokens).__name__}")
        for token in tokens:
            yield {"content": token} if isinstance(token, str) else token


def parse_added_token(token: object, path: str | os.PathLike, *, numbered: bool = True) -> tuple[int | None, Mapping]:
    """Return the id and the `AddedToken` fields of an added token in a file of `tokenizers`.

    Args:
        token: The value in the file: an object with a text as `content`, and a whole number from 0 on as `id`.
        path: The file, for the error.
        numbered: False for a token without an id.

    Raises:
        KerasBertError: When the value has another form.
    """
    fields = token if isinstance(token, dict) else {}
    content, number = fields.get("content"), fields.get("id")
    valid_id = is_whole_number(number, 0, 2**31 - 1)
    if not isinstance(content, str) or (numbered and not valid_id):
        expected = (
            "an added token with its content and its id, a whole number from 0 on" if numbered else "a special token"
        )
        raise KerasBertError(f"{path}: expected {expected}, received {str(token)[:100]}")
    ADDED_TOKEN.check(fields, f"{path}: the added token {content!r}")
    for name in _FLAGS:
        Rule(bool | None).check(fields.get(name), f"{name} of {content!r}", path)
    return number if numbered else None, fields


def merge_added_tokens(kind: type[Vocabulary], settings: Mapping, added: AddedTokens) -> dict:
    """Add tokens to the settings of a tokenizer.

    Args:
        kind: The class of the tokenizer.
        settings: Arguments for `from_config`, `vocabulary` included.
        added: Token -> its id and its `AddedToken` fields (`lstrip`, `normalized`, `rstrip`, `single_word`). Without an id (None), the
            token has that of the vocabulary, or the next free one.

    Returns:
        The settings with a longer `vocabulary`, and `added_tokens` if any differ from plain special tokens.

    Raises:
        KerasBertError: When an id belongs to another token, or leaves a gap after the vocabulary.
    """
    vocabulary, added_tokens = list(settings["vocabulary"]), []
    special: dict[str, dict[str, bool]] = {settings.get(role) or name: {} for role, name in kind.special_names.items()}
    if kind.mask_takes_space:
        special[settings.get("mask_token") or kind.special_names["mask_token"]] = {"lstrip": True}
    ids = {token: number for number, token in enumerate(vocabulary)}
    numbered = [(ids.get(token) if number is None else number, token) for token, (number, _) in added.items()]
    for number, token in sorted(numbered, key=lambda item: (item[0] is None, item[0] or 0)):
        if number is None:
            number = len(vocabulary)
        if number == len(vocabulary):
            vocabulary.append(token)
        if not 0 <= number < len(vocabulary) or vocabulary[number] != token:
            raise KerasBertError(
                f"expected added tokens right behind a vocabulary of {len(settings['vocabulary'])}, or in it, "
                f"received {token!r} with id {number}"
            )
        flags = {name: True for name in _FLAGS if added[token][1].get(name)}
        if flags != special.get(token):
            added_tokens.append({"content": token, **flags})
    return {**settings, "vocabulary": vocabulary, **({"added_tokens": added_tokens} if added_tokens else {})}
