"""Japanese words by MeCab: ids by the steps of BertJapaneseTokenizer, offsets in the original text."""

import json
import pickle
import sys
import unicodedata

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.text import (
    JapaneseTokenizer,
    WordPiece,
    has_tokenizer,
    mecab,
    tokenizer_from_config,
    tokenizer_from_folder,
)

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
VOCABULARY = [
    *SPECIAL,
    *[
        "東京",
        "##都",
        "都",
        "に",
        "住ん",
        "で",
        "い",
        "ます",
        "。",
        "平成",
        "ガ",
        "##ギ",
        "ab",
        "c",
        "Ab",
        "##c",
        "",
        "猫",
    ],
    *["外国", "人参", "政権", "が", "が゙", "i", "##̇", "i̇", "cm"],
]
CHARACTERS = [*SPECIAL, *"東京都に住んでいます。平成ガギab猫"]


def tokens(text, vocabulary=VOCABULARY, **settings):
    """Each token with the part of the text that its offsets name, the ones around the text left out."""
    tokenizer = JapaneseTokenizer(vocabulary, **settings)
    encoded = tokenizer.encode([text], max_length=64)
    return [
        (tokenizer.vocabulary[number], text[start:end])
        for number, (start, end) in list(zip(encoded.input_ids[0], encoded.offsets[0], strict=True))[1:-1]
    ]


def test_words_and_their_pieces():
    found = tokens("東京都に 住んでいます。")
    assert found == [(part, part) for part in ("東京", "都", "に", "住ん", "で", "い", "ます", "。")]


def test_offsets_refer_to_the_text_before_normalization():
    assert tokens("㍻の㎝") == [("平成", "㍻"), ("[UNK]", "の"), ("cm", "㎝")]
    assert tokens("猫 ｶﾞｷﾞ猫") == [("猫", "猫"), ("ガ", "ｶﾞ"), ("##ギ", "ｷﾞ"), ("猫", "猫")]
    assert tokens("ａｂ 猫") == [("ab", "ａｂ"), ("猫", "猫")]
    assert tokens("c\u1161ｶﾞ")[0] == ("c", "c")
    assert tokens("ｃ\u1161")[0] == ("c", "ｃ")  # a Hangul vowel that has no consonant to join
    assert tokens("か\u3099 猫") == [("が", "か\u3099"), ("猫", "猫")]


def test_special_tokens_in_the_text():
    assert tokens("東京[MASK]に[SEP]") == [("東京", "東京"), ("[MASK]", "[MASK]"), ("に", "に"), ("[SEP]", "[SEP]")]
    assert ("[MASK]", "［ＭＡＳＫ］") not in tokens("猫［ＭＡＳＫ］")
    encoded = JapaneseTokenizer(VOCABULARY).encode(["猫[MASK]猫"], max_length=9)
    assert encoded.word_ids == [[None, 0, 1, 2, None]]


def test_white_space_and_controls():
    assert tokens("猫\u2028\x85猫") == [("猫", "猫")] * 2
    assert tokens("\u3000猫\n\t猫 ") == [("猫", "猫")] * 2
    assert tokens("猫\x00猫") == [("猫", "猫")]  # as in Hugging Face: MeCab's text ends there
    assert tokens("") == tokens(" \n") == []


def test_lower_case():
    assert tokens("Abc") == [("Ab", "Ab"), ("##c", "c")]
    assert tokens("Abc", lowercase=True) == [("ab", "Ab"), ("##c", "c")]
    assert tokens("İ", lowercase=True) == [("i̇", "İ")]


def test_characters():
    found = tokens("東京㍻ｶﾞ[MASK]犬", CHARACTERS, subwords="character")
    pairs = [("東", "東"), ("京", "京"), ("平", "㍻"), ("成", "㍻"), ("ガ", "ｶﾞ"), ("[MASK]", "[MASK]"), ("[UNK]", "犬")]
    assert found == pairs
    encoded = JapaneseTokenizer(CHARACTERS, subwords="character").encode(["東京 猫"], max_length=9)
    assert encoded.word_ids == [[None, 0, 0, 1, None]]


def test_truncated_pairs():
    encoded = JapaneseTokenizer(VOCABULARY).encode(["東京 東京 東京"], ["猫"], max_length=6)
    assert encoded.input_ids == [[2, 5, 5, 3, VOCABULARY.index("猫"), 3]]
    assert encoded.token_type_ids == [[0, 0, 0, 0, 1, 1]]
    assert encoded.offsets == [[(0, 0), (0, 2), (3, 5), (0, 0), (0, 1), (0, 0)]]
    assert encoded.truncated == 1


@pytest.mark.parametrize("text", ["각 갛 é\u0323e\u0301\u0323 ㌔ｶﾞﾊﾟﷺ", "e\u0301" * 3 + "ﬁ①", "क़ া\u09be\u09c7\u09be"])
def test_every_character_has_an_offset(text):
    places = mecab._places(text)
    normalized = unicodedata.normalize("NFKC", text)
    assert len(places) == len(normalized)
    for span in set(places):
        made = "".join(character for character, place in zip(normalized, places, strict=True) if place == span)
        assert made == unicodedata.normalize("NFKC", text[slice(*span)])


