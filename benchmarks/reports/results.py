"""Reads result files, and tells where their numbers come from."""

import json
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from benchmarks.common import record

# A result file has the processor's brand only; speeds also depend on its instructions.
PROCESSORS = {
    "training_throughput": "AMD EPYC with AVX-512",
    "training_throughput_avx2": "AMD EPYC with AVX2",
    "training_throughput_xeon": "Intel Xeon with AMX",
    "onnxruntime_latency": "AMD EPYC with AVX-512",
    "real_lengths": "AMD EPYC with AVX-512",
}
PACKAGES = {
    "ai-edge-litert": "LiteRT", "tensorflow": "TensorFlow", "onnxruntime": "ONNX Runtime", "torch": "PyTorch",
    "peer torch": "PyTorch", "peer transformers": "transformers", "transformers": "transformers", "tokenizers": "tokenizers",
    "tensorflow-text": "tensorflow-text", "sentencepiece": "sentencepiece",
}  # fmt: skip
_BRANDS = ("AMD EPYC", "Intel Xeon")


class Table(NamedTuple):
    """A table of a page.

    Attributes:
        build: Makes the lines from the result files.
        sources: Names of the result files.
    """

    build: Callable[..., list[str]]
    sources: tuple[str, ...]

    def lines(self) -> list[str]:
        """The lines of the table, and those with the result files, their dates, processors and versions."""
        lines = self.build(*map(load, self.sources))
        if not self.sources:
            return lines
        if len(self.sources) == 1:
            return [*lines, "", f"Source: {citation(self.sources[0])}", ""]
        return [*lines, "", "Sources:", "", *(f"- {citation(name)}" for name in self.sources), ""]


@cache
def load(name: str) -> dict:
    """Read `benchmarks/results/NAME.json`."""
    return json.loads((record.RESULTS / f"{name}.json").read_text("utf-8"))


def names() -> list[str]:
    """List all result files, without their ending."""
    return sorted(path.stem for path in record.RESULTS.glob("*.json"))


def day(name: str) -> str:
    """The day of a measurement, ISO 8601."""
    return load(name)["date"][:10]


def processor(name: str) -> str:
    """The processor of a measurement."""
    result = load(name)
    runs = result.get("runs", [])
    cpus = [result["machine"]["cpu"], *(run["cpu"] for run in runs if "cpu" in run)]
    return PROCESSORS.get(name) or " and ".join(dict.fromkeys(map(brand, cpus)))


def brand(cpu: str) -> str:
    """The brand in the name of a processor."""
    return next((name for name in _BRANDS if name.split()[1] in cpu), cpu)


def software(name: str) -> str:
    """The packages that decide a measurement, with their versions."""
    versions = load(name)["versions"]
    titles = {title: versions[package] for package, title in PACKAGES.items() if package in versions}
    return ", ".join(f"{title} {version.partition('+')[0]}" for title, version in titles.items())


def citation(name: str) -> str:
    """Format where the numbers of a table come from."""
    facts = ", ".join(part for part in (day(name), processor(name), software(name)) if part)
    return f"`{name}.json` ({facts})."
