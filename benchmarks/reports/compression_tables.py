"""Writes the measured tables and plots of docs/compression.md from the result files.

    python -m benchmarks.reports.compression_tables

A table is between `<!-- name -->` and `<!-- end -->`. Tables without a result file stay as they are, with a note.
"""

import json
from collections.abc import Callable

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from benchmarks.common import record
from benchmarks.common.finetuning_cases import CASES
from benchmarks.reports.markdown_tables import DOCS, header, replace_tables, row

matplotlib.use("Agg")
NAMES = {"mrpc": "MRPC", "sts-b": "STS-B", "rte": "RTE", "cola": "CoLA", "sst-2": "SST-2", "conll2003": "CoNLL-2003"}
VARIANTS = {
    "float32": "float", "float32_trained": "float, trained on", "dynamic": "dynamic", "dynamic_4_bits": "dynamic, 4-bit kernels",
    "static_ptq": "static, calibrated", "static_qat": "static, trained", "integer_ptq": "integer-only, calibrated",
    "integer_qat": "integer-only, trained",
}  # fmt: skip
SAME_OPERATORS = {"float32_trained": "float32", "static_qat": "static_ptq", "integer_qat": "integer_ptq"}


def main() -> None:
    """Write all tables that have results."""
    tables = {}
    for name, table in TABLES.items():
        path = record.RESULTS / f"{name}.json"
        if path.is_file():
            tables[name] = table(json.loads(path.read_text("utf-8")))
        else:
            print(f"no {path.name}: its table stays as it is")
    replace_tables(DOCS / "compression.md", tables)


def quantized_tasks(result: dict) -> list[str]:
    """Format one row per quantization method: metrics with ratios to float, mean ratios, size and latency."""
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
        if reference := summary.get(f"{variant}_reference_kernels"):
            lines.append(row("the same, reference kernels", *_share_cells(reference, cases), "", ""))
    _plot_shares(summary, cases)
    return lines


def _share_cells(facts: dict, cases: list[str]) -> list[str]:
    shares = facts["shares"]["float32"]["cases"]
    cells = [f"{facts['metrics'][case]:.4f} ({shares[case]:.1%})" if case in shares else "-" for case in cases]
    means = [facts["shares"].get(reference, {}).get("mean") for reference in ("float32", "float32_trained")]
    return [*cells, *("" if mean is None else f"{mean:.2%}" for mean in means)]


def _plot_shares(summary: dict, cases: list[str]) -> None:
    import matplotlib.pyplot as plt

    variants = [variant for variant in VARIANTS if variant in summary and variant != "float32"]
    shares = [summary[variant]["shares"]["float32"] for variant in variants]
    figure, axes = plt.subplots(figsize=(8, 0.55 * len(variants) + 1.4))
    for case in cases:
        points = [(facts["cases"][case], row) for row, facts in enumerate(shares) if case in facts["cases"]]
        axes.plot(*zip(*points, strict=True), "o", alpha=0.75, label=NAMES[case])
    axes.plot(
        [facts["mean"] for facts in shares], range(len(variants)), "k|", markersize=18, markeredgewidth=2, label="mean"
    )
    axes.axvline(1.0, color="0.7", linewidth=1)
    axes.set_yticks(range(len(variants)), [VARIANTS[variant] for variant in variants])
    axes.invert_yaxis()
    axes.set_xlabel("metric of the .tflite file, as a share of the float file's")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    _save(figure, "quantized_tasks.png")


def sparse_models(result: dict) -> list[str]:
    """Format one row per sparsity, with and without distillation and quantization-aware training."""
    original = result["whole"]
    lines = header("zeros", "accuracy", "share of float", "gzip MB", "file MB", "latency")
    lines.append(
        row("none, float", f"{original['dev_float']['accuracy']:.4f}", "100 %", "", "", ""),
    )
    share = _share(original["dev"], original["dev_float"])
    lines.append(row("none, dynamic", f"{original['dev']['accuracy']:.4f}", share, *_sizes([original]), "1.00"))
    kinds = sorted({(run["sparsity"], run["distilled"]) for run in result["runs"]})
    for sparsity, distilled in kinds:
        selected = [run for run in result["runs"] if (run["sparsity"], run["distilled"]) == (sparsity, distilled)]
        name = f"{sparsity:.0%}" + (", distilled" if distilled else "")
        latency = np.median([run["latency_ratio"] for run in selected])
        lines.append(_sparse_row(name, selected, original, f"{latency:.2f}"))
        quantized = [run["quantization_aware"] for run in selected if "quantization_aware" in run]
        if quantized:
            lost_zeros = max(run["zeros_lost"] for run in quantized)
            name += f", then static int8 trained ({lost_zeros} zeros lost)"
            lines.append(_sparse_row(name, quantized, original, ""))
    return lines


