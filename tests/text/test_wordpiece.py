"""WordPiece against Hugging Face's own assembly of BERT's tokenizer, and its rules for input, settings and length."""

import copy
import itertools
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from tokenizers.implementations import BertWordPieceTokenizer

from kerasbert.errors import KerasBertError
from kerasbert.text import WordPiece

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
VOCABULARY = [
    *SPECIAL,
    *[
        "the",
        "The",
        "play",
        "##ing",
        "##ed",
        "un",
        "##believ",
        "##able",
        "hello",
        "Hello",
        "world",
        "caf",
        "##e",
        "##é",
    ],
    *[
        "na",
        "##ive",
        "##ïve",
        "中",
        "国",
        "中国",
        "##国",
        ",",
        ".",
        "!",
        "'",
        "s",
        "a",
        "b",
        "##b",
        "straße",
        "2",
        "##4",
    ],
]
TEXTS = [
    "The playing, hello world!",
    "Hello café naïve naive cafe",
    "中国 hello中国world",
    "unbelievable un believ  \t able\u00a0played",
    "HELLO hello's [MASK] [SEP] [sep] 24",
    "zero\u200bwidth \x00 control \ufffd caf\u0065\u0301",
    "straße " + "b" * 101 + " " + "b" * 100,
    "",
    "   ",
    "😀 the",
]


def reference(vocabulary, **settings):
    """Hugging Face's own assembly of BERT's tokenizer from the same parts."""
    settings = {"lowercase": True, **settings}
    return BertWordPieceTokenizer({token: number for number, token in enumerate(vocabulary)}, **settings)


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("strip_accents", [None, True, False])
@pytest.mark.parametrize("chinese", [True, False])
def test_tokens_equal_hugging_face(lowercase, strip_accents, chinese):
    tokenizer = WordPiece(VOCABULARY, lowercase=lowercase, strip_accents=strip_accents, tokenize_chinese_chars=chinese)
    expected = reference(
        VOCABULARY, lowercase=lowercase, strip_accents=strip_accents, handle_chinese_chars=chinese
    ).encode_batch(TEXTS)
    encoded = tokenizer.encode(TEXTS, max_length=512)
    assert encoded.input_ids == [row.ids for row in expected]
    assert encoded.token_type_ids == [row.type_ids for row in expected]
    assert encoded.truncated == 0


def test_settings_change_the_tokens():
    def ids(text, **settings):
        return WordPiece(VOCABULARY, **settings).encode([text], max_length=120).input_ids[0][1:-1]

    def tokens(*names):
        return [VOCABULARY.index(name) for name in names]

    assert ids("Hello") == tokens("hello")
    assert ids("Hello", lowercase=False) == tokens("Hello")
    assert ids("café") == tokens("caf", "##e")
    assert ids("café", strip_accents=False) == tokens("caf", "##é")
    assert ids("café", lowercase=False) == tokens("caf", "##é")
    assert ids("中国") == tokens("中", "国")
    assert ids("中国", tokenize_chinese_chars=False) == tokens("中国")
    assert ids("b" * 101) == tokens("[UNK]")
    assert ids("b" * 100) == tokens("b", *["##b"] * 99)


def test_pairs_equal_hugging_face():
    seconds = TEXTS[::-1]
    expected = reference(VOCABULARY).encode_batch(list(zip(TEXTS, seconds, strict=True)))
    encoded = WordPiece(VOCABULARY).encode(TEXTS, seconds, max_length=512)
    assert encoded.input_ids == [row.ids for row in expected]
    assert encoded.token_type_ids == [row.type_ids for row in expected]
    assert encoded.offsets == [row.offsets for row in expected]
    assert encoded.sequence_ids == [row.sequence_ids for row in expected]
    assert encoded.word_ids == [row.word_ids for row in expected]


def words(token, count):
    return " ".join([token] * count)


@pytest.mark.parametrize("truncation", ["longest_first", "only_first", "only_second"])
def test_truncation_of_pairs_equals_hugging_face(truncation):
    ours, theirs = WordPiece(VOCABULARY), reference(VOCABULARY)
    refused = 0
    for first, second, max_length in itertools.product(range(7), range(7), range(4, 14)):
        texts, pairs = [words("a", first)], [words("the", second)]
        theirs.enable_truncation(max_length, strategy=truncation)
        try:
            expected = theirs.encode(texts[0], pairs[0])
        except Exception:  # tokenizers raises nothing narrower
            refused += 1
            with pytest.raises(KerasBertError, match="row 0"):
                ours.encode(texts, pairs, max_length=max_length, truncation=truncation)
            continue
        encoded = ours.encode(texts, pairs, max_length=max_length, truncation=truncation)
        assert encoded.input_ids == [expected.ids], (first, second, max_length)
        assert encoded.token_type_ids == [expected.type_ids]
        assert encoded.offsets == [expected.offsets]
        assert encoded.truncated == (first + second + 3 > max_length)
    assert (refused == 0) == (truncation == "longest_first")


