"""The character tables of the tokenizers in `android_demo/core` and `web_demo/core`; see `demo_tables`, which writes them.

The tables are extracted from the installed `tokenizers`, by querying each code point: its Unicode version is neither that of a JVM nor that
of a phone or a browser. Only NFKC, which Japanese needs, is that of this Python's `unicodedata`, as in `kerasbert.text.mecab`.

A table is a list of whole numbers as Base64 VLQ (source maps, ECMA-426), so that any language decodes it in a few lines:

- ranges: the distance from the end of the range before, and the number of code points, of each range;
- values: the same, and the difference from the value before;
- mappings: the distance from the code point before, the number of code points that it becomes, and the difference of each of them from the
  one at the same place of a mapping before.
"""

import io
import re
import tempfile
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache

import sentencepiece
import tokenizers
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

from kerasbert.text.character_classes import character_classes
from kerasbert.text.client_rules import ClientRules

DESCRIPTIONS = {
    "DROPPED": "Ranges of characters that BERT's normalizer removes.",
    "SPACE": "Ranges of characters that BERT's normalizer makes a space.",
    "IDEOGRAPHS": "Ranges of characters that BERT's normalizer makes words of their own.",
    "ACCENTS": "Ranges of nonspacing marks.",
    "PUNCTUATION": "Ranges of characters that BERT's pre-tokenizer makes words of their own.",
    "WHITE_SPACE": "Ranges of characters at which BERT's pre-tokenizer splits.",
    "WORD": "Ranges of characters beside which an added token is not a single word.",
    "UNSPACED": "Ranges of ideographs and kana, which are words of their own in texts to tag.",
    "MEDIAPIPE": "Ranges of characters that MediaPipe Tasks makes words of their own.",
    "TASK_LIBRARY": "Ranges of characters that TFLite's Task Library makes words of their own.",
    "JOINED": "Ranges of characters that join the one before them in a grapheme cluster.",
    "CONTROLS": "Ranges of characters that none joins.",
    "PREPENDED": "Ranges of characters that the one behind them joins.",
    "LOWER": "Mappings to lower case.",
    "DECOMPOSITIONS": "Mappings to Unicode form NFD, Hangul syllables left out.",
    "CLASSES": "Values: canonical combining classes.",
    "COMPATIBILITY": "Mappings to Unicode form NFKD that differ from those to NFD.",
    "NFKC_CLASSES": "Values: canonical combining classes for NFKC.",
    "COMPOSED": "Ranges of characters that NFKC composes, Hangul syllables left out.",
    "NOT_LOWERED": "Ranges of characters with a lower case that Python does not know.",
}
OF_PYTHON = ("COMPATIBILITY", "NFKC_CLASSES", "COMPOSED", "NOT_LOWERED")  # they depend on its version of Unicode
MAX_BYTES = 65_535  # of a constant of a class file

_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_LINE = 120
_SURROGATES = range(0xD800, 0xE000)
_PLANE = 0x10000
_END = 0x110000
_HANGUL = range(0xAC00, 0xD7A4)
_LEADS, _VOWELS, _TAILS = 0x1100, 0x1161, 0x11A7
_VOWEL_COUNT, _TAIL_COUNT = 21, 28


