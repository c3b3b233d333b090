"""WordPiece in a graph: ids compared with the host engine on difficult strings, errors, tf.data and SavedModels."""

import os
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

from kerasbert.errors import KerasBertError
from kerasbert.text import WordPiece, pack

pytest.importorskip("tensorflow_text")
from kerasbert.text.in_graph import GraphWordPiece  # noqa: E402

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
CHARACTERS = [
    chr(code) for code in (*range(0x21, 0x250), *range(0x300, 0x460), *range(0x900, 0x980), *range(0x1100, 0x1180))
]
CHARACTERS += list("中国豈\uf900é\u2028ẞﬁﬃª²①™한국\u166d\u2e44\U0002b900\u1734\ua69e") + ["ab", "abc"]
VOCABULARY = list(dict.fromkeys([*SPECIAL, *CHARACTERS, *(f"##{piece}" for piece in CHARACTERS)]))
SETTINGS = [
    {"lowercase": True},
    {"lowercase": True, "strip_accents": False},
    {"lowercase": False},
    {"lowercase": False, "strip_accents": True},
    {"lowercase": True, "tokenize_chinese_chars": False},
]
STRINGS = {
    "plain": "Abcab, what's $5? (unaffable) e-mail_a@b.c",
    "nothing": "",
    "only spaces": " \t\n\r ",
    "control characters": "a\x00b\x01c\x0b\x0cd\x7fe\x85f\xadg\u0600h\ufeffi\ufffd \ue000j",
    "spaces": "a\xa0b\u2009c\u2028d\u2029e\u3000f\u1680g",
    "zero width": "a\u200bb\u200cc\u200dd\u2060e\ufe0ff\u034fg",
    "accents": "naïve café Ångström e\u0301\u0327a\u0327\u0301 \u0301a",
    "final sigma": "ΟΔΟΣ ΣΑΣ Σ ς ΑΣ. ΑΣ1 Α\u0301Σ",
    "Turkish": "I İ ı i İSTANBUL DIŞ I\u0307",
    "Lithuanian": "Ì Í Ĩ Į J\u0301 I\u0300 \u012e\u0303",
    "folded letters": "ª²①™ﬁﬃẞßſK\u212aÅ\u212b µ ŉ ǰ ΐ",
    "ideographs": "中国abc中 豈\uf900 \U0002b900a",
    "Korean": "한국어 ㄱ\u1100\u1161\u11a8",
    "Hindi": "नमस्ते हिन्दी। क़ ड़",
    "punctuation of any age": "a\u166db a\u2e44b a¿b a«b a–b a。b a፡b",
    "marks": "क\u093fa\u20ddb\u1734c\ua69e",
    "special tokens": "a[MASK]b [CLS][SEP] [mask] [MA\u200bSK] [ MASK ] [[UNK]] [PAD",
    "words of 100 and 101 characters": f"{'a' * 100} {'b' * 101} {'é' * 100} {'म' * 100} {'म' * 101}b",
    "characters of no alphabet": "a\U00040000b \U00040003 \U0004fffd \U0010fffe",
    "hashes": "##a # ## a##b",
}


@pytest.fixture(scope="module", params=SETTINGS, ids=lambda settings: "-".join(f"{k}={v}" for k, v in settings.items()))
def engines(request):
    tokenizer = WordPiece(VOCABULARY, **request.param)
    return tokenizer, GraphWordPiece(tokenizer, 24)


@pytest.fixture(scope="module")
def uncased():
    return GraphWordPiece(WordPiece(VOCABULARY), 12)


def same(host: dict, graph: dict) -> None:
    assert set(graph) == set(host)
    for name, expected in host.items():
        assert graph[name].dtype == tf.int32
        np.testing.assert_array_equal(graph[name], expected, err_msg=name)


def test_ids_equal_those_of_the_host_engine(engines):
    tokenizer, layer = engines
    host = [ids[1:-1] for ids in tokenizer.encode(list(STRINGS.values()), max_length=10_000).input_ids]
    graph = layer.tokenize(tf.constant(list(STRINGS.values()))).to_list()
    assert dict(zip(STRINGS, graph, strict=True)) == dict(zip(STRINGS, host, strict=True))


@pytest.mark.parametrize("length", [3, 4, 5, 8, 9, 30])
def test_pairs_are_truncated_and_packed_as_on_the_host(length):
    texts = ["a", "a b", "a b c d", "a b c d", "a b c d e f g", "", "", "a b c d e"]
    pairs = ["a", "a b c d e", "a b", "e f g h", "", "", "a b c d e f", "a b c d"]
    tokenizer = WordPiece(VOCABULARY)
    layer = GraphWordPiece(tokenizer, length)
    same(pack(tokenizer.encode(texts, max_length=length), length), layer(tf.constant(texts)))
    same(pack(tokenizer.encode(texts, pairs, max_length=length), length), layer(tf.constant(texts), tf.constant(pairs)))


def test_an_empty_batch(uncased):
    assert [value.shape for value in uncased(tf.constant([], tf.string)).values()] == [(0, 12)] * 3