def write(folder, vocabulary=VOCABULARY, **config):
    (folder / "vocab.txt").write_text("".join(f"{token}\n" for token in vocabulary), "utf-8")
    settings = {"tokenizer_class": "BertJapaneseTokenizer", "word_tokenizer_type": "mecab", **config}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return folder


@pytest.mark.parametrize(
    "text", ["東" * 300_000, "あ" * 70_000, f"日本{' ' * 200_000}語", "\u3000" * 100_000 + "日本", "今日は良い天気です。" * 7000],
    ids=["one-ideograph", "one-kana", "spaces", "wide-spaces", "sentences"],
)  # fmt: skip
def test_long_texts_keep_every_character(text):
    words = list(mecab.mecab_words(text, "unidic_lite"))
    assert "".join(word.surface for word in words) == "".join(unicodedata.normalize("NFKC", text).split())
    assert words[-1].span(0, len(words[-1].surface))[1] == len(text)


def test_places_of_a_long_text(monkeypatch):
    text = "각 갛 é\u0323e\u0301\u0323 ㌔ｶﾞﾊﾟﷺか\u3099猫" * 9
    expected = mecab._places(text)
    monkeypatch.setattr(mecab, "_LONGEST", 5)
    assert list(mecab._long_places(text)) == expected


def test_a_long_text_has_the_words_of_its_sentences():
    sentences = ["今日は良い天気です。", "東京都に住んでいます。", "「はい」と言った。"]
    separate = [word.surface for text in sentences for word in mecab.mecab_words(text, "unidic_lite")]
    together = [word.surface for word in mecab.mecab_words("".join(sentences) * 1000, "unidic_lite")]
    assert together == separate * 1000


def test_folder(tmp_path):
    tokenizer = tokenizer_from_folder(write(tmp_path, do_lower_case=True, mecab_kwargs={"mecab_dic": "unidic_lite"}))
    assert type(tokenizer) is JapaneseTokenizer and tokenizer.lowercase and tokenizer.subwords == "wordpiece"
    config = json.loads(json.dumps(tokenizer.get_config()))
    tokenizer.save(tmp_path / "again")
    for again in (
        tokenizer_from_config(config),
        tokenizer_from_folder(tmp_path / "again"),
        pickle.loads(pickle.dumps(tokenizer)),
    ):
        assert again.get_config() == config
        assert again.encode(["㍻の猫"], max_length=9) == tokenizer.encode(["㍻の猫"], max_length=9)
    characters = tokenizer_from_folder(write(tmp_path, subword_tokenizer_type="character"))
    assert (characters.subwords, characters.lowercase) == ("character", False)


def test_the_basic_word_tokenizer_equals_bert(tmp_path):
    tokenizer = tokenizer_from_folder(write(tmp_path, word_tokenizer_type="basic"))
    assert type(tokenizer) is WordPiece
    assert (tokenizer.lowercase, tokenizer.tokenize_chinese_chars) == (False, False)
    with pytest.raises(KerasBertError, match="with the word tokenizer \"basic\" .* received 'character'"):
        tokenizer_from_folder(write(tmp_path, word_tokenizer_type="basic", subword_tokenizer_type="character"))


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"word_tokenizer_type": "sudachi"}, "word_tokenizer_type .* received 'sudachi'"),
        ({"subword_tokenizer_type": "sentencepiece"}, "subword_tokenizer_type .* received 'sentencepiece'"),
        ({"do_subword_tokenize": False}, "do_subword_tokenize .* received False"),
        ({"mecab_kwargs": {"mecab_dic": "neologd"}}, "mecab_dic .* received 'neologd'"),
        ({"mecab_kwargs": {"mecab_option": "-x"}}, "mecab_option .* received '-x'"),
        ({"mecab_kwargs": {"normalize_text": False}}, "normalize_text .* received False"),
        ({"mecab_kwargs": "x"}, "mecab_kwargs .* received 'x'"),
    ],
)
def test_invalid_settings_raise(tmp_path, config, message):
    with pytest.raises(KerasBertError, match=message):
        tokenizer_from_folder(write(tmp_path, **config))


