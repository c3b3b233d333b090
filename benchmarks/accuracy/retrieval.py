"""Search by meaning: how often the right sentence is found, and what an index costs as it grows.

    python -m benchmarks.accuracy.retrieval --questions xquad.en.json.gz --texts texts/*.txt --rows 1000 10000 100000

The sentences of all contexts are the rows of an index, and every question a query; right is the sentence in which its answer starts.
Measured for each form of the vectors: the share of questions whose sentence comes first and among ten, nDCG@10, and the bytes of the file.
With `--rerank`, a model of pairs orders the first twenty again. `--others` and `--sentences` add wrong sentences from other files of
questions, up to that number in all.

Then indexes of the sentences of `--texts` grow to each of `--rows`: seconds to encode them, seconds to write and to open the file, its
size, and for each engine the seconds until it is ready, the milliseconds of a search without the encoder (median and quartiles), and the
share of the ten nearest that it finds.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.common import record

PACKAGES = ("ai-edge-litert", "faiss-cpu", "numpy", "tokenizers")
FORMS = ({}, {"dimensions": 128}, {"dimensions": 64}, {"vectors": "bit"}, {"dimensions": 128, "vectors": "bit"})
QUERIES, TOP = 200, 10


def main() -> None:
    """Measure, and write the result after each part."""
    arguments = _arguments()
    import kerasbert as kb

    load, result = record.load(), {"models": {}, "grown": {}}
    sentences, questions = read_questions(arguments.questions)
    sentences += _others(arguments.others, sentences, arguments.sentences)
    result["sentences"], result["questions"] = len(sentences), len(questions)
    for model in arguments.models:
        opened = kb.open(model)
        found = result["models"].setdefault(model, {"forms": []})
        queries = [question for question, _ in questions]
        right = np.array([row for _, row in questions])
        documents = opened.processor.for_search()
        vectors = [
            np.array([each["vector"] for each in opened.predictions(texts, processor=processor)])
            for texts, processor in zip((queries, sentences), documents, strict=True)
        ]
        units = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in vectors]
        found["forms"].append(
            {"vectors": "float32", "dimensions": vectors[0].shape[1], **quality(units[0] @ units[1].T, right)}
        )
        for form in FORMS:
            found["forms"].append(_form(opened, form, sentences, vectors[0], right))
            print(model, found["forms"][-1], flush=True)
        if arguments.rerank:
            found["reranked"] = reranked(kb, opened, arguments.rerank, sentences, questions)
            print(model, found["reranked"], flush=True)
        record.write(arguments.json, result, record.versions(PACKAGES), load)
    if arguments.texts:
        opened = kb.open(arguments.models[0])
        texts = _distinct(arguments.texts, max(arguments.rows))
        for rows in arguments.rows:
            result["grown"][str(rows)] = _grown(opened, texts[:rows], arguments.engines)
            print(rows, result["grown"][str(rows)], flush=True)
            record.write(arguments.json, result, record.versions(PACKAGES), load)


def _form(opened, form: dict, sentences: list[str], queries: np.ndarray, right: np.ndarray) -> dict:
    from kerasbert import TextIndex
    from kerasbert.retrieval.projection import project
    from kerasbert.retrieval.stored_vectors import StoredVectors

    index = TextIndex(opened, chunk=0, **form)
    index.add(sentences)
    state = index._state  # the scores of all rows, not only the best
    scores = [state.rows.vectors.scores(StoredVectors.of(project(query[None], state.projection))) for query in queries]
    with tempfile.TemporaryDirectory() as folder:
        size = index.save(Path(folder, "a.kbindex")).stat().st_size
    settings = index.settings()
    width = settings["dimensions"] or queries.shape[1]
    return {"vectors": settings["vectors"], "dimensions": width, "bytes": size, **quality(np.array(scores), right)}


def quality(scores: np.ndarray, right: np.ndarray) -> dict[str, float]:
    """Return shares of questions, from the scores `(questions, sentences)`; equal scores count against the right one."""
    own = scores[np.arange(len(right)), right][:, None]
    ranks = (scores >= own).sum(axis=1)
    return of_ranks(ranks)


def of_ranks(ranks: np.ndarray) -> dict[str, float]:
    """Return the share of ranks that are 1, the share of at most 10, and nDCG@10."""
    gains = np.where(ranks <= TOP, 1 / np.log2(ranks + 1), 0)
    return {
        "first": float((ranks == 1).mean()),
        "recall@10": float((ranks <= TOP).mean()),
        "nDCG@10": float(gains.mean()),
    }


def reranked(kb, opened, model: str | Path, sentences: list[str], questions: list[tuple[str, int]]) -> dict:
    """Search each question among the sentences, and order the first twenty again: the shares of `of_ranks`, and milliseconds."""
    index, reranker = kb.TextIndex(opened, chunk=0), kb.open(model)
    index.add(sentences)
    ranks, milliseconds = [], []
    for question, right in questions:
        start = time.perf_counter()
        found = index.search(question, TOP, rerank=reranker, candidates=20)
        milliseconds.append(1000 * (time.perf_counter() - start))
        places = [place for place, each in enumerate(found, 1) if each["index"] == right]
        ranks.append(places[0] if places else len(sentences))
    return {"model": Path(model).name, "ms a query": record.spread(milliseconds), **of_ranks(np.array(ranks))}


def _grown(opened, texts: list[str], engines: list[str]) -> dict:
    from kerasbert import TextIndex
    from kerasbert.retrieval.engines import ENGINES
    from kerasbert.retrieval.stored_vectors import StoredVectors

    start = time.perf_counter()
    index = TextIndex(opened, chunk=0)
    index.add(texts)
    result = {"seconds to encode": time.perf_counter() - start, "engines": {}}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.kbindex")
        for name, step in (("write", lambda: index.save(path)), ("open", lambda: TextIndex.read(path, opened))):
            start = time.perf_counter()
            step()
            result[f"seconds to {name}"] = time.perf_counter() - start
        result["bytes"] = path.stat().st_size
    vectors = index._state.rows.vectors
    random = np.random.default_rng(0)
    rows = random.choice(len(texts), min(QUERIES, len(texts)), replace=False)
    floats = vectors.values[rows].astype(np.float64) * vectors.scales[rows, None]
    queries = [
        StoredVectors.of(each[None]) for each in floats + random.normal(0, 0.5 / np.sqrt(floats.shape[1]), floats.shape)
    ]
    exact = [[row for row, _ in vectors.search(query, TOP)] for query in queries]
    for name in engines:
        start = time.perf_counter()
        engine = ENGINES[name](vectors)
        ready, milliseconds, hits = time.perf_counter() - start, [], 0
        for query, nearest in zip(queries, exact, strict=True):
            start = time.perf_counter()
            found = vectors.search(query, TOP, engine.candidates(query, TOP))
            milliseconds.append(1000 * (time.perf_counter() - start))
            hits += len({row for row, _ in found}.intersection(nearest))
        share = hits / sum(map(len, exact))
        result["engines"][name] = {"seconds until ready": ready, "ms": record.spread(milliseconds), "recall@10": share}
    return result


def read_questions(path: Path) -> tuple[list[str], list[tuple[str, int]]]:
    """Return the distinct sentences of all contexts, and each question with the number of the sentence in which its answer starts."""
    from kerasbert.data.lines import read_whole
    from kerasbert.data.plain_text import split_sentences

    data = json.loads(read_whole(path))["data"]
    rows: dict[str, int] = {}
    questions = []
    for context, asked in ((p["context"], p["qas"]) for article in data for p in article["paragraphs"]):
        starts, at = [], 0
        for sentence in split_sentences(context):
            at = context.index(sentence, at)
            starts.append((at, rows.setdefault(sentence, len(rows))))
            at += len(sentence)
        for question in asked:
            if not question["answers"]:
                continue
            start = question["answers"][0]["answer_start"]
            questions.append((question["question"], [row for place, row in starts if place <= start][-1]))
    return list(rows), questions


def _others(paths: list[Path], known: list[str], total: int) -> list[str]:
    """Return sentences of other files that are not among the known ones, as many as make `total` with them."""
    found = dict.fromkeys(sentence for path in paths for sentence in read_questions(path)[0])
    rows = set(known)
    others = [sentence for sentence in found if sentence not in rows][: max(0, total - len(known))]
    if len(known) + len(others) < total:
        raise SystemExit(f"expected {total:,} sentences, received {len(known) + len(others):,}; name more --others")
    return others


def _distinct(paths: list[Path], most: int) -> list[str]:
    """Return distinct sentences of at least 20 and at most 400 characters."""
    found: dict[str, None] = {}
    for sentence in _sentences(paths):
        if 20 <= len(sentence) <= 400:
            found.setdefault(sentence)
            if len(found) == most:
                return list(found)
    raise SystemExit(f"expected {most:,} sentences in the texts, received {len(found):,}; name more files")


def _sentences(paths: list[Path]) -> Iterator[str]:
    from kerasbert.data.lines import read_lines
    from kerasbert.data.plain_text import split_sentences

    for path in paths:
        for _, line in read_lines(path):
            yield from split_sentences(line)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=Path, required=True, metavar="FILE", help="questions in the form of SQuAD")
    parser.add_argument("--models", nargs="+", default=["search"], metavar="MODEL", help="sentence encoders")
    parser.add_argument("--rerank", metavar="MODEL", help="a model of pairs")
    parser.add_argument(
        "--others", nargs="+", type=Path, default=[], metavar="FILE", help="more questions, for wrong sentences"
    )
    parser.add_argument("--sentences", type=int, default=0, metavar="N", help="right and wrong sentences in all")
    parser.add_argument(
        "--texts", nargs="+", type=Path, default=[], metavar="FILE", help="texts whose sentences are rows"
    )
    parser.add_argument("--rows", nargs="+", type=int, default=[1000, 10_000, 100_000], metavar="N")
    parser.add_argument("--engines", nargs="+", default=["exact", "bits", "faiss-flat", "faiss-hnsw"], metavar="NAME")
    record.add_output(parser, "retrieval")
    return parser.parse_args()


if __name__ == "__main__":
    main()
