"""Long texts are cut before tokenization; ids, offsets and words equal those of the whole text."""

import random

import pytest
from tokenizers import pre_tokenizers

from kerasbert.errors import KerasBertError
from kerasbert.text import (
    ByteLevelBPE,
    ClientWordPiece,
    JapaneseTokenizer,
    SentencePiece,
    WordPiece,
    long_texts,
    tokenizer as tokenizer_module,
)

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LETTERS = "abcdeBC东京が好é2"
WORDS = [
    *SPECIAL,
    *LETTERS,
    *(f"##{letter}" for letter in LETTERS),
    "ab",
    "##cd",
    "de",
    ".",
    ",",
    "。",
    "'",
    "<x>",
    "COVID",
    "あ",
]
ADDED = [
    {"content": "<x>", "lstrip": True},
    {"content": "COVID", "normalized": True},
    {"content": "de", "single_word": True},
]
BYTES = [
    "<s>",
    "<pad>",
    "</s>",
    "<unk>",
    "<mask>",
    *sorted(pre_tokenizers.ByteLevel.alphabet()),
    "ab",
    "Ġa",
    "Ġab",
    "Ġde",
]
MERGES = ["a b", "Ġ a", "Ġa b"]
TOKENS = (
    *LETTERS, *LETTERS, "ab", "cd", "de", "covid", "COVID", "<x>", "[MASK]", "<mask>", "'s", "''", "``", "e\u0301", "\u3099", "\u0e33", "ﾞ",
    " ", " ", " ", " ", " ", "  ", "\n", "\t", "\u00a0", "\u3000", ".", ",", "。", "、", "-", "\x01", "\u200b", "x" * 101, "한", "①", "ﬁ",
)  # fmt: skip


DELETED = ("\x01", "\u200b")  # by the map of a trained model; the engine itself moves all offsets behind them


@pytest.fixture(scope="module")
def pieces_model():
    return SentencePiece.train(["abc de bcd", "cab ed dbc 2"] * 30, 40).model


KINDS = {
    "wordpiece": lambda model: WordPiece(WORDS),
    "added": lambda model: WordPiece(WORDS, added_tokens=ADDED),
    "cased": lambda model: WordPiece(WORDS, lowercase=False, tokenize_chinese_chars=False, added_tokens=ADDED[:1]),
    "ideographs": lambda model: WordPiece([*WORDS, "东京"], added_tokens=[{"content": "东京"}]),
    "client": lambda model: ClientWordPiece(WORDS, tokenize_as="mediapipe"),
    "sentencepiece": SentencePiece,
    "one_space": lambda model: SentencePiece(model, remove_space=False, lowercase=False, keep_accents=True),
    "bytes": lambda model: ByteLevelBPE(BYTES, MERGES),
    "prefix": lambda model: ByteLevelBPE(BYTES, MERGES, add_prefix_space=True),
    "untrimmed": lambda model: ByteLevelBPE(BYTES, MERGES, add_prefix_space=True, trim_offsets=False),
    "japanese": lambda model: JapaneseTokenizer(WORDS),
    "characters": lambda model: JapaneseTokenizer(WORDS, subwords="character", lowercase=True),
}


def rows(tokenizer, texts, pairs, length, truncation="longest_first"):
    encoded = tokenizer.encode(texts, pairs, max_length=length, truncation=truncation)
    return encoded.input_ids, encoded.offsets, encoded.word_ids, encoded.truncated


def random_texts(count, seed, kind=""):
    draw = random.Random(seed)
    parts = [part for part in TOKENS if part not in DELETED or kind not in ("sentencepiece", "one_space")]
    return ["".join(draw.choices(parts, k=draw.randrange(60))) for _ in range(count)]


def cut_short(monkeypatch):
    """Pieces of 4 characters, so that nearly every place at which a text may be cut is used."""
    for module in (long_texts, tokenizer_module):
        monkeypatch.setattr(module, "PIECE", 4)
    monkeypatch.setattr("kerasbert.text.japanese._BATCH", 3)


@pytest.mark.long_cases("wordpiece", "sentencepiece", "bytes", "client")
@pytest.mark.parametrize("kind", KINDS)
def test_pieces_have_the_tokens_of_the_whole_text(kind, pieces_model, monkeypatch):
    tokenizer = KINDS[kind](pieces_model)
    texts, pairs = random_texts(100, 1, kind), random_texts(100, 2, kind)
    cases = [(None, 1 << 40), (None, 9), (pairs, 12), (pairs, 13), (pairs, 1 << 40)]
    whole = [rows(tokenizer, texts, second, length) for second, length in cases]
    cut_short(monkeypatch)
    for expected, (second, length) in zip(whole, cases, strict=True):
        assert rows(tokenizer, texts, second, length) == expected
    cut = sum(len(list(long_texts.pieces(text, tokenizer._word_ends))) > 1 for text in texts)
    assert cut > 25 or kind in ("japanese", "characters")


def test_errors_name_the_number_of_all_tokens(monkeypatch):
    tokenizer = WordPiece(WORDS)
    texts, pairs = ["a b c"] * 2, ["a b c d e " * 40, "a " * 300]
    cut_short(monkeypatch)
    for truncation, first, second in (("only_first", texts, pairs), ("only_second", pairs, texts)):
        with pytest.raises(KerasBertError, match="row 0, whose other text has 200 tokens where there is room for 6"):
            tokenizer.encode(first, second, max_length=9, truncation=truncation)


@pytest.mark.parametrize("field", [{}, {"normalized": True}])
def test_added_tokens_with_spaces_keep_a_text_whole(field, monkeypatch):
    tokenizer = WordPiece([*WORDS, "a\u00a0b"], added_tokens=[{"content": "a\u00a0b", **field}])
    texts = ["c a\u00a0b d e a\u00a0b", "ab cd " * 9]
    expected = rows(tokenizer, texts, None, 99)
    cut_short(monkeypatch)
    assert rows(tokenizer, texts, None, 99) == expected
    assert len(list(long_texts.pieces(texts[1], tokenizer._word_ends))) == 1


def test_only_the_needed_part_of_a_text_reaches_the_engine(monkeypatch):
    seen = []
    whole = WordPiece._batch_ids
    monkeypatch.setattr(WordPiece, "_batch_ids", lambda self, texts: seen.extend(texts) or whole(self, texts))
    ids = WordPiece(WORDS).encode(["ab de " * 100_000], max_length=128).input_ids
    assert len(ids[0]) == 128 and sum(map(len, seen)) < 2 * long_texts.PIECE


def test_many_texts_are_passed_in_parts():
    texts = ["ab"] * 9000 + ["ab de " * 4000] + ["c" * 15_000] * 300
    sizes = [(len(chunk), sum(map(len, chunk))) for chunk in long_texts._chunks(texts)]
    assert sizes == [(8192, 16_384), (808, 1616), (1, 24_000), (133, 1_995_000), (133, 1_995_000), (34, 510_000)]
