"""Writes golden vectors: what kerasbert's tokenizers make of many strings, for the tokenizers of other languages to be compared with.

    python -m benchmarks.parity.export_golden --vocabularies DIR --out FOLDER [--strings N] [--lines FOLDER ...]
    python -m benchmarks.parity.export_golden --small --out android_demo/testdata/golden

`--vocabularies` has a folder with `vocab.txt` or `vocab.txt.gz` for each of CHECKPOINTS. `--folders` are checkpoints whose tokenizers are
taken as they are. `--lines` are folders with real text, as for
`benchmarks.parity.tokenizer_parity`. `--small` needs neither: its vocabularies are that of zoo/small-en and ranges of Unicode.

All files are gzip JSON Lines, in UTF-8; a line ends with a line feed only. Offsets are code points, flat: start and end of the first
token, of the second one, and so on.

- `texts.jsonl.gz`: the strings.
- `NAME/tokenizer.json`: `settings` (`get_config` without the vocabulary), and `vocabulary`, a path from there (one token a line). `model`,
  where the settings have one in base64, is such a path too: of the SentencePiece model itself.
- `NAME/tokens.jsonl.gz`: `ids` and `offsets` of each string, without special tokens around it.
- `NAME/pairs.jsonl.gz`: `first` and `second` (numbers of strings; null for none), `max_length` and `truncation`, and either `ids`, `types`,
  `offsets`, `texts` (0, 1, or -1 for special tokens around a text) and `truncated`, or `error`.
- `NAME/windows.jsonl.gz`: `question` and `context` (numbers of strings), `length` and `stride` (null for the default), and `rows`: `ids`,
  `types`, and `first`, `end` and `begin` of `kerasbert.processors.span_windows.Window`.
- `NAME/words.jsonl.gz`: `text` (number of a string) or `words` (several), and the arrays of `kerasbert.processors.words.Words`, with
  `first_tokens`.
"""

import argparse
import base64
import gzip
import io
import json
import os
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sentencepiece

from benchmarks.common import hard_strings
from benchmarks.common.random_strings import KINDS, every_code_point, random_string
from benchmarks.common.record import ROOT
from benchmarks.parity.tokenizer_parity import read_lines
from kerasbert.errors import KerasBertError
from kerasbert.files.atomic import atomic_file
from kerasbert.processors.span_windows import window_features
from kerasbert.processors.words import words_of
from kerasbert.text import Tokenizer, tokenizer_from_config, tokenizer_from_folder
from kerasbert.text.sentencepiece_model import build_model, read_model
from kerasbert.text.tokenizer_files import read_vocabulary
from kerasbert.text.truncation import TRUNCATIONS
from kerasbert.text.xlm_roberta import FIRST, MASK

CHECKPOINTS = (
    "bert-base-uncased",
    "bert-base-cased",
    "bert-base-multilingual-cased",
    "koelectra",
    "bert-base-japanese-v3",
)
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ADDED_TOKENS = (
    {"content": "[MASK]", "lstrip": True},
    {"content": "<left>", "lstrip": True},
    {"content": "<right>", "rstrip": True},
    {"content": "<both>", "lstrip": True, "rstrip": True},
    {"content": "word", "single_word": True},
    {"content": "WORLD", "normalized": True},
    {"content": "naïve", "normalized": True, "rstrip": True},
    {"content": "日本", "normalized": True, "single_word": True},
    {"content": "<both>s"},
    {"content": "##ing", "single_word": True},
)
ADDED_NAMES = tuple(str(token["content"]) for token in ADDED_TOKENS)
SMALL_EN = ROOT / "zoo" / "small-en" / "vocab.txt"
# Basic Latin to Cyrillic, Hebrew to Devanagari, jamo, punctuation, kana, some ideographs and syllables, full width, Deseret, emoji.
SMALL_RANGES = (
    (0x21, 0x7E), (0xA1, 0x24F), (0x2B0, 0x52F), (0x5D0, 0x6FF), (0x900, 0x97F), (0x1100, 0x11FF), (0x1E00, 0x1FFE), (0x2010, 0x205E),
    (0x20A0, 0x214F), (0x3001, 0x30FF), (0x4E00, 0x4F00), (0x6570, 0x6A00), (0xAC00, 0xAD00), (0xFF01, 0xFF9F),
    (0x10400, 0x1042F), (0x1F600, 0x1F64F),
)  # fmt: skip
NO_LIMIT = 1_000_000  # tokens
_CHUNK = 2048


