"""Changed `.tflite` files in `validate`: those that predict otherwise may not pass, those that mean the same may not be refused.

    python -m benchmarks.robustness.validate_mutations

Small models of every task are converted. Each file is changed in many ways: settings of tokenizer and processor one by one, vocabulary,
labels, lengths, claims of the metadata, weights, scores; and into other forms that mean the same. Whether a changed file predicts
otherwise is measured here, without `validate`: file and model predict held-out texts, and predictions are compared. `validate` gets
other texts.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import kerasbert as kb
from benchmarks.common import record
from benchmarks.robustness.file_mutations import Mutation
from benchmarks.robustness.mutation_cases import Case, make_cases
from kerasbert.errors import KerasBertError

PASSED, REFUSED, OPEN = "passed", "refused", "not decided"
OTHERWISE, SAME, CLOSE = "otherwise", "the same", "nearly the same"
_VERDICTS = {"passed": PASSED, "no difference found": PASSED, "failed": REFUSED}
_DECISIONS = 0.02  # the share of other decisions, beyond those of the unchanged file, that is another prediction

# The decision and the score of a prediction, by task type, as a user of `kerasbert predict --json` reads them.
_READERS: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "single_label": lambda p: (p["label"], p["probabilities"]),
    "multi_label": lambda p: (tuple(p["labels"]), p["probabilities"]),
    "regression": lambda p: (None, {"score": p["score"]}),
    "tagging": lambda p: (tuple(p["tags"]), {str(i): e["score"] for i, e in enumerate(p["entities"])}),
    "question_answering": lambda p: (
        (p["answer"], p["start"], len(p["best"])), {"score": p["score"], "no answer": p["no_answer_score"]}
    ),
    "multiple_choice": lambda p: (p["text"], dict(enumerate(p["probabilities"]))),
    "masked_lm": lambda p: (
        tuple(tuple(word["word"] for word in mask["words"]) for mask in p["masks"]),
        {f"{i} {word['word']}": word["probability"] for i, mask in enumerate(p["masks"]) for word in mask["words"]},
    ),
    "embedding": lambda p: (None, dict(enumerate(map(float, p["vector"])))),
}  # fmt: skip


def difference(problem: str, before: list, after: list) -> tuple[float, float]:
    """Compare predictions of the same texts.

    Returns:
        The share of other decisions, and the mean of the largest move of a score.
    """
    read = _READERS[problem]
    pairs = [(read(one), read(other)) for one, other in zip(before, after, strict=True)]
    decisions = np.mean([one[0] != other[0] for one, other in pairs])
    moves = [max((abs(one[1][name] - other[1].get(name, 0.0)) for name in one[1]), default=0.0) for one, other in pairs]
    return float(decisions), float(np.mean(moves))


def measured(case: Case, path: Path, expected: list) -> tuple[float, float] | None:
    """Compare a file with its model on held-out texts; None where it cannot predict them, or not of this task."""
    try:
        found = kb.open(path).predictions(case.held_out)
        return difference(case.task.processor.name, expected, found)
    except (KerasBertError, KeyError, ValueError):  # it does not run, or its predictions are those of another task
        return None


def effect_of(case: Case, found: tuple[float, float] | None, unchanged: tuple[float, float]) -> str:
    """Say whether a changed file predicts otherwise, beside what the unchanged file differs from its model."""
    if found is None:
        return OTHERWISE
    decisions, moves = (each - base for each, base in zip(found, unchanged, strict=True))
    if decisions > _DECISIONS or moves > case.score_limit:
        return OTHERWISE
    return SAME if decisions <= 0 and moves <= case.score_limit / 20 else CLOSE


def verdict_of(case: Case, path: Path) -> tuple[str, str]:
    """Validate a file; return the end and the reason."""
    try:
        report = kb.export.validate(path, against=case.task, data=case.data, reference_rows=8)
    except KerasBertError as error:
        return REFUSED, str(error)
    reasons = [f"{check.name}: {check.reason}" for check in report.checks if check.status not in ("passed", "not run")]
    return _VERDICTS.get(report.verdict, OPEN), "; ".join(reasons)


def run_case(case: Case, folder: Path, only: str) -> list[dict[str, Any]]:
    """Run every mutation of a case."""
    expected = case.task.predictions(case.held_out)
    path = folder / "model.tflite"
    path.write_bytes(case.content)
    unchanged = measured(case, path, expected)
    if unchanged is None:
        raise SystemExit(f"{case.name}: the unchanged file does not predict")
    rows = []
    for mutation in [Mutation("unchanged", lambda content: content, same_meaning=True), *case.mutations]:
        if only not in mutation.name:
            continue
        path.write_bytes(mutation.change(case.content))
        found = measured(case, path, expected)
        end, reason = verdict_of(case, path)
        effect = effect_of(case, found, unchanged)
        fault = (effect == OTHERWISE and end == PASSED) or (mutation.same_meaning and end != PASSED)
        rows.append(
            {
                "case": case.name, "mutation": mutation.name, "same_meaning": mutation.same_meaning, "predicts": effect,
                "other_decisions": found and round(found[0], 4), "score_move": found and round(found[1], 5), "validate": end,
                "reason": reason[:240], "fault": fault,
            }
        )  # fmt: skip
        print(
            f"{'FAULT ' if fault else ''}{case.name}: {mutation.name}: predicts {effect}, {end} ({reason[:100]})",
            flush=True,
        )
    return rows


def main() -> None:
    """Run the campaign and write the result; exits with 1 if a file has the wrong verdict."""
    arguments, load, started = _arguments(), record.load(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        cases = [case for case in make_cases() if arguments.case in case.name]
        rows = [row for case in cases for row in run_case(case, Path(folder), arguments.only)]
    counts = Counter((row["predicts"], row["validate"]) for row in rows if not row["same_meaning"])
    same = Counter(row["validate"] for row in rows if row["same_meaning"])
    result = {
        "mutations": len(rows),
        "different_mutations": len({row["mutation"] for row in rows}),
        "predict_otherwise_and_passed": counts[OTHERWISE, PASSED],
        "same_meaning_and_not_passed": sum(same.values()) - same[PASSED],
        "outcomes": [{"predicts": key[0], "validate": key[1], "files": count} for key, count in sorted(counts.items())],
        "same_meaning": dict(same),
        "seconds": round(time.monotonic() - started, 1),
        "rows": rows,
    }
    record.write(arguments.json, result, record.versions(["ai-edge-litert", "tensorflow", "numpy"]), load)
    sys.exit(1 if any(row["fault"] for row in rows) else 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", default="", help="only cases with this text in their name")
    parser.add_argument("--only", default="", help="only mutations with this text in their name")
    record.add_output(parser, "validate_mutations")
    return parser.parse_args()


if __name__ == "__main__":
    main()
