"""Masking tokens and filling masks, without a model."""

import json
from dataclasses import replace

import numpy as np
import pytest

from kerasbert.errors import KerasBertError
from kerasbert.processors import IGNORED, make_processor
from kerasbert.processors.word_pieces import readable, word_pieces
from kerasbert.text import JapaneseTokenizer, SentencePiece

PROCESSOR = make_processor("masked_lm")


class Vocabulary:
    """A tokenizer of another kind, as far as its tokens are read."""

    cls_id = sep_id = pad_id = mask_id = unk_id = 0

    def __init__(self, kind, *tokens):
        self.kind, self.vocabulary, self.vocabulary_size = kind, tokens, len(tokens)


LONG = " ".join(["the", "film", "was", "good", "and"] * 8)  # 40 tokens


@pytest.fixture
def tokenizer(tiny):
    return tiny.tokenizer()


def packed(tokenizer, texts, length=64):
    return PROCESSOR.features(texts, tokenizer, length).pack(range(len(texts)), length, tokenizer.pad_id)


def contents(features):
    return [ids[1:-1] for ids in features.tokens.input_ids]


def test_labels_are_the_masked_tokens(tokenizer):
    inputs = packed(tokenizer, [LONG, "good", "the [MASK] of it", "☃"])
    before = inputs["input_ids"].copy()
    corrupted, targets = PROCESSOR.corrupt(inputs, tokenizer, np.random.default_rng(0))
    chosen = targets != IGNORED
    np.testing.assert_array_equal(inputs["input_ids"], before)
    np.testing.assert_array_equal(targets[chosen], before[chosen])
    np.testing.assert_array_equal(corrupted["input_ids"][~chosen], before[~chosen])
    assert chosen.sum(axis=1).tolist() == [6, 1, 1, 0]  # an unknown word is nothing to learn
    assert not np.isin(before[chosen], [tokenizer.mask_id, tokenizer.cls_id, tokenizer.sep_id, tokenizer.pad_id]).any()


def test_fractions_of_masked_replaced_and_kept_tokens(tokenizer):
    inputs = packed(tokenizer, [LONG] * 400)
    corrupted, targets = PROCESSOR.corrupt(inputs, tokenizer, np.random.default_rng(0))
    chosen = targets != IGNORED
    found, right = corrupted["input_ids"][chosen], targets[chosen]
    assert np.mean(found == tokenizer.mask_id) == pytest.approx(0.8, abs=0.04)
    assert np.mean(found == right) == pytest.approx(0.1, abs=0.04)
    replaced = found[(found != tokenizer.mask_id) & (found != right)]
    assert len(set(replaced.tolist())) > 20 and not word_pieces(tokenizer).is_special(replaced).any()
    places = np.flatnonzero(chosen.any(axis=0))
    assert places[0] == 1 and places[-1] == 40  # every place has its turn


def test_whole_words_are_masked_together(tokenizer):
    processor = make_processor("masked_lm", settings={"whole_words": True, "share": 0.4})
    inputs = packed(tokenizer, ["films was lovelys and goodlys the end"] * 50, 16)
    numbers = word_pieces(tokenizer).word_numbers(inputs["input_ids"][0])
    _, targets = processor.corrupt(inputs, tokenizer, np.random.default_rng(0))
    chosen = targets != IGNORED
    for word in set(numbers.tolist()):
        taken = chosen[:, numbers == word]
        assert (taken.all(axis=1) == taken.any(axis=1)).all()
    assert chosen.any(axis=1).all() and chosen.sum() / chosen[:, 1:12].size == pytest.approx(0.4, abs=0.08)


def test_a_word_longer_than_the_share_is_masked_whole(tokenizer):
    processor = make_processor("masked_lm", settings={"whole_words": True})
    _, targets = processor.corrupt(packed(tokenizer, ["goodslysly"], 8), tokenizer, np.random.default_rng(0))
    assert (targets[0] != IGNORED).tolist() == [False, *[True] * 5, False, False]