def make_tables() -> dict[str, str]:
    """Extract all tables; name -> Base64 VLQ."""
    classes = character_classes()
    decompositions = _changed(_normalized_by(normalizers.NFD()))
    lower = _changed(_normalized_by(_bert_normalizer(lowercase=True)))
    compatibility = {code: unicodedata.normalize("NFKD", chr(code)) for code in _code_points()}
    compatibility = {code: text for code, text in compatibility.items() if text != decompositions.get(code, chr(code))}
    _check_hangul(decompositions)
    tables = {
        "DROPPED": ranges(_in_class(classes.dropped)),
        "SPACE": ranges(_in_class(classes.space)),
        "IDEOGRAPHS": ranges(_in_class(classes.ideographs)),
        "ACCENTS": ranges(_in_class(classes.accents)),
        "PUNCTUATION": ranges(_in_class(classes.punctuation)),
        "WHITE_SPACE": ranges(_white_space()),
        "WORD": ranges(_word_characters()),
        "UNSPACED": ranges(_unspaced()),
        "MEDIAPIPE": ranges(_client_words("mediapipe")),
        "TASK_LIBRARY": ranges(_client_words("task-library")),
        **{name: ranges(codes) for name, codes in _clusters().items()},
        "LOWER": mappings(lower),
        "DECOMPOSITIONS": mappings({code: text for code, text in decompositions.items() if code not in _HANGUL}),
        "CLASSES": values(_combining_classes(decompositions)),
        "COMPATIBILITY": mappings(compatibility),
        "NFKC_CLASSES": values({code: unicodedata.combining(chr(code)) for code in _code_points()}),
        "COMPOSED": ranges(_composed(decompositions, compatibility)),
        "NOT_LOWERED": ranges(code for code, text in lower.items() if chr(code).lower() != text),
    }
    if list(tables) != list(DESCRIPTIONS):
        raise SystemExit(f"expected the tables {', '.join(DESCRIPTIONS)}, received {', '.join(tables)}")
    return tables


def kotlin(tables: Mapping[str, str]) -> str:
    """Return the Kotlin source of the tables."""
    lines = ["package kerasbert.core.text", "", *_header(), "internal object UnicodeData {"]
    for number, (name, text) in enumerate(tables.items()):
        if len(text) > MAX_BYTES:
            raise SystemExit(f"expected at most {MAX_BYTES} bytes of {name}, received {len(text)}; split the table")
        lines += ([""] if number else []) + [f"    /** {DESCRIPTIONS[name]} */"]
        lines += [f"    const val {name} =", f"        {_joined(text, 12)}"]
    return "\n".join([*lines, "}", ""])


def javascript(tables: Mapping[str, str]) -> str:
    """Return the JavaScript source of the tables."""
    lines = _header()
    for name, text in tables.items():
        lines += ["", f"/** {DESCRIPTIONS[name]} */", f"export const {name} =", f"  {_joined(text, 4)};"]
    return "\n".join([*lines, ""])


def _header() -> list[str]:
    """Return the first lines of both sources."""
    return [
        f"/** Unicode tables of tokenizers {tokenizers.__version__}, of NFKC for Unicode {unicodedata.unidata_version}. */",
        "// benchmarks/parity/unicode_tables.py describes the format.",
    ]


def _joined(text: str, indent: int) -> str:
    """Return a text as a sum of constants, one on each line."""
    pieces = [text[start : start + _LINE] for start in range(0, len(text), _LINE)] or [""]
    return f" +\n{' ' * indent}".join(f'"{piece}"' for piece in pieces)


def ranges(codes: Iterable[int]) -> str:
    """Encode code points as ranges."""
    return "".join(vlq(number) for first, count, gap in _runs(dict.fromkeys(codes, 1)) for number in (gap, count))


def values(by_code: Mapping[int, int]) -> str:
    """Encode the values of code points other than 0."""
    encoded, before = [], 0
    nonzero = {code: value for code, value in by_code.items() if value}
    for first, count, gap in _runs(nonzero):
        encoded += [gap, count, nonzero[first] - before]
        before = nonzero[first]
    return "".join(map(vlq, encoded))


def mappings(by_code: Mapping[int, str]) -> str:
    """Encode the texts that code points become."""
    encoded, before, parts_before = [], 0, []
    for code, text in sorted(by_code.items()):
        parts = [ord(character) for character in text]
        parts_before += [0] * (len(parts) - len(parts_before))
        encoded += [code - before, len(parts), *(part - old for part, old in zip(parts, parts_before, strict=False))]
        before, parts_before[: len(parts)] = code, parts
    return "".join(map(vlq, encoded))


def vlq(number: int) -> str:
    """Encode a whole number as Base64 VLQ: 5 bits a digit, the lowest first, the sign in the lowest bit."""
    rest, digits = (-number << 1 | 1) if number < 0 else number << 1, ""
    while True:
        digit, rest = rest & 31, rest >> 5
        digits += _DIGITS[digit | 32 if rest else digit]
        if not rest:
            return digits


