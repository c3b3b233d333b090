"""Vocabularies of every kind cut down to a corpus: the same tokens, the same answers, fewer rows."""

import json

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.compression.pruning.structured import prune_heads, trim_vocabulary
from kerasbert.compression.pruning.structured.tokenizers import add_required_ids, trim_tokenizer
from kerasbert.errors import KerasBertError
from kerasbert.tasks import MaskedLM, TextClassifier, TokenTagger
from kerasbert.text import (
    ByteLevelBPE,
    ClientWordPiece,
    JapaneseTokenizer,
    SentencePiece,
    WordPiece,
    tokenizer_from_folder,
)

NAMES = ("bert", "albert", "mobilebert", "distilbert", "electra", "roberta")
CORPUS = [
    "the lamp is lit",
    "a lamp near the windows, unlit",
    "9, 19 and 1999, lamps",
    "naïve ﬁlament 日本 😀",
    "",
    " the  window\n",
]
LINES = [
    "A lamp stands on the table near the window.",
    "The lamp is lit when the window is dark.",
    "Nobody reads at the table without a lamp.",
    "In 1999, the tables were sold for 12, 13 and 140 coins.",
    "Darkness stood at the window; the reader lit the lamp.",
] * 3


def byte_bpe() -> ByteLevelBPE:
    from tokenizers.implementations import ByteLevelBPETokenizer

    learned = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    learned.train_from_iterator(LINES, vocab_size=380, special_tokens=special, show_progress=False)
    model = json.loads(learned._tokenizer.to_str())["model"]
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]]
    return ByteLevelBPE(sorted(model["vocab"], key=model["vocab"].get), merges)


KINDS = {
    "wordpiece": lambda: WordPiece.train(LINES, vocabulary_size=150),
    "sentencepiece": lambda: SentencePiece.train(LINES, vocabulary_size=90),
    "byte_level_bpe": byte_bpe,
}


@pytest.fixture(scope="module", params=KINDS)
def tokenizer(request):
    return KINDS[request.param]()


def tokens(tokenizer, texts) -> list[list[str]]:
    return [[tokenizer.vocabulary[i] for i in row] for row in tokenizer.encode(texts, max_length=512).input_ids]


@pytest.mark.parametrize("characters", [True, False])
def test_corpus_is_tokenized_as_before(tokenizer, characters, tmp_path):
    for corpus in (CORPUS[:1], CORPUS, CORPUS[2:4]):
        used = {i for row in tokenizer.encode(corpus, max_length=512).input_ids for i in row}
        ids = sorted(add_required_ids(tokenizer, used, characters))
        smaller = trim_tokenizer(tokenizer, ids)
        assert smaller.vocabulary == tuple(tokenizer.vocabulary[i] for i in ids)
        assert len(ids) < tokenizer.vocabulary_size
        assert tokens(smaller, corpus) == tokens(tokenizer, corpus)
        smaller.save(tmp_path)
        again = tokenizer_from_folder(tmp_path)
        assert again.vocabulary == smaller.vocabulary and tokens(again, corpus) == tokens(tokenizer, corpus)


def test_characters_spell_unseen_words():
    tokenizer = WordPiece([*"[PAD] [UNK] [CLS] [SEP] [MASK] lamp l a m p ##a ##m ##p".split()])
    for characters, found in ((True, ["m", "##a", "##p"]), (False, ["[UNK]"])):
        ids = sorted(add_required_ids(tokenizer, {tokenizer.vocabulary.index("lamp")}, characters))
        assert tokens(trim_tokenizer(tokenizer, ids), ["map"])[0][1:-1] == found


