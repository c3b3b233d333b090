"""SentencePiece for ALBERT against the sentencepiece library, and its files, settings and training."""

import base64
import json
import pickle
import re
import unicodedata

import pytest
from sentencepiece import SentencePieceProcessor, sentencepiece_model_pb2

from kerasbert.errors import KerasBertError
from kerasbert.text import SentencePiece, WordPiece, tokenizer_from_config, tokenizer_from_folder

LINES = [
    "A lamp stands on the table near the window.",
    "The lamp is lit when the window is dark.",
    "Nobody reads at the table without a lamp.",
    "Reading lamps are often lit near windows.",
    "In 1999, the tables were sold for 12, 13 and 140 coins.",
    "Darkness stood at the window; the reader lit the lamp.",
] * 3
TEXTS = [
    "The lamp is lit.",
    "  Reading \t near   a dark window\n",
    "Läden, ``fenster'' and TABLES 9,9 1,999,140",
    "ﬁne ½ ① table™",
    "日本 lamp 😀 😀😀",
    "",
    "  ",
    "İstanbul Ⅻ nai\u0308ve",
]


@pytest.fixture(scope="module")
def tokenizer():
    return SentencePiece.train(LINES, vocabulary_size=90)


def library_ids(tokenizer, text):
    """ALBERT's text cleaning (google-research/albert, tokenization.py), then the library, then its rule for commas."""
    text = " ".join(text.split()).replace("``", '"').replace("''", '"')
    if not tokenizer.keep_accents:
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    text = text.lower() if tokenizer.lowercase else text
    library = SentencePieceProcessor(model_proto=tokenizer.model)
    pieces = []
    for piece in library.encode(text, out_type=str):
        if len(piece) > 1 and piece[-1] == "," and piece[-2].isdigit():
            parts = library.encode(piece[:-1].replace("▁", ""), out_type=str)
            if piece[0] != "▁" and parts[0][0] == "▁":
                parts = parts[1:] if len(parts[0]) == 1 else [parts[0][1:], *parts[1:]]
            pieces += [*parts, ","]
        else:
            pieces.append(piece)
    return [tokenizer.cls_id, *map(library.piece_to_id, pieces), tokenizer.sep_id]


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("keep_accents", [True, False])
@pytest.mark.parametrize("remove_space", [True, False])
def test_ids_equal_the_library(lowercase, keep_accents, remove_space):
    learned = SentencePiece.train(LINES, 90, lowercase=lowercase, keep_accents=keep_accents)
    settings = {"lowercase": lowercase, "keep_accents": keep_accents, "remove_space": remove_space}
    tokenizer = SentencePiece(learned.model, **settings)
    texts = TEXTS if remove_space else [" ".join(text.split()) for text in TEXTS]
    encoded = tokenizer.encode(texts, max_length=128)
    assert encoded.input_ids == [library_ids(tokenizer, text) for text in texts]


def test_comma_after_a_number(tokenizer):
    proto = sentencepiece_model_pb2.ModelProto.FromString(tokenizer.model)
    for piece in ("▁12,", "12,", "2,"):
        proto.pieces.add(piece=piece, score=-1.0)
    tokenizer = SentencePiece(proto.SerializeToString())
    text = "12, 112, 1,12,12"
    ids = tokenizer.encode([text], max_length=64).input_ids
    assert ids == [library_ids(tokenizer, text)]
    assert [tokenizer.vocabulary[number] for number in ids[0]].count(",") == 4


def test_special_tokens_and_pairs(tokenizer):
    ids = [tokenizer.pad_id, tokenizer.unk_id, tokenizer.cls_id, tokenizer.sep_id, tokenizer.mask_id]
    assert ids == [0, 1, 2, 3, 4] and tokenizer.vocabulary[:5] == ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")
    encoded = tokenizer.encode(["the [MASK] lamp"], ["the table [SEP]"], max_length=64)
    row, types = encoded.input_ids[0], encoded.token_type_ids[0]
    assert row[0] == 2 and row.count(3) == 3 and row[-2:] == [3, 3] and row.count(4) == 1
    assert types == [0] * (row.index(3) + 1) + [1] * (len(row) - row.index(3) - 1)
    assert encoded.offsets[0][row.index(4)] == (3, 10)  # with the space before it


def test_offsets_are_characters_of_the_original_text(tokenizer):
    text = "😀 The  LÄMP,\tﬁne"
    encoded = tokenizer.encode([text], max_length=64)
    found = [text[start:end] for start, end in encoded.offsets[0]]
    pieces = [tokenizer.vocabulary[number].removeprefix("▁") for number in encoded.input_ids[0]]
    assert found[:3] == ["", "😀", "😀"] and pieces[1:3] == ["", "<unk>"]  # the mark before a word takes its place
    assert re.sub("ﬁ+", "ﬁ", "".join(found[2:-1])) == "😀TheLÄMP,ﬁne"
    for piece, part in zip(pieces[3:-1], found[3:-1], strict=True):
        assert piece in unicodedata.normalize("NFKD", part).replace("\u0308", "").lower()


def test_saved_and_restored(tokenizer, tmp_path):
    cased = SentencePiece(tokenizer.model, lowercase=False, keep_accents=True, remove_space=False, model_max_length=99)
    cased.save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["spiece.model", "tokenizer_config.json"]
    config = json.loads(json.dumps(cased.get_config()))
    assert (config["kind"], config["vocabulary"]) == ("sentencepiece", list(tokenizer.vocabulary))
    for again in (tokenizer_from_folder(tmp_path), tokenizer_from_config(config), pickle.loads(pickle.dumps(cased))):
        assert type(again) is SentencePiece and again.get_config() == config
        assert again.encode(TEXTS, max_length=64) == cased.encode(TEXTS, max_length=64)


def test_training_is_deterministic(tokenizer):
    assert SentencePiece.train(LINES, vocabulary_size=90).model == tokenizer.model
    assert tokenizer.vocabulary_size <= 90
    assert tokenizer.unk_id not in tokenizer.encode(LINES, max_length=128).input_ids[0]
    assert not any(character.isupper() for piece in tokenizer.vocabulary[5:] for character in piece)


@pytest.mark.parametrize(
    ("texts", "size", "message"),
    [([], 40, "0 texts"), (["", " "], 40, "2 texts"), (LINES, 12, "received 12"), (["a", 1], 40, "row 1")],
)
def test_invalid_training_raises(texts, size, message, capfd):
    with pytest.raises(KerasBertError, match=message) as error:
        SentencePiece.train(texts, vocabulary_size=size)
    assert "\n" not in str(error.value)


def test_invalid_models_raise(tokenizer, tmp_path):
    for content in (b"", b"no model", tokenizer.model[:100]):
        (tmp_path / "spiece.model").write_bytes(content)
        with pytest.raises(KerasBertError, match=r"spiece.model: expected a SentencePiece model"):
            tokenizer_from_folder(tmp_path)
    config = tokenizer.get_config()
    with pytest.raises(KerasBertError, match="as base64"):
        tokenizer_from_config({**config, "model": "*"})
    with pytest.raises(KerasBertError, match="another one of 5"):
        tokenizer_from_config({**config, "vocabulary": config["vocabulary"][:5]})
    with pytest.raises(KerasBertError, match="kind 'wordpiece'"):
        SentencePiece.from_config(WordPiece(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]).get_config())
    assert base64.b64decode(config["model"]) == tokenizer.model
