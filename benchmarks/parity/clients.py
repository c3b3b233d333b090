r"""Other people's clients on our files: do MediaPipe Tasks and TFLite's Task Library give our answers on real texts, and on hard ones?

    python -m benchmarks.parity.clients --classifier sst2.tflite --texts dev.tsv --embedder minilm.tflite --answerer qa.tflite --questions dev.json

Needs `kerasbert setup mediapipe task-library`. Files for the Task Library are made with `--min-runtime 2.9`, the answerer's with
`--length 384`, which that client has as a constant. Each file is validated in the clients against itself on our runtime (`validate --on
mediapipe,task-library`), so texts that a client tokenizes otherwise count apart. Hard texts are made up (`hard_strings.py`). Answers are
compared as `export/backends/client_tools/answerer.py` says.
"""

import argparse
from pathlib import Path

from benchmarks.common import hard_strings, record
from kerasbert.data import read_table
from kerasbert.data.reading import read_for
from kerasbert.export.backends.client_tools.calls import CLIENTS
from kerasbert.export.validation.checks import Check
from kerasbert.export.validation.validator import validate

PACKAGES = ("ai-edge-litert", "numpy", "tokenizers")


def main() -> None:
    arguments = _arguments()
    load = record.load()
    texts = {}
    if arguments.texts:
        texts["real"] = read_table(arguments.texts, max_rows=arguments.rows).texts
        texts["hard"] = hard_strings.make(arguments.hard, ["[MASK]", "[CLS]", "[UNK]"], 7)
    result, files = {}, {}
    for file in (*arguments.classifier, *arguments.embedder):
        files[file.name] = record.file_facts(file)
        result[file.name] = {name: _compared(file, rows) for name, rows in texts.items()}
    for file in arguments.answerer:
        files[file.name] = record.file_facts(file)
        table = read_for("question_answering", arguments.questions)
        result[file.name] = {"questions": _compared(file, table.x[: arguments.rows])}
    for name, facts in result.items():
        for kind, checks in facts.items():
            print(name, kind, *checks, sep="\n  ", flush=True)
    record.write(arguments.json, {"files": files, "clients": result}, record.versions(PACKAGES), load)


def _compared(file: Path, data) -> list[dict]:
    """A file in both clients against itself."""
    found = validate(file, against=file, data=data, on=tuple(CLIENTS))
    return [_facts(check) for check in found.checks[1:]]


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
    parser.add_argument("--texts", type=Path, metavar="FILE")
    for kind in ("classifier", "embedder", "answerer"):
        parser.add_argument(f"--{kind}", type=Path, nargs="+", default=[], metavar="TFLITE")
    parser.add_argument("--questions", type=Path, metavar="FILE", help="in SQuAD's form")
    parser.add_argument("--rows", type=int, default=200, help="real texts, or questions")
    parser.add_argument("--hard", type=int, default=50, help="hard texts")
    record.add_output(parser, "clients")
    return parser.parse_args()


if __name__ == "__main__":
    main()
