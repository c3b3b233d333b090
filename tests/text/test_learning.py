"""Learned vocabularies of every kind: from a stream, the same in every run, saved and read, and errors of one line."""

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.text import corpus, learn_tokenizer, tokenizer_from_folder
from kerasbert.text.learning import LEARNED_TOKENIZERS

ENGLISH = ["the cat sat on the mat", "a cat and another cat", "hats and mats, cats and bats"] * 4
JAPANESE = ["東京都に住んでいます。", "東京に猫がいます。", "猫の本を読んでいます。"] * 4
TEXTS = {kind: JAPANESE if kind.startswith("japanese") else ENGLISH for kind in LEARNED_TOKENIZERS}
SIZES = {"wordpiece": 60, "sentencepiece": 40, "bpe": 290, "japanese": 80, "japanese-characters": 80}


@pytest.mark.parametrize("kind", LEARNED_TOKENIZERS)
def test_a_stream_is_learned_the_same_every_time_and_saved(kind, tmp_path):
    texts, size = TEXTS[kind], SIZES[kind]
    tokenizer = learn_tokenizer(kind, (text for text in texts), size)
    assert learn_tokenizer(kind, texts, size).get_config() == tokenizer.get_config()
    ids = tokenizer.token_ids(texts)
    assert len(tokenizer.special_tokens()) < tokenizer.vocabulary_size <= size
    assert not any(tokenizer.unk_id in row for row in ids) and max(row.max() for row in ids) < tokenizer.vocabulary_size
    tokenizer.save(tmp_path)
    again = tokenizer_from_folder(tmp_path)
    assert again.get_config() == tokenizer.get_config()
    assert [row.tolist() for row in again.token_ids(texts)] == [row.tolist() for row in ids]


def test_byte_pairs_have_the_ids_of_roberta():
    tokenizer = learn_tokenizer("bpe", ENGLISH, 290)
    assert tokenizer.vocabulary[:5] == ("<s>", "<pad>", "</s>", "<unk>", "<mask>") and tokenizer.vocabulary_size <= 290
    assert (tokenizer.cls_id, tokenizer.pad_id, tokenizer.sep_id, tokenizer.unk_id) == (0, 1, 2, 3)
    assert "Ġcat" in tokenizer.vocabulary and len(tokenizer.token_ids([" cat"])[0]) == 1
    text = "Zürich 😀 mats"  # every byte is a token
    assert "".join(tokenizer.vocabulary[i] for i in tokenizer.token_ids([text])[0]).count("Ġ") == 2


def test_japanese_pieces_stay_inside_the_words_of_mecab():
    tokenizer = learn_tokenizer("japanese", JAPANESE, 80)
    assert {"東京", "住ん", "猫", "##京"} <= set(tokenizer.vocabulary) and "東京都" not in tokenizer.vocabulary
    assert not {"[MASK]", "MASK"} & set(learn_tokenizer("japanese", ["猫[MASK]猫"] * 3, 80).vocabulary[5:])
    characters = learn_tokenizer("japanese-characters", JAPANESE, 80)
    assert sorted(characters.vocabulary[5:]) == sorted(set("".join(JAPANESE)))


def test_ideographs_of_chinese_are_tokens_of_their_own():
    texts = ["我在北京大学", "北京大学在北京 BERT"] * 3
    tokenizer = learn_tokenizer("wordpiece", texts, 60)
    assert set("我在北京大学") <= set(tokenizer.vocabulary) and not any(
        "北京" in token for token in tokenizer.vocabulary
    )
    assert tokenizer.encode(texts[:1], max_length=99).word_ids == [[None, *range(6), None]]


def test_letter_case_is_a_setting():
    texts = [text.upper() for text in ENGLISH]
    assert "CAT" in learn_tokenizer("wordpiece", texts, 60, lowercase=False).vocabulary
    assert "cat" in learn_tokenizer("wordpiece", texts, 60).vocabulary
    assert "CAT" in learn_tokenizer("bpe", texts, 290, lowercase=False, min_frequency=3).vocabulary


@pytest.mark.parametrize(
    ("kind", "texts", "size", "settings", "message"),
    [
        ("word", ENGLISH, 60, {}, "kind of tokenizer of wordpiece, sentencepiece, bpe, .*received 'word'"),
        ("wordpiece", iter(()), 60, {}, "0 texts without any word"),
        ("bpe", ["", " \n"], 290, {}, "2 texts without any word"),
        ("japanese", ["\u3000"], 60, {}, "1 texts without any word"),
        ("wordpiece", ["abcd efg"], 60, {}, "received one text, of which wordpiece learned only characters"),
        ("bpe", ["abcd efg"], 290, {}, "received one text, of which bpe learned only characters"),
        ("wordpiece", ENGLISH, 12, {}, "vocabulary_size of at least .* characters of these texts, received 12"),
        ("bpe", ENGLISH, 260, {}, "vocabulary_size of at least 261.* received 260"),
        ("japanese-characters", JAPANESE, 9, {}, "vocabulary_size of at least .* received 9"),
        ("bpe", ENGLISH, True, {}, "vocabulary_size of at least 6, received True"),
        ("bpe", iter(["a", 1]), 290, {}, "received int in row 1"),
        ("wordpiece", "a text", 60, {}, "put a single text into a list"),
        ("bpe", ENGLISH, 290, {"lowercase": True}, "no lowercase for bpe"),
        ("wordpiece", ENGLISH, 60, {"lowercase": "no"}, "lowercase as True or False"),
        ("wordpiece", ENGLISH, 60, {"dictionary": "ipadic"}, "no dictionary for wordpiece"),
        ("japanese-characters", JAPANESE, 60, {"min_frequency": 3}, "no min_frequency for japanese-characters"),
        ("wordpiece", ENGLISH, 60, {"min_frequency": 0}, "min_frequency of at least 1, received 0"),
    ],
)
def test_what_cannot_be_learned_is_an_error_of_one_line(kind, texts, size, settings, message):
    with pytest.raises(KerasBertError, match=message) as error:
        learn_tokenizer(kind, texts, size, **settings)
    assert "\n" not in str(error.value)


def test_long_texts_are_learned_in_pieces(monkeypatch):
    whole = {kind: learn_tokenizer(kind, [" ".join(ENGLISH)] * 2, SIZES[kind]) for kind in ("wordpiece", "bpe")}
    for module in ("kerasbert.text.long_texts", "kerasbert.text.corpus"):
        monkeypatch.setattr(f"{module}.{'PIECE' if module.endswith('long_texts') else 'LONGEST'}", 20)
    assert len(list(corpus.Corpus(["word " * 99]).pieces(None))) == 25
    for kind, tokenizer in whole.items():
        monkeypatch.setattr(corpus, "LONGEST", 1 << 20)
        assert learn_tokenizer(kind, [" ".join(ENGLISH)] * 2, SIZES[kind]).get_config() == tokenizer.get_config()


def test_sentences_are_drawn_from_a_corpus_that_is_too_large():
    texts = [f"{number:04d}" for number in range(1000)]
    drawn = corpus.sample(iter(texts), 400)
    assert len(drawn) == 100 and drawn == sorted(drawn) and drawn == corpus.sample(texts, 400)
    assert 25 <= sum(text < "0500" for text in drawn) <= 75
    assert corpus.sample(texts, 4000) == texts and corpus.sample(["a" * 9], 4) == ["a" * 9]
