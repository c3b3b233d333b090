"""Reading and writing the tokenizer files of a Hugging Face folder."""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from kerasbert.console.strictness import note_once
from kerasbert.errors import KerasBertError
from kerasbert.files.atomic import atomic_file
from kerasbert.files.json_text import read_bounded, read_json_object
from kerasbert.values import Rule

VOCABULARY = "vocab.txt"
SENTENCEPIECE = "spiece.model"
BPE_VOCABULARY = "vocab.json"
MERGES = "merges.txt"
TOKENIZER_JSON = "tokenizer.json"
MODEL_CONFIG = "config.json"
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
MAX_BYTES = 16 << 20  # of a vocabulary or model; XLM-RoBERTa's model of 250,000 pieces has 5 MB
MAX_LENGTH = Rule(
    int | float | None, above=0, at_most=sys.float_info.max
)  # of `model_max_length`, which is 1e30 in many files
ADDED_TOKEN_FIELDS = {"lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": True}


def read_vocabulary(path: str | os.PathLike) -> list[str]:
    """Read a `vocab.txt`: one token on each line in the order of their ids.

    A BOM and Windows line ends are accepted, and empty lines at the end dropped. As in Hugging Face, one empty line between tokens is an
    empty token with an id of its own (bert-base-japanese-v3 has one). It is noted on stderr once.

    Args:
        path: The file.

    Returns:
        The tokens.

    Raises:
        KerasBertError: When the file is missing, not UTF-8 or empty, or a token occurs twice. The message names the byte or the lines.
    """
    # str.splitlines would also split at tokens such as U+2028.
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
        note_once(f"note: line {first_line['']} of {path} is empty; the empty token keeps its id {first_line[''] - 1}")
    return tokens


def write_vocabulary(path: Path, vocabulary: Sequence[str]) -> None:
    """Write a `vocab.txt`."""
    with atomic_file(path) as partial:
        partial.write_bytes("".join(f"{token}\n" for token in vocabulary).encode("utf-8"))


def read_bpe_vocabulary(path: Path) -> list[str]:
    """Read the tokens of a `vocab.json` in the order of their ids.

    Raises:
        KerasBertError: When the file is missing or damaged, or the ids are not consecutive from 0 on.
    """
    ids = read_json(path)
    if not ids:
        raise KerasBertError(f"expected token ids in {path}, received no such file, or an empty one")
    return tokens_in_order(ids, path)


def tokens_in_order(ids: Mapping[str, int], path: str | os.PathLike) -> list[str]:
    """Return the tokens of a token -> id mapping in the order of their ids.

    Args:
        ids: Token -> id.
        path: The file, for the error.

    Raises:
        KerasBertError: When the ids are not consecutive from 0 on. The message names the first one that is missing or no integer.
    """
    invalid = next((token for token, number in ids.items() if type(number) is not int), None)
    if invalid is not None:
        raise KerasBertError(f"expected whole numbers as ids in {path}, received {ids[invalid]!r} for {invalid!r}")
    if set(ids.values()) != set(range(len(ids))):
        missing = min(set(range(len(ids))) - set(ids.values()))
        raise KerasBertError(f"expected the ids 0 to {len(ids) - 1} in {path}, received no token with id {missing}")
    return sorted(ids, key=ids.__getitem__)


def read_merges(path: Path) -> list[str]:
    """Read the merges of a `merges.txt`, "left right" each. Its `#version` line is skipped.

    Raises:
        KerasBertError: When the file is missing or not UTF-8.
    """
    lines = [line.removesuffix("\r") for line in _read_text(path).removeprefix("\ufeff").split("\n")]
    return [line for number, line in enumerate(lines) if line and not (number == 0 and line.startswith("#version"))]


def write_merges(path: Path, merges: Sequence[str]) -> None:
    """Write a `merges.txt`."""
    with atomic_file(path) as partial:
        partial.write_bytes("".join(f"{line}\n" for line in ("#version: 0.2", *merges)).encode("utf-8"))


