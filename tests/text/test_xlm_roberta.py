"""XLM-RoBERTa's tokenizer against the sentencepiece library, and its files."""

import io
import json

import pytest
import tokenizers
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer, sentencepiece_model_pb2
from tokenizers import models, normalizers, pre_tokenizers, processors

from kerasbert.compression.pruning.structured.tokenizers import add_required_ids, trim_tokenizer
from kerasbert.encoders import XlmRobertaConfig, XlmRobertaEncoder
from kerasbert.errors import KerasBertError
from kerasbert.tasks import TextClassifier
from kerasbert.tasks.auto import load_task
from kerasbert.text import SentencePiece, XlmRobertaTokenizer, tokenizer_from_config, tokenizer_from_folder

LINES = [
    "Eine Lampe steht auf dem Tisch am Fenster.",
    "The lamp is lit when the window is dark.",
    "Nadie lee en la mesa sin una lámpara.",
    "Лампа стоит на столе у окна, и окно тёмное.",
    "机の上にランプがある。窓は暗い。",
    "In 1999 standen 12, 13 und 140 Lampen am Fenster.",
] * 4
TEXTS = [
    "Die Lampe am Fenster.",
    "  Lampen \t am   dunklen Fenster\n",
    "ﬁne ½ ① Ａ table™",
    "窓の上 😀 lámpara",
    "1999, 12, 140,",
    "la\u0301mpara \u200b\u00a0dark",
    "",
    "  ",
]


@pytest.fixture(scope="module")
def file():
    """The content of a `sentencepiece.bpe.model`."""
    model = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(LINES), model_writer=model, vocab_size=85, model_type="unigram", minloglevel=2,
        normalization_rule_name="nmt_nfkc", bos_id=1, eos_id=2, unk_id=0, character_coverage=1.0,
    )  # fmt: skip
    return model.getvalue()


@pytest.fixture(scope="module")
def folder(file, tmp_path_factory):
    """A folder with that file, as XLM-RoBERTa was first published."""
    path = tmp_path_factory.mktemp("xlm")
    (path / "sentencepiece.bpe.model").write_bytes(file)
    (path / "config.json").write_text('{"model_type": "xlm-roberta"}')
    return path


@pytest.fixture(scope="module")
def tokenizer(folder):
    return tokenizer_from_folder(folder)


def fairseq_ids(file, text):
    """The library's ids, moved by one: `<pad>` has the id 1, `<unk>` the id 3."""
    library = SentencePieceProcessor(model_proto=file)
    return [0, *(3 if number == 0 else number + 1 for number in library.encode(text)), 2]


def test_ids_are_those_of_the_library_moved_by_one(tokenizer, file):
    assert isinstance(tokenizer, XlmRobertaTokenizer)
    expected = [fairseq_ids(file, text) for text in TEXTS]
    assert tokenizer.encode(TEXTS, max_length=128).input_ids == expected
    assert len({number for row in expected for number in row}) > 30
    assert (tokenizer.cls_id, tokenizer.pad_id, tokenizer.sep_id, tokenizer.unk_id) == (0, 1, 2, 3)
    assert tokenizer.mask_id == tokenizer.vocabulary_size - 1 == len(SentencePieceProcessor(model_proto=file)) + 1


def test_a_pair_has_two_separators_and_types_of_zero(tokenizer):
    encoded = tokenizer.encode(["Lampe"], ["Fenster"], max_length=32)
    first, second = (list(ids) for ids in tokenizer.token_ids(["Lampe", "Fenster"]))
    assert encoded.input_ids == [[0, *first, 2, 2, *second, 2]]
    assert set(encoded.token_type_ids[0]) == {0}
    assert list(tokenizer.token_ids(["Lampe <mask>"])[0]) == [*first, tokenizer.mask_id]


def tokenizer_json(tokenizer, steps, pre_tokenizer):
    """The `tokenizer.json` that transformers writes for this model."""
    proto = sentencepiece_model_pb2.ModelProto.FromString(tokenizer.model)
    pairs = [(piece.piece, piece.score) for piece in proto.pieces]
    engine = tokenizers.Tokenizer(models.Unigram(pairs, 3, False))
    engine.normalizer = normalizers.Sequence(
        [normalizers.Precompiled(proto.normalizer_spec.precompiled_charsmap), *steps]
    )
    engine.pre_tokenizer = pre_tokenizer
    engine.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    engine.add_special_tokens([*("<s>", "<pad>", "</s>", "<unk>"), tokenizers.AddedToken("<mask>", lstrip=True)])
    return engine