@dataclass(frozen=True)
class Case:
    """A tokenizer.

    Attributes:
        name: The name of its folder.
        vocabulary: The tokens, or a file of the repository that has them.
        settings: Arguments of `tokenizer_from_config`.
    """

    name: str
    vocabulary: list[str] | Path
    settings: dict[str, Any] = field(default_factory=dict)

    def tokenizer(self) -> Tokenizer:
        """Build the tokenizer."""
        tokens = read_vocabulary(self.vocabulary) if isinstance(self.vocabulary, Path) else self.vocabulary
        return tokenizer_from_config({"kind": "wordpiece", **self.settings, "vocabulary": tokens})

    @classmethod
    def of_folder(cls, path: Path) -> "Case":
        """The tokenizer of a checkpoint."""
        settings = tokenizer_from_folder(path).get_config()
        return cls(path.name, settings.pop("vocabulary"), settings)


def main() -> None:
    """Write the vectors of all tokenizers."""
    arguments = _arguments()
    draw = random.Random(arguments.seed)
    if arguments.small:
        cases, texts = small_cases(), small_texts(arguments.strings or 600, draw)
    else:
        if arguments.vocabularies is None and not arguments.folders:
            raise SystemExit(
                "expected --vocabularies, a folder with one folder per vocabulary, --folders or --small, received none of them"
            )
        cases = [Case.of_folder(path) for path in arguments.folders]
        cases += [] if arguments.vocabularies is None else all_cases(arguments.vocabularies)
        drawn = _drawn(arguments.strings or 100_000, draw, _real_lines(arguments.lines))
        texts = drawn + _words_at_the_limit() + list(every_code_point())
    write_golden(arguments.out, cases, texts, arguments.rows or (40 if arguments.small else 4000), arguments.seed)


def write_golden(out: Path, cases: Sequence[Case], texts: Sequence[str], rows: int, seed: int) -> None:
    """Write the files of all cases.

    Args:
        out: The folder.
        cases: The tokenizers.
        texts: The strings.
        rows: The number of pairs, of questions and of texts with words, for each case.
        seed: Of the random choices.
    """
    write_lines(out / "texts.jsonl.gz", texts)
    written: dict[tuple[str, ...], Path] = {}
    for case in cases:
        folder, tokenizer = out / case.name, case.tokenizer()
        folder.mkdir(parents=True, exist_ok=True)
        _write_settings(folder, case, tokenizer, written)
        parts: dict[str, Callable[[], Iterable[dict]]] = {
            "tokens": lambda tokenizer=tokenizer: tokens_of(tokenizer, texts),
            "pairs": lambda tokenizer=tokenizer: pairs_of(tokenizer, texts, rows, random.Random(seed)),
            "windows": lambda tokenizer=tokenizer: windows_of(tokenizer, texts, rows, random.Random(seed)),
            "words": lambda tokenizer=tokenizer: words_rows(tokenizer, texts, rows, random.Random(seed)),
        }
        counts = {name: write_lines(folder / f"{name}.jsonl.gz", make()) for name, make in parts.items()}
        print(f"{case.name}: {counts}", flush=True)


