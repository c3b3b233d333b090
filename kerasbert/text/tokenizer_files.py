"""The tokenizer files of a Hugging Face folder: vocabularies, `tokenizer_config.json`, `special_tokens_map.json`."""

import functools
import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from kerasbert.console.output import note
from kerasbert.errors import KerasBertError
from kerasbert.files.atomic import atomic_file
from kerasbert.files.json_text import read_bounded, read_json_object

VOCABULARY = "vocab.txt"
SENTENCEPIECE = "spiece.model"
BPE_VOCABULARY = "vocab.json"
MERGES = "merges.txt"
TOKENIZER_JSON = "tokenizer.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
SPECIAL_TOKENS_MAP = "special_tokens_map.json"
ADDED_TOKENS = "added_tokens.json"
SPECIAL_TOKENS = ("unk_token", "cls_token", "sep_token", "pad_token", "mask_token")
BERT_SPECIAL_TOKENS = {
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "mask_token": "[MASK]",
}
MAX_BYTES = 16 << 20  # of vocabularies and models; XLM-RoBERTa's of 250,000 pieces has 5 MB
_ID = re.compile("[0-9]{1,9}")
ADDED_TOKEN_FIELDS = {"lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": True}


def read_vocabulary(path: str | os.PathLike) -> list[str]:
    """The tokens of a `vocab.txt`, one a line in the order of their ids.

    A BOM and Windows line ends are tolerated and empty lines at the end dropped. One empty line between tokens is an
    empty token that keeps its id, as in Hugging Face (bert-base-japanese-v3 has one); a note on stderr says so once.

    Raises:
      KerasBertError: no such file, not UTF-8 (it names the byte), empty, or a duplicate (it names both lines).
    """
    # Not str.splitlines: vocabularies hold tokens such as U+2028, which it takes for a line end.
    lines = _read_text(path).removeprefix("\ufeff").split("\n")
    tokens = [line.removesuffix("\r") for line in lines]
    while tokens and not tokens[-1]:
        tokens.pop()
    if not tokens:
        raise KerasBertError(f"expected one token a line in {path}, received an empty file")
    first_line: dict[str, int] = {}
    for number, token in enumerate(tokens, start=1):
        if token in first_line:
            raise KerasBertError(
                f"expected distinct tokens in {path}, received {token!r} on lines {first_line[token]} and {number}"
            )
        first_line[token] = number
    if "" in first_line:
        _note(f"line {first_line['']} of {path} is empty; the empty token keeps its id {first_line[''] - 1}")
    return tokens


def write_vocabulary(path: Path, vocabulary: Sequence[str]) -> None:
    """Writes a `vocab.txt`."""
    with atomic_file(path) as partial:
        partial.write_bytes("".join(f"{token}\n" for token in vocabulary).encode("utf-8"))


def read_bpe_vocabulary(path: Path) -> list[str]:
    """The tokens of a `vocab.json` in the order of their ids.

    Raises:
      KerasBertError: a missing or damaged file, or ids that are not 0, 1, 2 and so on.
    """
    ids = read_json(path)
    if not ids:
        raise KerasBertError(f"expected token ids in {path}, received no such file, or an empty one")
    return tokens_in_order(ids, path)


def tokens_in_order(ids: Mapping[str, int], path: str | os.PathLike) -> list[str]:
    """The tokens of a token -> id mapping, id = place.

    Raises:
      KerasBertError: ids that are not 0, 1, 2 and so on; it names the first that is missing or no integer.
    """
    wrong = next((token for token, number in ids.items() if type(number) is not int), None)
    if wrong is not None:
        raise KerasBertError(f"expected whole numbers as ids in {path}, received {ids[wrong]!r} for {wrong!r}")
    if set(ids.values()) != set(range(len(ids))):
        missing = min(set(range(len(ids))) - set(ids.values()))
        raise KerasBertError(f"expected the ids 0 to {len(ids) - 1} in {path}, received no token with id {missing}")
    return sorted(ids, key=ids.__getitem__)


def read_merges(path: Path) -> list[str]:
    """The merges of a `merges.txt`, "left right" each; its `#version` line is skipped.

    Raises:
      KerasBertError: a missing file, or one that is not UTF-8.
    """
    lines = [line.removesuffix("\r") for line in _read_text(path).removeprefix("\ufeff").split("\n")]
    return [line for number, line in enumerate(lines) if line and not (number == 0 and line.startswith("#version"))]


def write_merges(path: Path, merges: Sequence[str]) -> None:
    """Writes a `merges.txt`."""
    with atomic_file(path) as partial:
        partial.write_bytes("".join(f"{line}\n" for line in ("#version: 0.2", *merges)).encode("utf-8"))


