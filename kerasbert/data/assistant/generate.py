"""Generation of train.jsonl, dev.jsonl and test.jsonl from templates.toml, written.txt and paraphrases.txt.

    python -m kerasbert.data.assistant.generate            # rewrites the files of the package, byte for byte the same
    python -m kerasbert.data.assistant.generate --out DIR  # writes them elsewhere

Slots are marked inline: `wake me at [time: half past six]`.
"""

import argparse
import json
import random
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kerasbert.data.assistant import INTENTS, SLOTS, SPLITS
from kerasbert.errors import KerasBertError
from kerasbert.files.atomic import atomic_file

FOLDER = Path(__file__).parent
SEED = 20
TEMPLATE_COUNTS = {"train": 42, "dev": 8, "test": 5}  # per intent
WRITTEN_DEV = 7  # written sentences per intent that go to dev; all others go to train
CAPITALISED, PUNCTUATED = 0.15, 0.12  # fractions of template sentences

_SLOT = re.compile(r"\[(\w+): ([^\[\]]+)\]")
# The possessive and the short "is" ("tomorrow's", "what's") stand alone, so that a slot can end before them.
_TOKEN = re.compile(r"['’]s\b|\w+(?:['’.:-](?!s\b)\w+)*|[^\w\s]")
_CHOICE = re.compile(r"<([^<>]*)>")
_FIELD = re.compile(r"\{([\w.]+)\}")
_QUESTION = re.compile(r"(what|how|will|is|can|could|do|does)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Utterance:
    """One row of a split.

    Attributes:
        text: The utterance.
        intent: Its intent.
        tokens: Its words and punctuation marks.
        tags: One BIO tag for each token.
        source: Its origin, one of `SOURCES`.
    """

    text: str
    intent: str
    tokens: tuple[str, ...]
    tags: tuple[str, ...]
    source: str

    def json_line(self) -> str:
        """Return the row as a line of a JSON Lines file."""
        row = {"text": self.text, "intent": self.intent, "tokens": self.tokens, "tags": self.tags}
        return json.dumps({**row, "source": self.source}, ensure_ascii=False) + "\n"


def parse(marked: str, intent: str, source: str) -> Utterance:
    """Parse a sentence with inline slots into text, tokens and tags.

    Args:
        marked: The sentence, such as `wake me at [time: half past six]`.
        intent: Its intent.
        source: Its origin, one of `SOURCES`.

    Raises:
        KerasBertError: When a slot is unknown, begins or ends inside a word, or a bracket is unbalanced.
    """
    text, spans, end = "", [], 0
    for match in _SLOT.finditer(marked):
        text += marked[end : match.start()]
        spans.append((len(text), len(text) + len(match[2]), match[1]))
        text, end = text + match[2], match.end()
    text += marked[end:]
    unknown = {slot for _, _, slot in spans} - set(SLOTS)
    if unknown or re.search(r"[\[\]<>{}]|  |^ | $", text):
        raise KerasBertError(f"expected known slots, closed brackets and single blanks, received {marked!r}")
    tokens, tags, starts, ends = [], [], set(), set()
    for match in _TOKEN.finditer(text):
        tokens.append(match[0])
        tags.append(_tag(match.start(), spans))
        starts.add(match.start())
        ends.add(match.end())
    if not all(begin in starts and stop in ends for begin, stop, _ in spans):
        raise KerasBertError(f"expected slots that begin and end with a word, received {marked!r}")
    return Utterance(text, intent, tuple(tokens), tuple(tags), source)


def _tag(position: int, spans: list[tuple[int, int, str]]) -> str:
    for begin, stop, slot in spans:
        if begin <= position < stop:
            return f"{'B' if position == begin else 'I'}-{slot}"
    return "O"


def read_sentences(path: Path, source: str) -> dict[str, list[Utterance]]:
    """Read `== intent` sections with one marked sentence on each line. Blank lines and lines that start with `#` are skipped."""
    sentences: dict[str, list[Utterance]] = {intent: [] for intent in INTENTS}
    intent = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.startswith("== "):
            intent = line[3:]
        elif line and not line.startswith("#"):
            if intent not in sentences:
                raise KerasBertError(f"expected a known intent above {path.name}:{number}, received {intent!r}")
            sentences[intent].append(parse(line, intent, source))
    return sentences


def read_templates() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the slot values by list name, and the templates by intent."""
    content = tomllib.loads((FOLDER / "templates.toml").read_text(encoding="utf-8"))
    return content["values"], content["templates"]


def template_pattern(template: str) -> re.Pattern:
    """Return a pattern for all texts of a template, with arbitrary words in place of each slot.

    Use `fullmatch` on a text without its final punctuation mark.
    """
    pattern = re.escape(_FIELD.sub("\0", template)).replace(r"\|", "|").replace("\0", ".+")
    return re.compile(_CHOICE.sub(r"(?:\1)", pattern), re.IGNORECASE)


def _pick(options: list[str], rng: random.Random) -> str:
    # Only random() is guaranteed to return the same numbers in every version of Python; choice() is not.
    return options[int(rng.random() * len(options))]


def fill(template: str, values: dict[str, list[str]], rng: random.Random) -> str:
    """Return one random marked sentence of a template."""

    def value(match: re.Match) -> str:
        chosen = _pick(values[match[1]], rng)
        return chosen if "[" in chosen else f"[{match[1].split('.')[0]}: {chosen}]"

    marked = _CHOICE.sub(lambda match: _pick(match[1].split("|"), rng), template).strip()
    marked = _FIELD.sub(value, marked)
    # Values include their article, if any ("text anna", "text the plumber"), but the article is not part of the slot.
    marked = re.sub(r"\[(contact|date|level|place): (the|a|my) ", r"\2 [\1: ", marked)
    if rng.random() < CAPITALISED and not marked.startswith("["):
        marked = marked[0].upper() + marked[1:]
    if rng.random() < PUNCTUATED:
        marked += "?" if _QUESTION.match(marked) else "."
    return marked


def template_sentences(intent: str, rng: random.Random, taken: set[str]) -> Iterable[Utterance]:
    """Yield sentences of an intent without end, from its templates in turn.

    Args:
        intent: The intent.
        rng: The random generator.
        taken: Keys of sentences to avoid. Each new sentence is added.
    """
    values, templates = read_templates()
    while True:
        for template in templates[intent]:
            sentence = parse(fill(template, values, rng), intent, "template")
            if _key(sentence) not in taken:
                taken.add(_key(sentence))
                yield sentence


def _key(sentence: Utterance) -> str:
    return " ".join(token for token in sentence.tokens if token[0].isalnum()).lower()


def build() -> dict[str, list[Utterance]]:
    """Build all splits, each in its final order.

    Raises:
        KerasBertError: When a hand-written sentence occurs twice.
    """
    rng = random.Random(SEED)
    written = read_sentences(FOLDER / "written.txt", "written")
    paraphrases = read_sentences(FOLDER / "paraphrases.txt", "paraphrase")
    taken: set[str] = set()
    for intent in INTENTS:
        for sentence in (*written[intent], *paraphrases[intent]):
            if _key(sentence) in taken:
                raise KerasBertError(f"expected each hand-written sentence once, received {sentence.text!r} twice")
            taken.add(_key(sentence))
    splits: dict[str, list[Utterance]] = {split: [] for split in SPLITS}
    for intent in INTENTS:
        generated = iter(template_sentences(intent, rng, taken))
        pool = _shuffled([next(generated) for _ in range(sum(TEMPLATE_COUNTS.values()))], rng)
        for split, count in TEMPLATE_COUNTS.items():
            splits[split] += [pool.pop() for _ in range(count)]
        by_hand = _shuffled(written[intent], rng)
        splits["dev"] += by_hand[:WRITTEN_DEV]
        splits["train"] += by_hand[WRITTEN_DEV:]
        splits["test"] += paraphrases[intent]
    return {split: _shuffled(rows, rng) for split, rows in splits.items()}


def _shuffled(rows: list[Utterance], rng: random.Random) -> list[Utterance]:
    return [row for _, _, row in sorted((rng.random(), i, row) for i, row in enumerate(rows))]


def write(folder: Path) -> None:
    """Write the three files into a folder."""
    for split, rows in build().items():
        with atomic_file(folder / f"{split}.jsonl") as partial:
            partial.write_bytes("".join(row.json_line() for row in rows).encode())


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Rebuild the bundled assistant data set from its sources.")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder to write to (default: the package's own)")
    write(parser.parse_args().out)


if __name__ == "__main__":
    main()
