"""Tables of docs/results/speed.md."""

from collections.abc import Iterator

from benchmarks.reports.markdown_tables import number, percent, quartiles, table
from benchmarks.reports.results import PROCESSORS, Table, day, load, processor

THROUGHPUT = tuple(name for name in PROCESSORS if name.startswith("training_throughput"))
ROWS = {"fixed": "64 tokens, no padding", "real": "SST-2, real lengths"}
_SYSTEMS = {
    "keras": "kerasbert", "keras-jit": "kerasbert, XLA", "keras-returning-memory": "kerasbert, freed memory returned",
    "pytorch-eager": "PyTorch, eager attention", "pytorch-sdpa": "PyTorch, SDPA", "pytorch-sdpa-fused-adamw": "PyTorch, SDPA, fused AdamW",
}  # fmt: skip
_RECIPES = ("dynamic_wi8_afp32", "static_wi8_ai8")


def ratios(latency: dict, lengths: dict, *_: dict) -> list[str]:
    """Format one row per comparison with another system."""
    speedups = latency["speedup_over_onnxruntime_int8"].values()
    rows = [
        _comparison("onnxruntime_latency", f"latency, {latency['length']} tokens, {recipe}", _speedup(facts["clock"]))
        for recipe, facts in zip(_RECIPES, speedups, strict=True)
    ]
    against = [facts["ratio_of_means"] for facts in lengths["against"].values()]
    cells = (number(lengths["speedup_over_it"]), f"{min(against):.2f}\u2013{max(against):.2f}")
    rows.append(_comparison("real_lengths", f"latency, SST-2 dev at real lengths, {lengths['recipe']}", cells))
    for case, title in ROWS.items():
        for name in THROUGHPUT:
            rows.append(_comparison(name, f"training, {title}", _speedup(load(name)["cases"][case]["ratio"])))
    return table(("measured", "times as fast", "quartiles", "processor", "date"), rows)


def _speedup(ratio: dict) -> tuple[str | None, str]:
    return number(ratio["of_medians"]), quartiles(ratio, prefix="round_")


def _comparison(name: str, title: str, cells: tuple[str | None, str]) -> tuple[str | None, ...]:
    return title, *cells, processor(name), day(name)


def onnxruntime(result: dict) -> list[str]:
    """Format the latency of every file at one length."""
    rows = []
    for name, facts in result["models"].items():
        cosine = number(facts["cosine_to_onnxruntime_float32"]["mean"], 4)
        spread = facts["milliseconds"]
        rows.append(
            (*_titles(name), number(facts["bytes"] / 1e6, 1), number(spread["median"]), quartiles(spread), cosine)
        )
    columns = ("runtime", "file", "size (MB)", "median (ms)", "quartiles (ms)", "cosine to float32, mean")
    return table(columns, rows)


def _titles(name: str) -> tuple[str, str]:
    if name.startswith("onnxruntime-"):
        kind, _, exporter = name.removeprefix("onnxruntime-").rpartition("-")
        return "ONNX Runtime", f"{kind.replace('int8-per-channel', 'int8, per channel')}, {exporter} exporter"
    return "LiteRT", name.removeprefix("mini-")


def real_lengths(result: dict) -> list[str]:
    """Format the mean latency of real texts against each ONNX file."""
    rows = []
    for name, facts in result["against"].items():
        ours, peer = facts["kerasbert"], facts["onnxruntime"]
        milliseconds = (number(each[key] * 1e3) for key in ("mean", "p90") for each in (peer, ours))
        rows.append((name, *milliseconds, number(facts["ratio_of_means"])))
    columns = (
        "ONNX file", "ONNX Runtime, mean (ms)", "kerasbert, mean (ms)", "ONNX Runtime, p90 (ms)", "kerasbert, p90 (ms)", "times as fast",
    )  # fmt: skip
    return table(columns, rows)


def early_exit(here: dict, browser: dict) -> list[str]:
    """Format the accuracy and the time saved by the threshold of exits, in Python and in a browser."""
    there = browser["curve"]
    rows = [
        (
            name, percent(facts["score"]), percent(facts["share_of_score"]), number(facts["layers"]),
            percent(facts["saved"]), percent(1 - there[name]["over_whole"]["round_median"]) if name in there else None,
        )
        for name, facts in here["curve"].items()
    ]  # fmt: skip
    columns = (
        "file", "accuracy (%)", "share kept (%)", "layers, mean", "time saved, Python (%)", "time saved, Chromium (%)",
    )  # fmt: skip
    return table(columns, rows)


