r"""What a demo's `inspect` reads of `.tflite` files, against Python: metadata, labels, vocabulary and signatures.

    KEPT_FILES=kept python -m pytest -p benchmarks.parity.keep_files tests/export tests/cli
    python -m benchmarks.parity.model_files kept --client node

The folder is searched with all below it. A file is read the same if both sides read it and every field is equal, or both refuse it.
"""

import argparse
import hashlib
import json
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.common import record
from benchmarks.parity import demos
from kerasbert.errors import KerasBertError
from kerasbert.export.tflite.graph_reader import has_schema
from kerasbert.export.tflite.model_file import ModelFile

PACKAGES = ("ai-edge-litert",)
_MIN_RUNTIME = b"min_runtime_version"


def main() -> None:
    """Compare all files and write the result."""
    arguments = _arguments()
    files = sorted({path for folder in arguments.folders for path in folder.rglob("*.tflite")})
    if not files:
        raise SystemExit(f"expected .tflite files in {arguments.folders}, received none")
    with ThreadPoolExecutor(arguments.processes) as pool:
        received = list(pool.map(partial(_inspect, demos.command_of(arguments.client)), files))
    different, kinds, refused = [], Counter(), 0
    for path, (values, refusal) in zip(files, received, strict=True):
        expected, error = _in_python(path)
        if expected != values:
            different.append(
                {"file": path.name, "difference": _difference(expected, values), "errors": [error, refusal]}
            )
        refused += expected is None and values is None
        if expected is not None:
            kinds[_kind(expected)] += 1
    for each in different[:10]:
        print(json.dumps(each))
    result = {
        "client": arguments.client,
        "files": len(files),
        "bytes": sum(path.stat().st_size for path in files),
        "different": len(different),
        "refused_by_both": refused,
        "kinds": dict(sorted(kinds.items())),
        "first_differences": different[:10],
    }
    print(json.dumps({key: result[key] for key in ("files", "different", "refused_by_both")}))
    record.write(arguments.json, result, record.versions(PACKAGES))


def _inspect(command: list[str], path: Path) -> tuple[dict[str, Any] | None, str]:
    process = subprocess.run([*command, "inspect", str(path)], capture_output=True, text=True, check=False)
    if process.returncode == 2 and process.stderr.startswith("error: expected"):
        return None, process.stderr.strip()
    if process.returncode:
        raise SystemExit(f"expected exit code 0 or 2, received {process.returncode} for {path}: {process.stderr}")
    return json.loads(process.stdout), ""


def _in_python(path: Path) -> tuple[dict[str, Any] | None, str]:
    try:
        file = ModelFile.read(path)
        found = file.require_metadata("to compare it")
    except KerasBertError as error:
        return None, str(error)
    if not has_schema():
        raise SystemExit(
            "expected ai-edge-litert, which has the schema of .tflite files, received an environment without it; install it"
        )
    fields = found.as_dict()
    fields.pop("format")
    return {
        **fields,
        "lengths": list(found.lengths) if found.lengths else None,
        "inputs": found.inputs,
        "labels": None if found.labels is None else list(found.labels),
        "vocabulary": _vocabulary(found.vocabulary),
        "bytes": len(file.content),
        "min_runtime_version": _min_runtime(file.content),
        "signatures": [
            {
                "name": signature.name,
                "inputs": _ports(file.subgraphs[signature.subgraph].tensors, signature.inputs),
                "outputs": _ports(file.subgraphs[signature.subgraph].tensors, signature.outputs),
            }
            for signature in file.signatures
        ],
    }, ""


def _ports(tensors: Any, names: dict[str, int]) -> dict[str, Any]:
    return {name: {"type": tensors[i].dtype, "shape": list(tensors[i].shape)} for name, i in names.items()}


def _vocabulary(vocabulary: tuple[str, ...] | None) -> dict[str, Any] | None:
    if vocabulary is None:
        return None
    lines = "".join(f"{token}\n" for token in vocabulary)
    return {"tokens": len(vocabulary), "sha256": hashlib.sha256(lines.encode("utf-8")).hexdigest()}


def _min_runtime(content: bytes) -> str | None:
    from ai_edge_litert import schema_py_generated as schema

    model = schema.Model.GetRootAs(content, 0)
    for entry in (model.Metadata(i) for i in range(model.MetadataLength())):
        if entry is not None and entry.Name() == _MIN_RUNTIME and entry.Buffer() < model.BuffersLength():
            buffer = model.Buffers(entry.Buffer())
            if buffer is not None and buffer.DataLength():
                return buffer.DataAsNumpy().tobytes().rstrip(b"\0").decode("ascii") or None
    return None


def _kind(expected: dict[str, Any]) -> str:
    length = (
        "resizable" if expected["sequence_length"] is None else "several lengths" if expected["lengths"] else "fixed"
    )
    return f"{expected['problem']}, {expected['target']}, {length}, {expected['inputs']}"


def _difference(expected: dict[str, Any] | None, received: dict[str, Any] | None) -> dict[str, Any]:
    if expected is None or received is None:
        return {
            "python": "refuses" if expected is None else "reads",
            "client": "refuses" if received is None else "reads",
        }
    names = [name for name in {**expected, **received} if expected.get(name) != received.get(name)]
    return {name: [str(expected.get(name))[:200], str(received.get(name))[:200]] for name in names}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER", help="folders of .tflite files")
    parser.add_argument(
        "--client", choices=demos.COMMAND_LINES, default="jvm", help="the program that is compared (jvm)"
    )
    parser.add_argument("--processes", type=int, default=2, help="processes at once")
    record.add_output(parser, "model_files")
    return parser.parse_args()


if __name__ == "__main__":
    main()