def test_truncation_counts_texts():
    encoded = WordPiece(VOCABULARY).encode(["a b a b", "a b", "a b a"], max_length=4)
    assert [len(row) for row in encoded.input_ids] == [4, 4, 4]
    assert encoded.truncated == 2
    assert encoded.offsets[0] == [(0, 0), (0, 1), (2, 3), (0, 0)]
    for truncation in ("longest_first", "only_first"):
        for max_length, tokens in ((3, ["a"]), (2, [])):
            encoded = WordPiece(VOCABULARY).encode(["a b a"], max_length=max_length, truncation=truncation)
            assert encoded.input_ids == [[2, *map(VOCABULARY.index, tokens), 3]]


def test_offsets_are_characters_of_the_original_text():
    text = "😀 The CAFÉ, unbelievable中!"
    encoded = WordPiece(VOCABULARY).encode([text], max_length=64)
    pieces = [text[start:end] for start, end in encoded.offsets[0]]
    assert pieces == ["", "😀", "The", "CAF", "É", ",", "un", "believ", "able", "中", "!", ""]
    assert encoded.word_ids[0] == [None, 0, 1, 2, 2, 3, 4, 4, 4, 5, 6, None]
    assert encoded.sequence_ids[0] == [None, *[0] * 10, None]


@pytest.mark.parametrize(
    "texts",
    [
        ("hello world", "a"),
        np.array(["hello world", "a"]),
        np.array(["hello world", "a"], dtype=object),
        np.array([b"hello world", b"a"]),
        np.array(["hello world", "a"], dtype=np.dtypes.StringDType()),
        [b"hello world", np.str_("a")],
        iter(["hello world", "a"]),
    ],
)
def test_accepted_types_of_texts(texts):
    tokenizer = WordPiece(VOCABULARY)
    assert tokenizer.encode(texts, max_length=9) == tokenizer.encode(["hello world", "a"], max_length=9)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["a", None], "NoneType in row 1"),
        (["a", "b", 3], "int in row 2"),
        ([float("nan")], "float in row 0"),
        (["a", b"caf\xe9"], "row 1 with byte 0xe9 at offset 3"),
        (["a", "b\ud800"], r"row 1 with the lone surrogate U\+D800 at character 1"),
        ("a text", "received str"),
        (b"a text", "received bytes"),
        (7, "received int"),
        ({"a": "b"}, "received dict"),
        (np.array([["a", "b"]]), r"shape \(1, 2\)"),
        (np.array("a"), "received ndarray"),
    ],
)
def test_invalid_texts_raise(texts, message):
    with pytest.raises(KerasBertError, match=message) as error:
        WordPiece(VOCABULARY).encode(texts, max_length=9)
    assert "\n" not in str(error.value)
    with pytest.raises(KerasBertError, match=message):
        WordPiece(VOCABULARY).encode(["a"], pairs=texts, max_length=9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_length": 1}, "at least 2.*received 1"),
        ({"max_length": 2, "pairs": ["b"]}, "at least 3.*received 2"),
        ({"max_length": 8.5}, "received 8.5"),
        ({"max_length": True}, "received True"),
        ({"max_length": None}, "received None"),
        ({"max_length": 9, "truncation": "longest"}, "received 'longest'"),
        ({"max_length": 9, "truncation": "only_second"}, "single texts"),
        ({"max_length": 9, "pairs": ["b", "b"]}, "1 texts, 2 pairs"),
    ],
)
def test_invalid_arguments_raise(arguments, message):
    with pytest.raises(KerasBertError, match=message):
        WordPiece(VOCABULARY).encode(["a"], **arguments)


def test_an_empty_list_of_texts():
    encoded = WordPiece(VOCABULARY).encode([], max_length=4)
    assert (encoded.input_ids, encoded.truncated, encoded.offsets) == ([], 0, [])


def test_ids_of_special_tokens():
    tokenizer = WordPiece(VOCABULARY)
    ids = [tokenizer.pad_id, tokenizer.unk_id, tokenizer.cls_id, tokenizer.sep_id, tokenizer.mask_id]
    assert ids == [0, 1, 2, 3, 4]
    renamed = WordPiece(["<s>", "</s>", "<unk>", "<pad>", "<mask>"], unk_token="<unk>", cls_token="<s>",
                        sep_token="</s>", pad_token="<pad>", mask_token="<mask>")  # fmt: skip
    assert renamed.encode(["x <mask>"], max_length=9).input_ids == [[0, 2, 4, 1]]
    assert renamed.pad_id == 3


@pytest.mark.parametrize(
    ("vocabulary", "message"),
    [
        ([*SPECIAL, "a", "a"], "'a' as tokens 5 and 6"),
        (SPECIAL[:4], r"without '\[MASK\]'"),
        ([*SPECIAL, ""], "'' as token 5"),
        ([*SPECIAL, "a\nb"], "token 5"),
        ([*SPECIAL, 5], "5 as token 5"),
        ([*SPECIAL, "", "a", ""], "'' as tokens 5 and 7"),
    ],
)
def test_invalid_vocabularies_raise(vocabulary, message):
    with pytest.raises(KerasBertError, match=message):
        WordPiece(vocabulary)


