"""The tokenizer files of a Hugging Face folder: `vocab.txt`, `tokenizer_config.json`, `special_tokens_map.json`."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.files import atomic_file

VOCABULARY = "vocab.txt"
TOKENIZER_CONFIG = "tokenizer_config.json"
SPECIAL_TOKENS_MAP = "special_tokens_map.json"
SPECIAL_TOKENS = ("unk_token", "cls_token", "sep_token", "pad_token", "mask_token")

# Our names of the settings that Hugging Face calls otherwise.
_FLAGS = {
    "do_lower_case": "lowercase",
    "strip_accents": "strip_accents",
    "tokenize_chinese_chars": "tokenize_chinese_chars",
}


def read_vocabulary(path: str | os.PathLike) -> list[str]:
    """The tokens of a `vocab.txt`, one a line in the order of their ids. A BOM and Windows line ends are tolerated.

    Raises:
      KerasBertError: no such file, not UTF-8 (it names the byte), empty, an empty line between tokens, a duplicate.
    """
    # Not str.splitlines: vocabularies hold tokens such as U+2028, which it takes for a line end.
    lines = _read_text(path).removeprefix("\ufeff").split("\n")
    tokens = [line.removesuffix("\r") for line in lines]
    while tokens and not tokens[-1]:
        tokens.pop()
    if not tokens:
        raise KerasBertError(f"Expected one token a line in {path}. Received: an empty file.")
    first_line: dict[str, int] = {}
    for number, token in enumerate(tokens, start=1):
        if not token:
            raise KerasBertError(f"Expected one token a line in {path}. Received: an empty line {number}.")
        if token in first_line:
            raise KerasBertError(
                f"Expected distinct tokens in {path}. Received: {token!r} on lines {first_line[token]} and {number}."
            )
        first_line[token] = number
    return tokens


def read_settings(folder: str | os.PathLike) -> dict:
    """What the JSON files of `folder` say, by the names of `WordPiece`'s arguments; what they do not say is left out.

    Raises:
      KerasBertError: a file that is not a JSON object, or a setting of the wrong type.
    """
    config = read_tokenizer_config(folder)
    special = {**_read_json(Path(folder) / SPECIAL_TOKENS_MAP), **config}
    path = Path(folder) / TOKENIZER_CONFIG
    settings: dict = {}
    for key, name in _FLAGS.items():
        if config.get(key) is None:
            continue
        if not isinstance(config[key], bool):
            raise KerasBertError(f"Expected {key} in {path} to be true or false. Received: {config[key]!r}.")
        settings[name] = config[key]
    for role in SPECIAL_TOKENS:
        token = special.get(role)
        if isinstance(token, dict):  # a serialized AddedToken
            token = token.get("content")
        if token is None:
            continue
        if not isinstance(token, str):
            raise KerasBertError(f"Expected {role} in {path} to be a string. Received: {token!r}.")
        settings[role] = token
    longest = config.get("model_max_length")
    if longest is not None:
        if isinstance(longest, bool) or not isinstance(longest, (int, float)) or not longest > 0:
            raise KerasBertError(f"Expected model_max_length in {path} to be a positive number. Received: {longest!r}.")
        settings["model_max_length"] = longest
    return settings


def read_tokenizer_config(folder: str | os.PathLike) -> dict:
    """The content of `tokenizer_config.json`; empty where there is none."""
    return _read_json(Path(folder) / TOKENIZER_CONFIG)


def write(folder: str | os.PathLike, vocabulary: Sequence[str], settings: dict) -> None:
    """Writes `vocab.txt` and `tokenizer_config.json`; `settings` are named like `WordPiece`'s arguments."""
    config = {"tokenizer_class": "BertTokenizer"}
    config |= {key: settings[name] for key, name in _FLAGS.items()}
    config |= {role: settings[role] for role in SPECIAL_TOKENS}
    if settings["model_max_length"] is not None:
        config["model_max_length"] = settings["model_max_length"]
    with atomic_file(Path(folder) / VOCABULARY) as partial:
        partial.write_bytes("".join(f"{token}\n" for token in vocabulary).encode("utf-8"))
    with atomic_file(Path(folder) / TOKENIZER_CONFIG) as partial:
        partial.write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _read_json(path: Path) -> dict:
    if not path.exists():
        return {}
    try:
        content = json.loads(_read_text(path).removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise KerasBertError(
            f"Expected JSON in {path}. Received: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from None
    if not isinstance(content, dict):
        raise KerasBertError(f"Expected a JSON object in {path}. Received: {type(content).__name__}.")
    return content


def _read_text(path: str | os.PathLike) -> str:
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        raise KerasBertError(f"Expected a tokenizer file {path}. Received: no such file.") from None
    except OSError as error:
        raise KerasBertError(f"Expected a readable file {path}. Received: {error.strerror}.") from None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise KerasBertError(
            f"Expected UTF-8 in {path}. Received: byte 0x{content[error.start]:02x} at offset {error.start}."
        ) from None
