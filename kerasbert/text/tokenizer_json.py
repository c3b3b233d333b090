"""Conversion of `tokenizer.json`, the file of Hugging Face `tokenizers`, to the settings of our tokenizers.

The engine could load the file directly. Settings can also be passed to a tokenizer in a graph or an app. A component that the settings
cannot express raises an error.
"""

import base64
import binascii
import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kerasbert.console.strictness import unknown
from kerasbert.errors import KerasBertError
from kerasbert.text import tokenizer_files
from kerasbert.text.added_tokens import parse_added_token
from kerasbert.text.sentencepiece_model import albert_pieces, build_model
from kerasbert.text.tokenizer_json_keys import check_tokenizer_json, components
from kerasbert.text.xlm_roberta import check_ids
from kerasbert.values import Rule

_PRECOMPILED, _ONE_SPACE = "Precompiled", "Replace Regex  {2,}  "
_FLAGS = ("lowercase", "strip_accents", "tokenize_chinese_chars", "add_prefix_space", "trim_offsets", "keep_accents")


def read_tokenizer_json(path: Path, config: Mapping) -> tuple[dict[str, Any], dict[str, tuple[int | None, Mapping]]]:
    """Read a `tokenizer.json`.

    Args:
        path: The file.
        config: The content of `tokenizer_config.json`.

    Returns:
        The settings for `tokenizer_from_config`, and the added tokens: token -> its id and its `AddedToken` fields.

    Raises:
        KerasBertError: When the file is damaged, or a component (model, normalizer, pre-tokenizer, template) is not that of BERT, ALBERT
            or RoBERTa. The message names the component.
    """
    content = tokenizer_files.read_json(path)
    model = content.get("model")
    if not isinstance(model, dict) or not model.get("vocab"):
        raise KerasBertError(f"expected a model with a vocabulary in {path}, received none")
    readers = {"WordPiece": _wordpiece, "Unigram": _unigram, "BPE": _byte_level_bpe}
    kind = model.get("type") or _infer_type(model)
    if not isinstance(kind, str) or kind not in readers:
        raise KerasBertError(f"expected a model of type {', '.join(readers)} in {path}, received {kind!r}")
    try:
        check_tokenizer_json(content, kind, config, path)
        added = {}
        for token in content.get("added_tokens") or ():
            parsed = parse_added_token(token, path)
            added[token["content"]] = parsed
        settings = readers[kind](content, model, path)
        _check_settings(settings, path)
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        if isinstance(error, KerasBertError):
            raise
        raise KerasBertError(
            f"expected the parts of a tokenizer as `tokenizers` writes them in {path}, received something else "
            f"({type(error).__name__}: {error})"
        ) from None
    return settings, added


def _check_settings(settings: Mapping, path: Path) -> None:
    """Check the settings that are copied from the file: flags are Boolean, names of tokens are texts."""
    for name, value in settings.items():
        if name.endswith("_token"):
            Rule(str).check(value, name, path)
        elif name in _FLAGS:
            Rule(bool | None if name == "strip_accents" else bool).check(value, name, path)


def _infer_type(model: Mapping) -> str:
    """Infer the type of a model in a file of an early `tokenizers`, which did not write it."""
    if "merges" in model:
        return "BPE"
    return "Unigram" if isinstance(model["vocab"], list) else "WordPiece"


def _wordpiece(content: Mapping, model: Mapping, path: Path) -> dict[str, Any]:
    normalizer = _bert_normalizer(content.get("normalizer") or {})
    _require(path, "normalizer", normalizer.get("type"), "BertNormalizer")
    _require(path, "pre-tokenizer", (content.get("pre_tokenizer") or {}).get("type"), "BertPreTokenizer")
    return {
        "kind": "wordpiece",
        "vocabulary": tokenizer_files.tokens_in_order(model["vocab"], path),
        "lowercase": normalizer.get("lowercase", True),
        "strip_accents": normalizer.get("strip_accents"),
        "tokenize_chinese_chars": normalizer.get("handle_chinese_chars", True),
        **({"unk_token": model["unk_token"]} if model.get("unk_token") else {}),
        **_sequence_tokens(content, path, separators=1),
    }