def _runs(by_code: Mapping[int, int]) -> Iterator[tuple[int, int, int]]:
    """Yield the first code point, the number of code points and the distance from the run before of runs with one value."""
    end, codes = 0, sorted(by_code)
    while codes:
        count = 1
        while count < len(codes) and codes[count] == codes[0] + count and by_code[codes[count]] == by_code[codes[0]]:
            count += 1
        yield codes[0], count, codes[0] - end
        end, codes = codes[0] + count, codes[count:]


def _in_class(pattern: str) -> set[int]:
    bounds = re.findall(r"\\x\{(\w+)\}-\\x\{(\w+)\}", pattern)
    return {code for first, last in bounds for code in range(int(first, 16), int(last, 16) + 1)}


def _bert_normalizer(**settings: bool) -> normalizers.BertNormalizer:
    disabled = {"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False}
    return normalizers.BertNormalizer(**{**disabled, **settings})


def _normalized_by(normalizer: normalizers.Normalizer) -> dict[int, str]:
    """Normalize each code point alone: line breaks are between them, which no normalizer changes or composes."""
    normalized = {}
    for characters in _chunks(without="\n"):
        text = "\n".join(characters)
        normalized |= zip(map(ord, characters), normalizer.normalize_str(text).split("\n"), strict=True)
    return normalized


def _changed(normalized: Mapping[int, str]) -> dict[int, str]:
    return {code: text for code, text in normalized.items() if text != chr(code)}


def _white_space() -> set[int]:
    """Return the code points that the pre-tokenizer drops between letters."""
    dropped, words = set(), pre_tokenizers.BertPreTokenizer()
    for characters in _chunks(without="a"):
        kept = {place for _, span in words.pre_tokenize_str("a".join(characters)) for place in range(*span)}
        dropped |= {ord(character) for number, character in enumerate(characters) if 2 * number not in kept}
    return dropped


def _word_characters() -> set[int]:
    """Return the code points behind which no added token that is a single word is found."""
    engine = Tokenizer(models.WordLevel({"?": 0, "T": 1}, unk_token="?"))
    engine.add_special_tokens([AddedToken("T", single_word=True, normalized=False)])
    found = {ord("T")}
    for characters in _chunks(without="T"):
        encoding = engine.encode("".join(f" T{character}" for character in characters), add_special_tokens=False)
        tokens = {start for number, (start, _) in zip(encoding.ids, encoding.offsets, strict=True) if number == 1}
        found |= {ord(character) for number, character in enumerate(characters) if 3 * number + 1 not in tokens}
    return found


def _unspaced() -> set[int]:
    """Return the code points that `kerasbert.processors.words` makes words of their own."""
    pattern = Regex(r"[\p{Han}\p{Hiragana}\p{Katakana}\u30fc\uff70]")
    split, found = pre_tokenizers.Split(pattern, behavior="isolated"), set()
    for characters in _chunks(without="a"):
        pieces = split.pre_tokenize_str("a" + "a".join(characters) + "a")
        found |= {ord(piece) for piece, _ in pieces if len(piece) == 1 and piece != "a"}
    return found


def _client_words(client: str) -> set[int]:
    return {code for first, last in ClientRules.of(client).words for code in range(first, last + 1)}


def _clusters() -> dict[str, set[int]]:
    """Return the classes of characters in grapheme clusters of fewer than six bytes, which the map of a SentencePiece model reads.

    A map of all characters to one replaces such a cluster by one character.
    """
    normalize = normalizers.Precompiled(_map_of_all("\U000f0000")).normalize_str
    short = [code for code in _code_points() if code < _PLANE]

    def joins(codes: Iterable[int], placed: Callable[[str], str]) -> set[int]:
        """Return the code points that are in one cluster with a letter beside them."""
        characters = [chr(code) for code in codes if chr(code) not in "\0\n\r"]
        results = normalize("\n".join(map(placed, characters))).split("\n")
        return {ord(each) for each, result in zip(characters, results, strict=True) if len(result) == 1}

    mark = "\u0301"
    return {
        "JOINED": joins(_code_points(), lambda each: "e" + each),
        "CONTROLS": {*short} - joins(short, lambda each: each + mark),
        "PREPENDED": joins(short, lambda each: each + "e"),
    }


def _map_of_all(character: str) -> bytes:
    """Return the map of a SentencePiece model that replaces each character of the first plane but NUL and line feeds."""
    codes = [code for code in _code_points() if code < _PLANE and chr(code) not in "\0\n"]
    with tempfile.NamedTemporaryFile("w", suffix=".tsv", encoding="ascii") as rules:
        rules.writelines(f"{code:X}\t{ord(character):X}\n" for code in codes)
        rules.flush()
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter([character]), model_writer=model, vocab_size=8, normalization_rule_tsv=rules.name,
            hard_vocab_limit=False, minloglevel=2,
        )  # fmt: skip
    proto = sentencepiece_model_pb2.ModelProto.FromString(model.getvalue())
    return proto.normalizer_spec.precompiled_charsmap