@pytest.mark.parametrize("missing", ["fugashi", "unidic_lite"])
def test_a_missing_package_raises(monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    mecab._tagger.cache_clear()
    with pytest.raises(KerasBertError) as error:
        JapaneseTokenizer(VOCABULARY).encode(["猫"], max_length=9)
    assert str(error.value) == (
        f"expected the package {missing.replace('_', '-')} for Japanese words, received none; install it: "
        "pip install 'kerasbert[japanese]'"
    )


def test_an_unknown_dictionary_raises():
    with pytest.raises(KerasBertError, match="received 'neologd'"):
        JapaneseTokenizer(VOCABULARY, dictionary="neologd")
    with pytest.raises(KerasBertError, match="received 'letters'"):
        JapaneseTokenizer(VOCABULARY, subwords="letters")


MECAB = {"word_tokenizer_type": "mecab", "mecab_kwargs": {"mecab_dic": "unidic_lite"}}
JAPANESE_CLASS = {"tokenizer_class": "BertJapaneseTokenizer"}


@pytest.mark.parametrize(
    ("config", "tokenizer_config"),
    [(JAPANESE_CLASS, MECAB), ({}, MECAB), ({}, {"word_tokenizer_type": "mecab"}), ({}, {**MECAB, **JAPANESE_CLASS})],
)
def test_class_of_a_published_folder(tmp_path, config, tokenizer_config):
    """Published folders name their class in config.json; copies of the tokenizer's files alone name only the kind of words."""
    write_folder(tmp_path, config, tokenizer_config)
    tokenizer = tokenizer_from_folder(tmp_path)
    assert type(tokenizer) is JapaneseTokenizer and tokenizer.lowercase is False
    ids = tokenizer.encode(["東京に住んでいます。"], max_length=16).input_ids[0]
    assert [tokenizer.vocabulary[number] for number in ids[1:-1]] == ["東京", "に", "住ん", "で", "い", "ます", "。"]


@pytest.mark.parametrize("config", [JAPANESE_CLASS, {}], ids=["class-in-config", "three-files"])
@pytest.mark.parametrize(("word", "dictionary"), [("である", "unidic_lite"), ("という", "ipadic")])
def test_a_vocabulary_of_japanese_words_is_read_with_mecab(tmp_path, capsys, config, word, dictionary):
    """A download has config.json, vocab.txt and weights. transformers splits its texts at spaces and punctuation only."""
    write_folder(tmp_path, {"model_type": "bert", **config}, None, [*VOCABULARY, word])
    tokenizer = tokenizer_from_folder(tmp_path)
    assert type(tokenizer) is JapaneseTokenizer and has_tokenizer(tmp_path)
    assert (tokenizer.subwords, tokenizer.dictionary, tokenizer.lowercase) == ("wordpiece", dictionary, False)
    assert (
        f"vocab.txt has words of MeCab's dictionary {dictionary}: texts are split by MeCab" in capsys.readouterr().err
    )
    if dictionary == "unidic_lite":
        ids = tokenizer.encode(["東京に住んでいます。"], max_length=16).input_ids[0]
        assert [tokenizer.vocabulary[number] for number in ids[1:-1]] == [
            "東京",
            "に",
            "住ん",
            "で",
            "い",
            "ます",
            "。",
        ]


def test_settings_in_a_file_stand_above_what_the_vocabulary_shows(tmp_path):
    given = {"mecab_kwargs": {"mecab_dic": "unidic"}, "do_lower_case": True}
    write_folder(tmp_path, JAPANESE_CLASS, given, [*VOCABULARY, "という"])
    tokenizer = tokenizer_from_folder(tmp_path)
    assert (tokenizer.dictionary, tokenizer.lowercase) == ("unidic", True)
    write_folder(tmp_path, {}, {"tokenize_chinese_chars": True, "do_lower_case": False}, VOCABULARY)
    assert type(tokenizer_from_folder(tmp_path)) is WordPiece
    write_folder(tmp_path, {}, {"tokenizer_class": "BertTokenizer", "do_lower_case": False}, VOCABULARY)
    assert type(tokenizer_from_folder(tmp_path)) is WordPiece


def test_a_vocabulary_of_characters_is_read_as_such(tmp_path, capsys):
    write_folder(tmp_path, JAPANESE_CLASS, None, CHARACTERS)
    tokenizer = tokenizer_from_folder(tmp_path)
    assert type(tokenizer) is JapaneseTokenizer and tokenizer.subwords == "character"
    assert "vocab.txt has characters alone" in capsys.readouterr().err


def test_words_that_the_vocabulary_does_not_show_are_noted(tmp_path, capsys):
    """transformers 4.57.6 and 5.24.0 split them at spaces and punctuation; accents such as the mark of が stay."""
    vocabulary = [*SPECIAL, "が", "東", "##京", "a"]
    write_folder(tmp_path, JAPANESE_CLASS, None, vocabulary)
    tokenizer = tokenizer_from_folder(tmp_path)
    assert (type(tokenizer), tokenizer.lowercase, tokenizer.tokenize_chinese_chars) == (WordPiece, False, False)
    ids = tokenizer.encode(["が 東京"], max_length=16).input_ids[0]
    assert [tokenizer.vocabulary[number] for number in ids[1:-1]] == ["が", "東", "##京"]
    assert "most Japanese checkpoints need MeCab" in capsys.readouterr().err
    write_folder(tmp_path, {}, {"do_lower_case": True}, [*SPECIAL, "が", "东", "京"])  # as of a Chinese checkpoint
    assert type(tokenizer_from_folder(tmp_path)) is WordPiece


def write_folder(folder, config, tokenizer_config, vocabulary=VOCABULARY):
    (folder / "vocab.txt").write_text("\n".join(vocabulary), "utf-8")
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    if tokenizer_config is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer_config), "utf-8")
