"""Keys of tokenizer files: every key that transformers 4.57.6 and 5.24.0 write is known, and settings that change ids are refused."""

import json

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from tokenizers.implementations import BertWordPieceTokenizer

from kerasbert.console.strictness import note_once, strict
from kerasbert.errors import KerasBertError
from kerasbert.text import tokenizer_from_folder

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [*SPECIAL, "a", "b"]
# Saved with AutoTokenizer.from_pretrained(...).save_pretrained(...) from an uncased vocab.txt, without the special tokens.
SAVED_BY_4 = {
    "added_tokens_decoder": {}, "clean_up_tokenization_spaces": True, "do_basic_tokenize": True, "do_lower_case": True,
    "extra_special_tokens": {}, "model_max_length": 1000000000000000019884624838656, "never_split": None, "strip_accents": None,
    "tokenize_chinese_chars": True, "tokenizer_class": "BertTokenizer", "max_length": 4, "pad_to_multiple_of": None,
    "pad_token_type_id": 0, "padding_side": "right", "stride": 0, "truncation_side": "right", "truncation_strategy": "longest_first",
}  # fmt: skip
SAVED_BY_5 = {
    "backend": "tokenizers", "do_lower_case": True, "is_local": True, "local_files_only": False, "strip_accents": None,
    "model_max_length": 1000000000000000019884624838656, "tokenize_chinese_chars": True, "tokenizer_class": "BertTokenizer",
}  # fmt: skip


@pytest.fixture(autouse=True)
def first_notes():
    note_once.cache_clear()


def folder(path, **files):
    for name, content in {"vocab": "\n".join(WORDS), **files}.items():
        suffix = "txt" if name == "vocab" else "json"
        (path / f"{name}.{suffix}").write_text(content if name == "vocab" else json.dumps(content), "utf-8")
    return path


def wordpiece_json(**parts):
    engine = BertWordPieceTokenizer({token: number for number, token in enumerate(WORDS)}, lowercase=True)
    return {**json.loads(engine.to_str()), **parts}


def bpe_json(**parts):
    tokens = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    engine = Tokenizer(models.BPE({token: number for number, token in enumerate(tokens)}, []))
    engine.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    engine.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return {**json.loads(engine.to_str()), **parts}


@pytest.mark.parametrize("config", [SAVED_BY_4, SAVED_BY_5])
def test_keys_of_transformers_are_known(tmp_path, config, capsys):
    with strict():
        tokenizer = tokenizer_from_folder(folder(tmp_path, tokenizer_config=config, tokenizer=wordpiece_json()))
    assert tokenizer.encode(["A"], max_length=4).input_ids == [[2, 5, 3]]
    assert not capsys.readouterr().err


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("padding_side", "left"),
        ("truncation_side", "left"),
        ("do_basic_tokenize", False),
        ("never_split", ["ab"]),
        ("split_special_tokens", True),
        ("pad_token_type_id", 3),
        ("word_tokenizer_type", "sudachi"),
        ("auto_map", {"AutoTokenizer": ["a.B", None]}),
        ("wordpieces_prefix", "@@"),
    ],
)
def test_settings_that_change_ids_are_refused(tmp_path, key, value):
    config = {"tokenizer_class": "BertTokenizer", key: value}
    with pytest.raises(KerasBertError, match=rf"tokenizer_config\.json: expected {key} .* received .*correct the file"):
        tokenizer_from_folder(folder(tmp_path, tokenizer_config=config))


def test_unknown_keys_are_noted_and_errors_under_strict(tmp_path, capsys):
    found = folder(tmp_path, tokenizer_config={"rotary": 1}, special_tokens_map={"wrap_token": "a"})
    assert tokenizer_from_folder(found).vocabulary_size == 7
    notes = capsys.readouterr().err
    assert "tokenizer_config.json: ignored 1 unknown key (rotary)" in notes
    assert "special_tokens_map.json: ignored 1 unknown key (wrap_token)" in notes
    with strict(), pytest.raises(KerasBertError, match="unknown key"):
        tokenizer_from_folder(found)


def test_named_extra_tokens_are_known(tmp_path, capsys):
    """transformers writes each of them as a key of its own too."""
    config = {"extra_special_tokens": {"image_token": "<img>"}, "image_token": "<img>"}
    tokenizer = tokenizer_from_folder(folder(tmp_path, tokenizer_config=config))
    assert tokenizer.encode(["a<img>"], max_length=8).input_ids == [[2, 5, 7, 3]]
    assert not capsys.readouterr().err


def test_name_of_the_maximum_length_in_transformers_2(tmp_path):
    assert tokenizer_from_folder(folder(tmp_path, tokenizer_config={"max_len": 9})).model_max_length == 9


@pytest.mark.parametrize(("types", "noted"), [(2, True), (1, False), (None, False)])
def test_missing_token_types_are_noted(tmp_path, capsys, types, noted):
    """transformers then numbers both texts of a pair 0. DistilBERT has no token types at all."""
    config = {} if types is None else {"type_vocab_size": types}
    names = {"model_input_names": ["input_ids", "attention_mask"]}
    tokenizer_from_folder(folder(tmp_path, tokenizer_config=names, config=config))
    assert ("numbers both texts of a pair 0" in capsys.readouterr().err) is noted