def test_padding_and_special_ids_come_from_the_tokenizer():
    names = {"pad_token": "a", "unk_token": "b", "cls_token": "c", "sep_token": "d", "mask_token": "e"}
    tokenizer = WordPiece(VOCABULARY, **names)
    texts = ["x a y", "中", "B A"]  # "B" becomes the word "b", which here is both a word and the unknown token
    host = pack(tokenizer.encode(texts, max_length=9), 9, pad_id=tokenizer.pad_id)
    same(host, GraphWordPiece(tokenizer, 9)(tf.constant(texts)))


def test_added_tokens_are_found_in_the_original_text():
    added = [{"content": "<Person>", "rstrip": True}, {"content": "<Person>s"}, {"content": "[unused1]"}]
    tokenizer = WordPiece([*VOCABULARY, "[unused1]", "<Person>", "<Person>s"], added_tokens=added)
    texts = ["a<Person> b <Person>s", "<person> [unused1]x", "[UNUSED1]"]
    same(pack(tokenizer.encode(texts, max_length=20), 20), GraphWordPiece(tokenizer, 20)(tf.constant(texts)))


@pytest.mark.parametrize("field", ["normalized", "single_word"])
def test_added_tokens_that_need_the_host_engine_raise(field):
    tokenizer = WordPiece([*VOCABULARY, "<x>"], added_tokens=[{"content": "<x>", field: True}])
    with pytest.raises(KerasBertError, match="<x>"):
        GraphWordPiece(tokenizer, 8)


def test_an_empty_token_keeps_its_id():
    tokenizer = WordPiece([*SPECIAL, "", "a", "##b"])
    assert GraphWordPiece(tokenizer, 5)(tf.constant(["ab"]))["input_ids"].numpy().tolist() == [[2, 6, 7, 3, 0]]


def test_invalid_bytes_are_dropped(uncased):
    broken = uncased.tokenize(tf.constant([b"a\xffb \xc3", b"\xed\xa0\x80c"]))
    assert broken.to_list() == uncased.tokenize(tf.constant(["ab", "c"])).to_list()


@pytest.mark.long
def test_runs_in_a_data_pipeline(uncased):
    texts = ["a b", "中国", "[MASK] c"]
    rows = tf.data.Dataset.from_tensor_slices((texts, texts[::-1])).batch(2).map(uncased)
    host = pack(uncased.tokenizer.encode(texts, texts[::-1], max_length=12), 12)
    batches = list(rows)
    same(host, {name: tf.concat([batch[name] for batch in batches], 0) for name in batches[0]})


@pytest.mark.long
def test_a_saved_model_takes_strings(uncased, tmp_path):
    texts = keras.Input((), dtype=tf.string, name="texts")
    pairs = keras.Input((), dtype=tf.string, name="pairs")
    keras.Model([texts, pairs], uncased(texts, pairs)).export(tmp_path / "model")
    serve = tf.saved_model.load(str(tmp_path / "model")).serve
    rows = ["Café 中", "x"], ["a [MASK]", ""]
    expected = pack(uncased.tokenizer.encode(*rows, max_length=12), 12)
    same(expected, {name: value for name, value in serve([tf.constant(row) for row in rows]).items()})


def test_config_round_trip(uncased):
    copy = keras.layers.deserialize(keras.layers.serialize(uncased))
    assert copy.tokenizer.get_config() == uncased.tokenizer.get_config()
    texts = tf.constant(list(STRINGS.values()))
    same({name: value.numpy() for name, value in uncased(texts).items()}, copy(texts))


@pytest.mark.long
def test_lowercasing_does_not_depend_on_the_locale():
    program = (
        "import tensorflow as tf\nfrom kerasbert.text import in_graph\n"
        "for accents in (False, True): print(ascii(in_graph._lowercase(tf.constant(['TITI JĮ\\u0301']), accents).numpy()[0].decode()))"
    )
    variables = {**os.environ, "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"}
    done = subprocess.run([sys.executable, "-c", program], env=variables, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [ascii("titi jį\u0301")] * 2


@pytest.mark.parametrize("texts", [[1, 2], "one text", [["a"], ["b"]]])
def test_inputs_of_another_type_or_rank_raise(uncased, texts):
    with pytest.raises(KerasBertError, match="strings of shape"):
        uncased.tokenize(tf.constant(texts))


@pytest.mark.parametrize("length", [1, 2.5, None])
def test_a_length_below_two_raises(length):
    with pytest.raises(KerasBertError, match="length"):
        GraphWordPiece(WordPiece(VOCABULARY), length)


def test_pairs_need_a_length_of_three():
    layer = GraphWordPiece(WordPiece(VOCABULARY), 2)
    assert layer(tf.constant(["a"]))["input_ids"].numpy().tolist() == [[2, 3]]
    with pytest.raises(KerasBertError, match="at least 3"):
        layer(tf.constant(["a"]), tf.constant(["b"]))


def test_another_kind_of_tokenizer_raises():
    with pytest.raises(KerasBertError, match="WordPiece"):
        GraphWordPiece(VOCABULARY, 8)


def test_without_tensorflow_text_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow_text", None)
    with pytest.raises(KerasBertError, match=r"pip install 'kerasbert\[graph-text\]'") as caught:
        GraphWordPiece(WordPiece(VOCABULARY), 8)
    assert "\n" not in str(caught.value)