def all_cases(folder: Path) -> list[Case]:
    """Build the cases of published vocabularies, and of all characters, so that nothing hides behind `[UNK]`."""
    vocabularies = {name: _read_tokens(folder / name) for name in CHECKPOINTS}
    uncased = vocabularies["bert-base-uncased"]
    pieces = _pieces(range(0x21, 0x20000))
    return [
        Case("bert-base-uncased", uncased, {"lowercase": True}),
        Case("bert-base-cased", vocabularies["bert-base-cased"], {"lowercase": False}),
        Case("bert-base-multilingual-cased", vocabularies["bert-base-multilingual-cased"], {"lowercase": False}),
        Case("koelectra", vocabularies["koelectra"], {"lowercase": False}),
        Case(
            "japanese-basic",
            vocabularies["bert-base-japanese-v3"],
            {"lowercase": False, "tokenize_chinese_chars": False},
        ),
        Case("japanese-characters", _characters(vocabularies.values()), {"kind": "japanese", "subwords": "character"}),
        Case("every-character-uncased", pieces, {"lowercase": True}),
        Case("every-character-cased", pieces, {"lowercase": False}),
        Case("every-character-accents", pieces, {"strip_accents": False, "tokenize_chinese_chars": False}),
        Case("every-character-stripped", pieces, {"lowercase": False, "strip_accents": True}),
        Case("every-character-japanese", pieces, {"kind": "japanese", "subwords": "character", "lowercase": True}),
        Case(
            "added-tokens",
            [*uncased, *(name for name in ADDED_NAMES if name not in uncased)],
            {"added_tokens": ADDED_TOKENS},
        ),
        Case("mediapipe", uncased, {"kind": "client_wordpiece", "tokenize_as": "mediapipe"}),
        Case("task-library", uncased, {"kind": "client_wordpiece", "tokenize_as": "task-library"}),
    ]


def small_cases() -> list[Case]:
    """Build the cases of the committed vectors."""
    codes = [code for first, last in SMALL_RANGES for code in range(first, last + 1)]
    pieces, characters = _pieces(codes), [*SPECIAL, *map(chr, codes)]
    return [
        Case("small-en", SMALL_EN, {"lowercase": True}),
        Case("characters-cased", pieces, {"lowercase": False}),
        Case(
            "characters-uncased",
            [*pieces, *(name for name in ADDED_NAMES if name not in pieces)],
            {"added_tokens": ADDED_TOKENS},
        ),
        Case("characters-accents", pieces, {"strip_accents": False, "tokenize_chinese_chars": False}),
        Case("japanese", characters, {"kind": "japanese", "subwords": "character"}),
        Case("japanese-lowercase", characters, {"kind": "japanese", "subwords": "character", "lowercase": True}),
        Case("mediapipe", SMALL_EN, {"kind": "client_wordpiece", "tokenize_as": "mediapipe"}),
        *_xlm_roberta_cases(map(chr, codes)),
    ]


def _xlm_roberta_cases(characters: Iterable[str]) -> list[Case]:
    """Build tokenizers of XLM-RoBERTa with the published map of characters, and pieces of one character and of English words."""
    words = [token for token in read_vocabulary(SMALL_EN)[:4000] if token.isalpha() and len(token) > 1]
    pieces = list(dict.fromkeys(("\u2581", *characters, *(f"\u2581{word}" for word in words), *words)))
    scores = [(piece, -8.0 if len(piece) == 1 else -6.0 - number / len(pieces)) for number, piece in enumerate(pieces)]
    vocabulary = [*((token, 0.0) for token in FIRST), *scores, (MASK, 0.0)]
    model = build_model(vocabulary, FIRST.index("<unk>"), {*FIRST, MASK} - {"<unk>"}, _published_map())
    settings = {"kind": "xlm_roberta", "model": base64.b64encode(model).decode("ascii")}
    tokens = [piece for piece, _ in vocabulary]
    added = [
        {"content": MASK},
        {"content": "a", "lstrip": True, "single_word": True},
        {"content": "the", "rstrip": True},
    ]
    spaces = {"remove_space": False, "added_tokens": added}
    return [Case("xlm-roberta", tokens, settings), Case("xlm-roberta-spaces", tokens, {**settings, **spaces})]