def _bert_normalizer(normalizer: Mapping) -> Mapping:
    """Return the part of a normalizer that acts: sentence-transformers 5.4 and later put a Lowercase before one that lowercases."""
    steps = components(normalizer, "normalizers")
    names = [step["type"] for step in steps]
    is_redundant = names == ["Lowercase", "BertNormalizer"] and steps[-1].get("lowercase", True) is True
    return steps[-1] if is_redundant else normalizer


def _byte_level_bpe(content: Mapping, model: Mapping, path: Path) -> dict[str, Any]:
    _require(path, "normalizer", content.get("normalizer"), None)
    pre_tokenizer = content.get("pre_tokenizer") or {}
    _require(path, "pre-tokenizer", pre_tokenizer.get("type"), "ByteLevel")
    if model.get("unk_token") is not None:  # it stands for bytes without a token
        missing = [byte for byte in _byte_characters() if byte not in model["vocab"]]
        _require(path, "number of bytes without a token", len(missing), 0)
    processor = content.get("post_processor") or {}
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]]
    return {
        "kind": "byte_level_bpe",
        "vocabulary": tokenizer_files.tokens_in_order(model["vocab"], path),
        "merges": merges,
        "add_prefix_space": bool(pre_tokenizer.get("add_prefix_space")),
        "trim_offsets": processor.get("trim_offsets", True),
        **_sequence_tokens(content, path, separators=2),
    }


def _unigram(content: Mapping, model: Mapping, path: Path) -> dict[str, Any]:
    normalizer = components(content.get("normalizer") or {}, "normalizers")
    names, charsmap = _names_and_charsmap(normalizer, path)
    one_space = _ONE_SPACE in names
    remove_space = _splits_white_space(content, one_space, path)
    pieces = [(piece, score) for piece, score in model["vocab"]]
    common = {
        "vocabulary": [piece for piece, _ in pieces],
        "remove_space": remove_space,
        "unk_token": pieces[model["unk_id"]][0],
    }
    controls = {token["content"] for token in content.get("added_tokens") or () if token.get("special")}
    if names in ([_PRECOMPILED], [_PRECOMPILED, _ONE_SPACE]):  # not ALBERT's, which replaces quotes
        try:
            check_ids(common["vocabulary"])
        except KerasBertError as error:
            raise KerasBertError(f"{path}: {error}") from None
        _require(path, "unk_token", common["unk_token"], "<unk>")
        proto = build_model(pieces, model["unk_id"], controls, charsmap)
        template = _sequence_tokens(content, path, separators=2)
        return {"kind": "xlm_roberta", "model": base64.b64encode(proto).decode("ascii"), **common, **template}
    lowercase, keep_accents = _albert_normalizer(names, path)
    proto = build_model(albert_pieces(pieces), model["unk_id"], controls, charsmap)
    return {
        "kind": "sentencepiece",
        "model": base64.b64encode(proto).decode("ascii"),
        "lowercase": lowercase,
        "keep_accents": keep_accents,
        **common,
        **_sequence_tokens(content, path, separators=1),
    }


def _splits_white_space(content: Mapping, one_space: bool, path: Path) -> bool:
    """Return True if words end at all white space, False if they end at runs of spaces, which the normalizer merges."""
    steps = components(content.get("pre_tokenizer") or {}, "pretokenizers")
    names = [step["type"] for step in steps]
    if names not in (["WhitespaceSplit", "Metaspace"], ["Metaspace"]) or (names == ["Metaspace"] and not one_space):
        raise _unsupported(path, "pre-tokenizer", names)
    if not steps[-1].get("add_prefix_space", steps[-1].get("prepend_scheme") == "always"):
        raise _unsupported(path, "Metaspace", steps[-1])
    return "WhitespaceSplit" in names


def _names_and_charsmap(normalizer: Sequence[Mapping], path: Path) -> tuple[list[str], bytes]:
    """Return the names of a normalizer's steps, with what they replace, and SentencePiece's charsmap."""
    names, charsmap = [], b""
    for step in normalizer:
        name = step["type"]
        if name == "Replace":
            ((form, pattern),) = step["pattern"].items()
            name = f"Replace {form} {pattern} {step['content']}"
        elif name == _PRECOMPILED:
            try:
                charsmap = base64.b64decode(step["precompiled_charsmap"], validate=True)
            except (binascii.Error, ValueError):
                raise _unsupported(path, "precompiled_charsmap", "no base64") from None
        names.append(name)
    return names, charsmap


