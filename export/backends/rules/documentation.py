"""The table of docs/concepts/targets.md: the operators that each backend supports, and their limits.

    python -m kerasbert.export.backends.rules.documentation docs/concepts/targets.md

replaces the table between `<!-- operators -->` and `<!-- end -->`.
"""

import re
import sys
from pathlib import Path

from kerasbert.export.backends.rules.edge_tpu import EDGE_TPU
from kerasbert.export.backends.rules.gpu import LITERT_GPU
from kerasbert.export.backends.rules.gpu_opencl import GPU_OPENCL
from kerasbert.export.backends.rules.operator_rules import RuleTable

# Operators of our own files that XNNPACK was seen to run: LiteRT 2.3 on x86-64.
ON_XNNPACK = frozenset(
    "ABS ADD BATCH_MATMUL CONCATENATION CONV_2D DEPTHWISE_CONV_2D DEQUANTIZE DIV FULLY_CONNECTED GELU LOGISTIC MAXIMUM MEAN MINIMUM MUL "
    "PAD QUANTIZE REDUCE_MAX RESHAPE RSQRT SOFTMAX SPLIT SQUARE SQUARED_DIFFERENCE STRIDED_SLICE SUB SUM TANH TRANSPOSE".split()
)
_MARKS = re.compile(r"(<!-- operators -->\n).*?(<!-- end -->)", re.DOTALL)


def operator_table() -> str:
    """Write the table in Markdown: a row an operator, with its limits, `yes` or `-`. The first row has the limits of every operator."""
    columns = {"LiteRT GPU, seen": LITERT_GPU} | {f"{table.backend}, rules": table for table in (GPU_OPENCL, EDGE_TPU)}
    tables = columns.values()
    names = sorted(ON_XNNPACK.union(*(table.operators for table in tables)))
    rows = [
        ("operator", "XNNPACK, seen", *columns),
        ("---",) * (2 + len(columns)),
        ("all", "", *("; ".join(rule.limit for rule in table.everywhere) for table in tables)),
    ]
    for name in names:
        rows.append((name, "yes" if name in ON_XNNPACK else "", *(_limits(table, name) for table in tables)))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _limits(table: RuleTable, name: str) -> str:
    if name not in table.operators:
        return "" if table is LITERT_GPU else "-"
    return "; ".join(rule.limit for rule in table.operators[name]) or "yes"


def with_operator_table(page: str) -> str:
    """Return the page with the current table."""
    return _MARKS.sub(lambda match: f"{match[1]}{operator_table()}\n{match[2]}", page)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(with_operator_table(path.read_text("utf-8")), "utf-8")
