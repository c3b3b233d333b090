"""Tokenization of MediaPipe Tasks and TFLite's Task Library, by kind of text.

    python -m benchmarks.parity.client_tokenization --vocabulary vocab.txt [--texts german=lines.txt ...]

Measured for each kind of text: texts that a client tokenizes differently from BERT (`WordPiece`, Hugging Face's ids), the rate of unknown
tokens of both, and texts that differ from `ClientWordPiece`, which must be 0. Needs `kerasbert setup mediapipe task-library`.

A model that returns its input ids shows what a client feeds to a model. `characters` tests every Unicode character between two letters.
"""

import argparse
import random
from collections.abc import Sequence
from pathlib import Path

from benchmarks.common import hard_strings, record
from benchmarks.reports.tokenizers_tables import client_kinds
from kerasbert.export.backends.client_tools.calls import CLIENTS, Client, ids_of
from kerasbert.export.tflite.metadata import Metadata
from kerasbert.processors.embedding import Embedding
from kerasbert.text import ClientWordPiece, WordPiece
from kerasbert.text.client_differences import differences
from kerasbert.text.tokenizer_files import read_vocabulary

PACKAGES = ("tokenizers", "ai-edge-litert", "numpy")
LENGTH = 256
_ENGLISH = "the film was good and we saw it again last night with friends who live near old harbour".split()
_WORDS = {
    "English": _ENGLISH,
    "English, capitals, digits, punctuation": 'The Film, was good! (We) saw it; $5.99 for two: "fine" it\'s U.S.A. 20% C++ a/b'.split(),
    "accents": "Café naïve résumé São über Łódź déjà señor garçon Ångström crème jalapeño".split(),
    "accents as marks of their own": "cafe\u0301 nai\u0308ve re\u0301sume\u0301 u\u0308ber sen\u0303or".split(),
    "dashes and quotes beyond ASCII": "“good” ‘film’ the—end 1–2 wait… «fine» it’s • 5′".split(),
    "currency and symbols beyond ASCII": "€5 £3 10° ½ © ™ → ≥ № ×".split(),
    "Cyrillic": "Москва это большой город и мы видели её вчера Йод ёлка".split(),
    "Greek": "Καλημέρα κόσμε η Αθήνα είναι μεγάλη πόλη και ΟΔΟΣ Σίσυφος".split(),
    "Turkish": "İstanbul büyük şehir IĞDIR ısı çok güzel değil".split(),
    "Vietnamese": "Hà Nội là thủ đô của Việt Nam được yêu thích".split(),
    "Hindi": "नमस्ते दुनिया यह फिल्म अच्छी है हम कल शहर गए थे".split(),
    "Arabic": "مرحبا بالعالم هذا الفيلم جيد جِدًّا المدينة كبيرة".split(),
    "Hebrew": "שלום עולם הסרט היה טוב שָׁלוֹם".split(),
    "Thai": "สวัสดี ชาวโลก ภาพยนตร์เรื่องนี้ดีมาก เมืองใหญ่".split(),
    "Korean": "안녕 세상 이 영화는 정말 좋았다 서울은 큰 도시".split(),
    "Chinese": "你好世界 这部电影很好 北京是大城市。 我们昨天看了".split(),
    "Japanese": "こんにちは 世界 この映画は良かった。 東京は大きい ガギグ ｶﾞｷﾞ".split(),
    "emoji": "good😀 film 👍🏽 👩\u200d👩\u200d👧 fine❤️ 🇯🇵 night".split(),
    "full-width letters": "ｆｉｌｍ ＧＯＯＤ １２３ ｗａｓ".split(),
    "ligatures": "ﬁlm ﬂow ﬀ eﬃcient".split(),
    "words of over 100 bytes": ["ab" * 30, "й" * 51, "ภาพยนตร์" * 5, "good"],
    "special tokens' names": "[MASK] [SEP] the [CLS] film [UNK] [PAD]".split(),
}
# Characters to insert into English texts: between words without a space, as a word, or inside a word.
_INSERTED = {
    "no-break space": "\u00a0", "zero-width space": "\u200b", "zero-width joiner": "\u200d", "soft hyphen": "\u00ad",
    "byte order mark": "\ufeff", "ideographic and thin space": "\u3000\u2009", "vertical tab": "\x0b",
    "control characters": "\x01\x07\x1b\x7f\x80", "line separator": "\u2028", "tab and line breaks": "\t\n\r", "NUL": "\0",
    "replacement character": "\ufffd", "private use": "\ue000",
}  # fmt: skip


