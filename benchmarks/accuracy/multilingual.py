"""A multilingual sentence encoder and what is left of it: similarity of sentences in three languages, and search across languages.

    kerasbert prune multilingual-e5-small --vocabulary texts.txt --out runs/cut
    kerasbert convert runs/cut --length 128 --table-bits 4 -o cut.tflite
    python -m benchmarks.accuracy.multilingual --models whole=multilingual-e5-small cut=cut.tflite --sts en sts-test.tsv.gz 5 6 4 \\
        --squad en xquad.en.json.gz --squad de xquad.de.json.gz --query-prompt "query: " --passage-prompt "passage: "

A model is a folder or a `.tflite` file. Measured: Spearman's correlation with the scores of each `--sts` table (columns of both sentences
and the score: names or numbers from 0); for each pair of `--squad` languages, how often the paragraph of a question's answer is the first
one, with questions of one language and paragraphs of the other; the number of tokens, and the share of unknown ones, in the questions of
each language; and the size of files. The same questions and paragraphs stand in all `--squad` files, in one order.
"""

import argparse
import itertools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import record

PACKAGES = ("tensorflow", "tf-keras", "ai-edge-litert", "tokenizers", "numpy")
Encode = Callable[[Sequence[str]], np.ndarray]


def main() -> None:
    """Measure the models that the result file lacks, and write it after each."""
    arguments = _arguments()
    load = record.load()
    found = json.loads(arguments.json.read_text("utf-8"))["models"] if arguments.json.is_file() else {}
    tables = {name: _read_pairs(Path(path), *columns) for name, path, *columns in arguments.sts}
    squads = {name: _read_paragraphs(Path(path)) for name, path in arguments.squad}
    for name, path in (each.split("=", 1) for each in arguments.models):
        if name in found:
            continue
        encode, tokenizer = _opened(path, arguments.length)
        found[name] = {
            **(record.file_facts(Path(path)) if path.endswith(".tflite") else {}),
            "vocabulary": len(tokenizer.vocabulary),
            "sts": {each: _correlation(encode, *table, arguments) for each, table in tables.items()},
            "search": _search(encode, squads, arguments),
            "tokens": {each: _tokens(tokenizer, questions) for each, (questions, _, _) in squads.items()},
        }
        print(name, found[name], flush=True)
        result = {"sequence_length": arguments.length, "models": found}
        record.write(arguments.json, result, record.versions(PACKAGES), load)


def _opened(path: str, length: int) -> tuple[Encode, Any]:
    """Return what makes the vectors of a model, and its tokenizer."""
    import kerasbert as kb

    if not path.endswith(".tflite"):
        task = kb.SentenceEncoder.from_pretrained(path, sequence_length=length)
        return lambda texts: task.predict(texts, prompt=""), task.tokenizer
    model = kb.open(path, threads=1)
    return lambda texts: np.asarray(model(list(texts), prompt="")), model.tokenizer


def _read_pairs(path: Path, first: str, second: str, score: str) -> tuple[list[str], list[str], np.ndarray]:
    from kerasbert.data import read_table

    table = read_table(path, text=first, pair=second, label=score)
    return list(table.texts), list(table.pairs), np.asarray(table.labels, np.float64)


def _read_paragraphs(path: Path) -> tuple[list[str], list[str], np.ndarray]:
    """Return the questions, the distinct paragraphs in their order, and the number of each question's paragraph."""
    from kerasbert.data import read_squad

    questions, contexts = zip(*read_squad(path).x, strict=True)
    paragraphs = list(dict.fromkeys(contexts))
    return list(questions), paragraphs, np.array([paragraphs.index(each) for each in contexts])


def _correlation(
    encode: Encode, first: list[str], second: list[str], scores: np.ndarray, arguments: argparse.Namespace
) -> float:
    from kerasbert.processors.metrics import spearman

    one, other = (encode([arguments.query_prompt + text for text in texts]) for texts in (first, second))
    return float(spearman((one * other).sum(1), scores))


def _search(encode: Encode, squads: dict, arguments: argparse.Namespace) -> dict[str, float]:
    """Return by `questions, paragraphs` how often the right paragraph is the first one."""
    queries = {
        name: encode([arguments.query_prompt + text for text in texts]) for name, (texts, _, _) in squads.items()
    }
    passages = {
        name: encode([arguments.passage_prompt + text for text in texts]) for name, (_, texts, _) in squads.items()
    }
    return {
        f"{one}, {other}": float(((queries[one] @ passages[other].T).argmax(1) == squads[one][2]).mean())
        for one, other in itertools.product(squads, repeat=2)
    }


def _tokens(tokenizer: Any, texts: list[str]) -> dict[str, float]:
    rows = tokenizer.token_ids(texts)
    ids = np.concatenate(rows)
    return {"a_text": len(ids) / len(rows), "unknown": float((ids == tokenizer.unk_id).mean())}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", required=True, metavar="NAME=PATH", help="folders or .tflite files")
    parser.add_argument(
        "--sts", nargs=5, action="append", default=[], metavar=("NAME", "FILE", "FIRST", "SECOND", "SCORE"),
        help="a table of pairs and its columns; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--squad",
        nargs=2,
        action="append",
        default=[],
        metavar=("NAME", "FILE"),
        help="questions on paragraphs; repeatable",
    )
    parser.add_argument("--query-prompt", default="", metavar="TEXT", help="before sentences and questions")
    parser.add_argument("--passage-prompt", default="", metavar="TEXT", help="before paragraphs")
    parser.add_argument("--length", type=int, default=128, metavar="N", help="tokens of a folder's model (128)")
    record.add_output(parser, "multilingual")
    return parser.parse_args()


if __name__ == "__main__":
    main()
