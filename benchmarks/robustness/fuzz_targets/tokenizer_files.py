"""Readers of the files of a tokenizer."""

import base64
import functools
import io
import json
from pathlib import Path

from benchmarks.robustness.fuzz_targets.samples import SPECIAL, TEXTS, WORDS
from benchmarks.robustness.fuzz_targets.target import Target


def _tokenizer(folder: Path) -> None:
    from kerasbert.text import tokenizer_from_config, tokenizer_from_folder

    tokenizer = tokenizer_from_folder(folder)
    encoded = tokenizer.encode(TEXTS, max_length=16)
    assert max(map(max, encoded.input_ids)) < tokenizer.vocabulary_size
    assert len(encoded.offsets) == len(TEXTS)
    tokenizer_from_config(json.loads(json.dumps(tokenizer.get_config())))


_VOCABULARY = "".join(f"{word}\n" for word in WORDS).encode()
_CONFIG = {
    "tokenizer_class": "BertTokenizer", "do_lower_case": True, "strip_accents": None, "model_max_length": 512, "unk_token": "[UNK]",
    "added_tokens_decoder": {"0": {"content": "[PAD]", "special": True, "lstrip": False}, str(len(WORDS)): {"content": "<e>"}},
    "additional_special_tokens": ["<e>"],
}  # fmt: skip
_ROLES = ("unk_token", "cls_token", "sep_token", "pad_token", "mask_token")


def _wordpiece_files() -> list[dict[str, bytes]]:
    special = dict(
        zip(_ROLES, ("[UNK]", "[CLS]", "[SEP]", "[PAD]", {"content": "[MASK]", "lstrip": True}), strict=True)
    )
    return [
        {
            "vocab.txt": _VOCABULARY, "tokenizer_config.json": json.dumps(_CONFIG).encode(),
            "special_tokens_map.json": json.dumps(special).encode(),
            "added_tokens.json": json.dumps({"<e>": len(WORDS), "<f>": len(WORDS) + 1}).encode(),
        }
    ]  # fmt: skip


def _template(cls: str, sep: str, second: int) -> dict:
    def part(kind, name, type_id):
        return {kind: {"id": name, "type_id": type_id}}

    pair = [part("SpecialToken", cls, 0), part("Sequence", "A", 0), part("SpecialToken", sep, 0)]
    pair += [part("Sequence", "B", second), part("SpecialToken", sep, second)]
    tokens = {name: {"id": name, "ids": [number], "tokens": [name]} for number, name in ((2, cls), (3, sep))}
    return {"type": "TemplateProcessing", "pair": pair, "single": pair[:3], "special_tokens": tokens}


def _tokenizer_json() -> list[dict[str, bytes]]:
    added = [{"id": number, "content": token, "special": True, "lstrip": False} for number, token in enumerate(SPECIAL)]
    wordpiece = {
        "added_tokens": added, "normalizer": {"type": "BertNormalizer", "lowercase": True, "strip_accents": None, "clean_text": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": _template("[CLS]", "[SEP]", 1), "padding": {"pad_token": "[PAD]"},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
                  "vocab": {token: number for number, token in enumerate(WORDS)}},
    }  # fmt: skip
    quotes = [{"type": "Replace", "pattern": {"String": text}, "content": '"'} for text in ("``", "''")]
    steps = [*quotes, {"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"}, _charsmap_step()]
    pieces = [
        ["<pad>", 0],
        ["<unk>", 0],
        ["[CLS]", 0],
        ["[SEP]", 0],
        ["[MASK]", 0],
        ["▁a", -1],
        ["▁good", -2.5],
        ["9,", -3],
    ]
    words = [{"type": "WhitespaceSplit"}, {"type": "Metaspace", "prepend_scheme": "always"}]
    unigram = {
        "added_tokens": [{"id": 0, "content": "<pad>", "special": True}, {"id": 4, "content": "[MASK]", "special": True, "lstrip": True}],
        "normalizer": {"type": "Sequence", "normalizers": steps}, "post_processor": _template("[CLS]", "[SEP]", 1),
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": words},
        "model": {"type": "Unigram", "unk_id": 1, "vocab": pieces},
    }  # fmt: skip
    tokens = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "a", "b", "ab", "Ġ", "Ġa"]
    bpe = {
        "added_tokens": [{"id": 4, "content": "<mask>", "lstrip": True, "special": True}],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False}, "normalizer": None,
        "post_processor": {"type": "RobertaProcessing", "cls": ["<s>", 0], "sep": ["</s>", 2], "trim_offsets": True},
        "model": {"type": "BPE", "vocab": {token: number for number, token in enumerate(tokens)}, "merges": ["a b", ["Ġ", "a"]]},
    }  # fmt: skip
    return [{"tokenizer.json": json.dumps(value).encode()} for value in (wordpiece, unigram, bpe)]


@functools.cache
def _charsmap() -> bytes:
    """Build a compiled character map with SentencePiece's trainer."""
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a b c", "good film"]), model_writer=model, vocab_size=17, hard_vocab_limit=False, minloglevel=2
    )  # fmt: skip
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(model.getvalue())
    return proto.normalizer_spec.precompiled_charsmap


def _charsmap_step() -> dict:
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(_charsmap()).decode()}


def _sentencepiece() -> list[dict[str, bytes]]:
    from kerasbert.text.sentencepiece_model import build_model

    pieces = [
        ("<pad>", 0.0),
        ("<unk>", 0.0),
        ("[CLS]", 0.0),
        ("[SEP]", 0.0),
        ("[MASK]", 0.0),
        ("▁a", -1.0),
        ("▁good", -2.5),
    ]
    controls = {"[CLS]", "[SEP]", "[MASK]"}
    config = json.dumps({"tokenizer_class": "AlbertTokenizer", "do_lower_case": True, "keep_accents": False}).encode()
    whole = [build_model(pieces, 1, controls, charsmap) for charsmap in (b"", _charsmap())]
    return [{"spiece.model": model, "tokenizer_config.json": config} for model in whole]


def _bpe() -> list[dict[str, bytes]]:
    tokens = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "a", "b", "ab", "Ġ", "Ġa"]
    vocabulary = json.dumps({token: number for number, token in enumerate(tokens)}).encode()
    return [{"vocab.json": vocabulary, "merges.txt": "#version: 0.2\na b\nĠ a\n".encode()}]


TARGETS = [
    Target("vocab.txt", _tokenizer, _wordpiece_files, ("vocab.txt",)),
    Target("tokenizer settings", _tokenizer, _wordpiece_files, ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")),
    Target("tokenizer.json", _tokenizer, _tokenizer_json),
    Target("spiece.model", _tokenizer, _sentencepiece),
    Target("vocab.json, merges.txt", _tokenizer, _bpe),
]  # fmt: skip
