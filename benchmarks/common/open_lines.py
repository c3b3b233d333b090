"""JSON Lines files, compressed or not."""

import gzip
import json
from pathlib import Path
from typing import Any


def read_json_lines(path: Path) -> list[dict[str, Any]]:
    """Read a JSON Lines file.

    Args:
        path: The file, `.jsonl` or `.jsonl.gz`.
    """
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path, encoding="utf-8")
    with opened as file:
        return [json.loads(line) for line in file if line.strip()]
