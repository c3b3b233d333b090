r"""Other people's clients on our files: do MediaPipe Tasks and TFLite's Task Library give our answers on real texts?

    python benchmarks/clients.py --classifier sst2.tflite --texts dev.tsv --embedder minilm.tflite --answerer qa.tflite --questions dev.json

Needs `kerasbert setup mediapipe task-library`. Files for the Task Library are made with `--min-runtime 2.9`, the answerer's with
`--length 384`, which that client has as a constant. Classes are compared by name and probability, vectors by their cosine, answers by the
official normalization of SQuAD. The Task Library cuts questions at 64 words' pieces and contexts at the file's length, so only questions
whose tokens fit into one row count. It never says that there is no answer, and cuts contexts at white space only: ours is the best answer
that there is, widened to such words. It looks at the five best first and the five best last tokens, and no further; ours at all of them, so
both are compared: what a user sees, and whether the numbers are the same when we search as narrowly.
"""

import argparse
import json
import re
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import record

from kerasbert.errors import KerasBertError
from kerasbert.export.backends.child import run_child
from kerasbert.export.backends.known_environments import MEDIAPIPE, TASK_LIBRARY
from kerasbert.export.predictor import open_predictor

CLIENT = Path(__file__).parents[1] / "tests" / "export" / "clients" / "run_client.py"
PACKAGES = ("ai-edge-litert", "numpy")
SAME = 0.999  # cosine: what two runtimes make of 8 bits; a text that is split otherwise has less
QUESTION_TOKENS = 64


def main() -> None:
    from kerasbert.data import read_table

    arguments = _arguments()
    load = record.load()
    texts = read_table(arguments.texts, max_rows=arguments.rows).texts if arguments.texts else []
    result = {}
    if arguments.classifier:
        ours = [answer["probabilities"] for answer in open_predictor(arguments.classifier).answer(texts)]
        for name, environment in (("mediapipe", MEDIAPIPE), ("task_library", TASK_LIBRARY)):
            theirs = _ask(environment, f"{name}_classifier", arguments.classifier, texts)
            result[f"{name} classifier"] = _classes(ours, theirs)
    if arguments.embedder:
        predictor = open_predictor(arguments.embedder)
        ours = [answer["vector"] for answer in predictor.answer(texts)]
        for name, environment in (("mediapipe", MEDIAPIPE), ("task_library", TASK_LIBRARY)):
            result[f"{name} embedder"] = _vectors(
                ours, _ask(environment, f"{name}_embedder", arguments.embedder, texts)
            )
    for file in arguments.answerer:
        result[f"task_library answerer, {file.name}"] = _answers(arguments, file)
    for name, facts in result.items():
        print(name, json.dumps(facts), flush=True)
    files = {
        kind: record.file_facts(getattr(arguments, kind))
        for kind in ("classifier", "embedder")
        if getattr(arguments, kind) is not None
    }
    files |= {f"answerer, {file.name}": record.file_facts(file) for file in arguments.answerer}
    record.write(arguments.json, {"files": files, "clients": result}, record.versions(PACKAGES), load)


def _ask(environment, client: str, model: Path, examples: list) -> list:
    if not environment.ready:
        raise KerasBertError(environment.missing)
    with tempfile.TemporaryDirectory() as folder:
        given, wanted = Path(folder, "examples.json"), Path(folder, "answers.json")
        given.write_text(json.dumps(examples), "utf-8")
        ended = run_child([environment.python, CLIENT, client, model, given, wanted], 1800)
        if not ended.well:
            raise KerasBertError(f"expected answers of {client}, received {ended.last_words}")
        return json.loads(wanted.read_text("utf-8"))


def _classes(ours: list[dict], theirs: list[dict]) -> dict:
    differences = [
        max(abs(mine[name] - found[name]) for name in mine) for mine, found in zip(ours, theirs, strict=True)
    ]
    same = [max(mine, key=mine.get) == max(found, key=found.get) for mine, found in zip(ours, theirs, strict=True)]
    return {"texts": len(ours), "same_class": sum(same), "largest_difference": max(differences)}


def _vectors(ours: list, theirs: list) -> dict:
    ours, theirs = (np.array(side) / np.linalg.norm(side, axis=1, keepdims=True) for side in (ours, theirs))
    cosines = (ours * theirs).sum(1)
    told = {"least_cosine": float(cosines.min()), "mean_cosine": float(cosines.mean())}
    return {"texts": len(ours), "same_vector": int((cosines > SAME).sum()), **told}


def _answers(arguments, file: Path) -> dict:
    from kerasbert.data.reading import read_for
    from kerasbert.problems.squad_scores import units

    predictor = open_predictor(file)
    table = read_for("question_answering", arguments.questions)
    examples = predictor.problem.examples(table.x)
    rows = predictor.problem.rows(examples, predictor.tokenizer, predictor.length)
    windows = np.bincount(rows.example, minlength=len(examples))
    short = [
        number
        for number, (question, _) in enumerate(examples)
        if windows[number] == 1
        and len(predictor.tokenizer.encode([question], max_length=512).input_ids[0]) <= QUESTION_TOKENS
    ][: arguments.rows]
    chosen = [examples[number] for number in short]
    theirs = [units(text) for text in _ask(TASK_LIBRARY, "task_library_answerer", file, chosen)]
    rows = predictor.problem.rows(chosen, predictor.tokenizer, predictor.length)
    readings = predictor.readings(rows)
    found = {"questions": len(chosen)}
    for name, problem, logits in (
        ("same_answer", predictor.problem, readings),
        ("same_answer_by_their_search", replace(predictor.problem, longest_answer=32), map(_best_places, readings)),
    ):
        answers = problem.answers(chosen, rows, list(logits))
        ours = [_whole_words(answer["best"], context) for answer, (_, context) in zip(answers, chosen, strict=True)]
        found[name] = sum(units(one) == other for one, other in zip(ours, theirs, strict=True))
    return found


def _best_places(reading: dict, count: int = 5) -> dict:
    """The logits of the best places, and of no other."""
    return {
        name: np.where(logits >= np.sort(logits, axis=-1)[..., [-count]], logits, -np.inf)
        for name, logits in reading.items()
    }


def _whole_words(best: list[dict], context: str) -> str:
    """The best answer that is one, from white space to white space."""
    found = next((answer for answer in best if answer["answer"]), None)
    if found is None:
        return ""
    begun = re.search(r"\S*$", context[: found["start"]])
    ended = re.match(r"\S*", context[found["end"] :])
    return begun.group() + found["answer"] + ended.group()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=Path, metavar="FILE")
    parser.add_argument("--classifier", type=Path, metavar="TFLITE")
    parser.add_argument("--embedder", type=Path, metavar="TFLITE")
    parser.add_argument("--answerer", type=Path, nargs="+", default=[], metavar="TFLITE")
    parser.add_argument("--questions", type=Path, metavar="FILE", help="in SQuAD's form")
    parser.add_argument("--rows", type=int, default=200)
    record.add_output(parser, "clients")
    return parser.parse_args()


if __name__ == "__main__":
    main()