def test_words_of_sentencepiece_and_byte_level_bpe():
    tokens = ("[CLS]", "▁the", "▁film", "s", "▁(", "good", ")", ".")
    sentencepiece = Vocabulary("sentencepiece", *tokens)
    ids = np.array([0, 1, 2, 3, 4, 5, 6, 7, 0])
    assert word_pieces(sentencepiece).word_numbers(ids).tolist() == [0, 1, 2, 2, 3, 4, 5, 6, 7]
    assert [readable(sentencepiece, i) for i in (1, 3, 4)] == ["the", "s", "("]
    bpe = Vocabulary("byte_level_bpe", *(token.replace("▁", "Ġ") for token in tokens), "ĠcafÃ©")
    assert word_pieces(bpe).word_numbers(ids).tolist() == [0, 1, 2, 2, 3, 4, 5, 6, 7]
    assert [readable(bpe, i) for i in (1, 3, 8)] == ["the", "s", "café"]


@pytest.mark.parametrize("length", [3, 8, 12, 42, 64])
def test_windows_cover_every_token_of_a_long_text(tokenizer, length):
    features = PROCESSOR.features([LONG, "good film"], tokenizer, length)
    whole = tokenizer.encode([LONG, "good film"], max_length=64).input_ids
    assert features.lengths.max() <= length and features.truncated == 0
    for number in range(2):
        parts = [contents(features)[row] for row in features.by_example()[number]]
        assert [token for part in parts for token in part] == whole[number][1:-1]
        assert max(map(len, parts)) - min(map(len, parts)) <= len(parts)


def test_windows_around_the_masks_of_a_long_text(tokenizer):
    words = LONG.split()
    words[2] = words[20] = words[22] = "[MASK]"
    text = " ".join(words)
    features = PROCESSOR.features([text, "a [MASK]"], tokenizer, 12)
    assert (features.example.tolist(), features.truncated) == ([0, 0, 1], 1)
    assert [list(places.index) for places in features.alignment] == [[3], [5, 7], [2]]
    spans = [span for places in features.alignment[:2] for span in places.spans]
    assert spans == [(9, 15), (91, 97), (103, 109)] and all(text[a:b] == "[MASK]" for a, b in spans)
    for ids, places in zip(features.tokens.input_ids, features.alignment, strict=True):
        assert all(ids[i] == tokenizer.mask_id for i in places.index)


def test_predictions_list_the_most_likely_words(tokenizer):
    processor = make_processor("masked_lm", settings={"top": 2})
    texts = ["the [MASK] is [MASK]", "[MASK]"]
    features = processor.features(texts, tokenizer, 8)
    film, dull, s = (tokenizer.vocabulary.index(word) for word in ("film", "dull", "##s"))
    logits = np.zeros((2, 8, tokenizer.vocabulary_size), np.float32)
    logits[0, 2, film], logits[0, 4, dull], logits[0, 4, s], logits[1, 1, film] = 9, 5, 4, 3
    raw_results = [processor.raw_result({"logits": logits[row]}, features, row) for row in range(2)]
    assert [reading["logits"].shape for reading in raw_results] == [(2, 40), (1, 40)]
    first, second = json.loads(json.dumps(processor.predictions(texts, features, raw_results)))
    assert [(mask["start"], mask["end"]) for mask in first["masks"]] == [(4, 10), (14, 20)]
    assert [[word["word"] for word in mask["words"]][:2] for mask in first["masks"]][1] == ["dull", "##s"]
    assert second["masks"][0]["words"][0]["probability"] == pytest.approx(np.exp(3) / (np.exp(3) + 39), rel=1e-4)
    assert len(second["masks"][0]["words"]) == 2


