"""Tables of docs/results/backends.md."""

from collections.abc import Iterator, Sequence
from functools import partial

from benchmarks.reports.markdown_tables import number, percent, table
from benchmarks.reports.results import Table

CHECKS = {
    "cpu-xnnpack": "CPU, XNNPACK", "cpu-reference": "CPU, reference kernels", "gpu-strict": "GPU, fp32 (SwiftShader)",
    "gpu-half": "GPU, fp16 (lavapipe)", "web-wasm": "LiteRT.js, WebAssembly", "web-webgpu": "LiteRT.js, WebGPU",
}  # fmt: skip
RECIPES = {"float32": "float32", "static_wi8_ai8": "static int8", "default": "default"}
# Backends that keep activations in float where a CPU quantizes them at run time.
_FLOAT_ACTIVATIONS = ("gpu-strict", "gpu-half", "web-webgpu")
_SIDES = {"reference_kernels": "CPU, reference kernels", "gpu": "GPU, fp32", "wasm": "WebAssembly"}
_BODIES = {
    "cpu, xnnpack": "one file, XNNPACK", "cpu, reference": "one file, reference kernels",
    "edge-tpu pair, xnnpack": "host and body, XNNPACK", "edge-tpu pair, reference": "host and body, reference kernels",
}  # fmt: skip


def errors(result: dict, models: str) -> list[str]:
    """Format the largest errors of the files of some models on every backend.

    Args:
        result: Of `benchmarks.backends.targets`.
        models: `trained`, `tiny` or `minilm`, the latter two with random weights.
    """
    columns = (
        "recipe", "backend", "files run", "largest error to Keras", "to XNNPACK", "to a CPU with float activations",
        "lowest metric (% of Keras)",
    )  # fmt: skip
    return table(columns, list(_error_rows(result["runs"], models)))


def _error_rows(runs: Sequence[dict], models: str) -> Iterator[tuple[str | None, ...]]:
    for recipe, title in RECIPES.items():
        chosen = [run["checks"] for run in runs if (run["size"], run["recipe"]) == (models, recipe)]
        for check, backend in CHECKS.items():
            checks = [each[check] for each in chosen if check in each]
            if not checks:
                continue
            passed = sum(each["status"] == "passed" for each in checks)
            floats = _largest(checks, "to_floats_on_cpu") if check in _FLOAT_ACTIVATIONS else None
            shares = [each["to_keras"]["share"] for each in checks if each.get("to_keras", {}).get("share") is not None]
            to_file = None if check == "cpu-xnnpack" else _largest(checks, "to_file_on_cpu")
            lowest = percent(min(shares)) if shares else None
            yield title, backend, f"{passed}/{len(checks)}", _largest(checks, "to_keras"), to_file, floats, lowest


def _largest(checks: Sequence[dict], side: str) -> str | None:
    values = [check[side]["max_error"] for check in checks if side in check]
    return f"{max(values):.1e}" if values else None


def operators_alone(result: dict) -> list[str]:
    """Format how far the int8 Dense layers of each model, run alone, are from XNNPACK's outputs."""
    rows = []
    for model in result["models"]:
        alone = {side: model["alone"][side] for side in _SIDES}
        tensors = alone["gpu"]["tensors"]
        within = f"{alone['gpu']['within']['1']} of {tensors}"
        rows.append((model["model"], tensors, within, *(percent(facts["apart"], 4) for facts in alone.values())))
    different = tuple(f"{title}, values that differ (%)" for title in _SIDES.values())
    return table(("model", "Dense layers", "GPU within 1 LSB", *different), rows)


def tensors_in_models(result: dict, side: str) -> list[str]:
    """Format how far the int8 tensors of each whole model are from XNNPACK's.

    Args:
        result: Of `benchmarks.backends.int8_backend_divergence`.
        side: `gpu` or `reference_kernels`.
    """
    rows = []
    for model in result["models"]:
        facts = model["in_the_model"][side]
        largest = max(facts["outputs"].values())
        within = facts["within"]
        rows.append(
            (model["model"], facts["tensors"], within["1"], within["2"], percent(facts["apart"], 2), f"{largest:.1e}")
        )
    columns = (
        "model",
        "int8 tensors",
        "within 1 LSB",
        "within 2 LSB",
        "values that differ, worst tensor (%)",
        "largest output error",
    )
    return table(columns, rows)


