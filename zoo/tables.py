"""Tables of the zoo's measurements: for the terminal, the README and the documents."""

import csv
from collections.abc import Sequence

from kerasbert.zoo.catalog import ENCODER, FILE, ROOT, ZooModel, models
from kerasbert.zoo.results import Result, select

COLUMNS = ("model", "task", "quality, int8", "MB", "ms")
LATENCY, SIZE = "latency ms", "size MB"
LATENCY_DATA = "32 tokens, 1 thread"
_PUBLISHED = ROOT / "published.csv"
SHARE = "share of "  # before the name of a metric: the int8 file's value as a share of the float model's
BACKENDS = {
    "xnnpack": "CPU, XNNPACK",
    "reference": "CPU, reference",
    "gpu": "GPU with CPU, fp32",
    "gpu-fp16": "GPU with CPU, fp16",
    "wasm": "browser",
}
_NONE = "-"
_ENCODER_SCORES = (
    ("STS-B test", "Spearman"),
    ("SST-2 dev", "accuracy"),
    ("MRPC test", "accuracy"),
    ("assistant test", "accuracy"),
    ("CoNLL-2003 test", "entity F1"),
)


def rows(chosen: Sequence[ZooModel], results: Sequence[Result]) -> list[tuple[str, ...]]:
    """Return one row for each model, in the order of `COLUMNS`: quality, size and latency of its int8 file.

    Args:
        chosen: The models.
        results: All measurements.
    """
    return [
        (
            model.name,
            "encoder" if model.kind == ENCODER else model.task,
            _quality(model, results),
            *_size_and_latency(results, model.name),
        )
        for model in chosen
    ]


def main_results(model: ZooModel, results: Sequence[Result]) -> list[tuple[str, ...]]:
    """Return data, metric, value of the float model and value of the int8 file on a CPU: scores of test data, size and latency.

    Args:
        model: The model.
        results: All measurements.
    """
    own = select(results, model=model.name)
    data = dict.fromkeys(result.data for result in sorted(own, key=lambda result: result.key))
    chosen = [each for each in data if not (each.endswith(" dev") and f"{each.removesuffix('dev')}test" in data)]
    main = [
        (result.data, result.metric)
        for result in own
        if result.data in chosen
        and (result.metric in (SIZE, LATENCY, model.metric, *(metric for _, metric in _ENCODER_SCORES)))
    ]
    ordered = sorted(dict.fromkeys(main), key=lambda each: (each[1] in (SIZE, LATENCY), chosen.index(each[0])))
    return [
        (data, metric, *(_score(_on_cpu(own, data, metric, file)) for file in ("float", "int8")))
        for data, metric in ordered
    ]


def _on_cpu(own: Sequence[Result], data: str, metric: str, file: str) -> list[Result]:
    return [
        each for each in select(own, data=data, metric=metric, file=file) if each.backend in ("", "keras", "xnnpack")
    ]


def records(chosen: Sequence[ZooModel], results: Sequence[Result]) -> list[dict]:
    """Return the same facts for `--json`; None for what was not measured."""
    found = []
    for model in chosen:
        facts = {
            "name": model.name,
            "kind": model.kind,
            "task": model.task,
            "summary": model.summary,
            "encoder": model.encoder,
        }
        numbers = (_quality_results(model, results), *_measured(results, model.name))
        names = ("quality", "megabytes", "milliseconds")
        facts |= {name: lines[0].value if lines else None for name, lines in zip(names, numbers, strict=True)}
        found.append(
            {
                **facts,
                "metric": model.metric,
                "data": model.data,
                "path": str(model.path) if model.is_installed else None,
                "package": model.package,
            }
        )
    return found


def markdown(columns: Sequence[str], lines: Sequence[Sequence[object]]) -> str:
    """Return a table in Markdown.

    Args:
        columns: The headings.
        lines: One cell for each column.
    """
    ruler = "|" + "---|" * len(columns)
    return "\n".join([_markdown_row(columns), ruler, *map(_markdown_row, lines)])


def models_table(results: Sequence[Result]) -> str:
    """Return the table of all models in Markdown.

    Args:
        results: All measurements.
    """
    return markdown(COLUMNS, rows(models(), results))


def encoders_table(results: Sequence[Result]) -> str:
    """Return the table of encoders with the scores of vectors and of fine-tuning, in Markdown.

    Encoders of others that were measured beside them, and published checkpoints, come last.

    Args:
        results: All measurements.
    """
    columns = ("model", "int8 MB", *(f"{data}, {metric}" for data, metric in _ENCODER_SCORES), "speed")
    lines = []
    for name in _encoder_names(results):
        scores = [
            _score(select(results, model=name, file="float", data=data, metric=metric))
            for data, metric in _ENCODER_SCORES
        ]
        timed = select(results, model=name, file="int8", data=LATENCY_DATA)
        speed = _number([each for each in timed if each.metric.startswith("speed")], 1)
        lines.append((name, _size_and_latency(results, name)[0], *scores, speed))
    return markdown(columns, lines)


