"""The character tables of the tokenizers in Kotlin and in JavaScript are those of the installed `tokenizers`."""

import re
import unicodedata

import pytest
from tokenizers import normalizers

from benchmarks.parity import unicode_tables
from benchmarks.parity.demo_tables import FIRST_LINE, KOTLIN_ROOT, WEB_ROOT
from benchmarks.parity.unicode_tables import DESCRIPTIONS, OF_PYTHON, javascript, kotlin, make_tables

KOTLIN, JAVASCRIPT = KOTLIN_ROOT / "text" / "UnicodeData.kt", WEB_ROOT / "text" / "unicode_tables.js"
DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


@pytest.fixture(scope="module")
def tables():
    return make_tables()


def committed() -> dict[str, str]:
    constants = re.findall(r"const val (\w+) =\n((?: +\".*\n)+)", KOTLIN.read_text("utf-8"))
    return {name: "".join(re.findall('"(.*)"', lines)) for name, lines in constants}


def numbers(table: str) -> list[int]:
    """Decode Base64 VLQ."""
    decoded, bits, shift = [], 0, 0
    for digit in map(DIGITS.index, table):
        bits, shift = bits | (digit & 31) << shift, shift + 5
        if digit < 32:
            decoded.append(-(bits >> 1) if bits & 1 else bits >> 1)
            bits = shift = 0
    return decoded


def decode_ranges(table: str) -> set[int]:
    decoded, end, found = iter(numbers(table)), 0, set()
    for gap in decoded:
        first = end + gap
        end = first + next(decoded)
        found |= {*range(first, end)}
    return found


def decode_mappings(table: str) -> dict[int, str]:
    decoded, code, before, found = iter(numbers(table)), 0, [0] * 32, {}
    for gap in decoded:
        code, count = code + gap, next(decoded)
        for place in range(count):
            before[place] += next(decoded)
        found[code] = "".join(map(chr, before[:count]))
    return found


@pytest.mark.long
def test_the_committed_tables_are_those_of_the_engine(tables):
    assert list(committed()) == list(DESCRIPTIONS)
    changed = [name for name, table in tables.items() if name not in OF_PYTHON and committed()[name] != table]
    assert changed == [], "run python -m benchmarks.parity.demo_tables, and the tests of android_demo"


@pytest.mark.long
def test_the_committed_tables_of_nfkc_are_those_of_this_python(tables):
    version = re.search(r"of NFKC for Unicode (\d+\.\d+\.\d+)", KOTLIN.read_text("utf-8"))
    assert version is not None
    if version[1] != unicodedata.unidata_version:
        pytest.skip(f"the tables are of Unicode {version[1]}, this Python has {unicodedata.unidata_version}")
    assert [name for name in OF_PYTHON if committed()[name] != tables[name]] == []


def test_both_languages_have_the_same_tables():
    header = KOTLIN.read_text("utf-8").splitlines()[3:5]
    written = javascript(committed()).splitlines()
    assert "\n".join([FIRST_LINE.rstrip(), *header, *written[2:], ""]) == JAVASCRIPT.read_text("utf-8")


@pytest.mark.long
@pytest.mark.parametrize("source", [kotlin, javascript])
def test_a_changed_table_is_found(tables, source):
    changed = {**tables, "SPACE": tables["SPACE"][:-1] + "E"}
    assert source(changed) != source(tables)


def test_tables_mean_what_the_normalizer_does():
    decompositions, lower = (decode_mappings(committed()[name]) for name in ("DECOMPOSITIONS", "LOWER"))
    dropped, accents = (decode_ranges(committed()[name]) for name in ("DROPPED", "ACCENTS"))
    normalize = normalizers.BertNormalizer(handle_chinese_chars=False).normalize_str
    for character in "AÉçǅẞΣİKÅ豈ßﬁ\u0344\u0f73\u1e9b\u2126\ufffd\u200b\u0007":
        text = "" if ord(character) in dropped else decompositions.get(ord(character), character)
        kept = [each for each in text if ord(each) not in accents]
        assert "".join(lower.get(ord(each), each) for each in kept) == normalize(character), f"U+{ord(character):04X}"


def test_nfkc_is_pythons():
    decompositions = decode_mappings(committed()["DECOMPOSITIONS"]) | decode_mappings(committed()["COMPATIBILITY"])
    for character in "ﷺ㍿ｶﾞΆÅ①½":
        expected = unicodedata.normalize("NFKD", character)
        assert "".join(decompositions.get(ord(each), each) for each in character) == expected
    composed = decode_ranges(committed()["COMPOSED"])
    assert {ord(character) for character in "éがΰ"} <= composed
    assert composed.isdisjoint(map(ord, "\u0344\u0958\uf900\u212b"))  # Unicode never composes these


def test_a_constant_fits_a_class_file():
    assert max(map(len, committed().values())) < unicode_tables.MAX_BYTES
