"""Writes the measured tables of docs/targets.md from the results of `benchmarks.backends.targets` and `int8_backend_divergence`.

python -m benchmarks.reports.targets_tables
"""

import json

from benchmarks.common import record
from benchmarks.reports.markdown_tables import DOCS, header, replace_tables, row

MODELS = {"tiny": "random weights, tiny", "minilm": "random weights, MiniLM's size", "trained": "trained"}
CHECKS = {
    "cpu-xnnpack": "XNNPACK", "cpu-reference": "reference kernels", "gpu-strict": "GPU accelerator, everything on it, SwiftShader",
    "gpu-half": "the same in 16 bits, lavapipe", "web-wasm": "LiteRT.js, WebAssembly", "web-webgpu": "LiteRT.js, WebGPU",
}  # fmt: skip
# Backends that keep activations in float where a CPU quantizes them at run time.
FLOAT_ACTIVATIONS = ("gpu-strict", "gpu-half", "web-webgpu")
RECIPES = {"float32": "float32", "static_wi8_ai8": "static int8", "default": "the target's default"}


def main() -> None:
    """Write both tables."""
    runs, models = (
        json.loads((record.RESULTS / f"{name}.json").read_text("utf-8"))[key]
        for name, key in (("targets", "runs"), ("int8_backend_divergence", "models"))
    )
    replace_tables(DOCS / "targets.md", {"targets": targets(runs), "steps": divergence(models)})


def targets(runs: list[dict]) -> list[str]:
    """Format one row per kind of model and check: passed files of each recipe and their largest errors."""
    table = header("models", "ran by", *RECIPES.values())
    for size, models in MODELS.items():
        for check, name in CHECKS.items():
            cells = [
                _cell(
                    [run["checks"][check] for run in runs if (run["size"], run["recipe"]) == (size, recipe) and check in run["checks"]],
                    ("to_keras", "to_file_on_cpu", *(("to_floats_on_cpu",) if check in FLOAT_ACTIVATIONS else ())),
                )
                for recipe in RECIPES
            ]  # fmt: skip
            if any(cells):
                table.append(row(models, name, *cells))
    return table


def divergence(models: list[dict]) -> list[str]:
    """Format one row per model: int8 tensors within 1 and 2 LSBs of XNNPACK, and the largest output error."""
    sides = {"GPU": "gpu", "reference kernels": "reference_kernels"}
    table = header(
        "trained model",
        "Dense layers alone: GPU within 1 step; WebAssembly equal",
        *(f"in the model, {side}: within 1, 2 steps; values apart; outputs" for side in sides),
    )
    for model in models:
        alone = {side: model["alone"][side] for side in ("gpu", "wasm")}
        equal = "all" if alone["wasm"]["apart"] == 0 else f"not all ({alone['wasm']['apart']:.3%} apart)"
        table.append(
            row(
                model["model"],
                f"{alone['gpu']['within']['1']} of {alone['gpu']['tensors']}; {equal}",
                *(_in_the_model(model["in_the_model"][key]) for key in sides.values()),
            )
        )
    return table


def _in_the_model(facts: dict) -> str:
    within, largest = facts["within"], max(facts["outputs"].values())
    return f"{within['1']}, {within['2']} of {facts['tensors']}; {facts['apart']:.2%}; {largest:.1e}"


def _cell(checks: list[dict], sides: tuple[str, ...]) -> str:
    """Format `passed of files: largest error against each reference; smallest ratio of the metric`."""
    if not checks:
        return ""
    passed = sum(check["status"] == "passed" for check in checks)
    errors = [
        f"{max(values):.1e}"
        for side in sides
        if (values := [check[side]["max_error"] for check in checks if side in check])
    ]
    shares = [check["to_keras"]["share"] for check in checks if check.get("to_keras", {}).get("share") is not None]
    metric = f"; metric {min(shares):.1%}" if shares else ""
    return f"{passed} of {len(checks)}: {', '.join(errors)}{metric}"


if __name__ == "__main__":
    main()