def _albert_normalizer(names: Sequence[str], path: Path) -> tuple[bool, bool]:
    """Return `lowercase` and `keep_accents`."""
    rest = list(names)
    quotes = ['Replace String `` "', "Replace String '' \""]
    for part in (*quotes, "NFKD", "StripAccents", "Lowercase", _PRECOMPILED, _ONE_SPACE):
        if rest and rest[0] == part:
            rest.pop(0)
    accents = {"NFKD", "StripAccents"} & set(names)
    if rest or not set(quotes) <= set(names) or len(accents) == 1:
        raise _unsupported(path, "normalizer", names)
    return "Lowercase" in names, not accents


def _sequence_tokens(content: Mapping, path: Path, separators: int) -> dict[str, Any]:
    """Return the names of the tokens around a text, and of the padding token, if the file contains them."""
    padding = content.get("padding") or {}
    names, ids = {}, {}
    if token := padding.get("pad_token"):
        names["pad_token"] = token
        ids[str(token)] = [padding.get("pad_id", 0)]
    processor = content.get("post_processor") or {}
    kind = processor.get("type")
    if kind is None:
        unknown(
            path,
            "a post_processor with the tokens around a text",
            "no post_processor, with which tokenizers adds no tokens around a text",
            "added the tokens of BERT, ALBERT or RoBERTa for",
        )
    elif kind in ("BertProcessing", "RobertaProcessing"):
        _require(path, "post-processor", kind, "RobertaProcessing" if separators == 2 else "BertProcessing")
        for role in ("cls", "sep"):
            names[f"{role}_token"], number = processor[role]
            ids[processor[role][0]] = [number]
    else:
        _require(path, "post-processor", kind, "TemplateProcessing")
        names |= _template_tokens(processor, path, separators)
        ids |= {token: fields["ids"] for token, fields in (processor.get("special_tokens") or {}).items()}
    _check_ids(content, ids, path)
    return names


def _template_tokens(processor: Mapping, path: Path, separators: int) -> dict[str, str]:
    pair = _template_parts(processor["pair"])
    cls, sep = pair[0][0], pair[-1][0]
    second = 1 if separators == 1 else 0
    first = [(cls, 0), ("$A", 0), (sep, 0)]
    separator = [(sep, 0)] * (separators - 1)
    if cls.startswith("$") or sep.startswith("$") or pair != [*first, *separator, ("$B", second), (sep, second)]:
        raise _unsupported(path, "template of pairs", pair)
    if (single := _template_parts(processor["single"])) != first:
        raise _unsupported(path, "template of texts", single)
    return {"cls_token": cls, "sep_token": sep}


def _template_parts(parts: Sequence[Mapping]) -> list[tuple[str, int | None]]:
    """Return the name and the token type of each part. The name of a text begins with "$"."""
    found = [next(iter(part.items()), ("", {})) for part in parts]
    return [
        (f"${fields.get('id')}" if kind == "Sequence" else str(fields.get("id")), fields.get("type_id"))
        for kind, fields in found
    ]


def _check_ids(content: Mapping, ids: Mapping[str, object], path: Path) -> None:
    """Check that tokens which are added by their number have that number in the vocabulary."""
    vocabulary = content["model"]["vocab"]
    known = vocabulary if isinstance(vocabulary, Mapping) else {piece[0]: n for n, piece in enumerate(vocabulary)}
    added = {token["content"]: token["id"] for token in content.get("added_tokens") or ()}
    for token, numbers in ids.items():
        expected = known.get(token, added.get(token))
        if expected is not None and numbers != [expected]:  # a token without an id is an error of the tokenizer
            raise _unsupported(path, f"id of {token!r}", numbers, [expected])


@functools.cache
def _byte_characters() -> tuple[str, ...]:
    """Return the characters that stand for the 256 bytes."""
    from tokenizers.pre_tokenizers import ByteLevel

    return tuple(ByteLevel.alphabet())


def _require(path: Path, name: str, received: object, expected: object) -> None:
    if received != expected:
        raise _unsupported(path, name, received, expected)


def _unsupported(
    path: Path, name: str, received: object, expected: object = "that of BERT, ALBERT or RoBERTa"
) -> KerasBertError:
    return KerasBertError(f"expected the {name} in {path} to be {expected}, received {received!r:.200}")