def read_settings(folder: "TokenizerFolder", flags: Mapping[str, str]) -> dict[str, Any]:
    """Read the settings in the JSON files of a folder.

    Args:
        folder: A Hugging Face folder.
        flags: The Boolean settings to read from `tokenizer_config.json`: their name there -> ours.

    Returns:
        The settings under the names of a tokenizer's arguments. Settings that the files do not contain are left out.

    Raises:
        KerasBertError: When a file is not a JSON object, or a setting has the wrong type.
    """
    config, path = folder.config, folder.path / TOKENIZER_CONFIG
    special = {**folder.special_map, **config}
    settings: dict[str, Any] = {}
    for key, name in flags.items():
        settings[name] = Rule(bool | None).check(config.get(key), key, path)
    for role in SPECIAL_TOKENS:
        token = special.get(role)
        if isinstance(token, dict):  # a serialized AddedToken
            token = token.get("content")
        settings[role] = Rule(str | None).check(token, role, path)
    max_length = config.get("model_max_length", config.get("max_len"))  # the second name is that of transformers 2
    settings["model_max_length"] = MAX_LENGTH.check(max_length, "model_max_length", path)
    return {name: value for name, value in settings.items() if value is not None}


def write_json(path: Path, content: Mapping) -> None:
    """Write a JSON object."""
    with atomic_file(path) as partial:
        partial.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_json(path: Path) -> dict:
    """Read the JSON object of a file. A missing file counts as empty.

    Raises:
        KerasBertError: When the file is not UTF-8, not JSON or not an object.
    """
    if not path.exists():
        return {}
    return read_json_object(path)


def read_bytes(path: str | os.PathLike) -> bytes:
    """Read the content of a file.

    Raises:
        KerasBertError: When the file is missing, cannot be read, or has more than 16 MiB.
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


@dataclass(frozen=True)
class TokenizerFolder:
    """The settings of a tokenizer in a Hugging Face folder. Each file is read once, and a missing one counts as empty.

    Attributes:
        path: The folder.
    """

    path: Path

    @classmethod
    def of(cls, path: "str | os.PathLike | TokenizerFolder") -> "TokenizerFolder":
        """Return the folder of a path; one that is open already is returned as it is."""
        return path if isinstance(path, TokenizerFolder) else cls(Path(path))

    @cached_property
    def config(self) -> dict:
        """`tokenizer_config.json`."""
        return read_json(self.path / TOKENIZER_CONFIG)

    @cached_property
    def special_map(self) -> dict:
        """`special_tokens_map.json`."""
        return read_json(self.path / SPECIAL_TOKENS_MAP)

    @cached_property
    def model_config(self) -> dict:
        """`config.json`."""
        return read_json(self.path / MODEL_CONFIG)

    def has(self, files: "Mapping[str, SettingFile]") -> bool:
        """Tell whether all vocabulary files of a kind of tokenizer are there."""
        return all((self.path / file.name).is_file() for file in files.values())


@dataclass(frozen=True)
class SettingFile:
    """A vocabulary file: it holds one argument of a tokenizer's constructor.

    Attributes:
        name: The name of the file.
        read: Reads the argument.
        write: Writes the argument.
    """

    name: str
    read: Callable[[Path], Any]
    write: Callable[[Path, Any], None]


def _write_ids(path: Path, vocabulary: Sequence[str]) -> None:
    write_json(path, {token: number for number, token in enumerate(vocabulary)})


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file of bytes."""
    with atomic_file(path) as partial:
        partial.write_bytes(content)


WORDPIECE_FILES = {"vocabulary": SettingFile(VOCABULARY, read_vocabulary, write_vocabulary)}
SENTENCEPIECE_FILES = {"model": SettingFile(SENTENCEPIECE, read_bytes, write_bytes)}
BPE_FILES = {
    "vocabulary": SettingFile(BPE_VOCABULARY, read_bpe_vocabulary, _write_ids),
    "merges": SettingFile(MERGES, read_merges, write_merges),
}
