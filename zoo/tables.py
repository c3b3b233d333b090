"""Tables of the zoo's measurements: for the terminal, the README and the documents."""

from collections.abc import Sequence

from kerasbert.zoo.catalog import ENCODER, ZooModel, models
from kerasbert.zoo.results import Result, select

COLUMNS = ("model", "task", "quality, int8", "MB", "ms")
LATENCY, SIZE = "latency ms", "size MB"
LATENCY_DATA = "32 tokens, 1 thread"
_NONE = "-"


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
            _number(select(results, model=model.name, file="int8", metric=SIZE), 1),
            _number(select(results, model=model.name, file="int8", metric=LATENCY, data=LATENCY_DATA), 2),
        )
        for model in chosen
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
        numbers = {
            "quality": select(results, model=model.name, file="int8", metric=model.metric, data=model.data),
            "megabytes": select(results, model=model.name, file="int8", metric=SIZE),
            "milliseconds": select(results, model=model.name, file="int8", metric=LATENCY, data=LATENCY_DATA),
        }
        facts |= {name: lines[0].value if lines else None for name, lines in numbers.items()}
        found.append({**facts, "metric": model.metric, "data": model.data, "path": str(model.path)})
    return found


def markdown(columns: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
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


def format_value(result: Result) -> str:
    """Format a value with its spread: percentages and correlations with their usual digits.

    Args:
        result: The measurement.
    """
    digits = 2 if result.metric.endswith((" ms", " MB")) else 4
    deviation = f" \u00b1 {float(result.spread):.{digits}f}" if result.spread else ""
    return f"{result.value:.{digits}f}{deviation}"


def _quality(model: ZooModel, results: Sequence[Result]) -> str:
    found = select(results, model=model.name, file="int8", metric=model.metric, data=model.data)
    return f"{found[0].value:.3f} {model.metric}, {model.data}" if found else _NONE


def _number(found: Sequence[Result], digits: int) -> str:
    return f"{found[0].value:.{digits}f}" if found else _NONE


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