def split_k(result: dict) -> list[str]:
    """Format rounding error and time of split-K on a GPU that accumulates in fp16."""
    rows = [
        (model["model"], run["parts"], number(run["logit_rms"], 4), number(run["nearer"]), number(run["probability_max"], 4),
         number(run["slower"]["of_medians"]))
        for model in result["models"]
        for run in model["runs"]
    ]  # fmt: skip
    columns = (
        "model", "largest split-K factor", "logit error, RMS", "error reduced by a factor of", "largest probability error",
        "time relative to 1",
    )  # fmt: skip
    return table(columns, rows)


def edge_tpu_operators(result: dict) -> list[str]:
    """Format the forecast of operators that the Edge TPU's compiler maps."""
    rows = []
    for name, facts in result["presets"].items():
        counts = (f"{facts[key]:,}" for key in ("operators", "mapped"))
        sizes = (number(facts[key] / 1e6, 1) for key in ("body_bytes", "host_bytes"))
        rows.append((name, result["length"], *counts, *sizes))
    return table(
        ("preset", "tokens", "operators of the body", "forecast as mapped", "body (MB)", "host file (MB)"), rows
    )


def integer_files(result: dict) -> list[str]:
    """Format how many texts get the class of the quantized Keras model from integer-only files."""
    rows = [
        (
            name,
            variant,
            facts["float"]["rows"],
            facts["float"]["same_class"],
            *(facts[body]["same_class"] for body in _BODIES),
        )
        for name, variants in result["models"].items()
        for variant, facts in variants.items()
    ]
    return table(("model", "ranges", "texts", "float32 model", *_BODIES.values()), rows)


def client_answers(result: dict) -> list[str]:
    """Format how many answers of a client are those of our runtime on the same file."""
    rows = [
        (_CLIENT_FILES.get(file, file), _CLIENT_TEXTS.get(texts, texts), *_client_cells(check))
        for file, kinds in result["clients"].items()
        for texts, checks in kinds.items()
        for check in checks
        if check["status"] != "not run"
    ]
    return table(("file", "texts", "client", "tokens", "rows", "equal answers", "mean cosine"), rows)


_CLIENT_FILES = {
    "ag_news.tflite": "classifier", "ag_news_as_mediapipe.tflite": "classifier, `--tokenize-as mediapipe`",
    "minilm.tflite": "all-MiniLM-L6-v2", "minilm_as_mediapipe.tflite": "all-MiniLM-L6-v2, `--tokenize-as mediapipe`",
    "qa2.tflite": "question answerer",
}  # fmt: skip
_CLIENT_TEXTS = {"real": "AG News", "hard": "hard strings", "questions": "questions"}
_CLIENTS = {"mediapipe": "MediaPipe Tasks", "task-library": "Task Library"}


def _client_cells(check: dict) -> tuple[object, ...]:
    client, _, tokens = check["check"].partition(": tokenized ")
    equal = check.get("same_class")
    if "told" in check:
        equal = check["told"].partition(" ")[0]
    kind = {"otherwise": "different"}.get(tokens, "equal")
    return _CLIENTS.get(client, client), kind, check["rows"], equal, number(check.get("mean_cosine"), 4)


def jvm_predictions(result: dict) -> list[str]:
    """Format how many predictions of the Android demo's core, on the JVM, are those of Python on the same file."""
    rows = [
        (*_case_cells(name, case), f"{case['rows']:,}", *_difference_cells(case))
        for name, case in result["cases"].items()
    ]
    return table(("file", "format", "task type", "texts", "other predictions", "largest difference of a number"), rows)