@pytest.mark.parametrize("remove_space", [True, False])
def test_tokenizer_json_is_read(tokenizer, tmp_path, remove_space):
    words = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    if remove_space:
        engine = tokenizer_json(tokenizer, [], pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), words]))
    else:
        engine = tokenizer_json(tokenizer, [normalizers.Replace(tokenizers.Regex(" {2,}"), " ")], words)
    engine.save(str(tmp_path / "tokenizer.json"))
    read = tokenizer_from_folder(tmp_path)
    assert isinstance(read, XlmRobertaTokenizer) and read.remove_space is remove_space
    assert read.encode(TEXTS, max_length=128).input_ids == [engine.encode(text).ids for text in TEXTS]
    pair = read.encode(TEXTS[:1], TEXTS[3:4], max_length=128).input_ids
    assert pair == [engine.encode(TEXTS[0], TEXTS[3]).ids]


def test_a_unigram_model_of_another_maker_is_refused_with_its_file(tokenizer, tmp_path):
    words = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    engine = tokenizer_json(tokenizer, [normalizers.Replace(tokenizers.Regex(" {2,}"), " ")], words)
    engine.save(str(tmp_path / "tokenizer.json"))
    content = json.loads((tmp_path / "tokenizer.json").read_text("utf-8"))
    for change, message in (
        ({"unk_id": 2}, "unk_token"),
        ({"vocab": content["model"]["vocab"][4:]}, "pieces of XLM-RoBERTa, <s>, <pad>, </s>, <unk> first"),
        ({"unk_id": None}, "parts of a tokenizer"),
    ):
        changed = {**content, "model": {**content["model"], **change}}
        (tmp_path / "tokenizer.json").write_text(json.dumps(changed), "utf-8")
        with pytest.raises(KerasBertError, match=r"tokenizer\.json") as raised:
            tokenizer_from_folder(tmp_path)
        assert message in str(raised.value)


def test_a_saved_folder_is_read_as_it_was(tokenizer, file, tmp_path):
    changed = XlmRobertaTokenizer(tokenizer.model, remove_space=False, model_max_length=64)
    changed.save(tmp_path)
    again = tokenizer_from_folder(tmp_path)
    assert again.get_config() == changed.get_config() and tokenizer_from_config(changed.get_config()) is not changed
    assert json.loads((tmp_path / "tokenizer_config.json").read_text())["tokenizer_class"] == "XLMRobertaTokenizer"
    saved = sentencepiece_model_pb2.ModelProto.FromString((tmp_path / "sentencepiece.bpe.model").read_bytes())
    published = sentencepiece_model_pb2.ModelProto.FromString(file)
    assert [(each.piece, each.score, each.type) for each in saved.pieces] == [
        (each.piece, each.score, each.type) for each in published.pieces
    ]


def test_a_model_of_albert_is_refused_by_its_name(tmp_path):
    model = SentencePiece.train(LINES, vocabulary_size=90).model
    (tmp_path / "sentencepiece.bpe.model").write_bytes(model)
    with pytest.raises(KerasBertError, match=r"sentencepiece\.bpe\.model: expected .* begins with <unk>, <s>, </s>"):
        tokenizer_from_folder(tmp_path)
    with pytest.raises(KerasBertError, match="pieces of XLM-RoBERTa, <s>, <pad>, </s>, <unk> first and <mask> last"):
        XlmRobertaTokenizer(model)
    with pytest.raises(KerasBertError, match="content of a sentencepiece.bpe.model as bytes, received 'sent"):
        XlmRobertaTokenizer("sentencepiece.bpe.model")


def test_a_trimmed_tokenizer_has_the_same_tokens(tokenizer):
    ids = {number for row in tokenizer.token_ids(TEXTS) for number in row.tolist()}
    kept = sorted(add_required_ids(tokenizer, ids, characters=False))
    trimmed = trim_tokenizer(tokenizer, kept)
    assert trimmed.vocabulary_size == len(kept) < tokenizer.vocabulary_size
    assert [trimmed.tokens(text) for text in TEXTS] == [tokenizer.tokens(text) for text in TEXTS]


def test_a_model_is_saved_under_the_names_of_transformers(tokenizer, tmp_path):
    config = XlmRobertaConfig(
        vocab_size=tokenizer.vocabulary_size, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=34,
    )  # fmt: skip
    task = TextClassifier(XlmRobertaEncoder(config), tokenizer, labels=["Licht", "kein Licht"], sequence_length=32)
    task.save_pretrained(tmp_path / "model")
    saved = json.loads((tmp_path / "model" / "config.json").read_text())
    assert saved["model_type"] == "xlm-roberta" and saved["pad_token_id"] == 1
    again = load_task(tmp_path / "model")
    assert again.predict(TEXTS[:4]) == pytest.approx(task.predict(TEXTS[:4]), abs=1e-6)
