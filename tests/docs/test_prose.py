"""The prose of the documents: short sentences, and the field's words."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SECTIONS = ("get-started", "guides", "concepts", "results", "contribute")
PAGES = [
    ROOT / "README.md",
    ROOT / "docs" / "index.md",
    *sorted(p for s in SECTIONS for p in (ROOT / "docs" / s).glob("*.md")),
]
LONGEST = 30  # words of a sentence

# Words of the project's early documents, and what replaces them.
WORDS = {
    r"denses": "Dense layers",
    r"half[- ]sums?": "split-K",
    r"whole[- ]sums?": "split-K",
    r"quant(?:a|um)": "LSB",
    r"word tables?": "token embeddings",
    r"layer mix": "ScalarMix",
    r"kerasbert cut": "kerasbert prune",
    r"grids? of (?:its|their) own": "separate scales",
    r"leftovers": "remaining files",
    r"last words": "error output",
}


def sentences(text: str) -> list[str]:
    """The sentences of a page's prose, without code, tables, headings, comments and front matter."""
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    text = re.sub(r"^ *```.*?^ *```$", "\n\n", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<!--.*?-->|<[^>]+>", "", text, flags=re.DOTALL)
    text = re.sub(r"`[^`\n]+`", "code", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    found = []
    for paragraph in re.split(r"\n\s*\n|\n(?= *(?:[-*+]|\d+\.) )", text):
        lines = [line for line in paragraph.splitlines() if not re.match(r"\s*(?:\||#|:::|!!!|\?\?\?|===)", line)]
        found += re.split(r"(?<=[.!?:])\s+", " ".join(line.strip() for line in lines))
    return [re.sub(r"^(?:[-*+]|\d+\.)\s+", "", sentence).strip() for sentence in found if sentence.strip()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_sentences_are_short(page):
    long = [sentence for sentence in sentences(page.read_text("utf-8")) if len(sentence.split()) > LONGEST]
    assert long == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_words_are_the_fields(page):
    text = page.read_text("utf-8")
    found = {word: better for word, better in WORDS.items() if re.search(rf"\b{word}\b", text, re.IGNORECASE)}
    assert found == {}


def test_sentences_are_found():
    text = "# Title\n\nOne two three. Four `five six`!\n\n- seven [eight](nine)\n\n```sh\nno prose here\n```\n\n| no | prose |\n"
    assert sentences(text) == ["One two three.", "Four code!", "seven eight"]