def by_length(result: dict) -> list[str]:
    """Format the latency of every preset at each length."""
    columns = ("preset", *(f"{length} tokens (ms)" for length in result["lengths"]))
    rows = [
        (name, *(number(facts["running"][str(length)]["seconds"] * 1e3) for length in result["lengths"]))
        for name, facts in result["presets"].items()
        if "running" in facts
    ]
    return table(columns, rows)


def training(*results: dict) -> list[str]:
    """Format examples per second of every system on every processor."""
    columns = ("rows", "system", *(f"{PROCESSORS[name]} (examples/s)" for name in THROUGHPUT))
    return table(columns, list(_training_rows(results)))


def _training_rows(results: tuple[dict, ...]) -> Iterator[tuple[str | None, ...]]:
    for case, title in ROWS.items():
        for system, name in _SYSTEMS.items():
            speeds = [result["cases"][case]["examples_per_second"].get(system) for result in results]
            if any(speeds):
                yield title, name, *(number(speed["median"], 1) if speed else None for speed in speeds)


def quantized_steps(result: dict) -> list[str]:
    """Format the time of a training step with fake quantization."""
    rows = [
        (name.replace("_", "-").replace("static", "static int8").replace("dynamic", "dynamic int8"),
         number(result["seconds_a_step"][name]["median"]), number(ratio["of_medians"]), quartiles(ratio, prefix="round_"))
        for name, ratio in result["ratio_to_float"].items()
    ]  # fmt: skip
    exact = ("float32", number(result["seconds_a_step"]["float"]["median"]), "1.00", None)
    return table(("policy", "step, median (s)", "time relative to float32", "quartiles of the rounds"), [exact, *rows])


def conversion(*results: dict) -> list[str]:
    """Format time and memory of `kerasbert convert`."""
    rows = [
        (recipe, number(facts["seconds"]["median"], 1), quartiles(facts["seconds"], 1),
         number(facts["peak_bytes"]["median"] / 1e9, 1), number(facts["file_bytes"] / 1e6, 1))
        for result in results
        for recipe, facts in result["recipes"].items()
    ]  # fmt: skip
    return table(("recipe", "median (s)", "quartiles (s)", "peak memory (GB)", "file (MB)"), rows)


def verification(result: dict) -> list[str]:
    """Format the cost of verifying a file and of a separate process."""
    rows = [
        (number(facts["bytes"] / 1e6, 2), *(number(facts[key]["median"], 0) for key in ("verified_ms", "here_ms", "there_ms")),
         number(facts["extra_ms_a_row"]["median"]))
        for facts in result["files"]
    ]  # fmt: skip
    columns = (
        "file (MB)", "verification (ms)", "first answer, same process (ms)", "first answer, separate process (ms)",
        "separate process, each further row (ms)",
    )  # fmt: skip
    return table(columns, rows)


def integer_products(result: dict) -> list[str]:
    """Format the time of an int8 product by the zero point of its second factor."""
    rows = [
        (facts["product"], facts["length"], *(number(facts["milliseconds"][key], 3) for key in ("middle", "aside")),
         number(facts["aside_to_middle"]["of_medians"], 1))
        for facts in result["rows"]
    ]  # fmt: skip
    columns = (
        "product",
        "tokens",
        "zero point 0, XNNPACK (ms)",
        "another zero point, built-in kernel (ms)",
        "times as slow",
    )
    return table(columns, rows)


TABLES = {
    "ratios": Table(ratios, ("onnxruntime_latency", "real_lengths", *THROUGHPUT)),
    "onnxruntime": Table(onnxruntime, ("onnxruntime_latency",)),
    "real-lengths": Table(real_lengths, ("real_lengths",)),
    "early-exit": Table(early_exit, ("early_exit", "early_exit_web")),
    "by-length": Table(by_length, ("architectures",)),
    "training": Table(training, THROUGHPUT),
    "quantized-steps": Table(quantized_steps, ("quantized_steps",)),
    "conversion": Table(conversion, ("conversion", "conversion_static_int8")),
    "verification": Table(verification, ("protection",)),
    "integer-products": Table(integer_products, ("integer_products",)),
}
