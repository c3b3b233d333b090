"""Ways to fine-tune one encoder: all of it, its top layers, a head on frozen features, adapters, weighted layers, gradual unfreezing.

    python -m benchmarks.training.finetuning_ways FOLDER --work runs/ways

Measured: the metric of each task after the last epoch, the trained parameters, the bytes of the files that a further task needs, and the
processor time of training as a multiple of that of training everything. `FOLDER` holds `sst-2`, `sts-b`, `conll2003` and `mrpc`. Training
rows are drawn once from a seed, and all labelled rows of the other part are measured on. No setting was chosen by its score: rates and
sizes are those that the guides recommend. Every finished run is kept in the result file, and a later call continues with those that are
missing. The first seed comes first, with all tasks and ways.
"""

import argparse
import json
import shutil
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import record
from benchmarks.common.over_seeds import over_seeds
from benchmarks.training.defaults import Case, file_lines, table_rows, write_data
from kerasbert.memory import keep_memory

PACKAGES = ("tensorflow", "tf-keras", "numpy")
MODEL = "small-en"
ROWS, EPOCHS = 1500, 6
# The rate of the whole encoder and of a new head is that of `kerasbert train` without a rate. 3e-3 for adapters and 1e-2 for the weights
# of layers are those of docs/guides/adapters.md; 5e-3 is the rate of a new head of this encoder.
WAYS: dict[str, dict[str, Any]] = {
    "full": {},
    "top-layers": {"top_layers": 2},
    "frozen-features": {"freeze": "encoder"},
    "adapters": {"adapters": 16, "learning_rate": 3e-3},
    "weighted-layers": {"freeze": "encoder", "layer_mix": True, "learning_rate": 5e-3, "rates": {"layer_mix": 1e-2}},
    "gradual-unfreezing": {"unfreeze": True},
}


def _conll(folder: Path) -> tuple[list[str], list[str]]:
    parts = []
    for name in ("train", "testb"):
        blocks = "\n".join(file_lines(folder / f"conll2003/eng.{name}.gz")).split("\n\n")
        parts.append([block.strip("\n") for block in blocks if block.strip() and "-DOCSTART-" not in block])
    return parts[0], parts[1]


CASES = {
    "sst-2": Case(
        "classification", ROWS, 872, "tsv", table_rows("sst-2/train.tsv.gz", "sst-2/dev.tsv.gz", (0, 1), True), {}
    ),
    "sts-b": Case(
        "regression", ROWS, 1500, "tsv", table_rows("sts-b/train.tsv.gz", "sts-b/dev.tsv.gz", (7, 8, 9), True), {}
    ),
    "conll2003": Case("tagging", ROWS, 3453, "conll", _conll, {}),
    "mrpc": Case(
        "classification", ROWS, 408, "tsv", table_rows("mrpc/train.tsv.gz", "mrpc/dev.tsv.gz", (3, 4, 0), True), {}
    ),
}
METRICS = {"sst-2": "accuracy", "sts-b": "Spearman", "conll2003": "entity F1", "mrpc": "accuracy"}


def main() -> None:
    """Run what is missing, and write the result after every run."""
    arguments = _arguments()
    keep_memory()  # as the commands do
    load = record.load()
    for seed in arguments.seeds:
        for name in arguments.data_sets:
            for way in arguments.ways:
                if any((run["case"], run["way"], run["seed"]) == (name, way, seed) for run in _finished(arguments)):
                    continue
                run = {"case": name, "way": way, "seed": seed, **_run(name, way, seed, arguments)}
                print(json.dumps(run), flush=True)
                runs = [*_finished(arguments), run]
                record.write(arguments.json, _result(runs), record.versions(PACKAGES), load)