def _combining_classes(decompositions: Mapping[int, str]) -> dict[int, int]:
    """Return the combining classes of the characters that the engine reorders.

    Unicode never changes the class of an assigned character, so those of Python's newer version are the engine's.
    """
    normalize = normalizers.NFD().normalize_str
    of_lowest_class, of_highest_class = "\u0334", "\u0345"
    codes = _moved(normalize, lambda mark: mark + of_lowest_class, decompositions)
    codes |= _moved(normalize, lambda mark: of_highest_class + mark, decompositions)
    classes = {code: unicodedata.combining(chr(code)) for code in codes | {ord(of_lowest_class), ord(of_highest_class)}}
    if unknown := [f"U+{code:04X}" for code, number in classes.items() if not number]:
        raise SystemExit(
            f"expected combining marks that Python knows, received {', '.join(unknown)}; use a newer Python"
        )
    return classes


def _moved(normalize: Callable, placed: Callable, decompositions: Mapping[int, str]) -> set[int]:
    """Return the code points that the normalizer moves in a text of two characters."""
    moved = set()
    for characters in _chunks(without="\n"):
        whole = [character for character in characters if ord(character) not in decompositions]
        texts = list(map(placed, whole))
        results = normalize("\n".join(texts)).split("\n")
        moved |= {ord(each) for each, text, result in zip(whole, texts, results, strict=True) if text != result}
    return moved


def _composed(decompositions: Mapping[int, str], compatibility: Mapping[int, str]) -> set[int]:
    """Return the code points that NFKC composes: of all parts of its decomposition but the last one, composed, and the last one."""
    composed: dict[str, int] = {}
    texts = {**decompositions, **compatibility}
    for code, text in sorted(texts.items(), key=lambda item: len(item[1])):
        if code in _HANGUL or len(text) == 1 or unicodedata.normalize("NFKC", text) != chr(code):
            continue
        first = ord(text[0]) if len(text) == 2 else composed.get(text[:-1], 0)
        parts = unicodedata.decomposition(chr(code)).split()
        if parts != [f"{first:04X}", f"{ord(text[-1]):04X}"]:
            raise SystemExit(f"expected U+{code:04X} to be composed of {first:04X} and a mark, received {parts}")
        composed[text] = code
    return set(composed.values())


def _check_hangul(decompositions: Mapping[int, str]) -> None:
    for number, code in enumerate(_HANGUL):
        lead, rest = divmod(number, _VOWEL_COUNT * _TAIL_COUNT)
        vowel, tail = divmod(rest, _TAIL_COUNT)
        parts = [_LEADS + lead, _VOWELS + vowel, *([_TAILS + tail] if tail else [])]
        if decompositions[code] != "".join(map(chr, parts)):
            raise SystemExit(
                f"expected the arithmetic decomposition of U+{code:04X}, received {decompositions[code]!r}"
            )


@cache
def _code_points() -> Collection[int]:
    return [code for code in range(_END) if code not in _SURROGATES]


def _chunks(without: str) -> Iterator[list[str]]:
    for start in range(0, _END, _PLANE):
        codes = (code for code in range(start, start + _PLANE) if code not in _SURROGATES)
        yield [chr(code) for code in codes if chr(code) != without]