def test_unknown_characters_keep_their_unigram_cost():
    """`xy` falls to x + y, which are unlikely; if an unknown character became cheaper, it would be unknown + `yz`."""
    from kerasbert.text.sentencepiece_model import build_model

    special = [("<pad>", 0.0), ("<unk>", 0.0), ("[CLS]", 0.0), ("[SEP]", 0.0), ("[MASK]", 0.0)]
    pieces = [("\u2581", -2.0), ("x", -30.0), ("xy", -12.0), ("z", -20.0), ("yz", -9.0), ("y", -3.0), ("rare", -60.0)]
    model = build_model([*special, *pieces], 1, {"[CLS]", "[SEP]", "[MASK]"}, b"")
    tokenizer = SentencePiece(model)
    assert tokens(tokenizer, ["xyz"])[0][1:-1] == ["\u2581", "xy", "z"]
    used = set(tokenizer.encode(["xyz", "yz"], max_length=16).input_ids[0])
    used |= set(tokenizer.encode(["yz"], max_length=16).input_ids[0])
    smaller = trim_tokenizer(tokenizer, sorted(add_required_ids(tokenizer, used, False)))
    assert "rare" in smaller.vocabulary and "x" not in smaller.vocabulary
    assert tokens(smaller, ["xyz", "yz"]) == tokens(tokenizer, ["xyz", "yz"])


@pytest.mark.long_cases("albert", "roberta")
@pytest.mark.parametrize("name", NAMES)
def test_predictions_for_the_corpus_are_the_same(make, tiny, tmp_path, name):
    model, texts = make.classifier(name), tiny.rows(5, seed=3)[0]
    smaller = trim_vocabulary(model, texts, keep=["cold"])
    assert type(smaller) is type(model) and smaller.config.vocab_size == smaller.tokenizer.vocabulary_size
    assert smaller.config.vocab_size < model.config.vocab_size
    words = {word for text in texts for word in text.split()}
    assert (
        words | {"cold", "a", "."} <= set(smaller.tokenizer.vocabulary) and "##ly" not in smaller.tokenizer.vocabulary
    )
    np.testing.assert_array_equal(make.output(smaller, texts), make.output(model, texts))
    smaller.save_pretrained(tmp_path / "m")
    loaded = kb.load_task(tmp_path / "m")
    assert len((tmp_path / "m" / "vocab.txt").read_text("utf-8").splitlines()) == smaller.config.vocab_size
    np.testing.assert_array_equal(make.output(loaded, texts), make.output(model, texts))


@pytest.mark.parametrize(("name", "tied"), [("bert", True), ("bert", False), ("mobilebert", True)])
def test_masked_lm_decoders_are_trimmed(make, tiny, name, tied):
    model = make.classifier(name, MaskedLM, tie_word_embeddings=tied)
    texts = tiny.rows(5, seed=3)[0]
    smaller = trim_vocabulary(model, texts)
    places = [model.tokenizer.vocabulary.index(token) for token in smaller.tokenizer.vocabulary]
    logits, mask = make.output(model, texts), model.pack(texts)["attention_mask"].astype(bool)
    np.testing.assert_allclose(make.output(smaller, texts)[mask], logits[..., places][mask], rtol=1e-5, atol=1e-5)


def test_roberta_keeps_its_position_offset(make, tiny):
    """They are counted from the padding word's id on, which here is not among the first ones."""
    special = ("[UNK]", "[CLS]", "never", "seen", "[PAD]", "[SEP]", "[MASK]")
    tokenizer = WordPiece((*special, *tiny.vocabulary[5:]))
    model = make.classifier("roberta", tokenizer=tokenizer, vocab_size=tokenizer.vocabulary_size, pad_token_id=4)
    texts = tiny.rows(5, seed=3)[0]
    smaller = trim_vocabulary(model, texts)
    assert smaller.config.pad_token_id == smaller.tokenizer.pad_id == 4
    np.testing.assert_array_equal(make.output(smaller, texts), make.output(model, texts))


def test_embedding_rows_beyond_the_vocabulary_are_removed(make, tiny):
    model = make.classifier(vocab_size=64)
    smaller = trim_vocabulary(model, tiny.rows(5)[0], characters=False)
    assert smaller.config.vocab_size == smaller.tokenizer.vocabulary_size < len(tiny.vocabulary)


