"""Tokenizer files that are valid JSON with invalid content."""

import base64
import io
import json

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.text import tokenizer_from_config, tokenizer_from_folder
from kerasbert.text.charsmap import check_charsmap

VOCABULARY = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n"
QUOTES = [{"type": "Replace", "pattern": {"String": text}, "content": '"'} for text in ("``", "''")]
PIECES = [["<pad>", 0], ["<unk>", 0], ["[CLS]", 0], ["[SEP]", 0], ["[MASK]", 0], ["a", -1]]
WORDS = [{"type": "WhitespaceSplit"}, {"type": "Metaspace", "prepend_scheme": "always"}]


def unigram(*steps, **parts) -> str:
    return json.dumps({
        "added_tokens": [], "normalizer": {"type": "Sequence", "normalizers": [*QUOTES, *steps]},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": WORDS}, "model": {"type": "Unigram", "unk_id": 1, "vocab": PIECES}, **parts,
    })  # fmt: skip


def wordpiece(**parts) -> str:
    vocabulary = {token: number for number, token in enumerate(VOCABULARY.split())}
    return json.dumps({
        "model": {"type": "WordPiece", "vocab": vocabulary, "unk_token": "[UNK]"}, "normalizer": {"type": "BertNormalizer"},
        "pre_tokenizer": {"type": "BertPreTokenizer"}, **parts,
    })  # fmt: skip


def charsmap(text: bytes) -> dict:
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(text).decode()}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"vocab.txt": VOCABULARY, "added_tokens.json": '{"x": {}}'}, "added_tokens.json: expected an added token"),
        ({"vocab.txt": VOCABULARY, "added_tokens.json": '{"x": "5", "y": 6}'}, "expected an added token .*'5'"),
        ({"vocab.txt": VOCABULARY, "added_tokens.json": '{"\\ud800": 6}'}, "half of a surrogate pair"),
        (
            {"vocab.txt": VOCABULARY, "tokenizer_config.json": '{"added_tokens_decoder": {"1e3": {"content": "x"}}}'},
            "'1e3'",
        ),
        ({"vocab.txt": VOCABULARY, "tokenizer_config.json": '{"added_tokens_decoder": []}'}, None),
        (
            {"vocab.txt": VOCABULARY, "tokenizer_config.json": '{"added_tokens_decoder": [1]}'},
            "added_tokens_decoder as an object",
        ),
        (
            {"vocab.txt": VOCABULARY, "tokenizer_config.json": '{"additional_special_tokens": [{"content": 1}]}'},
            "a special token",
        ),
        ({"tokenizer.json": '{"model": {"type": ["WordPiece"], "vocab": {"a": 0}}}'}, "a model of type"),
        ({"tokenizer.json": wordpiece(added_tokens=[{"id": float("inf"), "content": "z"}])}, "expected an added token"),
        (
            {"tokenizer.json": wordpiece(normalizer={"type": "BertNormalizer", "lowercase": "no"})},
            "lowercase as true or false",
        ),
        ({"tokenizer.json": wordpiece(padding={"pad_token": ["[PAD]"]})}, "pad_token as a string"),
        (
            {"tokenizer.json": unigram(post_processor={"type": "TemplateProcessing", "pair": [{}]})},
            "the template of pairs",
        ),
        ({"tokenizer.json": unigram(charsmap(b"abc"))}, "expected a precompiled_charsmap .* 3 bytes"),
        ({"tokenizer.json": unigram(charsmap(b"x" * 20_000))}, "20,000 bytes with a trie of 2,021,161,080"),
        (
            {"tokenizer.json": unigram(charsmap((4).to_bytes(4, "little") + bytes(4)))},
            "a trie that leads behind its end",
        ),
    ],
)
def test_tokenizer_files(tmp_path, files, message):
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    if message is None:
        assert tokenizer_from_folder(tmp_path).encode(["a"], max_length=8).input_ids == [[2, 5, 3]]
        return
    with pytest.raises(KerasBertError, match=message):
        tokenizer_from_folder(tmp_path)


def test_charsmap_of_a_trained_model_is_valid_and_a_damaged_one_raises():
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a b c"]), model_writer=model, vocab_size=9, hard_vocab_limit=False, minloglevel=2
    )
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(model.getvalue())
    whole = proto.normalizer_spec.precompiled_charsmap
    check_charsmap(whole)
    size = int.from_bytes(whole[:4], "little")
    for damaged in (whole[: size + 3], whole[: size + 40], whole[:4] + b"\xff\xff\xff\x7f" + whole[8:]):
        with pytest.raises(KerasBertError, match="precompiled_charsmap"):
            check_charsmap(damaged)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"kind": {}}, "of kind"),
        *[({name: 1}, f"received '{name}'") for name in ("self", "args", "common")],
        ({"colour": 1}, "settings of a wordpiece tokenizer, received 'colour'"),
        ({"lowercase": "no"}, "lowercase of a tokenizer as true or false, received 'no'"),
        ({"unk_token": 5}, "unk_token of a tokenizer as a string"),
        ({"added_tokens": [{"content": "a", "lstrip": 5}]}, "added_tokens of a tokenizer as a list of objects"),
        ({"model_max_length": float("nan")}, "model_max_length of a tokenizer as a finite number above 0"),
        ({"vocabulary": 5}, "vocabulary of a tokenizer as a list of strings"),
    ],
)
def test_configs_of_cards(setting, message):
    with pytest.raises(KerasBertError, match=message):
        tokenizer_from_config({"vocabulary": VOCABULARY.split(), **setting})