def test_the_span_of_a_mask_excludes_the_space_before_it():
    tokenizer = SentencePiece.train(["the film was good", "it is a book"] * 4, 40)
    features = PROCESSOR.features(["the  [MASK] was [MASK]"], tokenizer, 32)
    assert features.alignment[0].spans == ((5, 11), (16, 22))


def test_a_text_without_a_mask_is_rejected(tokenizer):
    texts = ["the [MASK]", "the film"]
    features = PROCESSOR.features(texts, tokenizer, 8)
    raw_results = [PROCESSOR.raw_result({"logits": np.zeros((8, 40), np.float32)}, features, row) for row in range(2)]
    with pytest.raises(KerasBertError, match=r"row 1: .*\[MASK\].*the film"):
        PROCESSOR.predictions(texts, features, raw_results)


def test_metrics_are_over_masks_of_a_fixed_seed(tokenizer):
    texts = [LONG, "good film"]
    features = PROCESSOR.scoring_features(texts, tokenizer, 12)
    again = PROCESSOR.scoring_features(texts, tokenizer, 12)
    assert features.tokens.input_ids == again.tokens.input_ids
    whole = [token for part in contents(PROCESSOR.features(texts, tokenizer, 12)) for token in part]
    restored = []
    for ids, places in zip(features.tokens.input_ids, features.alignment, strict=True):
        ids = np.array(ids)
        ids[places.index] = places.labels
        restored += ids[1:-1].tolist()
    assert restored == whole and any(tokenizer.mask_id in ids for ids in features.tokens.input_ids)

    def outputs(row, right):
        logits = np.zeros((12, 40), np.float32)
        logits[features.alignment[row].index, features.alignment[row].labels] = right
        return {"logits": logits}

    uniform = [PROCESSOR.raw_result(outputs(row, 0), features, row) for row in range(len(features))]
    assert PROCESSOR.metrics(None, texts, features, uniform) == {
        "masked accuracy": 0.0,
        "perplexity": pytest.approx(40, rel=1e-4),
    }
    sure = [PROCESSOR.raw_result(outputs(row, 20), features, row) for row in range(len(features))]
    found = PROCESSOR.metrics(None, texts, features, sure)
    assert found["masked accuracy"] == 1 and found["perplexity"] == pytest.approx(1, abs=1e-3)
    assert {reading["logits"].shape[1] for reading in sure} == {2}
    compared = PROCESSOR.comparable(outputs(0, 20), features, 0)["logits"]
    np.testing.assert_array_equal(compared.argmax(axis=1), features.alignment[0].labels)


def test_masks_of_a_pair_are_in_one_row_and_know_their_text(tokenizer):
    pairs = [("the [MASK] was good", "it  [MASK] very [MASK]"), ("a film", "so [MASK]")]
    features = PROCESSOR.features(pairs, tokenizer, 16)
    assert features.tokens.token_type_ids[0] == [0] * 6 + [1] * 5
    probabilities = np.zeros((16, 40), np.float32)
    raw_results = [PROCESSOR.raw_result({"logits": probabilities}, features, row) for row in range(2)]
    first, second = PROCESSOR.predictions(pairs, features, raw_results)
    assert (first["text"], first["pair"]) == pairs[0]
    found = [(pairs[0][mask["part"]][mask["start"] : mask["end"]], mask["part"]) for mask in first["masks"]]
    assert found == [("[MASK]", 0), ("[MASK]", 1), ("[MASK]", 1)]
    assert [mask["start"] for mask in first["masks"]] == [4, 4, 16] and second["masks"][0]["part"] == 1


def test_a_pair_is_truncated_unless_a_mask_is_lost(tokenizer):
    features = PROCESSOR.features([(LONG, "it [MASK]")], tokenizer, 16)
    assert features.truncated == 1 and features.lengths == 16
    with pytest.raises(KerasBertError, match="row 0: .*masks of a pair within 16 tokens, received 1 behind them"):
        PROCESSOR.features([(LONG + " [MASK]", "it [MASK]")], tokenizer, 16)