def test_pairs_and_truncated_examples_count_by_their_features(make, tiny):
    texts = tiny.rows(4, seed=3)[0]
    model = make.classifier()
    smaller = trim_vocabulary(model, (texts, texts[::-1]))
    mine, theirs = (task.serve(task.pack(texts, texts[::-1]))["probabilities"] for task in (smaller, model))
    np.testing.assert_array_equal(mine, theirs)
    long = " ".join(["the"] * 40 + ["grim"])
    assert "grim" in trim_vocabulary(model, [long]).tokenizer.vocabulary
    words = [["the", "grim", "film"], ["we", "saw"]]
    kept = add_required_ids(model.tokenizer, set(), True)
    from kerasbert.encoders import BertConfig, BertEncoder

    encoder = BertEncoder(BertConfig(**{**tiny.sizes, "hidden_size": 8}), pooler=False)
    tagger = TokenTagger(encoder, tiny.tokenizer(), labels=["O", "B-X", "I-X"], sequence_length=tiny.length)
    assert trim_vocabulary(tagger, words).config.vocab_size == len(kept) + 5
    assert tagger.truncated_texts == 0


def test_japanese_vocabulary_is_trimmed():
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer = JapaneseTokenizer([*special, "東京", "##都", "都", "に", "住ん", "猫"], lowercase=True)
    ids = sorted(add_required_ids(tokenizer, {5, 6}, True))
    smaller = trim_tokenizer(tokenizer, ids)
    assert smaller.vocabulary == (*special, "東京", "##都", "都", "に", "猫")
    assert smaller.lowercase and smaller.dictionary == tokenizer.dictionary


def test_client_vocabulary_keeps_its_rules():
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer = ClientWordPiece([*special, "caf", "##é", "tea", "a"], tokenize_as="mediapipe")
    smaller = trim_tokenizer(tokenizer, sorted(add_required_ids(tokenizer, {5, 6}, True)))
    assert smaller.get_config() == {**tokenizer.get_config(), "vocabulary": [*special, "caf", "##é", "a"]}


def test_model_with_pruned_heads_can_be_trimmed(make, tiny):
    smaller = trim_vocabulary(prune_heads(make.classifier(), heads={0: [1]}), tiny.rows(4)[0])
    assert smaller.encoder.options == {"cut": {"heads": [3, 4]}}


class _Odd(WordPiece):
    pass


@pytest.mark.parametrize(
    ("texts", "keep", "message"),
    [
        ([], (), "expected at least one text, received none"),
        ([""], (), "received none with a word"),
        (["\u2603 \u2603"], (), "received none with a word"),
        ([("", "")], (), "received none with a word"),
        (["the film"], ["nowhere"], "expected tokens of the vocabulary to keep, received 'nowhere'"),
        (["the film"], "film", "expected tokens to keep as a list"),
    ],
)
def test_invalid_texts_and_tokens_are_refused(plain, texts, keep, message):
    with pytest.raises(KerasBertError, match=message):
        trim_vocabulary(plain, texts, keep)


def test_tokenizers_that_cannot_be_trimmed_are_refused(tiny, make, quantized):
    with pytest.raises(
        KerasBertError, match="SentencePiece, XlmRobertaTokenizer, ByteLevelBPE to trim, received a _Odd"
    ):
        trim_vocabulary(make.classifier(tokenizer=_Odd(tiny.vocabulary)), ["the film"])
    without = TextClassifier(tiny.encoder(), None, labels=tiny.labels)
    with pytest.raises(KerasBertError, match="this model came without a tokenizer"):
        trim_vocabulary(without, ["the film"])
    with pytest.raises(KerasBertError, match="cut first, quantize then"):
        trim_vocabulary(quantized, ["the film"])


def test_size_keeps_the_most_frequent_tokens(make, tiny):
    model = make.classifier("bert")
    texts = ["cold bright", "cold film", "cold bright film", "cold slow"]
    tokenizer = model.tokenizer
    counts = {token: sum(text.split().count(token) for text in texts) for token in tokenizer.vocabulary}
    by_count = sorted((token for token in counts if counts[token]), key=lambda token: -counts[token])
    smaller = trim_vocabulary(model, texts, characters=False, size=5 + 2)
    assert set(smaller.tokenizer.vocabulary) == {*tokenizer.vocabulary[:5], *by_count[:2]}
    assert tokens(smaller.tokenizer, ["cold"]) == tokens(tokenizer, ["cold"])


def test_size_below_the_required_tokens_is_an_error(make):
    with pytest.raises(KerasBertError, match="at least the 5 special.* tokens, received a size of 4"):
        trim_vocabulary(make.classifier("bert"), ["cold"], characters=False, size=4)
