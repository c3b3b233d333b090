"""Quality of a task file on each backend beside the float model that it was made from.

    python -m benchmarks.zoo.files intents --float intents.tflite.build/1-train --data test.jsonl --named "assistant test"

Measured: the task's metrics of the float model in Keras and of the file on each backend, over all rows; the share of the first metric that
the file keeps; and the file's size. MODEL is a name in the zoo or a file. Backends that the machine lacks are left out. Without `--float`
the share is taken of the float model's metric that `zoo/results.csv` has for the same data.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.common import record
from benchmarks.zoo.rows import gpu_backend, make_result

if TYPE_CHECKING:
    from kerasbert.export.validation.checks import Check

PACKAGES = ("tensorflow", "tf-keras", "ai-edge-litert", "tokenizers", "numpy")
BACKENDS = ("cpu", "gpu", "web")
CHECKS = {
    "cpu-xnnpack": "xnnpack",
    "cpu-reference": "reference",
    "gpu-mixed": "gpu",
    "web-wasm": "wasm",
}


def main() -> None:
    """Measure, and add the lines to `zoo/results.csv` unless `--dry-run` is given."""
    arguments = _arguments()
    import kerasbert as kb
    from kerasbert.export.runtime.opening import open_pipeline
    from kerasbert.model_names import shipped_model
    from kerasbert.zoo.results import add_results
    from kerasbert.zoo.tables import SHARE

    load, path = record.load(), shipped_model(arguments.model) or Path(arguments.model)
    task = kb.load_task(arguments.float) if arguments.float else None
    data = (task or open_pipeline(path)).processor.read(
        arguments.data, label_column=arguments.label_column, text_column=arguments.text_column, max_rows=arguments.rows
    )
    report = kb.export.validate(
        path, against=task or path, data=data, on=arguments.on, reference_rows=len(data), threads=2
    )
    checks = {CHECKS[check.name]: check for check in report.checks if check.name in CHECKS and check.metrics}
    if not checks:
        raise SystemExit("; ".join(f"{check.name}: {check.status}, {check.reason}" for check in report.checks))
    lines, name = [], path.stem
    for index, metric in enumerate(next(iter(checks.values())).metrics):
        if task:
            lines.append(make_result(name, "float", arguments.named, metric.name, [metric.reference]))
        reference = metric.reference if task else _recorded(name, arguments.named, metric.name)
        for backend, check in checks.items():
            backend = gpu_backend(check.device) if backend == "gpu" else backend
            found = check.metrics[index]
            values = {found.name: found.model} | ({} if index else {f"{SHARE}{found.name}": found.model / reference})
            lines += [
                make_result(name, "int8", arguments.named, key, [value], backend, device=check.device)
                for key, value in values.items()
            ]
    lines.append(make_result(name, "int8", "file", "size MB", [path.stat().st_size / 1e6], ""))
    for line in lines:
        print(f"{line.file} {line.backend} {line.data} {line.metric}: {line.value:.4f}")
    for check in report.checks:
        print(check.name, check.status, check.reason)
    if not arguments.dry_run:
        add_results(lines)
    result = {
        "model": name, "data": arguments.named, "rows": report.rows, "checks": {check.name: _facts(check) for check in report.checks}
    }  # fmt: skip
    record.write(arguments.json, result, record.versions(PACKAGES), load)


def _recorded(model: str, data: str, metric: str) -> float:
    """The metric of the float model that was measured before."""
    from kerasbert.zoo.results import read_results, select

    found = select(read_results(), model=model, file="float", data=data, metric=metric)
    if not found:
        raise SystemExit(
            f"expected {metric} of the float model of {model} on {data} in zoo/results.csv, received none; give --float"
        )
    return found[0].value


def _facts(check: "Check") -> dict:
    """A check's status, rows, metrics, and agreement with the float model."""
    agreements = [output.agreement for output in check.outputs if output.agreement is not None]
    return {
        "status": check.status, "reason": check.reason, "device": check.device, "rows": check.rows,
        "agreement": min(agreements) if agreements else None, "metrics": [metric.as_dict() for metric in check.metrics],
    }  # fmt: skip


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", metavar="MODEL", help="a name in the zoo, or a .tflite file")
    parser.add_argument("--float", metavar="FOLDER", help="the float model that the file was made from")
    parser.add_argument("--data", type=Path, required=True, metavar="FILE", help="labelled test data")
    parser.add_argument("--named", required=True, metavar="NAME", help="the data set and part, as in zoo/results.csv")
    parser.add_argument("--text-column", metavar="NAME", help="column of the text")
    parser.add_argument("--label-column", metavar="NAME", help="column of the label")
    parser.add_argument("--rows", type=int, metavar="N", help="the first rows only")
    parser.add_argument("--on", nargs="+", default=list(BACKENDS), metavar="BACKEND", help="backends (cpu gpu web)")
    parser.add_argument("--dry-run", action="store_true", help="leave zoo/results.csv as it is")
    record.add_output(parser, "zoo_files")
    return parser.parse_args()


if __name__ == "__main__":
    main()
