"""Requests with an intent and marked slots, such as Snips and HWU64, as the rows of a tagger or of a model with two heads.

    python -m benchmarks.zoo.request_rows snips/train.jsonl.gz --kind slots --dev 0.08 --out slots
    python -m benchmarks.zoo.request_rows hwu64/train.jsonl.gz --kind both --dev 0.08 --out assistant

An input line is `{"text": ..., "intent": ..., "slots": [{"label": ..., "start": ..., "end": ...}]}`, with offsets in characters. Writes
`train.jsonl` and, with `--dev`, `dev.jsonl` to the folder: `words` with `tags`, or with `intent` and `slots`. A word is a run of letters
and digits, or one other character, as BERT splits text. The part of a row depends on its text alone, so that equal texts stay together.
"""

import argparse
import gzip
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SLOTS, BOTH = "slots", "both"
_WORD = re.compile(r"\w+|[^\w\s]")
_BUCKETS = 10_000


def main() -> None:
    """Write the rows, and print their numbers."""
    arguments = _arguments()
    parts, torn = read_rows(arguments.source, arguments.kind, arguments.dev)
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, rows in parts.items():
        if rows:
            path = arguments.out / f"{name}.jsonl"
            path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
            print(f"{path}: {len(rows):,} rows")
    print(
        f"{torn['slots']:,} slots; {torn['torn']:,} rows have a slot that begins or ends inside a word, which the whole word then has"
    )


def read_rows(source: Path, kind: str, dev: float) -> tuple[dict[str, list[dict[str, Any]]], Counter[str]]:
    """Return the rows of both parts, `train` and `dev`, and the numbers of slots and of rows with a `torn` one.

    Args:
        source: The file of requests.
        kind: `slots` or `both`.
        dev: The share of the rows that become the development part.
    """
    parts: dict[str, list[dict[str, Any]]] = {"train": [], "dev": []}
    torn: Counter[str] = Counter()
    for record in _records(source):
        words, tags, whole = tagged(record["text"], record["slots"])
        torn["slots"] += len(record["slots"])
        torn["torn"] += not whole
        row = (
            {"words": words, "tags": tags}
            if kind == SLOTS
            else {"words": words, "intent": record["intent"], "slots": tags}
        )
        bucket = int(hashlib.sha256(record["text"].lower().encode()).hexdigest(), 16) % _BUCKETS
        parts["dev" if bucket < dev * _BUCKETS else "train"].append(row)
    return parts, torn


def tagged(text: str, slots: list[dict[str, Any]]) -> tuple[list[str], list[str], bool]:
    """Return the words of a text, their tags (IOB2), and whether every slot begins and ends at a word's.

    Args:
        text: The text.
        slots: Objects with `label`, and `start` and `end` in characters.
    """
    found = list(_WORD.finditer(text))
    tags, whole = ["O"] * len(found), True
    for slot in sorted(slots, key=lambda each: each["start"]):
        inside = [
            number for number, word in enumerate(found) if word.start() < slot["end"] and word.end() > slot["start"]
        ]
        for place, number in enumerate(inside):
            tags[number] = ("B-" if place == 0 else "I-") + slot["label"]
        if inside:
            first, last = found[inside[0]], found[inside[-1]]
            whole &= text[first.start() : last.end()] == text[slot["start"] : slot["end"]].strip()
    return [word.group() for word in found], tags, whole


def _records(path: Path) -> Iterator[dict[str, Any]]:
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path, encoding="utf-8")
    with opened as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="a JSON Lines file, also .gz")
    parser.add_argument("--kind", choices=(SLOTS, BOTH), required=True, help="tags alone, or the intent beside them")
    parser.add_argument("--dev", type=float, default=0.0, help="the share of rows that are kept out")
    parser.add_argument("--out", type=Path, required=True, help="the folder")
    return parser.parse_args()


if __name__ == "__main__":
    main()