def test_config_round_trip():
    tokenizer = WordPiece(
        VOCABULARY, lowercase=False, strip_accents=True, tokenize_chinese_chars=False, model_max_length=128
    )
    config = json.loads(json.dumps(tokenizer.get_config()))
    assert config["kind"] == "wordpiece"
    again = WordPiece.from_config(config)
    assert again.get_config() == tokenizer.get_config() == config
    assert again.encode(TEXTS, max_length=64) == tokenizer.encode(TEXTS, max_length=64)
    assert (again.vocabulary, again.vocabulary_size) == (tuple(VOCABULARY), len(VOCABULARY))


def test_config_of_another_kind():
    config = WordPiece(VOCABULARY).get_config()
    assert WordPiece.from_config({key: value for key, value in config.items() if key != "kind"}).get_config() == config
    with pytest.raises(KerasBertError, match="wordpiece tokenizer, received one of kind 'japanese'"):
        WordPiece.from_config({**config, "kind": "japanese"})


def test_texts_of_several_chunks(monkeypatch):
    tokenizer = WordPiece(VOCABULARY)
    whole = tokenizer.encode(TEXTS, max_length=64)
    monkeypatch.setattr("kerasbert.text.long_texts._CHUNK", 3)
    assert tokenizer.encode(TEXTS, max_length=64) == whole


def test_copies_keep_settings():
    tokenizer = WordPiece(VOCABULARY, lowercase=False)
    tokenizer.encode(["a"], max_length=4)
    for again in (copy.deepcopy(tokenizer), pickle.loads(pickle.dumps(tokenizer))):
        assert again.get_config() == tokenizer.get_config()


def test_save_and_load(tmp_path):
    tokenizer = WordPiece(VOCABULARY, lowercase=False, tokenize_chinese_chars=False, model_max_length=77)
    tokenizer.save(tmp_path / "new")
    assert WordPiece.from_folder(tmp_path / "new").get_config() == tokenizer.get_config()
    assert sorted(file.name for file in (tmp_path / "new").iterdir()) == ["tokenizer_config.json", "vocab.txt"]
    config = json.loads((tmp_path / "new/tokenizer_config.json").read_text())
    assert config["tokenizer_class"] == "BertTokenizer"
    assert config["do_lower_case"] is False


def test_training():
    texts = ["playing played plays", "played playing", "PLAYS playing zzz"] * 3
    tokenizer = WordPiece.train(texts, vocabulary_size=40)
    assert list(tokenizer.vocabulary[:5]) == SPECIAL
    assert tokenizer.vocabulary_size <= 40
    assert "##ing" in tokenizer.vocabulary or "playing" in tokenizer.vocabulary
    ids = tokenizer.encode(["Playing played"], max_length=64).input_ids[0]
    assert tokenizer.unk_id not in ids
    assert not any(token.isupper() for token in tokenizer.vocabulary[5:])
    cased = WordPiece.train(texts, vocabulary_size=60, lowercase=False)
    assert any(character in cased.vocabulary for character in "PLAYS")


def test_training_drops_rare_pieces():
    assert "ab" in WordPiece.train(["ab ab"], vocabulary_size=40).vocabulary
    assert "ab" not in WordPiece.train(["ab ab"], vocabulary_size=40, min_frequency=3).vocabulary


@pytest.mark.parametrize("kept", [1000, 1200])
def test_training_keeps_the_characters_that_make_up_the_text(kept):
    """The most frequent 1,000, or more where these are less than 99.95 % of the text, as in Chinese."""
    ideographs = [chr(0x4E00 + number) for number in range(1300)]
    text = "".join(ideographs[:kept]) * 800 + "".join(ideographs[kept:])
    vocabulary = WordPiece.train([text], vocabulary_size=3000).vocabulary
    assert sorted(vocabulary[5:]) == ideographs[:kept]


def test_training_is_deterministic():
    texts = ["ab cd ef gh ij kl mn op", "ba dc fe hg ji lk nm po"] * 3  # every merge is as frequent as the next
    vocabularies = {WordPiece.train(texts, vocabulary_size=44).vocabulary for _ in range(5)}
    assert len(vocabularies) == 1
    assert len(vocabularies.pop()) == 44


@pytest.mark.parametrize(
    ("texts", "size", "message"),
    [
        ([], 40, "0 texts"),
        (["", " "], 40, "2 texts"),
        (["abcdefgh"], 19, "at least 20.*received 19"),
        (["a", 1], 40, "row 1"),
    ],
)
def test_invalid_training_raises(texts, size, message):
    with pytest.raises(KerasBertError, match=message):
        WordPiece.train(texts, vocabulary_size=size)


def test_import_stays_light():
    code = "import sys, kerasbert.text; print(*(m for m in ('tensorflow', 'tokenizers') if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
