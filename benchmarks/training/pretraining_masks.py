"""The masks of pretraining on many sequences: shares, whole words, lengths of spans, special tokens, seeds.

    python -m benchmarks.training.pretraining_masks --text english=corpus.txt.gz --text japanese=articles.txt

Each corpus needs a tokenizer: `--tokenizer english=FOLDER`, or one is learned from its texts (`--learn japanese=japanese`). For every unit
that is masked together, `--sequences` rows of 128 tokens are made. Counted are, over all of them:

- the share of masked tokens, of those that became the mask, another token, or stayed;
- words of which only a part is masked, special tokens that are masked: both must be 0 (but for tokens, whose words may be parted);
- the lengths in words of the spans that are drawn, against the law of the paper: a chi-square statistic over its degrees of freedom, which
  is about 1 where they follow it; and the lengths of runs of masked words, which are longer where spans touch;
- whether two passes over the same text differ, and whether the same seed repeats every batch.
"""

import argparse
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from benchmarks.common import record
from kerasbert.data.text_stream import TextStream
from kerasbert.processors import IGNORED
from kerasbert.processors.masked_lm import MaskedWords
from kerasbert.processors.masking import LONGEST_N_GRAM, LONGEST_SPAN, SPAN_STOPS, choose_tokens
from kerasbert.processors.pretraining_batches import Batch, PretrainingBatches
from kerasbert.processors.pretraining_rows import Rows
from kerasbert.processors.word_pieces import word_pieces
from kerasbert.text import Tokenizer, learn_tokenizer, tokenizer_from_folder

PACKAGES = ("tokenizers", "sentencepiece", "fugashi", "unidic-lite", "rjieba", "numpy")
UNITS = ("tokens", "words", "n-grams", "spans")
_LENGTHS = ("n-grams", "spans")
SHARE = 0.15
ROWS, LENGTH = 64, 128


class _WatchedBatches(PretrainingBatches):
    """Batches that keep the rows that they were made of."""

    def _batch(self, rows: Rows, masks: np.ndarray, number: int) -> Batch:
        self.rows = rows
        return super()._batch(rows, masks, number)


def main() -> None:
    """Measure the corpora that the result file lacks, and write it after each."""
    arguments = _arguments()
    load = record.load()
    results = json.loads(arguments.json.read_text("utf-8"))["corpora"] if arguments.json.is_file() else {}
    for name, path in arguments.text.items():
        if name in results:
            continue
        texts = TextStream(path)
        tokenizer = _tokenizer(name, texts, arguments)
        results[name] = {
            "text": [file.name for file in texts.files][:3],
            "tokenizer": repr(tokenizer),
            "units": {
                unit: _measured(texts, tokenizer, unit, arguments.sequences, arguments.words.get(name))
                for unit in UNITS
            },
        }
        print(name, results[name]["units"], flush=True)
        record.write(arguments.json, {"length": LENGTH, "corpora": results}, record.versions(PACKAGES), load)


def _tokenizer(name: str, texts: TextStream, arguments: argparse.Namespace) -> Tokenizer:
    if name in arguments.tokenizer:
        return tokenizer_from_folder(arguments.tokenizer[name])
    return learn_tokenizer(arguments.learn.get(name, "wordpiece"), texts.texts(), arguments.vocabulary_size)