def template(single=None, pair=None, ids=(2, 3)):
    special = [("[CLS]", ids[0]), ("[SEP]", ids[1])]
    processor = processors.TemplateProcessing(
        single=single or "[CLS]:0 $A:0 [SEP]:0",
        pair=pair or "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=special,
    )
    return json.loads(processor.__getstate__())


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"post_processor": template("[CLS]:0 $A:0")}, "template of texts"),
        ({"post_processor": template("$A:0 [SEP]:0")}, "template of texts"),
        ({"post_processor": template("[CLS]:0 $B:0 [SEP]:0")}, "template of texts"),
        ({"post_processor": template(pair="[CLS]:0 $B:0 [SEP]:0 $A:1 [SEP]:1")}, "template of pairs"),
        ({"post_processor": template(pair="[CLS]:0 $A:0 [SEP]:0 $B:0 [SEP]:0")}, "template of pairs"),
        ({"post_processor": template(ids=(2, 4))}, r"id of '\[SEP\]'"),
        ({"post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 4], "cls": ["[CLS]", 2]}}, r"id of '\[SEP\]'"),
        ({"padding": {"pad_token": "[PAD]", "pad_id": 1}}, r"id of '\[PAD\]'"),
        ({"padding": {"pad_token": "[PAD]", "pad_id": 0, "direction": "Left"}}, "padding: expected direction 'Right'"),
        ({"truncation": {"direction": "Left"}}, "truncation: expected direction 'Right'"),
        (
            {"added_tokens": [{"id": 5, "content": "a", "lstrip": "false"}]},
            "expected lstrip of 'a' as true or false, received 'false'",
        ),
    ],
)
def test_parts_of_tokenizer_json_that_change_ids_are_refused(tmp_path, parts, message):
    with pytest.raises(KerasBertError, match=message):
        tokenizer_from_folder(folder(tmp_path, tokenizer=wordpiece_json(**parts)))


def test_sides_of_tokenizer_config_take_precedence(tmp_path):
    """As in transformers, where those of tokenizer.json are defaults."""
    config = {"padding_side": "right", "truncation_side": "right"}
    content = wordpiece_json(padding={"direction": "Left"}, truncation={"direction": "Left"})
    tokenizer_from_folder(folder(tmp_path, tokenizer_config=config, tokenizer=content))


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}}, "use_regex True"),
        ({"model": {**bpe_json()["model"], "vocab": {"<s>": 0, "</s>": 1, "a": 2}, "unk_token": "a"}}, "255"),
    ],
)
def test_parts_of_byte_level_bpe_that_change_ids_are_refused(tmp_path, parts, message):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(bpe_json()), "utf-8")
    assert tokenizer_from_folder(tmp_path).vocabulary_size == 261
    path.write_text(json.dumps(bpe_json(**parts)), "utf-8")
    with pytest.raises(KerasBertError, match=message):
        tokenizer_from_folder(tmp_path)


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        ({"sharding": 1}, "sharding"),
        ({"model": {**wordpiece_json()["model"], "alpha": 1}}, "alpha"),
        ({"normalizer": {**wordpiece_json()["normalizer"], "nfc": True}}, "nfc"),
        ({"truncation": {"side": 1}}, "side"),
        ({"added_tokens": [{"id": 5, "content": "a", "weight": 2}]}, "weight"),
    ],
)
def test_unknown_keys_of_tokenizer_json(tmp_path, parts, name, capsys):
    found = folder(tmp_path, tokenizer=wordpiece_json(**parts))
    tokenizer_from_folder(found)
    assert f"unknown key ({name})" in capsys.readouterr().err
    with strict(), pytest.raises(KerasBertError, match=f"unknown key .{name}."):
        tokenizer_from_folder(found)


def test_a_file_without_post_processor_is_noted(tmp_path, capsys):
    """transformers 4.57.6 adds no tokens then; BertTokenizer of 5.24.0 adds [CLS] and [SEP]."""
    found = folder(tmp_path, tokenizer=wordpiece_json(post_processor=None))
    assert tokenizer_from_folder(found).encode(["a"], max_length=4).input_ids == [[2, 5, 3]]
    assert "no post_processor" in capsys.readouterr().err
    with strict(), pytest.raises(KerasBertError, match="no post_processor"):
        tokenizer_from_folder(found)


@pytest.mark.parametrize("role", ["cls_token", "sep_token", "unk_token"])
def test_contradicting_roles_are_refused(tmp_path, role):
    """transformers 4.57.6 takes the token of tokenizer.json, and 5.24.0 that of tokenizer_config.json."""
    with pytest.raises(
        KerasBertError, match=f"expected the {role} of .*tokenizer.json, .* received 'a'; correct the one"
    ):
        tokenizer_from_folder(folder(tmp_path, tokenizer_config={role: "a"}, tokenizer=wordpiece_json()))
