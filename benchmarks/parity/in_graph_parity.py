"""Token ids of WordPiece inside a TensorFlow graph against the host's tokenizer, by kind of string.

    python -m benchmarks.parity.in_graph_parity --vocabularies DIR --data DIR

Measured: the rate of strings whose ids differ, and the characters that cause it. The script fails if real text differs.

`--vocabularies` has one folder with `vocab.txt` or `vocab.txt.gz` for each of VOCABULARIES; `--data` has the texts of REAL, one folder per
data set. "every character" is a vocabulary of all characters of the first two planes, so no difference hides behind [UNK]. Each string is
compared alone without truncation, and as the first text of a packed pair of `--length` tokens with the string before it.
"""

import argparse
import gzip
import json
import random
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.common import record
from benchmarks.common.random_strings import KINDS, every_code_point, random_string
from kerasbert.text import WordPiece, pack

VOCABULARIES = {
    "bert-base-uncased": [{"lowercase": True}, {"lowercase": True, "strip_accents": False}],
    "bert-base-cased": [{"lowercase": False}, {"lowercase": False, "strip_accents": True}],
    "bert-base-multilingual-cased": [{"lowercase": False}, {"lowercase": True, "tokenize_chinese_chars": False}],
    "koelectra": [{"lowercase": False}],
    "every character": [
        {"lowercase": True},
        {"lowercase": True, "strip_accents": False},
        {"lowercase": False, "tokenize_chinese_chars": False},
    ],
}
REAL = {
    "English reviews": "sst-2/train.tsv.gz",
    "English books": "books-en/books.txt.gz",
    "English news": "ag-news/dev.tsv.gz",
    "English posts": "wnut17/train.conll.gz",
    "English questions": "qnli/dev.tsv.gz",
    "German": "xquad/xquad.de.json.gz",
    "Spanish": "xquad/xquad.es.json.gz",
    "Russian": "xquad/xquad.ru.json.gz",
    "Vietnamese": "xquad/xquad.vi.json.gz",
    "Chinese": "xquad/xquad.zh.json.gz",
    "Japanese headlines": "livedoor-news/headlines.tsv.gz",
    "Japanese articles": "livedoor-news/articles.jsonl.gz",
    "Japanese captions": "jsts/train-v1.3.json.gz",
    "Korean sentences": "korsts/sts-train.tsv.gz",
    "Korean news": "naver-ner/test.tsv.gz",
    "Korean paragraphs": "korquad/KorQuAD_v1.0_dev.json.gz",
}
PACKAGES = ("tokenizers", "tensorflow", "tensorflow-text", "tf-keras", "numpy")
_MAX_LENGTH = 1_000_000  # no string is truncated
_CHUNK = 4096


def main() -> None:
    """Compare all vocabularies and write the result."""
    arguments = _arguments()
    load = record.load()
    strings = _strings(arguments)
    results, differences = [], 0
    for name, several in VOCABULARIES.items():
        vocabulary = _vocabulary(arguments.vocabularies / name)
        for settings in several:
            kinds = _compare(WordPiece(vocabulary, **settings), strings, arguments.length)
            real = {kind: facts for kind, facts in kinds.items() if kind in REAL}
            differences += sum(facts["different"] + facts["different_pairs"] for facts in real.values())
            results.append({"vocabulary": name, "settings": settings, "total": _total(kinds), "kinds": kinds})
            _print(name, settings, kinds)
    counts = {kind: len(rows) for kind, rows in strings.items()}
    result = {"seed": arguments.seed, "length": arguments.length, "strings": counts, "results": results}
    record.write(arguments.json, result, record.versions(PACKAGES), load)
    if differences:
        raise SystemExit(f"expected equal ids for all real text, received {differences} differences")


def _strings(arguments: argparse.Namespace) -> dict[str, list[str]]:
    draw = random.Random(arguments.seed)
    strings = {}
    for kind, path in REAL.items():
        rows = list(dict.fromkeys(_texts(arguments.data / path)))
        strings[kind] = draw.sample(rows, min(arguments.count, len(rows)))
    for kind in KINDS:
        strings[kind] = [random_string(kind, draw) for _ in range(arguments.count)]
    strings["every code point"] = list(every_code_point())
    return strings