def _sparse_row(name: str, runs: list[dict], original: dict, latency: str) -> str:
    accuracies = [run["dev"]["accuracy"] for run in runs]
    share = np.mean(accuracies) / original["dev_float"]["accuracy"]
    return row(name, _mean(accuracies), f"{share:.2%}", *_sizes(runs), latency)


def _sizes(runs: list[dict]) -> list[str]:
    return [f"{np.median([run[key] for run in runs]) / 1e6:.1f}" for key in ("gzip_bytes", "bytes")]


def _share(dev: dict, original: dict) -> str:
    return f"{dev['accuracy'] / original['accuracy']:.2%}"


def cut_models(result: dict) -> list[str]:
    """Format one row per pruned structure: accuracy after training, ratio, size and relative latency."""
    original = result["whole"]
    lines = header("cut", "accuracy", "share of the whole", "MB", "latency")
    lines.append(
        row("nothing", f"{original['dev']['accuracy']:.4f}", "100 %", f"{original['bytes'] / 1e6:.1f}", "1.00")
    )
    for cut in dict.fromkeys(run["cut"] for run in result["runs"]):
        selected = [run for run in result["runs"] if run["cut"] == cut]
        accuracies = [run["dev"]["accuracy"] for run in selected]
        share = np.mean(accuracies) / original["dev"]["accuracy"]
        megabytes = np.median([run["bytes"] for run in selected]) / 1e6
        latency = np.median([run["latency_ratio"] for run in selected])
        lines.append(
            row(cut.replace("_", " "), _mean(accuracies), f"{share:.2%}", f"{megabytes:.1f}", f"{latency:.2f}")
        )
    if vocabulary := result.get("vocabulary"):
        equal = f"{vocabulary['equal_answers']:,} of {vocabulary['answers']:,} answers the same"
        lines.append(row("words that no text has", equal, "", f"{vocabulary['bytes'] / 1e6:.1f}", ""))
    return lines


def small_students(result: dict) -> list[str]:
    """Format rows of the teacher's files and of the students' files."""
    lines = header("", "accuracy", "share of the float teacher", "MB", "times as fast as the teacher, dynamic")
    teacher = result["teacher"]["float32"]["dev"]["accuracy"]
    for name, recipe in (("teacher, float", "float32"), ("teacher, dynamic", "dynamic_wi8_afp32")):
        facts = result["teacher"][recipe]
        speed = "1.00" if recipe.startswith("dynamic") else ""
        share = f"{facts['dev']['accuracy'] / teacher:.2%}"
        lines.append(row(name, f"{facts['dev']['accuracy']:.4f}", share, f"{facts['bytes'] / 1e6:.1f}", speed))
    runs = result["runs"]
    for name, key in (
        ("student, float", "dev_float"),
        ("student, integer-only", "dev"),
        ("the same, reference kernels", "dev_reference_kernels"),
    ):
        accuracies = [run[key]["accuracy"] for run in runs]
        has_file = key == "dev"
        size = f"{np.median([run['bytes'] for run in runs]) / 1e6:.1f}" if has_file else ""
        speed = f"{result['summary']['times_as_fast']['median']:.2f}" if has_file else ""
        lines.append(row(name, _mean(accuracies), f"{np.mean(accuracies) / teacher:.2%}", size, speed))
    return lines


def quantized_steps(result: dict) -> list[str]:
    """Format the time of a training step as a multiple of float."""
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


def _save(figure: Figure, name: str) -> None:
    figure.savefig(DOCS / "images" / name, dpi=110, bbox_inches="tight", metadata={"Software": None})


TABLES: dict[str, Callable[[dict], list[str]]] = {
    table.__name__: table for table in (quantized_tasks, quantized_steps, sparse_models, cut_models, small_students)
}


if __name__ == "__main__":
    main()
