"""Early exit in the browser: mean latency of real texts at their own lengths in headless Chromium, with exits against the whole model.

    kerasbert train --task classification --model small-en --exits 1,2,3 --train train.tsv --dev dev.tsv --out runs/deep
    python -m benchmarks.latency.early_exit_web runs/deep --data dev.tsv

The modules of a site of `kerasbert web` run in a worker of headless Chromium, with LiteRT.js on WebAssembly (XNNPACK), as the page runs
them. Measured: the mean latency of the file without exits, of the file with exits whose texts all go through every layer, and of the file
with the threshold that keeps a share of the accuracy, text by text in turn: of each text the fastest round, and the ratio of each round's
means, which a busy machine distorts less: it interrupts long runs more often than short ones. The first half of the texts, every other row,
chooses the threshold; the other half is predicted and timed. Before the times are taken, predictions are compared with Python's: labels and
layers, which should be equal, and the largest difference of probabilities. It needs Node, Chromium and `kerasbert setup web`.
"""

import argparse
import json
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from benchmarks.common import record
from benchmarks.latency.early_exit import ALL_EXITS, WHOLE, add_options, chosen_exits, written_files
from kerasbert.export.backends import web

PACKAGES = ("tensorflow", "tf-keras", "ai-edge-quantizer", "ai-edge-litert", "numpy")
PROGRAM = Path(__file__).parent / "exits_site" / "run.mjs"


def main() -> None:
    """Convert, measure and write the result."""
    arguments = _arguments()
    if missing := web.missing_part():
        raise SystemExit(f"expected all that a page is tried with, received {missing}")
    import kerasbert as kb

    load, (task, choice, texts, labels) = record.load(), chosen_exits(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lengths = [length for length in arguments.lengths if length < task.sequence_length] + [task.sequence_length]
        paths = written_files(task, arguments.task_folder, choice.threshold, lengths, folder, thresholds=())
        models = {key: kb.open(path) for key, path in paths.items()}
        expected = {key: model(texts) for key, model in models.items()}
        scores = {key: model.score(texts, labels) for key, model in models.items()}
        recipe = models[WHOLE].metadata.recipe
        measured = _run_site(paths, texts, folder, arguments)
    times = {key: np.array(values) for key, values in measured["milliseconds"].items()}
    means = {key: float(np.mean(np.min(values, axis=0))) for key, values in times.items()}
    curve = {
        key: {
            "score": next(iter(scores[key].values())), "layers": scores[key].get("layers"), "mean_milliseconds": means[key],
            "saved": 1 - means[key] / means[WHOLE], "over_whole": record.ratio(times[key].mean(axis=1), times[WHOLE].mean(axis=1)),
            "against_python": _differences(expected[key], measured["records"][key]),
        }
        for key in paths
    }  # fmt: skip
    for key, facts in curve.items():
        print(key, facts, flush=True)
    result = {
        "task_folder": arguments.task_folder.name, "browser": measured["browser"], "runs_on": measured["title"], "lengths": lengths,
        "texts": len(texts), "rounds": arguments.rounds, "repeats": arguments.repeats, "recipe": recipe, "keep": arguments.keep,
        "threshold": choice.threshold, "metric": choice.metric, "all_exits_over_whole": means[ALL_EXITS] / means[WHOLE], "curve": curve,
    }  # fmt: skip
    record.write(arguments.json, result, record.versions(PACKAGES), load)


def _run_site(paths: Mapping[str, Path], texts: list[str], folder: Path, arguments: argparse.Namespace) -> dict:
    """Build a site of the files, and run it: records and milliseconds, `(rounds, texts)`, by the names of the files."""
    from kerasbert.web.models import read_models
    from kerasbert.web.site import site_files, write_site

    models = read_models(paths.values())
    write_site(folder / "site", site_files(models))
    (folder / "texts.json").write_text(json.dumps(texts), "utf-8")
    places = {model.source: model.file for model in models}
    asked = {
        "modules": str(web.WEB.folder), "chromium": web.find_browser(), "site": str(folder / "site"), "accelerator": "wasm",
        "models": {key: places[path] for key, path in paths.items()}, "texts": str(folder / "texts.json"),
        "rounds": arguments.rounds, "repeats": arguments.repeats,
    }  # fmt: skip
    command = [arguments.node, str(PROGRAM), json.dumps(asked)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode:
        raise SystemExit(
            f"expected the site to be timed, received exit code {process.returncode}: {process.stderr[-500:]}"
        )
    return json.loads(process.stdout)


def _differences(expected: list[dict], received: list[dict]) -> dict[str, float]:
    """Compare predictions of Python with those of the browser."""
    pairs = list(zip(expected, received, strict=True))
    return {
        "other_labels": sum(one["label"] != other["label"] for one, other in pairs),
        "other_layers": sum(one.get("layers") != other.get("layers") for one, other in pairs),
        "largest_difference": max(
            abs(one["probabilities"][label] - other["probabilities"][label])
            for one, other in pairs
            if one.get("layers") == other.get("layers")
            for label in one["probabilities"]
        ),
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    parser.add_argument("--repeats", type=int, default=4, help="runs of a text at a time, since the clock is coarse")
    parser.add_argument("--node", default="node", metavar="COMMAND")
    record.add_output(parser, "early_exit_web")
    return parser.parse_args()


if __name__ == "__main__":
    main()