def _measured(texts: TextStream, tokenizer: Tokenizer, unit: str, sequences: int, words_by: str | None) -> dict:
    """Return the properties of the masks of a unit."""
    pieces, counts, lengths = word_pieces(tokenizer), dict.fromkeys(_COUNTS, 0), np.zeros(LONGEST_SPAN + 2)
    drawn, draw, owed = np.zeros(LONGEST_SPAN + 2), np.random.default_rng(1), 0.0
    made = _batches(texts, tokenizer, unit, words_by)
    for batch in islice(made.batches(), -(-sequences // ROWS)):
        ids, labels, words = batch.inputs["input_ids"], batch.labels["logits"], made.rows.words
        chosen, originals = labels != IGNORED, made.rows.ids
        free = (words >= 0) & ~pieces.is_special(originals)
        counts["sequences"] += len(ids)
        counts["tokens"] += int(free.sum())
        counts["chosen"] += int(chosen.sum())
        counts["masks"] += int((ids[chosen] == tokenizer.mask_id).sum())
        counts["kept"] += int((ids[chosen] == originals[chosen]).sum())
        counts["special"] += int((chosen & ~free).sum())
        counts["changed outside"] += int((ids != originals)[~chosen].sum())
        for row in range(len(ids)):
            if unit in _LENGTHS:
                row_free = np.flatnonzero(free[row])
                places, groups = choose_tokens(originals[row], pieces, SHARE, unit, draw, words[row], owed)
                owed += SHARE * len(row_free) - len(places)
                # Words of a span: pairs of a span and a word, each counted once.
                pairs = np.unique(groups.astype(np.int64) * LENGTH + words[row][places] % LENGTH)
                in_span = np.bincount(pairs // LENGTH)
                drawn += np.bincount(np.minimum(in_span[in_span > 0], LONGEST_SPAN + 1), minlength=LONGEST_SPAN + 2)
            parts, spans = _words_of(chosen[row], words[row], free[row])
            counts["words in part"] += parts
            for length in spans:
                lengths[min(length, LONGEST_SPAN + 1)] += 1
    repeats = all(_equal(one, other) for one, other in _pairs(texts, tokenizer, unit, words_by, 1, 1))
    differs = not any(_equal(one, other) for one, other in _pairs(texts, tokenizer, unit, words_by, 1, 2))
    return {
        **counts,
        "share": counts["chosen"] / counts["tokens"],
        "share masks": counts["masks"] / counts["chosen"],
        "share kept": counts["kept"] / counts["chosen"],
        "spans": _against_law(drawn, unit),
        "runs of words": _against_law(lengths, unit),
        "same seed repeats": repeats,
        "other seed differs": differs,
    }


_COUNTS = ("sequences", "tokens", "chosen", "masks", "kept", "special", "changed outside", "words in part")


def _words_of(chosen: np.ndarray, words: np.ndarray, free: np.ndarray) -> tuple[int, list[int]]:
    """Return the number of words that are masked in part, and the lengths in words of the runs of masked words."""
    numbers, index = np.unique(words[free], return_inverse=True)
    sizes = np.bincount(index, minlength=len(numbers))
    masked = np.bincount(index, chosen[free], minlength=len(numbers))
    whole = masked == sizes
    edges = np.flatnonzero(np.diff(np.concatenate([[0], whole.astype(int), [0]])))
    return int(((masked > 0) & ~whole).sum()), (edges[1::2] - edges[::2]).tolist()


def _against_law(lengths: np.ndarray, unit: str) -> dict:
    """Compare the lengths of runs with those of single draws. Draws that touch are one run: long runs are a little more frequent."""
    if unit not in ("spans", "n-grams"):
        return {}
    longest = LONGEST_SPAN if unit == "spans" else LONGEST_N_GRAM
    law = (1 - SPAN_STOPS) ** np.arange(longest) * SPAN_STOPS if unit == "spans" else 1 / np.arange(1, longest + 1)
    law = law / law.sum()
    found = lengths[1 : longest + 1] / lengths.sum()
    expected = lengths.sum() * law
    statistic = float((np.square(lengths[1 : longest + 1] - expected) / expected).sum())
    return {
        "number": int(lengths.sum()),
        "chi-square over degrees of freedom": statistic / (longest - 1),
        "law": law.round(4).tolist(),
        "found": found.round(4).tolist(),
        "longer": float(lengths[longest + 1 :].sum() / lengths.sum()),
        "mean of the law": float(law @ np.arange(1, longest + 1)),
    }


def _batches(
    texts: TextStream, tokenizer: Tokenizer, unit: str, words_by: str | None, seed: int = 1
) -> _WatchedBatches:
    processor = MaskedWords(share=SHARE, masking=unit)
    return _WatchedBatches(texts, processor, tokenizer, LENGTH, ROWS, seed, words_by=words_by)


def _pairs(
    texts: TextStream, tokenizer: Tokenizer, unit: str, words_by: str | None, one: int, other: int
) -> Iterator[tuple[Batch, Batch]]:
    sides = (_batches(texts, tokenizer, unit, words_by, seed).batches() for seed in (one, other))
    yield from islice(zip(*sides, strict=False), 20)


def _equal(one: Batch, other: Batch) -> bool:
    return all(np.array_equal(one.inputs[name], other.inputs[name]) for name in one.inputs)


def _named(values: list[str]) -> dict[str, str]:
    return dict(value.split("=", 1) for value in values)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, text in {
        "text": "corpus",
        "tokenizer": "folder",
        "learn": "kind of tokenizer",
        "words": "segmenter",
    }.items():
        parser.add_argument(f"--{name}", action="append", default=[], metavar=f"NAME={text.upper()}")
    parser.add_argument("--vocabulary-size", type=int, default=12_000)
    parser.add_argument("--sequences", type=int, default=100_000)
    parser.add_argument("--json", type=Path, default=record.RESULTS / "pretraining_masks.json")
    arguments = parser.parse_args()
    for name in ("text", "tokenizer", "learn", "words"):
        setattr(arguments, name, _named(getattr(arguments, name)))
    return arguments


if __name__ == "__main__":
    main()
