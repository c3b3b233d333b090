"""Tables of docs/results/compression.md."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from benchmarks.reports.markdown_tables import number, percent, table, with_deviation
from benchmarks.reports.published import published
from benchmarks.reports.results import Table

_TEXTS = {"sts-b train": "STS-B train", "wiki-split.txt.gz": "Wikipedia", "the first numbers": "first numbers"}
_TASKS = {"sst2": "SST-2", "mrpc": "MRPC", "conll": "CoNLL-2003"}
_CUTS = {
    "layers_top": "2 layers, `top`", "layers_bottom": "2 layers, `bottom`", "layers_alternate": "2 layers, `alternate`",
    "layers_symmetric": "2 layers, `symmetric`", "layers_contribution": "2 layers, `contribution`",
    "heads_and_feed_forward": "half of the heads, 40 % of the neurons",
}  # fmt: skip


def summary(cut: dict, sparse: dict, small: dict) -> list[str]:
    """Format what each method keeps and saves, relative to the dynamic int8 file of the full model."""
    size = cut["whole"]["bytes"]
    layers = [facts for name, facts in cut["summary"].items() if name.startswith("layers_")]
    rows = [
        (
            "2 of 6 layers removed",
            _range(layers, "share", percent),
            _range(layers, "latency_ratio", number),
            _range(layers, "bytes", percent, size),
            None,
        )
    ]
    heads = cut["summary"]["heads_and_feed_forward"]
    rows.append(
        (
            "heads and neurons removed",
            percent(heads["share"]),
            number(heads["latency_ratio"]),
            percent(heads["bytes"] / size),
            None,
        )
    )
    whole = sparse["whole"]
    for run in sorted(sparse["runs"], key=lambda run: run["sparsity"]):
        if run["distilled"]:
            kept = percent(run["dev"]["accuracy"] / whole["dev"]["accuracy"])
            sizes = (percent(run[key] / whole[key]) for key in ("bytes", "gzip_bytes"))
            rows.append((f"{100 * run['sparsity']:.0f} % zeros, distilled", kept, number(run["latency_ratio"]), *sizes))
    teacher = small["teacher"]["dynamic_wi8_afp32"]
    student = float(np.mean([run["dev"]["accuracy"] for run in small["runs"]]))
    latency = 1 / small["summary"]["times_as_fast"]["median"]
    smaller = percent(float(np.median([run["bytes"] for run in small["runs"]])) / teacher["bytes"])
    rows.append(("integer-only student", percent(student / teacher["dev"]["accuracy"]), number(latency), smaller, None))
    return table(("method", "accuracy kept (%)", "relative latency", "file size (%)", "gzip size (%)"), rows)


def _range(facts: Sequence[dict], key: str, form: Callable, unit: float = 1) -> str:
    """Format the smallest and the largest value, once if they are equal."""
    values = [each[key] / unit for each in facts]
    return "\u2013".join(dict.fromkeys(form(value) for value in (min(values), max(values))))


def sparsity(result: dict) -> list[str]:
    """Format accuracy, size and latency by the share of zeros."""
    whole = result["whole"]
    exact = whole["dev_float"]["accuracy"]
    rows: list[tuple] = [
        ("0", "float32", number(exact, 4), "100.0", None, None, None),
        (
            "0",
            "dynamic int8",
            number(whole["dev"]["accuracy"], 4),
            percent(whole["dev"]["accuracy"] / exact),
            *_sizes([whole]),
            "1.00",
        ),
    ]
    for share, distilled in sorted({(run["sparsity"], run["distilled"]) for run in result["runs"]}):
        selected = [run for run in result["runs"] if (run["sparsity"], run["distilled"]) == (share, distilled)]
        latency = number(float(np.median([run["latency_ratio"] for run in selected])))
        title = "distilled, dynamic int8" if distilled else "dynamic int8"
        rows.append(_sparse_row(f"{share:.0%}".rstrip("%"), title, selected, exact, latency))
        if quantized := [run["quantization_aware"] for run in selected if "quantization_aware" in run]:
            rows.append(
                _sparse_row(
                    f"{share:.0%}".rstrip("%"), title.replace("dynamic", "trained static"), quantized, exact, None
                )
            )
    columns = ("zeros (%)", "file", "accuracy", "share of float32 (%)", "gzip (MB)", "file (MB)", "relative latency")
    return table(columns, rows)


def _sparse_row(zeros: str, title: str, runs: Sequence[dict], exact: float, latency: str | None) -> tuple:
    accuracies = [run["dev"]["accuracy"] for run in runs]
    return zeros, title, _mean(accuracies), percent(float(np.mean(accuracies)) / exact), *_sizes(runs), latency


def _sizes(runs: Sequence[dict]) -> list[str | None]:
    return [number(float(np.median([run[key] for run in runs])) / 1e6, 1) for key in ("gzip_bytes", "bytes")]


def structured(result: dict) -> list[str]:
    """Format accuracy, size and latency by what was removed."""
    whole = result["whole"]["dev"]["accuracy"]
    rows: list[tuple] = [("nothing", number(whole, 4), "100.0", number(result["whole"]["bytes"] / 1e6, 1), "1.00")]
    for name, title in _CUTS.items():
        selected = [run for run in result["runs"] if run["cut"] == name]
        accuracies = [run["dev"]["accuracy"] for run in selected]
        size, latency = (float(np.median([run[key] for run in selected])) for key in ("bytes", "latency_ratio"))
        rows.append(
            (
                title,
                _mean(accuracies),
                percent(float(np.mean(accuracies)) / whole),
                number(size / 1e6, 1),
                number(latency),
            )
        )
    if facts := result.get("vocabulary"):
        share = percent(facts["equal_answers"] / facts["answers"])
        rows.append((f"unused tokens; {share} % equal answers", None, None, number(facts["bytes"] / 1e6, 1), None))
    return table(("removed", "accuracy", "share of the full model (%)", "file (MB)", "relative latency"), rows)


def students(result: dict) -> list[str]:
    """Format accuracy, size and speed of the teacher's and the students' files."""
    teacher = result["teacher"]["float32"]["dev"]["accuracy"]
    rows: list[tuple] = []
    for title, recipe, speed in (
        ("teacher, float32", "float32", None),
        ("teacher, dynamic int8", "dynamic_wi8_afp32", "1.00"),
    ):
        facts = result["teacher"][recipe]
        accuracy = facts["dev"]["accuracy"]
        rows.append((title, number(accuracy, 4), percent(accuracy / teacher), number(facts["bytes"] / 1e6, 1), speed))
    size = number(float(np.median([run["bytes"] for run in result["runs"]])) / 1e6, 1)
    speed = number(result["summary"]["times_as_fast"]["median"])
    for title, key, *facts in (
        ("student, float32", "dev_float", None, None),
        ("student, integer-only", "dev", size, speed),
        ("student, integer-only, reference kernels", "dev_reference_kernels", None, None),
    ):
        accuracies = [run[key]["accuracy"] for run in result["runs"]]
        rows.append((title, _mean(accuracies), percent(float(np.mean(accuracies)) / teacher), *facts))
    return table(("model", "accuracy", "share of the float32 teacher (%)", "file (MB)", "times as fast"), rows)


def layer_search(result: dict) -> list[str]:
    """Format the choices of layers, with what the search predicts and what was measured."""
    search = result["searches"][0]
    rows: list[tuple] = [("all", "1.000", number(result["whole"], 4), None)]
    for choice in search["choices"]:
        layers = ", ".join(map(str, choice["layers"]))
        strategies = ["search"] * (choice["rank"] == 1) + choice["strategies"]
        names = ", ".join(f"`{name}`" for name in strategies) or None
        rows.append((layers, number(choice["cosine"], 3), number(choice["spearman"], 4), names))
    return table(("layers kept", "mean cosine to the full model", "STS-B test, Spearman", "strategy"), rows)


def dimensions(result: dict) -> list[str]:
    """Format the Spearman correlation by the number of dimensions and where the directions come from."""
    rows = [
        (facts["dimensions"], _TEXTS.get(facts["texts"], facts["texts"]) if "texts" in facts else None, number(facts["float32"], 4),
         number(facts.get("static_wi8_ai8"), 4))
        for facts in result["results"]
    ]  # fmt: skip
    return table(("dimensions", "directions from", "float32, Spearman", "static int8, Spearman"), rows)


def table_bits(result: dict) -> list[str]:
    """Format the sizes of the files with token embeddings of 8 and 4 bits, and each score in float and of both files."""
    rows: list[tuple] = []
    for facts in result["models"]:
        wide, narrow = facts["files"]["8"], facts["files"]["4"]
        ratios = facts.get("latency_ratio", {})
        latency = None if not ratios else f"{number(min(ratios.values()), 2)}\u2013{number(max(ratios.values()), 2)}"
        size = f"{number(wide['bytes'] / 1e6)} / {number(narrow['bytes'] / 1e6)}"
        for metric in ("Spearman", "nDCG@10") if "nDCG@10" in wide else [name for name in wide if name != "bytes"]:
            title = {"Spearman": "STS-B test, Spearman", "nDCG@10": "XQuAD questions, nDCG@10"}.get(metric, metric)
            scores = [number(values[metric], 4) for values in (facts["float"], wide, narrow)]
            rows.append((facts["model"], title, *scores, size, latency))
    return table(("model", "metric", "float", "8 bits", "4 bits", "MB, 8 / 4 bits", "relative latency"), rows)


def methods(result: dict) -> list[str]:
    """Format the score of each method on each task, and the size and the latency of its file."""
    summary = result["summary"]
    tasks = {task: facts for task, facts in result["tasks"].items() if summary[task]}
    titles = [f"{_TASKS[task]}, {facts['metric']} (share, %)" for task, facts in tasks.items()]
    scores = (f"{number(facts['float'][facts['metric']], 4)} (100.0)" for facts in tasks.values())
    rows: list[tuple] = [("the teacher, float32", *scores, None, None)]
    for name, title in result["methods"].items():
        own = [summary[task].get(name) for task in tasks]
        measured = [facts for facts in own if facts]
        if not measured:
            continue
        cells = (facts and f"{with_deviation(facts['score'], 4)} ({percent(facts['share'])})" for facts in own)
        latency = float(np.median([facts["latency_ratio"] for facts in measured]))
        rows.append((title, *cells, number(measured[0]["bytes"] / 1e6), number(latency)))
    return table(("method", *titles, "file (MB)", "relative latency"), rows)


def method_runs(result: dict) -> list[str]:
    """Format how much was trained for each task."""
    rows = []
    for task, facts in result["tasks"].items():
        if not result["summary"][task]:
            continue
        trained = [each for each in result["summary"][task].values() if each["epochs"] != [0]]
        counts = sorted({len(each["seeds"]) for each in trained})
        rows.append(
            (
                _TASKS[task],
                _listed({rows for each in trained for rows in each["rows"]}),
                _listed({epochs for each in trained for epochs in each["epochs"]}),
                "\u2013".join(map(str, dict.fromkeys((counts[0], counts[-1])))) if counts else None,
                number(facts["dev_rows"], 0),
                facts["length"],
            )
        )
    return table(("task", "training rows", "epochs", "seeds", "dev rows", "tokens"), rows)


def _listed(values: Iterable[int]) -> str | None:
    return ", ".join(f"{value:,}" for value in sorted(values)) or None


def _mean(values: Sequence[float]) -> str:
    facts = {"mean": float(np.mean(values))}
    if len(values) > 1:
        facts["deviation"] = float(np.std(values, ddof=1))
    return with_deviation(facts, 4)


TABLES = {
    "summary": Table(summary, ("cut_models", "sparse_models", "small_students")),
    "sparsity": Table(sparsity, ("sparse_models",)),
    "structured": Table(structured, ("cut_models",)),
    "students": Table(students, ("small_students",)),
    "layer-search": Table(layer_search, ("layer_search",)),
    "dimensions": Table(dimensions, ("vector_dimensions",)),
    "table-bits": Table(table_bits, ("table_bits",)),
    "methods": Table(methods, ("compression_methods",)),
    "method-runs": Table(method_runs, ("compression_methods",)),
    "published-compression": Table(lambda: published("compression"), ()),
}
