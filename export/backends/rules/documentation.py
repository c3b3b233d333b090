"""The table of docs/targets.md: which operator each backend takes, and within which limits.

    python -m kerasbert.export.backends.rules.documentation docs/targets.md

writes it anew, between `<!-- operators -->` and `<!-- end -->`.
"""

import re
import sys
from pathlib import Path

from kerasbert.export.backends.rules.edge_tpu import EDGE_TPU
from kerasbert.export.backends.rules.gpu import LITERT_GPU
from kerasbert.export.backends.rules.gpu_opencl import GPU_OPENCL
from kerasbert.export.backends.rules.operator_rules import RuleTable

# Operators of our own files that were seen to run there: LiteRT 2.3 on x86-64.
ON_XNNPACK = frozenset(
    "ADD BATCH_MATMUL CONCATENATION CONV_2D DEPTHWISE_CONV_2D DEQUANTIZE DIV FULLY_CONNECTED GELU LOGISTIC MAXIMUM MEAN MINIMUM MUL PAD "
    "QUANTIZE REDUCE_MAX RESHAPE RSQRT SOFTMAX SPLIT SQUARE SQUARED_DIFFERENCE STRIDED_SLICE SUB SUM TANH TRANSPOSE".split()
)
_MARKS = re.compile(r"(<!-- operators -->\n).*?(<!-- end -->)", re.DOTALL)


def operator_table() -> str:
    """Markdown: a row an operator, with a limit or `yes`; `-`: there is none. Limits of every operator stand in the first row."""
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


def documented(page: str) -> str:
    """The page with the table as it is now."""
    return _MARKS.sub(lambda found: f"{found[1]}{operator_table()}\n{found[2]}", page)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(documented(path.read_text("utf-8")), "utf-8")