def web_predictions(*results: dict) -> list[str]:
    """Format how many predictions of the web demo are those of Python on the same file, on Node and in Chromium."""
    rows = [
        (*_case_cells(name, case), *(cell for result in results for cell in _web_cells(result["cases"].get(name))))
        for name, case in results[0]["cases"].items()
    ]
    clients = (_WEB_CLIENTS[result["client"]] for result in results)
    facts = ("other predictions", "largest difference")
    columns = ("file", "format", "task type", *(f"{client}: {fact}" for client in clients for fact in facts))
    return table(columns, rows)


def _web_cells(case: dict | None) -> tuple[str | None, str | None]:
    return (None, None) if case is None else (f"{case['unequal_rows']} of {case['rows']:,}", _largest_of(case))


def _case_cells(name: str, case: dict) -> tuple[str, str, str]:
    return name, RECIPES.get(case["recipe"], "dynamic int8"), case["problem"].replace("_", " ")


def _difference_cells(case: dict) -> tuple[int, str]:
    return case["unequal_rows"], _largest_of(case)


def _largest_of(case: dict) -> str:
    largest = max(case["largest_difference"].values(), default=0.0)
    return f"{largest:.0e}" if largest else "0"


def jvm_search(result: dict) -> list[str]:
    """Format a search of the Android demo's core beside the same search in NumPy."""
    columns = (
        "sentences", "queries", "same ten as NumPy in 8 bits", "share of the ten in float32 (%)", "vectors (MB)", "memory of the JVM (MB)"
    )  # fmt: skip
    row = (
        f"{result['sentences']:,}", f"{result['queries']:,}", f"{result['same_as_int8']:,}", percent(result["overlap_with_float"]),
        f"{result['vector_bytes'] / 1e6:.1f}", result["peak_memory_mb"],
    )  # fmt: skip
    return table(columns, [row])


def web_search(*results: dict) -> list[str]:
    """Format searches of the web demo beside the same search in NumPy, with their time."""
    columns = (
        "runs on", "sentences", "queries", "same ten as NumPy among the same vectors", "among Python's vectors", "margin of the others",
        "share of the ten in float32 (%)", "time of a query's vector (ms)", "of its search (ms)",
    )  # fmt: skip
    rows = [
        (
            _WEB_CLIENTS[result["client"]], f"{result['sentences']:,}", f"{result['queries']:,}", _same_among_own_vectors(result),
            f"{result['same_sentences']:,}", f"{result['margin']:.0e}", percent(result["overlap_with_float"]),
            number(result["milliseconds_for_a_vector"], 1), number(result["milliseconds_for_a_search"], 1),
        )
        for result in results
    ]  # fmt: skip
    return table(columns, rows)


def _same_among_own_vectors(result: dict) -> str | None:
    own = result["own_vectors"]
    return None if own is None else f"{own['same_as_int8']:,}"


_WEB_CLIENTS = {"node": "Node", "chromium": "Chromium, WebAssembly", "chromium-webgpu": "Chromium, WebGPU"}


TABLES = {
    **{
        f"errors-{models}": Table(partial(errors, models=models), ("targets",))
        for models in ("trained", "tiny", "minilm")
    },
    "operators-alone": Table(operators_alone, ("int8_backend_divergence",)),
    "tensors-gpu": Table(partial(tensors_in_models, side="gpu"), ("int8_backend_divergence",)),
    "tensors-reference": Table(partial(tensors_in_models, side="reference_kernels"), ("int8_backend_divergence",)),
    "split-k": Table(split_k, ("split_k",)),
    "edge-tpu-operators": Table(edge_tpu_operators, ("edge_tpu_forecast",)),
    "integer-files": Table(integer_files, ("integer_agreement",)),
    "client-answers": Table(client_answers, ("clients",)),
    "jvm-predictions": Table(jvm_predictions, ("jvm_predictions",)),
    "jvm-search": Table(jvm_search, ("jvm_search",)),
    "web-predictions": Table(
        web_predictions, ("node_predictions", "chromium_predictions", "chromium_webgpu_predictions")
    ),
    "web-search": Table(web_search, ("node_search", "chromium_search")),
}
