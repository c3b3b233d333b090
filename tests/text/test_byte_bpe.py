"""Byte-level BPE against Hugging Face's own assembly of RoBERTa's tokenizer."""

import json
import pickle

import pytest
from tokenizers import AddedToken
from tokenizers.implementations import ByteLevelBPETokenizer
from tokenizers.processors import RobertaProcessing

from kerasbert.errors import KerasBertError
from kerasbert.text import ByteLevelBPE, pack, tokenizer_from_config, tokenizer_from_folder

LINES = ["the cat sat on the mat", "a cat and another cat", "hats and mats, cats and bats"] * 4
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
TEXTS = ["the cat", " the  hat\n", "Zürich 😀 the <mask> cat</s>", "", "x\x00y مرحبا <MASK>", "cat " * 30]


@pytest.fixture
def folder(tmp_path):
    learned = ByteLevelBPETokenizer()
    learned.train_from_iterator(LINES, vocab_size=300, special_tokens=SPECIAL, show_progress=False)
    learned.save_model(str(tmp_path))
    return tmp_path


def reference(folder, prefix=False):
    files = (str(folder / name) for name in ("vocab.json", "merges.txt"))
    engine = ByteLevelBPETokenizer.from_file(*files, add_prefix_space=prefix)
    engine.add_special_tokens([*SPECIAL[:4], AddedToken("<mask>", lstrip=True, normalized=False)])
    engine._tokenizer.post_processor = RobertaProcessing(("</s>", 2), ("<s>", 0), True, prefix)
    return engine


@pytest.mark.parametrize("prefix", [False, True])
@pytest.mark.parametrize("paired", [False, True])
def test_ids_and_offsets_equal_hugging_face(folder, prefix, paired):
    (folder / "tokenizer_config.json").write_text(json.dumps({"add_prefix_space": prefix}))
    tokenizer, engine = tokenizer_from_folder(folder), reference(folder, prefix)
    pairs = TEXTS[::-1] if paired else None
    expected = engine.encode_batch(list(zip(TEXTS, pairs, strict=True)) if paired else TEXTS)
    encoded = tokenizer.encode(TEXTS, pairs, max_length=512)
    assert encoded.input_ids == [row.ids for row in expected]
    assert encoded.token_type_ids == [row.type_ids for row in expected] == [[0] * len(row.ids) for row in expected]
    assert encoded.offsets == [row.offsets for row in expected]
    assert encoded.word_ids == [row.word_ids for row in expected]
    assert encoded.sequence_ids == [row.sequence_ids for row in expected]


@pytest.mark.parametrize("truncation", ["longest_first", "only_first", "only_second"])
def test_truncation_equals_hugging_face(folder, truncation):
    tokenizer, engine = ByteLevelBPE.from_folder(folder), reference(folder)
    engine.enable_truncation(16, strategy=truncation)
    texts, pairs = ["cat cat cat cat cat cat cat cat"] * 2, ["hat hat", "hats and mats"]
    if truncation == "only_second":
        texts, pairs = pairs, texts
    expected = engine.encode_batch(list(zip(texts, pairs, strict=True)))
    encoded = tokenizer.encode(texts, pairs, max_length=16, truncation=truncation)
    assert encoded.input_ids == [row.ids for row in expected]
    assert encoded.offsets == [row.offsets for row in expected]
    with pytest.raises(KerasBertError, match="at least 4.*received 3"):
        tokenizer.encode(texts, pairs, max_length=3)


def test_packing_uses_the_padding_token(folder):
    tokenizer = ByteLevelBPE.from_folder(folder)
    packed = pack(tokenizer.encode(["cat"], ["hat"], max_length=16), length=16, pad_id=tokenizer.pad_id)
    ids = packed["input_ids"][0]
    assert tokenizer.pad_id == 1 and not packed["token_type_ids"].any()
    length = packed["attention_mask"].sum()
    assert (ids[length:] == 1).all() and (ids[:length] != 1).all()
    assert ids[length - 1] == 2 and (ids == 2).sum() == 3


def test_saved_and_restored(folder):
    tokenizer = ByteLevelBPE.from_folder(folder)
    rows = tokenizer.encode(TEXTS, max_length=64)
    config = json.loads(json.dumps(tokenizer.get_config()))
    assert config["vocabulary"] == list(tokenizer.vocabulary)
    tokenizer.save(folder / "again")
    names = sorted(path.name for path in (folder / "again").iterdir())
    assert names == ["merges.txt", "tokenizer_config.json", "vocab.json"]
    written = json.loads((folder / "again" / "tokenizer_config.json").read_text())["added_tokens_decoder"]
    assert {number: token["lstrip"] for number, token in written.items()} == {"4": True}  # transformers 5 needs it
    for again in (
        tokenizer_from_config(config),
        tokenizer_from_folder(folder / "again"),
        pickle.loads(pickle.dumps(tokenizer)),
    ):
        assert type(again) is ByteLevelBPE and again.get_config() == config
        assert again.encode(TEXTS, max_length=64) == rows


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("vocab.json", '{"a": 0, "b": 2}', "ids 0 to 1 .* no token with id 1"),
        ("vocab.json", '{"a": "x"}', "whole numbers .* 'x' for 'a'"),
        ("vocab.json", "{}", "token ids in"),
        ("merges.txt", "#version: 0.2\nt h e\n", "'t h e' as merge 0"),
        ("merges.txt", "#version: 0.2\nq q\n", "'q q' as merge 0"),
        ("merges.txt", b"\xff", "byte 0xff at offset 0"),
    ],
)
def test_invalid_files_raise(folder, name, content, message):
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(KerasBertError, match=message) as error:
        tokenizer_from_folder(folder)
    assert str(folder) in str(error.value)