def files_table(results: Sequence[Result]) -> str:
    """Return the table of files for one task in Markdown: the float model's quality, and the file's on each backend.

    Args:
        results: All measurements.
    """
    columns = ("model", "data", "metric", "float", *BACKENDS.values(), "share kept, lowest")
    lines = []
    for model in (model for model in models() if model.kind == FILE):
        values = {"model": model.name, "data": model.data}
        qualities = [
            _score(select(results, **values, file="int8", metric=model.metric, backend=backend)) for backend in BACKENDS
        ]
        shares = [result.value for result in select(results, **values, file="int8", metric=f"{SHARE}{model.metric}")]
        share = f"{100 * min(shares):.1f} %" if shares else _NONE
        exact = _score(select(results, **values, file="float", metric=model.metric))
        lines.append((model.name, model.data, model.metric, exact, *qualities, share))
    return markdown(columns, lines)


def probes_table(results: Sequence[Result]) -> str:
    """Return the table of classifiers on frozen vectors, in Markdown.

    Args:
        results: All measurements.
    """
    metrics = ("probe accuracy", "accuracy, 8 examples a class")
    data = list(dict.fromkeys(result.data for result in results if result.metric in metrics))
    columns = ("model", "classifier", *data)
    lines = [
        (name, metric, *(_score(select(results, model=name, file="float", data=each, metric=metric)) for each in data))
        for name in _encoder_names(results)
        for metric in metrics
    ]
    return markdown(columns, lines)


def published_table(results: Sequence[Result]) -> str:
    """Return the table of published encoders in Markdown: their published scores, and our size and latency of the preset.

    Args:
        results: All measurements.
    """
    columns = ("model", "parameters", "published scores", "int8 MB", "ms", "source of the scores")
    with open(_PUBLISHED, newline="", encoding="utf-8") as file:
        entries = list(csv.DictReader(file))
    lines = []
    for name in dict.fromkeys(entry["model"] for entry in entries):
        own = [entry for entry in entries if entry["model"] == name]
        scores = ", ".join(f"{entry['data']} {float(entry['value']):.3f}" for entry in own)
        measured = _size_and_latency(results, own[0]["preset"], "dynamic_wi8_afp32")
        lines.append((name, own[0]["parameters"], scores, *measured, own[0]["source"]))
    return markdown(columns, lines)


def _encoder_names(results: Sequence[Result]) -> list[str]:
    """The zoo's encoders that were measured, then the others."""
    own = [model.name for model in models() if model.kind == ENCODER]
    files = {model.name for model in models()} - set(own)
    scored = {data for data, _ in _ENCODER_SCORES}
    measured = dict.fromkeys(result.model for result in results if result.model not in files and result.data in scored)
    return [*(name for name in own if name in measured), *(name for name in measured if name not in own)]


def _score(found: Sequence[Result]) -> str:
    return format_value(found[0]) if found else _NONE


def format_value(result: Result) -> str:
    """Format a value with its spread: percentages and correlations with their usual digits.

    Args:
        result: The measurement.
    """
    digits = 2 if result.metric.endswith((" ms", " MB")) else 4
    deviation = f" \u00b1 {float(result.spread):.{digits}f}" if result.spread else ""
    return f"{result.value:.{digits}f}{deviation}"


def _quality(model: ZooModel, results: Sequence[Result]) -> str:
    found = _quality_results(model, results)
    return f"{found[0].value:.3f} {model.metric}, {model.data}" if found else _NONE


def _quality_results(model: ZooModel, results: Sequence[Result]) -> list[Result]:
    """The measurements of the int8 file on XNNPACK, which every machine can repeat."""
    return select(results, model=model.name, file="int8", metric=model.metric, data=model.data, backend="xnnpack")


def _measured(results: Sequence[Result], name: str, file: str = "int8") -> tuple[list[Result], list[Result]]:
    """The measurements of a file's size and latency."""
    own = select(results, model=name, file=file)
    return select(own, metric=SIZE), select(own, metric=LATENCY, data=LATENCY_DATA)


def _size_and_latency(results: Sequence[Result], name: str, file: str = "int8") -> tuple[str, str]:
    size, latency = _measured(results, name, file)
    return _number(size, 1), _number(latency, 2)


def _number(found: Sequence[Result], digits: int) -> str:
    return f"{found[0].value:.{digits}f}" if found else _NONE


def _markdown_row(cells: Sequence[object]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"