def main() -> None:
    """Compare all kinds of text and write the result."""
    arguments = _arguments()
    load = record.load()
    vocabulary = read_vocabulary(arguments.vocabulary)
    kinds = _make_texts(arguments.rows) | {
        name: Path(file).read_text("utf-8").splitlines()[: arguments.most]
        for name, _, file in (option.partition("=") for option in arguments.texts)
    }
    clients = {}
    for client in CLIENTS.values():
        facts = clients[client.name] = {
            "packages": list(client.environment.packages),
            "kinds": {name: _compare(client, vocabulary, texts) for name, texts in kinds.items()},
            "characters": _compare_characters(client),
        }
        print(client.name, facts["characters"], flush=True)
    result = {"vocabulary": len(vocabulary), "tokens": LENGTH, "clients": clients}
    print("\n".join(client_kinds(result)))
    record.write(arguments.json, result, record.versions(PACKAGES), load)


def _make_texts(rows: int) -> dict[str, list[str]]:
    """Make texts by kind, the same on every run."""
    chance = random.Random(1)
    kinds = {kind: [" ".join(chance.choices(words, k=8)) for _ in range(rows)] for kind, words in _WORDS.items()}
    for kind, characters in _INSERTED.items():
        kinds[kind] = [_insert(chance.choices(_ENGLISH, k=8), characters, chance) for _ in range(rows)]
    kinds["hard strings"] = hard_strings.make(rows * 10, ["[MASK]", "[CLS]", "[UNK]"], 5)
    return kinds


def _insert(words: list[str], characters: str, chance: random.Random) -> str:
    index = chance.randrange(1, len(words))
    position, character = chance.randrange(3), chance.choice(characters)
    if position == 0:
        return f"{' '.join(words[:index])}{character}{' '.join(words[index:])}"
    if position == 1:
        return " ".join([*words[:index], character, *words[index:]])
    word = words[index]
    return " ".join([*words[:index], word[:1] + character + word[1:], *words[index + 1 :]])


def _compare(client: Client, vocabulary: list[str], texts: list[str]) -> dict:
    plain = WordPiece(vocabulary)
    rules = ClientWordPiece.of(plain, client.name)
    client_ids = ids_of(client, _metadata(plain), texts, LENGTH)
    bert_ids = plain.encode(texts, max_length=LENGTH).input_ids
    different = differences(plain, texts, client_ids, LENGTH)
    return {
        "texts": len(texts),
        "tokenized_otherwise": len(different),
        "otherwise_than_ClientWordPiece": len(differences(rules, texts, client_ids, LENGTH)),
        "unknown_tokens_bert": _unknown_rate(bert_ids, plain.unk_id),
        "unknown_tokens_client": _unknown_rate(client_ids, plain.unk_id),
    }


def _metadata(tokenizer: WordPiece) -> Metadata:
    settings = tokenizer.get_config()
    vocabulary = settings.pop("vocabulary")
    return Metadata(
        "SentenceEncoder", Embedding(), LENGTH, "float32", "cpu", 0, tokenizer=settings, vocabulary=vocabulary
    )


def _unknown_rate(rows: Sequence[Sequence[int]], unknown: int) -> float:
    """Compute the rate of unknown tokens between [CLS] and [SEP]; 0 is padding."""
    tokens = [number for row in rows for number in row if number]
    return tokens.count(unknown) / max(len(tokens) - 2 * len(rows), 1)


def _compare_characters(client: Client, per_text: int = 80) -> dict:
    """Compare the ids of every character between two letters with `ClientWordPiece`."""
    tokenizer = WordPiece(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "ab"])
    rules = ClientWordPiece.of(tokenizer, client.name)
    characters = [chr(code) for code in range(1, 0x110000) if not 0xD800 <= code < 0xE000]
    texts = [
        " ".join(f"a{character}b" for character in characters[start : start + per_text])
        for start in range(0, len(characters), per_text)
    ]
    expected = rules.encode(texts, max_length=LENGTH).input_ids
    client_ids = ids_of(client, _metadata(tokenizer), texts, LENGTH)
    return {
        "characters": len(characters),
        "texts": len(texts),
        "texts_otherwise_than_ClientWordPiece": sum(
            row + [0] * (LENGTH - len(row)) != ids for row, ids in zip(expected, client_ids, strict=True)
        ),
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--vocabulary", type=Path, required=True, metavar="FILE", help="vocab.txt of an uncased checkpoint"
    )
    parser.add_argument("--texts", nargs="*", default=[], metavar="NAME=FILE", help="more texts, one per line")
    parser.add_argument("--rows", type=int, default=200, help="texts of each generated kind")
    parser.add_argument("--most", type=int, default=2000, help="texts of each file, at most")
    record.add_output(parser, "client_tokenization")
    return parser.parse_args()


if __name__ == "__main__":
    main()
