"""Keys of `tokenizer.json`, as `tokenizers` 0.23 and its predecessors write them."""

from collections.abc import Mapping
from pathlib import Path

from kerasbert.files.known_keys import KnownKeys
from kerasbert.text.tokenizer_keys import ADVICE

_RIGHT = {"direction": ("Right",)}
_FILE = KnownKeys(
    used=frozenset({"added_tokens", "model", "normalizer", "padding", "post_processor", "pre_tokenizer", "truncation"}),
    harmless=frozenset({"version", "decoder"}),
)
_OFF = (None, False)
_MODELS = {
    "WordPiece": KnownKeys(
        used=frozenset({"type", "vocab", "unk_token"}),
        only={"continuing_subword_prefix": ("##",), "max_input_chars_per_word": (100,)},
    ),
    "Unigram": KnownKeys(used=frozenset({"type", "vocab", "unk_id"}), only={"byte_fallback": _OFF}),
    "BPE": KnownKeys(
        used=frozenset({"type", "vocab", "merges", "unk_token"}),
        only={
            **dict.fromkeys(("continuing_subword_prefix", "end_of_word_suffix"), (None, "")),
            **dict.fromkeys(("byte_fallback", "ignore_merges", "fuse_unk"), _OFF),
            "dropout": (None, 0, 0.0),
        },
    ),
}
_TYPE = frozenset({"type"})
_STEPS = {
    "BertNormalizer": KnownKeys(
        _TYPE | {"handle_chinese_chars", "strip_accents", "lowercase"}, only={"clean_text": (True,)}
    ),
    "BertPreTokenizer": KnownKeys(_TYPE),
    "BertProcessing": KnownKeys(_TYPE | {"cls", "sep"}),
    "ByteLevel": KnownKeys(_TYPE | {"add_prefix_space"}, frozenset({"trim_offsets"}), {"use_regex": (True,)}),
    "Lowercase": KnownKeys(_TYPE),
    "Metaspace": KnownKeys(
        _TYPE | {"add_prefix_space", "prepend_scheme"},
        only={"replacement": ("▁",), "str_rep": ("▁",), "split": (True,)},
    ),
    "NFKD": KnownKeys(_TYPE),
    "Precompiled": KnownKeys(_TYPE | {"precompiled_charsmap"}),
    "Replace": KnownKeys(_TYPE | {"pattern", "content"}),
    "RobertaProcessing": KnownKeys(_TYPE | {"cls", "sep", "trim_offsets"}, frozenset({"add_prefix_space"})),
    "StripAccents": KnownKeys(_TYPE),
    "TemplateProcessing": KnownKeys(_TYPE | {"single", "pair", "special_tokens"}),
    "WhitespaceSplit": KnownKeys(_TYPE),
}
# A call sets the length and the strategy anew. The sides stay, unless tokenizer_config.json names them.
_PADDING = KnownKeys(
    used=frozenset({"pad_token", "pad_id"}),
    harmless=frozenset({"strategy", "pad_to_multiple_of"}),
    only={**_RIGHT, "pad_type_id": (0,)},
)
_TRUNCATION = KnownKeys(harmless=frozenset({"max_length", "stride", "strategy"}), only=_RIGHT)
_CALL = (("padding", "padding_side", _PADDING), ("truncation", "truncation_side", _TRUNCATION))


def check_tokenizer_json(content: Mapping, kind: str, config: Mapping, path: Path) -> None:
    """Check the keys of a `tokenizer.json` and of its parts. Parts of an unknown type are left to the readers of the models.

    Args:
        content: The file.
        kind: The type of its model.
        config: The content of `tokenizer_config.json`, whose sides take precedence.
        path: The file, for messages.

    Raises:
        KerasBertError: When a value is not supported. Unknown keys under `strict` too.
    """
    _FILE.check(content, path, ADVICE)
    _MODELS[kind].check(content["model"], f"{path}: the model {kind}", ADVICE)
    for name, side, keys in _CALL:
        part = dict(content.get(name) or {})
        if config.get(side) is not None:
            part.pop("direction", None)
        keys.check(part, f"{path}: {name}", ADVICE)
    for name, parts in (("normalizer", "normalizers"), ("pre_tokenizer", "pretokenizers"), ("post_processor", "")):
        for step in components(content.get(name) or {}, parts):
            if step["type"] in _STEPS:
                _STEPS[step["type"]].check(step, f"{path}: {step['type']}", ADVICE)


def components(part: Mapping, name: str) -> list[Mapping]:
    """Return the steps of a part of the file: those that a sequence has under `name`, the part itself, or none."""
    return part[name] if part.get("type") == "Sequence" and name else [part] if part else []
