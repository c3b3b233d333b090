"""Early exit in one `.tflite` file: accuracy and mean latency of real texts at their own lengths, by threshold, against the whole model.

    kerasbert train --task classification --model small-en --exits 1,2,3 --train train.tsv --dev dev.tsv --out runs/deep
    python -m benchmarks.latency.early_exit runs/deep --data dev.tsv

Measured on one thread: the mean latency of the file without exits, of the file with exits whose texts all go through every layer, and of
the file at several thresholds, text by text in turn; of each text the fastest round counts. Also the accuracy, the mean layers and the
exits' shares at each threshold. The first half of the texts, every other row, chooses the threshold that keeps a share of the accuracy; the
other half is scored and timed.
"""

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import record
from kerasbert.export.runtime.pipeline import Pipeline
from kerasbert.export.tflite.metadata import append

PACKAGES = ("tensorflow", "tf-keras", "ai-edge-quantizer", "ai-edge-litert", "numpy")
WHOLE, ALL_EXITS = "without exits", "all exits"
THRESHOLDS = (0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)


def main() -> None:
    """Convert, measure and write the result."""
    arguments = _arguments()
    import kerasbert as kb

    load, (task, choice, texts, labels) = record.load(), chosen_exits(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lengths = [length for length in arguments.lengths if length < task.sequence_length] + [task.sequence_length]
        paths = written_files(task, arguments.task_folder, choice.threshold, lengths, folder)
        sizes = {key: record.file_facts(paths[key]) for key in (WHOLE, ALL_EXITS)}
        models = {key: kb.open(path) for key, path in paths.items()}
        scores = {key: _scores(model, texts, labels) for key, model in models.items()}
        seconds = _seconds(models, texts, arguments.rounds)
    means = {key: float(np.mean(np.min(values, axis=0))) for key, values in seconds.items()}
    whole = scores[WHOLE]["score"]
    curve = {
        key: {**scores[key], "share_of_score": scores[key]["score"] / whole, "mean_milliseconds": 1e3 * means[key],
              "saved": 1 - means[key] / means[WHOLE]}
        for key in models
    }  # fmt: skip
    for key, facts in curve.items():
        print(
            key,
            {name: round(value, 4) if isinstance(value, float) else value for name, value in facts.items()},
            flush=True,
        )
    result = {
        "task_folder": arguments.task_folder.name, "threads": 1, "lengths": lengths, "texts": len(texts), "rounds": arguments.rounds,
        "recipe": models[WHOLE].metadata.recipe, "keep": arguments.keep, "threshold": choice.threshold, "metric": choice.metric,
        "exits_on_the_other_half": [vars(each) for each in choice.exits], "files": sizes,
        "all_exits_over_whole": means[ALL_EXITS] / means[WHOLE], "curve": curve,
    }  # fmt: skip
    record.write(arguments.json, result, record.versions(PACKAGES), load)


def chosen_exits(arguments: argparse.Namespace) -> tuple[Any, Any, list, list]:
    """Load the task, choose its threshold on every second row, and return task, choice, and the other texts and labels."""
    import kerasbert as kb

    table = kb.data.read_table(arguments.data, text=arguments.text_column, label=arguments.label_column)
    texts, labels = list(table.x)[: arguments.texts], list(table.y)[: arguments.texts]
    task = kb.load_task(arguments.task_folder)
    return task, task.tune_exits(texts[::2], labels[::2], keep=arguments.keep), texts[1::2], labels[1::2]


def written_files(
    task: Any, source: Path, chosen: float, lengths: list[int], folder: Path, thresholds: tuple[float, ...] = THRESHOLDS
) -> dict[str, Path]:
    """Write the file without exits, and the one with exits at each threshold; their graphs are the same bytes.

    Args:
        task: The task with exits. Its threshold is removed.
        source: Its folder.
        chosen: The threshold that was chosen.
        lengths: The lengths of the signatures, rising.
        folder: Where the files are written.
        thresholds: Others beside the chosen one.

    Returns:
        The paths by name: `WHOLE`, `ALL_EXITS`, and the thresholds.
    """
    import kerasbert as kb

    paths = {WHOLE: folder / "whole.tflite", ALL_EXITS: folder / "exits.tflite"}
    recipe = task.policy.recipe if task.policy else "dynamic_wi8_afp32"
    plain = type(task).from_pretrained(source, exits=[])
    kb.export.convert(plain, recipe, length=lengths).save(paths[WHOLE])
    task.exit_threshold = None
    file = kb.export.convert(task, recipe, length=lengths)
    file.save(paths[ALL_EXITS])
    metadata = file.require_metadata("to change its threshold")
    for threshold in sorted({*thresholds, chosen}):
        key = f"threshold {threshold:g}" + (" (chosen)" if threshold == chosen else "")
        paths[key] = folder / f"{threshold}.tflite"
        paths[key].write_bytes(append(file.content, replace(metadata, exit_threshold=threshold)))
    return paths


def _scores(model: Pipeline, texts: list, labels: list) -> dict:
    """Return the score, the mean layers, and the share of the texts that end behind each layer."""
    metrics = model.score(texts, labels)
    layers = [each["layers"] for each in model(texts) if "layers" in each]
    shares = {str(layer): float(np.mean(np.array(layers) == layer)) for layer in sorted(set(layers))}
    return {"score": next(iter(metrics.values())), "layers": metrics.get("layers"), "shares": shares}


def _seconds(models: dict[str, Pipeline], texts: list, rounds: int) -> dict[str, np.ndarray]:
    """Time every text with every model, in turn: `(rounds, texts)` seconds, from ids to probabilities."""
    runs, seconds = {}, {key: np.zeros((rounds, len(texts))) for key in models}
    for key, model in models.items():
        runner = model._opened.get(model._open)
        features = model.processor.features(texts, model.tokenizer, model.length)
        sessions = [runner.for_row(int(count)) for count in features.lengths]
        runs[key] = [
            (session, next(features.each_list([row], session.length, model.tokenizer.pad_id, session.inputs)))
            for row, session in enumerate(sessions)
        ]
    for turn in range(-1, rounds):  # the first round packs weights
        for row in range(len(texts)):
            for key in models if (turn + row) % 2 else reversed(models):
                session, inputs = runs[key][row]
                start = time.perf_counter()
                session.timed(inputs)
                seconds[key][turn, row] = time.perf_counter() - start
    return seconds


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the model, the texts and the number of rounds."""
    parser.add_argument("task_folder", type=Path, help="output of `kerasbert train --exits` or `kerasbert quantize`")
    parser.add_argument("--data", required=True, metavar="FILE", help="labelled texts that were not trained on")
    parser.add_argument("--text-column", metavar="NAME")
    parser.add_argument("--label-column", metavar="NAME")
    parser.add_argument("--texts", type=int, metavar="N", help="the first N texts only")
    parser.add_argument("--keep", type=float, default=0.99, help="the share of the accuracy that the threshold keeps")
    parser.add_argument(
        "--lengths", type=int, nargs="+", default=[16, 32, 48], help="lengths of the files beside the model's own"
    )
    parser.add_argument("--rounds", type=int, default=5, help="passes over the texts")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    record.add_output(parser, "early_exit")
    return parser.parse_args()


if __name__ == "__main__":
    main()
