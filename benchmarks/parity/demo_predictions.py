r"""Predictions of a demo's program against those of Python, field by field, on the same files and rows.

    python -m benchmarks.parity.demo_predictions --client node --data DATA --answers answers.tflite answers-float32.tflite

Clients: `android_demo/run` on the JVM, `web_demo/run.mjs` on Node, and the modules of a site in headless Chromium, with WebAssembly and
with WebGPU on a software adapter. Tokenizers, windows and the search for answers are other programs than Python's; the runtimes are
LiteRT's C library, and LiteRT.js.

Compared are: every text, label, tag, entity, answer and position, which must be equal; and every number, by the largest difference. Near
ties may order the answers and the words after the first one differently; those rows are counted apart.

Files are those of `zoo/files`; some of question answering may be given. The other tasks have heads of random weights on an encoder of the
zoo.
DATA has the folders `sst-2`, `mrpc`, `sts-b`, `wnut17`, `xquad`, `wikitext-2` and `text-en`.
"""

import argparse
import gzip
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import hard_strings, record
from benchmarks.parity import demos
from benchmarks.parity.untrained_files import untrained_files
from kerasbert.cli.outputs.predictions import prediction_records
from kerasbert.cli.outputs.results import to_jsonable
from kerasbert.data import assistant as assistant_data
from kerasbert.export.runtime.opening import open_pipeline
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.processors import read_for

PACKAGES = ("ai-edge-litert", "numpy", "tokenizers")
ZOO = record.ROOT / "zoo" / "files"
_MOST = 1200  # rows of a case
_SPECIAL = ["[MASK]", "[CLS]", "[UNK]"]


@dataclass
class Comparison:
    """The differences between two programs on the rows of one case.

    Attributes:
        largest: The largest difference of two numbers, by the name of their field.
        unequal: Rows whose texts, labels or positions differ.
        reordered: Rows whose further answers or words differ, while the first one is equal.
        first: The first difference.
    """

    largest: dict[str, float] = field(default_factory=dict)
    unequal: int = 0
    reordered: int = 0
    first: str = ""

    def add(self, expected: dict[str, Any], received: dict[str, Any]) -> None:
        """Compare the records of one row."""
        further = [_take_further(expected), _take_further(received)]
        if difference := self._differ(expected, received, ""):
            self.unequal += 1
            self.first = self.first or f"{difference} in {json.dumps(expected, ensure_ascii=False)[:200]}"
        elif self._differ(*further, "further"):
            self.reordered += 1

    def _differ(self, expected: Any, received: Any, name: str) -> str:
        if isinstance(expected, float) and isinstance(received, float):
            self.largest[name] = max(self.largest.get(name, 0.0), abs(expected - received))
            return ""
        if type(expected) is not type(received):
            return f"{name}: {expected!r:.80}, {received!r:.80}"
        if isinstance(expected, dict):
            if list(expected) != list(received):
                return f"{name}: the fields {list(expected)[:9]}, {list(received)[:9]}"
            parts = [(expected[key], received[key], name if name == "probabilities" else key) for key in expected]
        elif isinstance(expected, list):
            if len(expected) != len(received):
                return f"{name}: {len(expected)} entries, {len(received)}"
            parts = [(one, other, name) for one, other in zip(expected, received, strict=True)]
        else:
            return "" if expected == received else f"{name}: {expected!r:.80}, {received!r:.80}"
        return next(filter(None, [self._differ(*part) for part in parts]), "")


def _take_further(prediction: dict[str, Any]) -> list[Any]:
    """Remove the answers, and the words of masks, after the first one from a record, and return them."""
    further = [prediction.pop("best", [])]
    for mask in prediction.get("masks", []):
        further.append(mask["words"][1:])
        mask["words"] = mask["words"][:1]
    return further


def main() -> None:
    """Compare all cases, and write the result after each of them."""
    arguments = _arguments()
    load = record.load()
    cases = _finished_cases(arguments.json) if arguments.resume else {}
    with tempfile.TemporaryDirectory() as folder:
        files = untrained_files(Path(folder), arguments.encoder)
        for name, (file, examples) in _cases(files, arguments.answers, arguments.data).items():
            if name not in cases:
                cases[name] = _compare(arguments.client, file, examples[: arguments.rows])
                record.write(arguments.json, _result(arguments.client, cases), record.versions(PACKAGES), load)


def _finished_cases(path: Path) -> dict[str, dict[str, Any]]:
    return json.loads(path.read_text("utf-8"))["cases"] if path.is_file() else {}


def _result(client: str, cases: dict[str, dict[str, Any]]) -> dict[str, Any]:
    largest = max(max(case["largest_difference"].values(), default=0.0) for case in cases.values())
    return {
        "client": client,
        "rows": sum(case["rows"] for case in cases.values()),
        "unequal_rows": sum(case["unequal_rows"] for case in cases.values()),
        "largest_difference": largest,
        "cases": cases,
    }


