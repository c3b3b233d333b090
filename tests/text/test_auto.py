"""Tokenizers of folders with `tokenizer.json` alone, older files, both, or none."""

import json

import pytest
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
from tokenizers.implementations import BertWordPieceTokenizer

from kerasbert.errors import KerasBertError
from kerasbert.text import (
    ByteLevelBPE,
    SentencePiece,
    WordPiece,
    has_tokenizer,
    tokenizer_from_config,
    tokenizer_from_folder,
)

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [*SPECIAL, "a", "lamp", "##s", "中", "b"]
BERT_FILES = {"vocab.txt": "\n".join(WORDS), "tokenizer_config.json": "{}"}
TEXTS = ["A lamps, [MASK] 中b", "", "Ünï  ``x'' 1,2", "a\tb\u2003a "]


def wordpiece_json():
    engine = BertWordPieceTokenizer({token: number for number, token in enumerate(WORDS)}, lowercase=False)
    return json.loads(engine.to_str())


def lowercase_before(lowercase):
    """The normalizer that sentence-transformers 5.4 and later makes of BERT's for `do_lower_case`."""
    bert = {"type": "BertNormalizer", "strip_accents": None, "lowercase": lowercase}
    return {"type": "Sequence", "normalizers": [{"type": "Lowercase"}, bert]}


def unigram_json(one_space=False):
    """Put together as ALBERT's published file is."""
    pieces = [(token, 0.0) for token in ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")]
    pieces += [(piece, -2.0 - number / 8) for number, piece in enumerate(["▁", "▁a", "▁lamp", "s", "b", "1", "2", ","])]
    pieces += [("1,", -101.0)]
    engine = Tokenizer(models.Unigram(pieces, 1))
    steps = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"'), normalizers.NFKD()]
    steps += [normalizers.StripAccents(), normalizers.Lowercase()]
    space = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    if one_space:
        steps.append(normalizers.Replace(Regex(" {2,}"), " "))
    engine.normalizer = normalizers.Sequence(steps)
    engine.pre_tokenizer = space if one_space else pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), space])
    engine.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    engine.add_special_tokens(["<pad>", "<unk>", "[CLS]", "[SEP]"])
    engine.add_special_tokens([AddedToken("[MASK]", lstrip=True, normalized=False)])
    return json.loads(engine.to_str())


def bpe_json():
    tokens = [
        "<s>",
        "<pad>",
        "</s>",
        "<unk>",
        "<mask>",
        *sorted(pre_tokenizers.ByteLevel.alphabet()),
        "la",
        "mp",
        "lamp",
        "Ġlamp",
    ]
    merges = [("l", "a"), ("m", "p"), ("la", "mp"), ("Ġ", "lamp")]
    engine = Tokenizer(models.BPE({token: number for number, token in enumerate(tokens)}, merges))
    engine.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    engine.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), True, False)
    engine.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>"])
    engine.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False)])
    return json.loads(engine.to_str())


def write(folder, files):
    for name, content in files.items():
        (folder / name).write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return folder


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (wordpiece_json(), WordPiece),
        (unigram_json(), SentencePiece),
        (unigram_json(one_space=True), SentencePiece),
        (bpe_json(), ByteLevelBPE),
    ],
)
@pytest.mark.parametrize("added", [False, True])
def test_tokenizer_json_alone(tmp_path, content, kind, added):
    engine = Tokenizer.from_str(json.dumps(content))
    if added:
        engine.add_tokens([AddedToken("Lamps", single_word=True), AddedToken("<url>", rstrip=True, normalized=False)])
        engine.add_tokens([AddedToken("as", single_word=True)])
    write(tmp_path, {"tokenizer.json": engine.to_str()})
    tokenizer = tokenizer_from_folder(tmp_path)
    assert type(tokenizer) is kind and has_tokenizer(tmp_path)
    texts = [*TEXTS, "a<url>  Lamps Lampsb lamps ass as"]
    pairs = texts[::-1]
    for rows, expected in (
        (tokenizer.encode(texts, max_length=99), engine.encode_batch(texts)),
        (tokenizer.encode(texts, pairs, max_length=99), engine.encode_batch(list(zip(texts, pairs, strict=True)))),
    ):
        assert rows.input_ids == [row.ids for row in expected]
        assert rows.token_type_ids == [row.type_ids for row in expected]
        assert rows.offsets == [row.offsets for row in expected]
    tokenizer.save(tmp_path / "again")
    for again in (tokenizer_from_folder(tmp_path / "again"), tokenizer_from_config(tokenizer.get_config())):
        assert again.get_config() == tokenizer.get_config()
        assert again.encode(texts, max_length=99) == tokenizer.encode(texts, max_length=99)


