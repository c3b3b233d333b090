"""Writes the measured tables and plots of docs/compression.md from the results of this folder.

    python -m benchmarks.reports.compression_tables

A table stands between `<!-- name -->` and `<!-- end -->`; what has no result is left as it is, and said.
"""

import json
from collections.abc import Callable

import matplotlib
import numpy as np

from benchmarks.common import record
from benchmarks.common.finetuning_cases import CASES
from benchmarks.reports.markdown_tables import DOCS, header, put, row

matplotlib.use("Agg")
NAMES = {"mrpc": "MRPC", "sts-b": "STS-B", "rte": "RTE", "cola": "CoLA", "sst-2": "SST-2", "conll2003": "CoNLL-2003"}
VARIANTS = {
    "float32": "float", "float32_trained": "float, trained on", "dynamic": "dynamic", "dynamic_4_bits": "dynamic, 4-bit kernels",
    "static_ptq": "static, calibrated", "static_qat": "static, trained", "integer_ptq": "integer-only, calibrated",
    "integer_qat": "integer-only, trained",
}  # fmt: skip
SAME_OPERATORS = {"float32_trained": "float32", "static_qat": "static_ptq", "integer_qat": "integer_ptq"}


def main() -> None:
    tables = {}
    for name, table in TABLES.items():
        path = record.RESULTS / f"{name}.json"
        if path.is_file():
            tables[name] = table(json.loads(path.read_text("utf-8")))
        else:
            print(f"no {path.name}: the table stays as it is")
    put(DOCS / "compression.md", tables)


def quantized_tasks(result: dict) -> list[str]:
    """A row a way of quantizing: each task's metric and its share of float, the mean shares, size and latency."""
    summary = result["summary"]
    cases = [case for case in NAMES if case in summary["float32"]["metrics"]]
    headings = [f"{NAMES[case]} ({CASES[case].metric})" for case in cases]
    lines = header("", *headings, "mean share of float", "of float, trained on", "MB", "ms")
    for variant, name in VARIANTS.items():
        if variant not in summary:
            continue
        size = np.median([run["bytes"] / 1e6 for run in result["runs"] if run["variant"] == variant])
        latency = result["latencies"].get(SAME_OPERATORS.get(variant, variant))
        milliseconds = f"{latency['p50'] * 1e3:.2f}" if latency else "-"
        lines.append(row(name, *_share_cells(summary[variant], cases), f"{size:.1f}", milliseconds))
        if by_reference := summary.get(f"{variant}_reference_kernels"):
            lines.append(row("the same, reference kernels", *_share_cells(by_reference, cases), "", ""))
    _plot_shares(summary, cases)
    return lines


def _share_cells(found: dict, cases: list[str]) -> list[str]:
    shares = found["shares"]["float32"]["cases"]
    cells = [f"{found['metrics'][case]:.4f} ({shares[case]:.1%})" if case in shares else "-" for case in cases]
    means = [found["shares"].get(reference, {}).get("mean") for reference in ("float32", "float32_trained")]
    return [*cells, *("" if mean is None else f"{mean:.2%}" for mean in means)]


def _plot_shares(summary: dict, cases: list[str]) -> None:
    import matplotlib.pyplot as plt

    variants = [variant for variant in VARIANTS if variant in summary and variant != "float32"]
    shares = [summary[variant]["shares"]["float32"] for variant in variants]
    figure, axes = plt.subplots(figsize=(8, 0.55 * len(variants) + 1.4))
    for case in cases:
        points = [(found["cases"][case], row) for row, found in enumerate(shares) if case in found["cases"]]
        axes.plot(*zip(*points, strict=True), "o", alpha=0.75, label=NAMES[case])
    axes.plot(
        [found["mean"] for found in shares], range(len(variants)), "k|", markersize=18, markeredgewidth=2, label="mean"
    )
    axes.axvline(1.0, color="0.7", linewidth=1)
    axes.set_yticks(range(len(variants)), [VARIANTS[variant] for variant in variants])
    axes.invert_yaxis()
    axes.set_xlabel("metric of the .tflite file, as a share of the float file's")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    _save(figure, "quantized_tasks.png")


def sparse_models(result: dict) -> list[str]:
    """A row a share of zeros, alone and with distillation, and one for each trained on in 8 bits."""
    whole = result["whole"]
    lines = header("zeros", "accuracy", "share of float", "gzip MB", "file MB", "latency")
    lines.append(
        row("none, float", f"{whole['dev_float']['accuracy']:.4f}", "100 %", "", "", ""),
    )
    lines.append(
        row("none, dynamic", f"{whole['dev']['accuracy']:.4f}", _share(whole["dev"], whole["dev_float"]), *_sizes([whole]), "1.00")
    )  # fmt: skip
    kinds = sorted({(run["sparsity"], run["distilled"]) for run in result["runs"]})
    for share, distilled in kinds:
        mine = [run for run in result["runs"] if (run["sparsity"], run["distilled"]) == (share, distilled)]
        name = f"{share:.0%}" + (", distilled" if distilled else "")
        lines.append(_sparse_row(name, mine, whole, f"{np.median([run['latency_ratio'] for run in mine]):.2f}"))
        quantized = [run["quantization_aware"] for run in mine if "quantization_aware" in run]
        if quantized:
            lost = max(run["zeros_lost"] for run in quantized)
            name += f", then static int8 trained ({lost} zeros lost)"
            lines.append(_sparse_row(name, quantized, whole, ""))
    return lines