def _compare(client: str, file: Path, examples: Any) -> dict[str, Any]:
    """Predict the same examples on both sides."""
    predictor = open_pipeline(file)
    rows = predictor.processor.examples(examples)
    expected = to_jsonable(prediction_records(predictor.processor, rows, predictor.predictions(examples)))
    received, notes = demos.run(client, "predict", file, lines=[_line(row, predictor.processor.name) for row in rows])
    if len(received) != len(expected):
        raise SystemExit(f"expected {len(expected)} predictions of {file.name}, received {len(received)}")
    comparison, identical = Comparison(), 0
    for one, other in zip(expected, received, strict=True):
        identical += one == other
        comparison.add(one, other)
    result = {
        "file": file.name,
        "recipe": ModelFile.read(file).require_metadata("to compare it").recipe,
        "problem": predictor.processor.name,
        "runs_on": demos.runtime_of(client, notes),
        "rows": len(expected),
        "identical_rows": identical,
        "unequal_rows": comparison.unequal,
        "rows_with_other_further_answers": comparison.reordered,
        "largest_difference": comparison.largest,
        "first_difference": comparison.first.partition(":")[0],  # the field: a result file holds no texts of the data
    }
    print(json.dumps(result), comparison.first, flush=True)
    return result


def _line(example: Any, problem: str) -> str:
    """Write an example as a line of the standard input."""
    names = {"question_answering": ("question", "context"), "multiple_choice": ("prompt", "choices")}
    if isinstance(example, tuple):
        return json.dumps(dict(zip(names.get(problem, ("text", "pair")), example, strict=True)), ensure_ascii=False)
    return example


def _cases(files: dict[str, Path], answers: Sequence[Path], data: Path) -> dict[str, tuple[Path, Any]]:
    """Return the file and the examples of each case."""
    assistant = [text for split in ("train", "dev", "test") for text in assistant_data.load(split).texts]
    # A line is one text, so texts lose their line breaks; some become empty, and are left out.
    hard = [" ".join(text.split("\n")).replace("\r", " ") for text in hard_strings.make(800, _SPECIAL, 11)]
    hard = [text for text in hard if text.strip()]
    sentences = _lines(data / "text-en" / "tatoeba.txt.gz", 2000)
    paragraphs = [line for line in _lines(data / "wikitext-2" / "test.txt.gz", 4000) if len(line) > 400]
    scored = list(zip(*read_for("embedding", data / "sts-b" / "dev.tsv.gz").x, strict=True))
    pairs = list(zip(*read_for("single_label", data / "mrpc" / "dev.tsv.gz").x, strict=True))
    tweets = [" ".join(words) for words in read_for("tagging", data / "wnut17" / "test.conll.gz").x]
    heads = {
        "pairs": ("single_label", pairs),
        "label sets": ("multi_label", assistant),
        "scores of pairs": ("regression", scored),
        "answers": ("question_answering", _questions(data)),
        "choices": ("multiple_choice", _prompts(sentences)),
        "masked words": ("masked_lm", _masked(sentences, paragraphs)),
    }
    return {
        "intents": (ZOO / "intents.tflite", assistant),
        "intents, hard strings": (ZOO / "intents.tflite", hard),
        "slots": (ZOO / "slots.tflite", assistant),
        "slots, hard strings": (ZOO / "slots.tflite", hard),
        "sentiment": (ZOO / "sentiment.tflite", read_for("single_label", data / "sst-2" / "dev.tsv.gz").x),
        "entities": (ZOO / "entities.tflite", tweets),
        "entities, long texts": (ZOO / "entities.tflite", paragraphs[:400]),
        "search": (ZOO / "search.tflite", sentences),
        "search, pairs": (ZOO / "search.tflite", scored[:500]),
        **{file.stem: (file, heads["answers"][1]) for file in answers},
        **{f"{name}, random head": (files[task], examples) for name, (task, examples) in heads.items()},
    }


def _questions(data: Path) -> list[tuple[str, str]]:
    """Questions on paragraphs, and on several paragraphs together, which have many windows."""
    questions = [tuple(row) for row in read_for("question_answering", data / "xquad" / "xquad.en.json.gz").x]
    contexts = list(dict.fromkeys(context for _, context in questions))
    long = [(question, " ".join(contexts[i % 40 : i % 40 + 3])) for i, (question, _) in enumerate(questions[:100])]
    foreign = [tuple(row) for row in read_for("question_answering", data / "xquad" / "xquad.vi.json.gz").x]
    return [*questions[:900], *long, *foreign[:100]]


def _prompts(sentences: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Prompts with two to five choices."""
    return [(sentences[i], list(sentences[i + 1 : i + 3 + i % 4])) for i in range(500)]


def _masked(sentences: Sequence[str], paragraphs: Sequence[str]) -> list[str]:
    """Texts with one mask or several, some longer than a row."""
    draw = np.random.default_rng(3)

    def masked(text: str, count: int) -> str:
        words = text.split()
        for place in draw.choice(len(words), min(count, len(words)), replace=False):
            words[int(place)] = "[MASK]"
        return " ".join(words)

    return [masked(text, 1 + i % 3) for i, text in enumerate([*sentences[:350], *paragraphs[:100]])]


def _lines(path: Path, most: int) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = (line.strip() for line in file)
        return [line for line, _ in zip(filter(None, lines), range(most), strict=False)]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    demos.add_client(parser)
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="folder of the data sets")
    parser.add_argument("--answers", type=Path, nargs="*", default=[], metavar="TFLITE", help="of question answering")
    parser.add_argument("--encoder", default="small-en", metavar="NAME", help="encoder of the random heads")
    parser.add_argument("--rows", type=int, default=_MOST, help="rows of a case, at most")
    parser.add_argument("--resume", action="store_true", help="keep the cases that the result file has")
    record.add_output(parser, "jvm_predictions")
    return parser.parse_args()


if __name__ == "__main__":
    main()