def _run(name: str, way: str, seed: int, arguments: argparse.Namespace) -> dict[str, Any]:
    """Train as the command does, and measure the saved model."""
    import tf_keras as keras

    import kerasbert as kb
    from kerasbert.cli.train import _train
    from kerasbert.data import read_conll, read_table
    from kerasbert.training.chance import compare_with_chance
    from kerasbert.training.config import TrainConfig

    case, target = CASES[name], arguments.work / name
    paths = (target / f"train.{case.suffix}", target / f"dev.{case.suffix}")
    train, dev = paths if all(path.is_file() for path in paths) else write_data(case, arguments.folder, target)
    out = arguments.work / f"{name}-{way}"
    shutil.rmtree(out, ignore_errors=True)
    given: dict[str, Any] = {"model": MODEL, "train": str(train), "out": str(out), "task": case.task, "epochs": EPOCHS}
    config = TrainConfig(**given, seed=seed, **WAYS[way])
    start = time.process_time()
    trained = _train(config, out, False, False).data
    seconds = time.process_time() - start

    task: Any = kb.load_task(out)
    rows = read_conll(dev) if case.suffix == "conll" else read_table(dev)
    outputs = task.labelled_outputs(rows, batch_size=64)
    chance = compare_with_chance(task.processor, outputs)
    kept = _bytes_to_keep(task, out, config)
    result = {
        "metrics": {metric: float(value) for metric, value in task.processor.metrics(*outputs).items()},
        "chance": asdict(chance) if chance else None,
        "learning_rate": trained["settings"]["learning_rate"], "rates": trained["settings"].get("rates"),
        "sequence_length": trained["sequence_length"], "last_loss": trained["epochs"][-1]["loss"],
        "trained_parameters": _trained_parameters(task, config), "kept_bytes": kept,
        "processor_seconds": round(seconds, 1), "load": record.load(), "cpu": record.describe_machine()["cpu"],
    }  # fmt: skip
    shutil.rmtree(out)
    keras.backend.clear_session()
    return result


def _trained_parameters(task: Any, config: Any) -> int:
    """Count the numbers that training changed, of parts that the output depends on."""
    from kerasbert.optimizers.parameter_groups import group_names, part_of
    from kerasbert.training.preparation import freeze_parts

    freeze_parts(task, config)
    trained, parts = {id(variable) for variable in task.trainable_variables}, group_names(task)
    variables = {path: each for path, each in task.variables_by_path().items() if id(each) in trained}
    return sum(int(np.prod(each.shape)) for path, each in variables.items() if part_of(path) in parts)


def _bytes_to_keep(task: Any, out: Path, config: Any) -> int:
    """Return the bytes of the weights that a further task on the same encoder adds: adapters have a file of their own."""
    if not config.adapters:
        return (out / "model.safetensors").stat().st_size
    import kerasbert as kb

    path = out.with_suffix(".safetensors")
    kb.save_adapters(task, path)
    size = path.stat().st_size
    path.unlink()
    return size


def _result(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the settings, a summary for each task and way over the seeds, and the runs."""
    summary: dict[str, dict[str, Any]] = {}
    for name in CASES:
        full = {run["seed"]: run for run in runs if (run["case"], run["way"]) == (name, "full")}
        for way in WAYS:
            own = [run for run in runs if (run["case"], run["way"]) == (name, way)]
            if not own:
                continue
            values = [run["metrics"][METRICS[name]] for run in own]
            times = [
                run["processor_seconds"] / full[run["seed"]]["processor_seconds"] for run in own if run["seed"] in full
            ]
            summary.setdefault(name, {})[way] = {
                **over_seeds(values), "trained_parameters": own[0]["trained_parameters"], "kept_bytes": own[0]["kept_bytes"],
                "processor_time_of_full": float(np.median(times)) if times else None,
            }  # fmt: skip
    settings = {
        "model": MODEL, "epochs": EPOCHS, "ways": WAYS, "metrics": METRICS,
        "rows": {name: {"task": case.task, "train": case.train, "dev": case.dev} for name, case in CASES.items()},
    }  # fmt: skip
    return {"settings": settings, "summary": summary, "runs": runs}


def _finished(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    return json.loads(arguments.json.read_text("utf-8"))["runs"] if arguments.json.is_file() else []


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder of the data sets")
    parser.add_argument("--work", type=Path, required=True, metavar="FOLDER", help="for rows and models of a run")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--data-sets", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=list(WAYS))
    record.add_output(parser, "finetuning_ways")
    return parser.parse_args()


if __name__ == "__main__":
    main()