def test_files_of_an_early_version_of_tokenizers(tmp_path):
    """It wrote no type of model, merges as strings and add_prefix_space for Metaspace."""
    bpe, unigram, words = bpe_json(), unigram_json(), wordpiece_json()
    bpe["model"]["merges"] = [" ".join(merge) for merge in bpe["model"]["merges"]]
    space = unigram["pre_tokenizer"]["pretokenizers"][1]
    space |= {"add_prefix_space": space.pop("prepend_scheme") == "always"}
    for content, kind in ((bpe, ByteLevelBPE), (unigram, SentencePiece), (words, WordPiece)):
        del content["model"]["type"]
        assert type(tokenizer_from_folder(write(tmp_path, {"tokenizer.json": content}))) is kind


def test_sentencepiece_model_of_a_tokenizer_json(tmp_path):
    """ALBERT's file holds pieces such as "1," with 100 taken off their score; SentencePiece's own does not."""
    tokenizer = tokenizer_from_folder(write(tmp_path, {"tokenizer.json": unigram_json()}))
    proto = sentencepiece_model_pb2.ModelProto.FromString(tokenizer.model)
    assert [piece.score for piece in proto.pieces if piece.piece in ("1,", "▁a")] == [-2.125, -1.0]
    assert [piece.type for piece in proto.pieces][:6] == [3, 2, 3, 3, 3, 1]


def test_settings_files_take_precedence_over_tokenizer_json(tmp_path):
    files = {"tokenizer.json": wordpiece_json(), "special_tokens_map.json": {"mask_token": "a"}}
    assert tokenizer_from_folder(write(tmp_path, files)).lowercase is False
    tokenizer = tokenizer_from_folder(
        write(tmp_path, {"tokenizer_config.json": {"do_lower_case": True, "model_max_length": 7}})
    )
    assert (tokenizer.lowercase, tokenizer.model_max_length, tokenizer.mask_token) == (True, 7, "a")


def test_tokenizer_json_decides_on_white_space_of_albert(tmp_path):
    files = {"tokenizer.json": unigram_json(one_space=True), "tokenizer_config.json": {"remove_space": True}}
    tokenizer = tokenizer_from_folder(write(tmp_path, files))
    assert tokenizer.remove_space is False
    ids = Tokenizer.from_str(json.dumps(files["tokenizer.json"])).encode("a lamp ").ids
    assert tokenizer.encode(["a lamp "], max_length=9).input_ids == [ids]


def test_a_lowercase_before_a_normalizer_that_lowercases_is_read(tmp_path):
    write(tmp_path, {"tokenizer.json": {**wordpiece_json(), "normalizer": lowercase_before(True)}})
    assert tokenizer_from_folder(tmp_path).lowercase is True


def test_special_tokens_come_from_the_template(tmp_path):
    content = json.loads(json.dumps(wordpiece_json()).replace("[CLS]", "[GO]").replace("[SEP]", "[END]"))
    tokenizer = tokenizer_from_folder(write(tmp_path, {"tokenizer.json": content}))
    assert (tokenizer.cls_token, tokenizer.sep_token) == ("[GO]", "[END]")


