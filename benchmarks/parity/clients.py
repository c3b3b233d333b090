r"""Answers of MediaPipe Tasks and TFLite's Task Library on our files, for real texts and hard strings.

    python -m benchmarks.parity.clients --classifier sst2.tflite --embedder minilm.tflite --texts dev.tsv \
        --answerer qa.tflite --questions dev.json

Measured: the largest difference, mean cosine and equal classes of each client against our runtime. Needs `kerasbert setup mediapipe
task-library`.

Files for the Task Library need `convert --min-runtime 2.9`, and answerers `--length 384`, a constant of that client. Each file is validated
in the clients against itself on our runtime (`validate --on mediapipe,task-library`), which counts texts with other tokens separately. Hard
texts are random (`benchmarks.common.hard_strings`). `export/backends/client_tools/answerer.py` defines the comparison of answers.
"""

import argparse
from pathlib import Path
from typing import Any

from benchmarks.common import hard_strings, record
from kerasbert.data import read_table
from kerasbert.export.backends.client_tools.calls import CLIENTS
from kerasbert.export.validation.checks import Check
from kerasbert.export.validator import validate
from kerasbert.processors import read_for

PACKAGES = ("ai-edge-litert", "numpy", "tokenizers")


def main() -> None:
    """Validate all files in both clients and write the result."""
    arguments = _arguments()
    load = record.load()
    texts = {}
    if arguments.texts:
        texts["real"] = read_table(arguments.texts, max_rows=arguments.rows).texts
        texts["hard"] = hard_strings.make(arguments.hard, ["[MASK]", "[CLS]", "[UNK]"], 7)
    result, files = {}, {}
    for file in (*arguments.classifier, *arguments.embedder):
        files[file.name] = record.file_facts(file)
        result[file.name] = {name: _compare(file, rows) for name, rows in texts.items()}
    for file in arguments.answerer:
        files[file.name] = record.file_facts(file)
        table = read_for("question_answering", arguments.questions)
        result[file.name] = {"questions": _compare(file, table.x[: arguments.rows])}
    for name, kinds in result.items():
        for kind, checks in kinds.items():
            print(name, kind, *checks, sep="\n  ", flush=True)
    record.write(arguments.json, {"files": files, "clients": result}, record.versions(PACKAGES), load)


def _compare(file: Path, data: Any) -> list[dict]:
    """Validate a file in both clients against itself on our runtime."""
    report = validate(file, against=file, data=data, on=tuple(CLIENTS))
    return [_facts(check) for check in report.checks if check.name.startswith(tuple(CLIENTS))]


def _facts(check: Check) -> dict:
    facts = {"check": check.name, "status": check.status, "rows": check.rows}
    for output in check.outputs:
        facts |= {"largest_difference": output.max_error, "mean_cosine": output.cosine}
        if output.agreement is not None:
            facts["same_class"] = round(output.agreement * output.lines)
    if not check.outputs:
        facts["told"] = check.reason.partition(";")[0]
    return facts


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=Path, metavar="FILE", help="real texts for classifiers and embedders")
    for kind in ("classifier", "embedder", "answerer"):
        parser.add_argument(f"--{kind}", type=Path, nargs="+", default=[], metavar="TFLITE")
    parser.add_argument("--questions", type=Path, metavar="FILE", help="questions in SQuAD's format")
    parser.add_argument("--rows", type=int, default=200, help="real texts or questions, at most")
    parser.add_argument("--hard", type=int, default=50, help="number of hard texts")
    record.add_output(parser, "clients")
    return parser.parse_args()


if __name__ == "__main__":
    main()