def test_words_of_pairs_are_masked_in_training_and_scores():
    tokenizer = JapaneseTokenizer(
        ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"猫都東京に住む"], subwords="character"
    )
    whole = replace(PROCESSOR, whole_words=True, share=0.4)
    pairs = [("東京都に", "東京に住む")] * 4
    features = whole.features(pairs, tokenizer, 16)
    assert features.alignment[0].words.tolist() == [-1, 0, 0, 1, 2, -1, 3, 3, 4, 5, 5, -1]
    inputs = features.pack(range(4), 16, tokenizer.pad_id)
    _, labels = whole.corrupt(inputs, tokenizer, np.random.default_rng(0), features.alignment)
    scored = whole.scoring_features(pairs, tokenizer, 16)
    chosen = [*(np.flatnonzero(row != IGNORED) for row in labels), *(places.index for places in scored.alignment)]
    for row in chosen:
        assert all((first in row) == (first + 1 in row) for first in (1, 6, 9))


def test_empty_texts_and_labels_are_rejected(tokenizer):
    with pytest.raises(KerasBertError, match="row 1: .*empty"):
        PROCESSOR.examples(["the film", " \n"])
    with pytest.raises(KerasBertError, match="row 0: .*empty"):
        PROCESSOR.examples([("the film", " ")])
    with pytest.raises(KerasBertError, match="labels"):
        PROCESSOR.encode_labels([1], ["the film"], PROCESSOR.features(["the film"], tokenizer, 8))
    with pytest.raises(KerasBertError, match="words to mask"):
        features = PROCESSOR.scoring_features(["☃"], tokenizer, 8)
        PROCESSOR.metrics(
            None, ["☃"], features, [PROCESSOR.raw_result({"logits": np.zeros((8, 40), np.float32)}, features, 0)]
        )


@pytest.mark.parametrize("settings", [{"share": 0.0}, {"share": 1.0}, {"top": 0}])
def test_settings_out_of_range_are_rejected(settings):
    with pytest.raises(KerasBertError, match=next(iter(settings))):
        make_processor("masked_lm", settings=settings)


def test_whole_words_are_those_of_mecab_in_japanese():
    pytest.importorskip("fugashi")
    from kerasbert.text import JapaneseTokenizer
    from kerasbert.text.mecab import mecab_words

    text = "東京は晴れですが大阪は雨でした"
    words = [word.surface for word in mecab_words(text, "unidic_lite")]
    assert "東京" in words
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer = JapaneseTokenizer([*special, *sorted(set(text))], subwords="character")
    processor = make_processor("masked_lm", settings={"whole_words": True, "share": 0.4})
    for length in (32, 12):  # in windows as well
        features = processor.features([text] * 20, tokenizer, length)
        packed = features.pack(range(len(features)), length, tokenizer.pad_id)
        for batch in range(3):
            random = np.random.default_rng(batch)
            _, targets = processor.corrupt(packed, tokenizer, random, features.alignment)
            chosen = "".join(
                "x" if i else "." for row in targets[: 40 // length] for i in row[1 : len(text) + 1] != IGNORED
            )
            assert "x" in chosen
        if length == 32:
            for row in targets:
                place = 1
                for word in words:
                    taken = row[place : place + len(word)] != IGNORED
                    assert taken.all() or not taken.any(), word
                    place += len(word)
    with pytest.raises(KerasBertError, match="received packed inputs, which show no words"):
        processor.corrupt(packed, tokenizer, np.random.default_rng(0))


def test_a_chinese_character_is_a_word():
    from kerasbert.text import WordPiece

    text = "北京天气好"
    tokenizer = WordPiece(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *text])
    (ids,) = tokenizer.encode([text], max_length=16).input_ids
    assert word_pieces(tokenizer).word_numbers(np.array(ids)).tolist() == list(range(7))
