"""Tables of docs/results/size.md."""

from benchmarks.reports.accuracy_tables import VARIANTS
from benchmarks.reports.markdown_tables import number, percent, table
from benchmarks.reports.results import Table, load

_KEY = "dynamic_wi8_afp32"
# Variants with the same operators have files of the same size.
_RECIPES = {
    "float32": "float32", "dynamic": "dynamic_wi8_afp32", "dynamic_4_bits": "dynamic_wi4_afp32", "static_ptq": "static_wi8_ai8",
    "integer_ptq": "static_wi8_ai8, integer-only",
}  # fmt: skip


def by_recipe(tasks: dict, *one_length: dict) -> list[str]:
    """Format the size of a classifier's file by recipe, with one length and with three."""
    parameters = load("classification")["parameters"]
    single = {recipe: facts["file_bytes"] for result in one_length for recipe, facts in result["recipes"].items()}
    sizes = {name: _bytes(tasks, name) for name in VARIANTS if name in _RECIPES}
    rows = []
    for variant, size in sizes.items():
        one = single.get(_RECIPES[variant])
        rows.append(
            (
                _RECIPES[variant], number(one / 1e6, 1) if one else None, number(size / 1e6, 1), percent(size / sizes["float32"]),
                number(size / parameters),
            )
        )  # fmt: skip
    columns = (
        "recipe",
        "one length (MB)",
        "three lengths (MB)",
        "share of float32 (%)",
        "three lengths (bytes per parameter)",
    )
    return table(columns, rows)


def _bytes(tasks: dict, variant: str) -> int:
    """The size of the classifier of two classes: a head with other labels has some bytes more."""
    (size, *_) = (run["bytes"] for run in tasks["runs"] if run["variant"] == variant and run["case"] == "sst-2")
    return size


def presets(result: dict) -> list[str]:
    """Format size and memory of every preset."""
    rows = []
    for name, facts in result["presets"].items():
        if _KEY not in facts["recipes"] or "running" not in facts:
            continue
        conversion, parameters = facts["recipes"][_KEY], facts["parameters"]
        running = max(run["peak_bytes"] for run in facts["running"].values())
        size = conversion["file_bytes"]
        rows.append(
            (
                name, number(parameters / 1e6, 1), number(size / 1e6, 1), number(size / parameters), number(running / 1e6, 0),
                number(conversion["peak_bytes"] / 1e9, 1),
            )
        )  # fmt: skip
    columns = (
        "preset",
        "parameters (M)",
        "file (MB)",
        "bytes per parameter",
        "memory to run (MB)",
        "memory to convert (GB)",
    )
    return table(columns, rows)


TABLES = {
    "by-recipe": Table(by_recipe, ("quantized_tasks", "conversion", "conversion_static_int8")),
    "presets": Table(presets, ("architectures",)),
}