def _sparse_row(name: str, runs: list[dict], whole: dict, latency: str) -> str:
    accuracies = [run["dev"]["accuracy"] for run in runs]
    share = np.mean(accuracies) / whole["dev_float"]["accuracy"]
    return row(name, _mean(accuracies), f"{share:.2%}", *_sizes(runs), latency)


def _sizes(runs: list[dict]) -> list[str]:
    return [f"{np.median([run[key] for run in runs]) / 1e6:.1f}" for key in ("gzip_bytes", "bytes")]


def _share(dev: dict, whole: dict) -> str:
    return f"{dev['accuracy'] / whole['accuracy']:.2%}"


def cut_models(result: dict) -> list[str]:
    """A row a cut: accuracy after training on, its share, size and latency beside the whole model's file."""
    whole = result["whole"]
    lines = header("cut", "accuracy", "share of the whole", "MB", "latency")
    lines.append(row("nothing", f"{whole['dev']['accuracy']:.4f}", "100 %", f"{whole['bytes'] / 1e6:.1f}", "1.00"))
    for cut in dict.fromkeys(run["cut"] for run in result["runs"]):
        mine = [run for run in result["runs"] if run["cut"] == cut]
        accuracies = [run["dev"]["accuracy"] for run in mine]
        share = np.mean(accuracies) / whole["dev"]["accuracy"]
        megabytes = np.median([run["bytes"] for run in mine]) / 1e6
        latency = np.median([run["latency_ratio"] for run in mine])
        lines.append(
            row(cut.replace("_", " "), _mean(accuracies), f"{share:.2%}", f"{megabytes:.1f}", f"{latency:.2f}")
        )
    if words := result.get("vocabulary"):
        equal = f"{words['equal_answers']:,} of {words['answers']:,} answers the same"
        lines.append(row("words that no text has", equal, "", f"{words['bytes'] / 1e6:.1f}", ""))
    return lines


def small_students(result: dict) -> list[str]:
    """The teacher's files, and the student's."""
    lines = header("", "accuracy", "share of the float teacher", "MB", "times as fast as the teacher, dynamic")
    teacher = result["teacher"]["float32"]["dev"]["accuracy"]
    for name, recipe in (("teacher, float", "float32"), ("teacher, dynamic", "dynamic_wi8_afp32")):
        found = result["teacher"][recipe]
        fast = "1.00" if recipe.startswith("dynamic") else ""
        share = f"{found['dev']['accuracy'] / teacher:.2%}"
        lines.append(row(name, f"{found['dev']['accuracy']:.4f}", share, f"{found['bytes'] / 1e6:.1f}", fast))
    runs = result["runs"]
    for name, key in (
        ("student, float", "dev_float"),
        ("student, integer-only", "dev"),
        ("the same, reference kernels", "dev_reference_kernels"),
    ):
        accuracies = [run[key]["accuracy"] for run in runs]
        file = key == "dev"
        size = f"{np.median([run['bytes'] for run in runs]) / 1e6:.1f}" if file else ""
        fast = f"{result['summary']['times_as_fast']['median']:.2f}" if file else ""
        lines.append(row(name, _mean(accuracies), f"{np.mean(accuracies) / teacher:.2%}", size, fast))
    return lines


def quantized_steps(result: dict) -> list[str]:
    """How long a step takes, as a multiple of float."""
    lines = header("trained for", "time of a step / float", "quartiles of the rounds")
    for name, ratio in result["ratio_to_float"].items():
        lines.append(
            row(
                name.replace("_", " "),
                f"{ratio['of_medians']:.2f}",
                f"{ratio['round_q1']:.2f} to {ratio['round_q3']:.2f}",
            )
        )
    return lines


def _mean(values: list[float]) -> str:
    spread = f" (deviation {np.std(values, ddof=1):.4f})" if len(values) > 1 else ""
    return f"{np.mean(values):.4f}{spread}"


def _save(figure, name: str) -> None:
    figure.savefig(DOCS / "images" / name, dpi=110, bbox_inches="tight", metadata={"Software": None})


TABLES: dict[str, Callable[[dict], list[str]]] = {
    table.__name__: table for table in (quantized_tasks, quantized_steps, sparse_models, cut_models, small_students)
}


if __name__ == "__main__":
    main()
