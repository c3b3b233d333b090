"""The tables of README.md and docs/index.md: the main results, and on which backends the files of each architecture passed."""

from collections.abc import Sequence

from benchmarks.reports.markdown_tables import percent, table
from benchmarks.reports.zoo_tables import newest
from kerasbert.zoo.results import read_results

ARCHITECTURES = {"bert": "BERT", "albert": "ALBERT", "mobilebert": "MobileBERT"}
TASKS = {
    "classifier": "classification", "TextClassifier": "classification", "tagger": "tagging", "TokenTagger": "tagging",
    "question_answerer": "question answering", "QuestionAnswerer": "question answering",
}  # fmt: skip
ONNX_RUNTIME_AGAIN = 1.45  # on the second processor of docs/results/speed.md, without a result file
RECIPES = {"float32": "float32", "static_wi8_ai8": "int8"}
BACKENDS = {
    "CPU, XNNPACK": ("cpu-xnnpack",),
    "CPU, reference kernels": ("cpu-reference",),
    "GPU accelerator": ("gpu-strict", "gpu-half"),
    "browser, WebAssembly": ("web-wasm",),
    "browser, WebGPU": ("web-webgpu",),
}


def headlines(pages: str, tasks: dict, latency: dict, fine_tuning: dict, targets: dict, *throughput: dict) -> list[str]:
    """Format one line for each main result.

    Args:
        pages: The folder of the result pages, seen from the page of the table.
        tasks: Of `benchmarks.accuracy.quantized_tasks`.
        latency: Of `benchmarks.latency.onnxruntime_latency`.
        fine_tuning: Of `benchmarks.training.finetuning`.
        targets: Of `benchmarks.backends.targets`.
        throughput: Of `benchmarks.training.training_throughput`, one for each processor.
    """
    dynamic, trained = (tasks["summary"][name]["shares"] for name in ("dynamic", "static_qat"))
    onnx = [facts["clock"]["of_medians"] for facts in latency["speedup_over_onnxruntime_int8"].values()]
    speeds = [each["cases"]["real"]["ratio"]["of_medians"] for each in throughput]
    statuses = [check["status"] for run in targets["runs"] for check in run["checks"].values()]
    results = read_results()
    quality = newest(results, model="small-en", file="int8", data="STS-B test", metric="Spearman") or 0
    size = newest(results, model="small-en", file="int8", metric="size MB") or 0
    rows = (
        ("int8 without training, share of the float32 metric, mean of 6 tasks", f"{percent(dynamic['float32']['mean'])} %", "accuracy"),
        (
            "int8 with quantization-aware training, share of a float32 model trained for as long",
            f"{percent(trained['float32_trained']['mean'])} %", "accuracy",
        ),
        (
            "latency at 128 tokens against ONNX Runtime int8, on 2 processors",
            f"{ONNX_RUNTIME_AGAIN:.2f} to {max(onnx):.2f} times as fast", "speed",
        ),
        ("training on SST-2 against PyTorch, on 3 processors", f"{min(speeds):.2f} to {max(speeds):.2f} times as fast", "speed"),
        (
            "fine-tuned scores that differ from PyTorch's by less than a standard deviation",
            f"{sum(map(_is_equal, fine_tuning['summary'].values()))} of {len(fine_tuning['summary'])} tasks", "fine-tuning",
        ),
        (
            f"checks passed on CPU, GPU accelerator and browser, {len(targets['runs'])} files",
            f"{statuses.count('passed')} of {len(statuses)}", "backends",
        ),
        ("`small-en`: size, Spearman of its vectors on STS-B's test set", f"{size:.1f} MB, {quality:.2f}", "zoo"),
    )  # fmt: skip
    return table(("result", "measured", "page"), [(*row[:2], f"[{row[2]}]({pages}/{row[2]}.md)") for row in rows])


def _is_equal(case: dict) -> bool:
    """Whether the means of both systems differ by less than the larger standard deviation."""
    metric = case["difference"]["metric"]
    deviations = [case[system][metric]["deviation"] for system in ("kerasbert", "pytorch")]
    return abs(case["difference"]["mean"]) < max(deviations)


def support(result: dict) -> list[str]:
    """Format how many tasks passed on each backend, for each architecture and recipe.

    Args:
        result: Of `benchmarks.backends.targets`.
    """
    rows = []
    for architecture, title in ARCHITECTURES.items():
        for recipe, numbers in RECIPES.items():
            runs = [run for run in result["runs"] if (run["architecture"], run["recipe"]) == (architecture, recipe)]
            rows.append((title, numbers, *(_tasks(runs, checks) for checks in BACKENDS.values())))
    return table(("architecture", "file", *BACKENDS), rows)


def _tasks(runs: Sequence[dict], checks: Sequence[str]) -> str | None:
    """How many of the tasks that were run passed every check."""
    passed: dict[str, bool] = {}
    for run in runs:
        for check in checks:
            if check in run["checks"]:
                task = TASKS[run["head"]]
                passed[task] = passed.get(task, True) and run["checks"][check]["status"] == "passed"
    return f"{sum(passed.values())} of {len(passed)} tasks" if passed else None