def read_settings(folder: str | os.PathLike, flags: Mapping[str, str]) -> dict:
    """What the JSON files of `folder` say, by the names of a tokenizer's arguments; what they do not say is left out.

    Args:
      folder: a Hugging Face folder.
      flags: the true-or-false settings to read from `tokenizer_config.json`, their names there -> ours.

    Raises:
      KerasBertError: a file that is not a JSON object, or a setting of the wrong type.
    """
    config = read_tokenizer_config(folder)
    special = {**read_json(Path(folder) / SPECIAL_TOKENS_MAP), **config}
    path = Path(folder) / TOKENIZER_CONFIG
    settings: dict = {}
    for key, name in flags.items():
        if config.get(key) is None:
            continue
        if not isinstance(config[key], bool):
            raise KerasBertError(f"expected {key} in {path} to be true or false, received {config[key]!r}")
        settings[name] = config[key]
    for role in SPECIAL_TOKENS:
        token = special.get(role)
        if isinstance(token, dict):  # a serialized AddedToken
            token = token.get("content")
        if token is None:
            continue
        if not isinstance(token, str):
            raise KerasBertError(f"expected {role} in {path} to be a string, received {token!r}")
        settings[role] = token
    longest = config.get("model_max_length")
    if longest is not None:
        if isinstance(longest, bool) or not isinstance(longest, (int, float)) or not longest > 0:
            raise KerasBertError(f"expected model_max_length in {path} to be a positive number, received {longest!r}")
        settings["model_max_length"] = longest
    return settings


def read_tokenizer_config(folder: str | os.PathLike) -> dict:
    """The content of `tokenizer_config.json`; empty where there is none."""
    return read_json(Path(folder) / TOKENIZER_CONFIG)


def read_added_tokens(folder: str | os.PathLike) -> dict[str, tuple[int | None, Mapping]]:
    """What `added_tokens.json`, `tokenizer_config.json` and `special_tokens_map.json` add to a vocabulary.

    Returns:
      token -> its id (None where the files do not tell: that of the vocabulary, or the next one) and its fields.

    Raises:
      KerasBertError: a damaged file.
    """
    config, special = (read_json(Path(folder) / name) for name in (TOKENIZER_CONFIG, SPECIAL_TOKENS_MAP))
    decoder = config.get("added_tokens_decoder") or {}
    further = config.get("additional_special_tokens") or special.get("additional_special_tokens") or ()
    added: dict = {}
    for token, number in read_json(Path(folder) / ADDED_TOKENS).items():
        added[token] = added_token({"content": token, "id": number}, Path(folder) / ADDED_TOKENS)
    if not isinstance(decoder, dict) or not isinstance(further, list | tuple):
        raise KerasBertError(
            f"{folder}: expected added_tokens_decoder as an object and additional_special_tokens as a list, received something else"
        )
    for number, token in decoder.items():
        if isinstance(token, dict):
            token = {**token, "id": int(number) if _ID.fullmatch(number) else number}
        found = added_token(token, Path(folder) / TOKENIZER_CONFIG)
        added[token["content"]] = found
    for token in further:
        fields = {"content": token} if isinstance(token, str) else token
        found = added_token(fields, folder, numbered=False)
        added.setdefault(fields["content"], found)
    return added


def added_token(token, path: str | os.PathLike, *, numbered: bool = True) -> tuple[int | None, Mapping]:
    """The id and the fields of an added token as the files of `tokenizers` write it. numbered: whether it has an id.

    Raises:
      KerasBertError: anything else than an object with a text as `content` and a whole number from 0 on as `id`.
    """
    content, number = (token.get("content"), token.get("id")) if isinstance(token, dict) else (None, None)
    if not isinstance(content, str) or (numbered and (type(number) is not int or not 0 <= number < 2**31)):
        wanted = (
            "an added token with its content and its id, a whole number from 0 on" if numbered else "a special token"
        )
        raise KerasBertError(f"{path}: expected {wanted}, received {str(token)[:100]}")
    return number if numbered else None, token


def write_json(path: Path, content: Mapping) -> None:
    """Writes a JSON object."""
    with atomic_file(path) as partial:
        partial.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


@functools.cache
def _note(line: str) -> None:
    note(f"note: {line}")


def read_json(path: Path) -> dict:
    """The JSON object of a file; empty where there is none.

    Raises:
      KerasBertError: a file that is not UTF-8, not JSON or no object.
    """
    if not path.exists():
        return {}
    return read_json_object(path)


def read_bytes(path: str | os.PathLike) -> bytes:
    """The content of a file.

    Raises:
      KerasBertError: no such file, one that cannot be read, or one of more than 16 MiB.
    """
    return read_bounded(path, MAX_BYTES, "a tokenizer file")


def _read_text(path: str | os.PathLike) -> str:
    content = read_bytes(path)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise KerasBertError(
            f"expected UTF-8 in {path}, received byte 0x{content[error.start]:02x} at offset {error.start}"
        ) from None
