"""The classes of BERT's normalizer, compared with its behaviour on single characters."""

import re
import subprocess
import sys

import pytest
from tokenizers import normalizers, pre_tokenizers

from kerasbert.text.character_classes import character_classes


def holds(ranges: str, character: str) -> bool:
    bounds = re.findall(r"\\x\{(\w+)\}-\\x\{(\w+)\}", ranges)
    return any(int(first, 16) <= ord(character) <= int(last, 16) for first, last in bounds)


@pytest.mark.parametrize("name", ["dropped", "space", "ideographs", "accents", "punctuation"])
def test_classes_equal_the_behaviour_of_the_normalizer(name):
    # Of plain text, the edges of classes, unassigned code points, and letters that decompose into the separators used.
    some = [*range(0x180), *range(0x300, 0x373), *range(0x2000, 0x2070), *range(0x3400, 0x3403), *range(0x9FF0, 0xA003)]
    some += [*map(ord, "ẋẍẊ豈가한नि\u0344\u1734\u166d\uf900\ufffd\ue000"), 0x2B73F, 0x2B81F, 0x40000, 0x10FFFF]
    off = {"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False}
    clean = normalizers.BertNormalizer(**{**off, "clean_text": True}).normalize_str
    chinese = normalizers.BertNormalizer(**{**off, "handle_chinese_chars": True}).normalize_str
    plain = normalizers.BertNormalizer(**{**off, "strip_accents": True}).normalize_str
    words = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    rules = {
        "dropped": lambda character: clean(character) == "",
        "space": lambda character: clean(character) == " ",
        "ideographs": lambda character: chinese(character) != character,
        "accents": lambda character: plain(character) == "",
        "punctuation": lambda character: len(words(f"b{character}b")) == 3,
    }
    ranges = getattr(character_classes(), name)
    wrong = [f"U+{code:04X}" for code in some if holds(ranges, chr(code)) != rules[name](chr(code))]
    assert wrong == []


def test_needs_no_tensorflow():
    program = "import sys; from kerasbert.text import character_classes; assert 'tensorflow' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