def test_vocabulary_and_tokenizer_json_of_different_sizes_raise(tmp_path):
    write(tmp_path, {**BERT_FILES, "tokenizer.json": wordpiece_json()})
    assert tokenizer_from_folder(tmp_path).vocabulary_size == 10
    write(tmp_path, {"vocab.txt": "\n".join([*WORDS, "c"])})
    with pytest.raises(KerasBertError, match="of one tokenizer .* received 11 and 10 tokens"):
        tokenizer_from_folder(tmp_path)


@pytest.mark.parametrize(
    "name", ["BertTokenizer", "BertTokenizerFast", "DistilBertTokenizer", "ElectraTokenizer", None]
)
def test_tokenizer_class_of_bert(tmp_path, name):
    files = {**BERT_FILES, "tokenizer_config.json": {"tokenizer_class": name}}
    assert type(tokenizer_from_folder(write(tmp_path, files))) is WordPiece
    assert has_tokenizer(tmp_path)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {},
            r"vocab.txt, or spiece.model, or .* or vocab.json with merges.txt, received no such file",
        ),
        ({"vocab.json": "{}"}, "vocab.json with merges.txt, received no such file"),
        (
            {"tokenizer_config.json": {"tokenizer_class": "AlbertTokenizer"}},
            "tokenizer.json, or spiece.model, received",
        ),
        ({**BERT_FILES, "tokenizer_config.json": {"tokenizer_class": "T5Tokenizer"}}, "received T5Tokenizer"),
        ({"tokenizer.json": "{"}, "expected a JSON object"),
        ({"tokenizer.json": {}}, "model with a vocabulary"),
        ({"tokenizer.json": {"model": {"type": "WordLevel", "vocab": {"a": 0}}}}, "received 'WordLevel'"),
        ({"tokenizer.json": {**wordpiece_json(), "normalizer": None}}, "normalizer .*BertNormalizer, received None"),
        ({"tokenizer.json": {**wordpiece_json(), "normalizer": 5}}, "as `tokenizers` writes them"),
        ({"tokenizer.json": {**wordpiece_json(), "normalizer": lowercase_before(False)}}, "received 'Sequence'"),
        (
            {"tokenizer.json": {**wordpiece_json(), "pre_tokenizer": {"type": "Split"}}},
            "pre-tokenizer .*received 'Split'",
        ),
        (
            {"tokenizer.json": {**wordpiece_json(), "post_processor": bpe_json()["post_processor"]}},
            "received 'Roberta",
        ),
        ({"tokenizer.json": {**bpe_json(), "post_processor": unigram_json()["post_processor"]}}, "template of pairs"),
        ({"tokenizer.json": {**bpe_json(), "normalizer": {"type": "NFC"}}}, "normalizer .*'NFC'"),
        ({"tokenizer.json": {**unigram_json(), "normalizer": {"type": "NFC"}}}, r"normalizer .*\['NFC'\]"),
        ({"tokenizer.json": {**unigram_json(), "pre_tokenizer": {"type": "Metaspace"}}}, "pre-tokenizer"),
        (
            {"tokenizer.json": {**wordpiece_json(), "added_tokens": [{"content": "x"}]}},
            "expected an added token with its content and its id",
        ),
    ],
)
def test_invalid_folders_raise(tmp_path, files, message):
    with pytest.raises(KerasBertError, match=message) as error:
        tokenizer_from_folder(write(tmp_path, files))
    assert str(tmp_path) in str(error.value) and "\n" not in str(error.value)


def test_has_tokenizer(tmp_path):
    assert not has_tokenizer(tmp_path) and not has_tokenizer(tmp_path / "none")
    write(tmp_path, {"vocab.json": "{}"})
    assert not has_tokenizer(tmp_path)
    write(tmp_path, {"merges.txt": ""})
    assert has_tokenizer(tmp_path)


def test_config_of_an_unknown_or_default_kind():
    config = WordPiece(WORDS, lowercase=False).get_config()
    assert tokenizer_from_config({key: value for key, value in config.items() if key != "kind"}).get_config() == config
    with pytest.raises(
        KerasBertError, match="wordpiece, japanese, sentencepiece, xlm_roberta, byte_level_bpe, received 'other'"
    ):
        tokenizer_from_config({**config, "kind": "other"})
