"""Token embeddings of 8 and of 4 bits: size, score and latency of the files.

    python -m benchmarks.accuracy.table_bits --encoders mini-en small-en --pairs sts-test-labelled.tsv.gz --questions xquad.en.json.gz \
        --task intents-150=runs/intents-150 clinc150-test.tsv

Each model is converted with dynamic int8, with tables of 8 and of 4 bits. Measured for each file: its bytes; of an encoder, the Spearman
correlation on STS-B's test part, whose file has no header, and nDCG@10 of the questions (see `benchmarks.accuracy.retrieval`); of a task,
the main score on its data. With `--idle`, on an otherwise idle machine, the files of a model take turns, and the ratio of their latencies
is measured at 32 and 128 tokens. Scores of the float model stand beside.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.accuracy.retrieval import quality, read_questions
from benchmarks.common import record
from benchmarks.common.commands import kerasbert

PACKAGES = ("ai-edge-litert", "ai-edge-quantizer", "tensorflow", "tf-keras", "tokenizers", "numpy")
RECIPE, LENGTHS, TIMED = "dynamic_wi8_afp32", "32,64,128", (32, 128)
BITS = (8, 4)


def main() -> None:
    """Convert, measure and write the result after each model."""
    arguments = _arguments()
    import kerasbert as kb
    from kerasbert.model_names import shipped_model

    load, models = record.load(), []
    measured = [(name, shipped_model(name) or Path(name), _Encoder(arguments)) for name in arguments.encoders]
    for named, data in arguments.task:
        name, _, folder = named.partition("=")
        measured.append((name, Path(folder), _Labelled(Path(data))))
    for name, folder, scores in measured:
        facts: dict[str, Any] = {"model": name, "files": {}, "float": scores.of(kb.load_task(folder))}
        with tempfile.TemporaryDirectory() as place:
            files = {bits: Path(place, f"{bits}.tflite") for bits in BITS}
            for bits, file in files.items():
                options = ("--table-bits", bits) if bits != 8 else ()
                kerasbert("convert", folder, "--recipe", RECIPE, "--length", LENGTHS, *options, "-o", file)
                facts["files"][str(bits)] = {"bytes": file.stat().st_size, **scores.of(kb.open(file))}
            if arguments.idle:
                facts["latency_ratio"] = {str(length): _ratio(files, length) for length in TIMED}
        models.append(facts)
        print(facts, flush=True)
        record.write(arguments.json, {"recipe": RECIPE, "models": models}, record.versions(PACKAGES), load)


class _Encoder:
    """Scores of sentence vectors."""

    def __init__(self, arguments: argparse.Namespace):
        from kerasbert.data import read_table

        table = read_table(arguments.pairs, text="5", pair="6", label="4")
        self._pairs, self._scores = (table.texts, table.pairs), np.asarray(table.labels, np.float64)
        self._sentences, self._questions = read_questions(arguments.questions)

    def of(self, model: Any) -> dict[str, float]:
        from kerasbert.processors.metrics import cosine, spearman

        queries, documents = model.processor.for_search()
        first, second = (_vectors(model, list(texts), model.processor) for texts in self._pairs)
        asked = _vectors(model, [question for question, _ in self._questions], queries)
        found = _vectors(model, self._sentences, documents)
        right = np.array([row for _, row in self._questions])
        return {"Spearman": float(spearman(cosine(first, second), self._scores)), **quality(asked @ found.T, right)}


class _Labelled:
    """The main score of a task."""

    def __init__(self, data: Path):
        self._data = data

    def of(self, model: Any) -> dict[str, float]:
        from kerasbert.processors import read_for

        table = read_for(model.processor.name, self._data)
        scores = model.score(table.x, table.y)
        return dict([next(iter(scores.items()))])


def _vectors(model: Any, texts: list[str], processor: Any) -> np.ndarray:
    vectors = np.array([each["vector"] for each in model.predictions(texts, processor=processor)])
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _ratio(files: dict[int, Path], length: int) -> float:
    """Return the latency of the file with tables of 4 bits as a multiple of the other's; their runs take turns."""
    output = kerasbert("benchmark", files[4], "--against", files[8], "--length", length, "--runs", 300)
    (comparison,) = output["comparisons"]
    return comparison["latency"]["p50"] / comparison["against_latency"]["p50"]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoders", nargs="*", default=[], metavar="MODEL", help="names in the zoo, or folders")
    parser.add_argument("--pairs", metavar="FILE", help="STS-B's labelled test part")
    parser.add_argument("--questions", type=Path, metavar="FILE", help="questions on contexts, in SQuAD's form")
    parser.add_argument(
        "--task", nargs=2, action="append", default=[], metavar=("NAME=FOLDER", "DATA"), help="a task and labelled rows"
    )
    parser.add_argument("--idle", action="store_true", help="measure latencies")
    record.add_output(parser, "table_bits")
    return parser.parse_args()


if __name__ == "__main__":
    main()