def _published_map() -> bytes:
    """Return the map of characters that SentencePiece has built in, NFKC with changes of white space and controls."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a"]), model_writer=model, vocab_size=8, normalization_rule_name="nmt_nfkc", hard_vocab_limit=False,
        minloglevel=2,
    )  # fmt: skip
    return read_model(model.getvalue()).charsmap


def small_texts(count: int, draw: random.Random) -> list[str]:
    """Draw strings without real text, and some of those with every code point."""
    return _drawn(count, draw, []) + _words_at_the_limit() + draw.sample(list(every_code_point()), count // 10)


def tokens_of(tokenizer: Tokenizer, texts: Sequence[str]) -> Iterator[dict]:
    """Yield the ids and the offsets of each text."""
    for start in range(0, len(texts), _CHUNK):
        encoded = tokenizer.encode(texts[start : start + _CHUNK], max_length=NO_LIMIT)
        for ids, offsets in zip(encoded.input_ids, encoded.offsets, strict=True):
            yield {"ids": ids[1:-1], "offsets": _flat(offsets[1:-1])}


def pairs_of(tokenizer: Tokenizer, texts: Sequence[str], count: int, draw: random.Random) -> Iterator[dict]:
    """Yield sequences of one or two texts, most of them truncated."""
    for _ in range(count):
        first = draw.randrange(len(texts))
        second = draw.choice((None, draw.randrange(len(texts)), draw.randrange(len(texts)), first))
        row = {
            "first": first,
            "second": second,
            "max_length": draw.randint(1, 60),
            "truncation": draw.choice(TRUNCATIONS),
        }
        try:
            encoded = tokenizer.encode(
                [texts[first]],
                None if second is None else [texts[second]],
                max_length=row["max_length"],
                truncation=row["truncation"],
            )
        except KerasBertError as error:
            yield {**row, "error": str(error)}
            continue
        yield {
            **row,
            "ids": encoded.input_ids[0],
            "types": encoded.token_type_ids[0],
            "offsets": _flat(encoded.offsets[0]),
            "texts": [-1 if text is None else text for text in encoded.sequence_ids[0]],
            "truncated": bool(encoded.truncated),
        }


def windows_of(tokenizer: Tokenizer, texts: Sequence[str], count: int, draw: random.Random) -> Iterator[dict]:
    """Yield the rows of questions about contexts, most of them of several windows."""
    for _ in range(count):
        question, context = draw.randrange(len(texts)), draw.randrange(len(texts))
        length, stride = draw.randint(5, 48), draw.choice((None, draw.randint(1, 30)))
        length = max(length, tokenizer.template.special_tokens(True) + 2)  # a question and a text of a token each
        features = window_features([(texts[question], texts[context])], tokenizer, length, stride)
        assert features.tokens is not None
        rows = zip(features.tokens.input_ids, features.tokens.token_type_ids, features.alignment, strict=True)
        yield {
            "question": question,
            "context": context,
            "length": length,
            "stride": stride,
            "rows": [
                {"ids": [*ids], "types": [*types], "first": window.first, "end": window.end, "begin": window.begin}
                for ids, types, window in rows
            ],
        }


def words_rows(tokenizer: Tokenizer, texts: Sequence[str], count: int, draw: random.Random) -> Iterator[dict]:
    """Yield the words and pieces of texts, and of lists of words."""
    for _ in range(count):
        number = draw.randrange(len(texts))
        given = [word for word in texts[number].split(" ") if word] if draw.random() < 0.3 else None
        words = words_of(texts[number] if given is None else given)
        encoded = tokenizer.encode([words.text], max_length=NO_LIMIT)
        yield {
            **({"text": number} if given is None else {"words": given}),
            "starts": words.starts.tolist(),
            "ends": words.ends.tolist(),
            "piece_starts": words.piece_starts.tolist(),
            "piece_ends": words.piece_ends.tolist(),
            "owners": words.owners.tolist(),
            "first_tokens": words.first_tokens(encoded.offsets[0][1:-1]).tolist(),
        }


def write_lines(path: Path, values: Iterable[Any]) -> int:
    """Write JSON Lines as gzip, the same bytes for the same values, and return their number."""
    path.parent.mkdir(parents=True, exist_ok=True)
    count = 0
    with atomic_file(path) as partial, open(partial, "wb") as raw:
        with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=raw, mtime=0) as file:
            for value in values:
                file.write((json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n").encode("utf-8"))
                count += 1
    return count


def _write_settings(folder: Path, case: Case, tokenizer: Tokenizer, written: dict[tuple[str, ...], Path]) -> None:
    settings = {name: value for name, value in tokenizer.get_config().items() if name != "vocabulary"}
    vocabulary = case.vocabulary if isinstance(case.vocabulary, Path) else written.get(tokenizer.vocabulary)
    if vocabulary is None:
        vocabulary = written[tokenizer.vocabulary] = folder / "vocab.txt.gz"
        tokens = "".join(f"{token}\n" for token in tokenizer.vocabulary)
        vocabulary.write_bytes(gzip.compress(tokens.encode("utf-8"), mtime=0))
    content: dict[str, Any] = {"vocabulary": Path(os.path.relpath(vocabulary, folder)).as_posix(), "settings": settings}
    if model := settings.pop("model", None):
        file = written.get((model,))
        if file is None:
            file = written[model,] = folder / "spiece.model.gz"
            file.write_bytes(gzip.compress(base64.b64decode(model), mtime=0))
        content["model"] = Path(os.path.relpath(file, folder)).as_posix()
    (folder / "tokenizer.json").write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", "utf-8")


def _words_at_the_limit() -> list[str]:
    """Return words of 100 letters or bytes and of one more, of letters of one to four bytes, with marks and without."""
    words = []
    for letter in ("a", "É", "e\u0301", "\U00010400", "\U0001d400", "\uac00", "\u1112\u1161", "ก", "\u0958"):
        size = len(letter.encode("utf-8"))
        words += [f"{letter * count}, {letter}" for count in (100, 101, 100 // size, 100 // size + 1)]
    return words


def _drawn(count: int, draw: random.Random, lines: Sequence[str]) -> list[str]:
    """Draw hard and random strings, and real lines where there are any, a third each."""
    real = draw.sample(lines, min(count // 3, len(lines)))
    hard = hard_strings.make((count - len(real)) // 2, [*SPECIAL, *ADDED_NAMES], draw.randrange(1 << 30))
    kinds = list(KINDS)
    return real + hard + [random_string(kinds[n % len(kinds)], draw) for n in range(count - len(real) - len(hard))]


def _real_lines(folders: Sequence[Path]) -> list[str]:
    return list(dict.fromkeys(line for folder in folders for line in read_lines(folder)))


def _flat(offsets: Sequence[tuple[int, int]]) -> list[int]:
    return [place for span in offsets for place in span]


def _pieces(codes: Iterable[int]) -> list[str]:
    """Return a vocabulary with each character as a word and as a continuation."""
    characters = [chr(code) for code in codes if not 0xD800 <= code < 0xE000]
    return [*SPECIAL, *characters, *(f"##{character}" for character in characters)]


def _characters(vocabularies: Iterable[Sequence[str]]) -> list[str]:
    """Return a vocabulary of all characters in others."""
    characters = {character for vocabulary in vocabularies for token in vocabulary for character in token}
    return [*SPECIAL, *sorted(characters)]


def _read_tokens(folder: Path) -> list[str]:
    packed = folder / "vocab.txt.gz"
    content = gzip.decompress(packed.read_bytes()) if packed.is_file() else (folder / "vocab.txt").read_bytes()
    return content.decode("utf-8").removesuffix("\n").split("\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocabularies", type=Path, metavar="DIR", help="a folder with one folder per vocabulary")
    parser.add_argument(
        "--folders", type=Path, nargs="*", default=[], metavar="DIR", help="checkpoints with a tokenizer"
    )
    parser.add_argument("--lines", type=Path, nargs="*", default=[], metavar="FOLDER", help="folders with real text")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--strings", type=int, help="drawn strings (100,000; with --small 600)")
    parser.add_argument("--rows", type=int, help="pairs, questions and texts with words of each tokenizer (4,000; 40)")
    parser.add_argument("--small", action="store_true", help="only the vectors that are committed")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