def _texts(path: Path) -> Iterator[str]:
    """Yield all texts of a JSON file, or the longest field of each line of a table."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        if ".json" not in path.name:
            yield from (max(line.rstrip("\n").split("\t"), key=len) for line in lines)
            return
        first = next(lines)
        documents = [first + lines.read()] if "xquad" in path.name or "Quad" in path.name else [first, *lines]
    for document in documents:
        yield from _leaves(json.loads(document))


def _leaves(value) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _leaves(part)


def _vocabulary(folder: Path) -> list[str]:
    if folder.name == "every character":
        characters = [chr(code) for code in range(0x20, 0x20000) if not 0xD800 <= code < 0xE000]
        return ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *characters, *(f"##{letter}" for letter in characters)]
    packed = folder / "vocab.txt.gz"
    opened = (
        gzip.open(packed, "rt", encoding="utf-8") if packed.exists() else open(folder / "vocab.txt", encoding="utf-8")
    )
    with opened as lines:
        return [line.rstrip("\n") for line in lines]


def _compare(tokenizer: WordPiece, strings: dict[str, list[str]], length: int) -> dict[str, dict]:
    import tensorflow as tf

    from kerasbert.text.in_graph import GraphWordPiece

    layer = GraphWordPiece(tokenizer, length)
    alone = tf.function(layer.tokenize, input_signature=[tf.TensorSpec([None], tf.string)])
    paired = tf.function(layer.call, input_signature=[tf.TensorSpec([None], tf.string)] * 2)
    kinds = {}
    for kind, rows in strings.items():
        different, pairs = [], 0
        for chunk in _batched(rows):
            different += _different(tokenizer, alone, chunk)
            pairs += _different_pairs(tokenizer, paired, chunk, length)
        kinds[kind] = {
            "strings": len(rows),
            "different": len(different),
            "rate": len(different) / len(rows),
            "different_pairs": pairs,
        }
        if different:
            kinds[kind]["characters"] = _different_characters(tokenizer, alone, different)
    return kinds


def _batched(rows: list[str]) -> Iterable[list[str]]:
    return (rows[start : start + _CHUNK] for start in range(0, len(rows), _CHUNK))


def _different(tokenizer: WordPiece, graph, rows: list[str]) -> list[str]:
    import tensorflow as tf

    host = tokenizer.encode(rows, max_length=_MAX_LENGTH).input_ids
    ids = graph(tf.constant(rows)).to_list()
    return [row for row, in_graph, on_host in zip(rows, ids, host, strict=True) if in_graph != on_host[1:-1]]


def _different_pairs(tokenizer: WordPiece, graph, rows: list[str], length: int) -> int:
    import tensorflow as tf

    pairs = [rows[-1], *rows[:-1]]
    host = pack(tokenizer.encode(rows, pairs, max_length=length), length=length, pad_id=tokenizer.pad_id)
    in_graph = graph(tf.constant(rows), tf.constant(pairs))
    different = [np.any(host[name] != in_graph[name].numpy(), axis=1) for name in host]
    return int(np.any(different, axis=0).sum())


def _different_characters(tokenizer: WordPiece, graph, rows: list[str]) -> list[str]:
    """List the code points of the strings that also differ alone, as ranges."""
    characters = sorted(set().union(*rows))
    runs: list[list[int]] = []
    for code in map(ord, _different(tokenizer, graph, characters)):
        if runs and runs[-1][1] == code - 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    return [f"U+{first:04X}" if first == last else f"U+{first:04X}-{last:04X}" for first, last in runs]


def _total(kinds: dict[str, dict]) -> dict[str, int]:
    return {name: sum(facts[name] for facts in kinds.values()) for name in ("strings", "different", "different_pairs")}


def _print(name: str, settings: dict, kinds: dict[str, dict]) -> None:
    print(name, settings, _total(kinds), flush=True)
    for kind, facts in kinds.items():
        if facts["different"] or facts["different_pairs"]:
            print(f"  {kind:24s} {facts}", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocabularies", required=True, type=Path, metavar="DIR", help="a folder for each vocabulary")
    parser.add_argument("--data", required=True, type=Path, metavar="DIR", help="the data sets with real text")
    parser.add_argument("--count", type=int, default=1000, help="strings of each kind")
    parser.add_argument("--length", type=int, default=64, help="tokens of a packed pair")
    parser.add_argument("--seed", type=int, default=1)
    record.add_output(parser, "in_graph_parity")
    return parser.parse_args()


if __name__ == "__main__":
    main()
