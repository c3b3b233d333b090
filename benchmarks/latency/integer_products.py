"""Time of a product of two int8 activations by the zero point of the second factor: XNNPACK delegates only symmetric ranges.

    python -m benchmarks.latency.integer_products

Measured: milliseconds of attention's two products at each length, once with a zero point of 0 and once with a zero point of -1, and the
backend that runs each. The files take turns. Both quantize their float inputs first, which is part of the times.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.common import record

PACKAGES = ("tensorflow", "ai-edge-litert", "numpy")
MIDDLE, ASIDE = (-128 / 32, 127 / 32), (-127 / 32, 128 / 32)


def main() -> None:
    """Measure all products and write the result."""
    arguments = _arguments()
    from kerasbert.export.runtime.interpreters import open_model

    load = record.load()
    rows = []
    for length in arguments.lengths:
        for name in ("scores", "context"):
            shapes = _shapes(name, arguments.heads, length, arguments.head_size)
            draw = np.random.default_rng(0)
            inputs = {key: draw.uniform(-4, 4, shape).astype(np.float32) for key, shape in shapes.items()}
            models = {
                side: open_model(_product_file(name, shapes, bounds))
                for side, bounds in (("middle", MIDDLE), ("aside", ASIDE))
            }
            seconds = _seconds(models, inputs, arguments.rounds)
            rows.append(
                {
                    "product": name, "length": length,
                    "milliseconds": {side: 1e3 * float(np.median(values)) for side, values in seconds.items()},
                    "aside_to_middle": record.ratio(seconds["aside"], seconds["middle"]),
                    "taken_by": {side: _backend(model) for side, model in models.items()},
                }
            )  # fmt: skip
            print(rows[-1]["product"], length, rows[-1]["milliseconds"], rows[-1]["taken_by"], flush=True)
    result = {"heads": arguments.heads, "head_size": arguments.head_size, "rows": rows}
    record.write(arguments.json, result, record.versions(PACKAGES), load)


def _shapes(name: str, heads: int, length: int, size: int) -> dict[str, tuple[int, ...]]:
    first = (1, heads, length, size if name == "scores" else length)
    return {"first": first, "second": (1, heads, length, size)}


def _product_file(name: str, shapes: dict, bounds: tuple[float, float]) -> bytes:
    """Build a file with one product; `bounds` is the range of its second factor."""
    import tensorflow as tf

    from kerasbert.export.lowering.tracing import converted_graph, save_function

    fake_quant = tf.quantization.fake_quant_with_min_max_args
    terms = shapes["first"][-1]

    def product(first, second):
        factors = fake_quant(first, *MIDDLE), fake_quant(second, *bounds)
        return {"product": fake_quant(tf.matmul(*factors, transpose_b=name == "scores"), -4.0 * terms, 4.0 * terms)}

    specs = {key: tf.TensorSpec(shape, tf.float32, name=key) for key, shape in shapes.items()}
    with tempfile.TemporaryDirectory() as folder:
        save_function(product, specs, Path(folder))
        return converted_graph(Path(folder), integer=True)


def _seconds(models: dict, inputs: dict, rounds: int) -> dict[str, list[float]]:
    seconds = {side: [] for side in models}
    for model in models.values():
        model.run(inputs)
    for turn in range(rounds):
        for side in sorted(models, reverse=bool(turn % 2)):
            seconds[side].append(models[side].timed(inputs)[1])
    return seconds


def _backend(model) -> str:
    return next(backend for backend, counts in model.ops_by_backend.items() if "BATCH_MATMUL" in counts)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heads", type=int, default=12, metavar="N")
    parser.add_argument("--head-size", type=int, default=32, metavar="N")
    parser.add_argument("--lengths", type=int, nargs="+", default=[32, 64, 128], metavar="TOKENS")
    parser.add_argument("--rounds", type=int, default=200, metavar="N")
    record.add_output(parser, "integer_products")
    return parser.parse_args()


if __name__ == "__main__":
    main()
