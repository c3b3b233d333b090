"""Rank that `kerasbert diagnose` gives a tensor that was corrupted on purpose, and the effect of that tensor on the output.

    python -m benchmarks.accuracy.diagnose_ranks --model runs/assistant

Measured: the best rank of the directly affected tensors, by signal-to-noise over all values (where the largest values dominate) and in the
order of `worst_first`.

A classifier of the bundled data is corrupted in one place, quantized and diagnosed. The places are columns and rows of kernels, channels
of a norm and token embeddings, in several layers, with factors of 10, 100 and 1,000. A `compensated` corruption divides the weights of the
next layer, so float outputs stay the same. Without `--model`, zoo/small-en is fine-tuned first, for about 20 seconds.
"""

import argparse
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import record

PACKAGES = ("tensorflow", "tf-keras", "tensorflow-model-optimization", "numpy")
FACTORS = (10, 100, 1000)
ROWS = 64
CALIBRATION = 256
MODES = {
    "static": {"recipe": "static_wi8_ai8"},
    "integer-only": {"recipe": "static_wi8_ai8", "integer_only": True},
    "dynamic": {"recipe": "dynamic_wi8_afp32"},
}
ALARM = 10.0  # dB; a tensor below it is reported


@dataclass(frozen=True)
class Corruption:
    """A change of a model that makes one tensor hard to quantize.

    Attributes:
        apply: Takes the variables by path and a factor, and changes them in place.
        victims: Paths of the tensors that suffer directly.
        kind: A name for results.
    """

    apply: Callable[[dict, float], None]
    victims: tuple[str, ...]
    kind: str


def scale(variable: Any, axis: int, index: int, factor: float) -> None:
    """Multiply one slice of a variable in place."""
    values = np.moveaxis(variable.numpy(), axis, 0).copy()
    values[index] *= factor
    variable.assign(np.moveaxis(values, 0, axis))


def column(path: str, *victims: str, compensated_by: str | None = None) -> Corruption:
    """Corrupt one output channel of a Dense layer.

    Args:
        path: Of the Dense layer.
        *victims: Tensors that suffer.
        compensated_by: A Dense layer whose input channel is divided by the factor.
    """

    def apply(variables: dict, factor: float) -> None:
        scale(variables[f"encoder.{path}.kernel"], 1, 5, factor)
        scale(variables[f"encoder.{path}.bias"], 0, 5, factor)
        if compensated_by is not None:
            scale(variables[f"encoder.{compensated_by}.kernel"], 0, 5, 1 / factor)

    return Corruption(apply, victims, "column, compensated" if compensated_by else "column")


def row(path: str) -> Corruption:
    """Corrupt one input channel of a Dense layer."""

    def apply(variables: dict, factor: float) -> None:
        scale(variables[f"encoder.{path}.kernel"], 0, 5, factor)

    return Corruption(apply, (f"{path}.kernel",), "row")


def norm_channel(path: str, *victims: str, compensated_by: tuple[str, ...] = ()) -> Corruption:
    """Corrupt one output channel of a norm; the input channels of `compensated_by` are divided by the factor."""

    def apply(variables: dict, factor: float) -> None:
        for name in ("gamma", "beta"):
            scale(variables[f"encoder.{path}.{name}"], 0, 5, factor)
        for layer in compensated_by:
            scale(variables[f"encoder.{layer}.kernel"], 0, 5, 1 / factor)

    return Corruption(apply, victims, "activation channel")


def word(token_id: int, *victims: str) -> Corruption:
    """Corrupt one row of the token embeddings."""

    def apply(variables: dict, factor: float) -> None:
        scale(variables["encoder.embeddings.word.table"], 0, token_id, factor)

    return Corruption(apply, victims, "word")


def query_and_key(layer: int) -> Corruption:
    """Corrupt one channel of a layer's queries and divide the same channel of its keys."""
    path = f"layers.{layer}.attention"

    def apply(variables: dict, factor: float) -> None:
        for name, part in (("query", factor), ("key", 1 / factor)):
            scale(variables[f"encoder.{path}.{name}.kernel"], 1, 5, part)
            scale(variables[f"encoder.{path}.{name}.bias"], 0, 5, part)

    return Corruption(apply, (f"{path}.query.output",), "column, compensated")


def corruptions(common: int, absent: int) -> dict[str, Corruption]:
    """List all corruptions by name.

    Args:
        common: The id of a token that occurs in the data.
        absent: The id of a token that does not.
    """
    first, second, third = (f"layers.{i}" for i in range(3))
    second_attention = f"{second}.attention"
    return {
        "value column": column(
            f"{second_attention}.value", f"{second_attention}.value.output", f"{second_attention}.context"
        ),
        "value column, compensated": column(
            f"{second_attention}.value", f"{second_attention}.value.output", f"{second_attention}.context",
            compensated_by=f"{second_attention}.output_dense",
        ),
        "value column of the last layer, compensated": column(
            f"{third}.attention.value", f"{third}.attention.value.output", f"{third}.attention.context",
            compensated_by=f"{third}.attention.output_dense",
        ),
        "query column, key compensates": query_and_key(0),
        "attention output column": column(
            f"{first}.attention.output_dense", f"{first}.attention.output_dense.output", f"{first}.attention_stream",
            f"{first}.attention_norm.unscaled", f"{first}.attention_norm.normal",
            f"{first}.attention_norm.output", f"{first}.feed_forward.input",
        ),
        "feed-forward column": column(
            f"{second}.feed_forward.intermediate", f"{second}.feed_forward.intermediate.output", f"{second}.feed_forward.hidden",
        ),
        "feed-forward row": row(f"{first}.feed_forward.intermediate"),
        "query row": row(f"{third}.attention.query"),
        "feed-forward output row": row(f"{second}.feed_forward.output_dense"),
        "pooler row": row("pooler"),
        "norm channel": norm_channel(
            f"{first}.feed_forward_norm", f"{first}.feed_forward_norm.output", f"{second}.attention.input",
            f"{second}.attention_stream", f"{second}.attention_norm.unscaled", f"{second}.attention_norm.normal",
        ),
        "norm channel, attention compensates": norm_channel(
            f"{first}.feed_forward_norm", f"{first}.feed_forward_norm.output", f"{second}.attention.input",
            f"{second}.attention_stream", f"{second}.attention_norm.unscaled", f"{second}.attention_norm.normal",
            compensated_by=tuple(f"{second}.attention.{name}" for name in ("query", "key", "value")),
        ),
        "word of the data": word(
            common, "embeddings.word.table", "embeddings.positioned", "embeddings.stream", "embeddings.norm.unscaled",
            "embeddings.norm.centred", "embeddings.norm.mean",
        ),
        "word that the data lack": word(absent, "embeddings.word.table"),
    }  # fmt: skip


class EnergyObserver:
    """Compares each activation with its quantized value by signal-to-noise over all values: the ranking by energy alone.

    Attributes:
        attended: True for tokens that are not padding, (batch, length).
        decibels: Signal-to-noise by key of the activation.
    """

    before_scaling = False

    def __init__(self, attended: np.ndarray) -> None:
        self.attended = attended
        self.decibels: dict = {}

    def __call__(self, quantizer: Any, x: Any) -> Any:
        from kerasbert.compression.quantization.observers import attended_values, fake_quantize, quantizer_key
        from kerasbert.compression.quantization.signal_to_noise import decibels
        from kerasbert.layers.quantization.activation_quantizers import ActivationFakeQuant

        output = fake_quantize(quantizer, x)
        if isinstance(quantizer, ActivationFakeQuant):
            sides = (attended_values(values.numpy(), self.attended)[0] for values in (x, output))
            self.decibels[quantizer_key(quantizer)] = decibels(*sides)
        return output


def rank_by_energy(model: Any, texts: list[str]) -> list[str]:
    """List the paths of activations, the worst first."""
    from kerasbert.compression.quantization.observers import observe_quantizers, pack_rows

    rows = model.features(texts, scoring=True)[1]
    inputs = pack_rows(model, rows, range(len(rows)))
    observer = EnergyObserver(inputs["attention_mask"].numpy().astype(bool))
    with observe_quantizers(model, observer):
        model.serve(inputs)
    return [path for path, _ in sorted(observer.decibels, key=lambda key: observer.decibels[key])]


def best_rank(paths: list[str], victims: Sequence[str]) -> int | None:
    """Find the rank of the first victim, counted from 1; None if there is none."""
    return next((position for position, path in enumerate(paths, 1) if path in victims), None)


def diagnose(
    task: Any, mode: str, data: tuple[list[str], list, list[str]], victims: Sequence[str], top: int = 2
) -> dict:
    """Quantize and diagnose a float model.

    Args:
        task: The classifier.
        mode: A key of `MODES`.
        data: Texts, labels and calibration texts.
        victims: Tensors to rank; those that the mode leaves in float have no rank.
        top: The number of worst tensors whose effect on the output is measured.
    """
    from kerasbert import compression
    from kerasbert.compression.quantization.diagnosis import worst_first

    texts, labels, calibration = data
    model = compression.quantize(task, calibration=calibration, **MODES[mode])
    losses = worst_first(compression.diagnose(model, texts, ROWS))
    first = losses[0]
    effects = compression.measure_effects(model, texts, [loss.key for loss in losses[:top]], labels, ROWS)
    worst = max(effects.alone, key=lambda key: effects.alone[key].error)
    energy = rank_by_energy(model, texts)
    return {
        "tensors": len(losses),
        "below_alarm": sum(loss.least_signal_to_noise < ALARM for loss in losses),
        "first": first.path,
        "first_db": round(first.least_signal_to_noise, 2),
        "first_alone": vars(effects.alone[first.key]),
        "worst_for_output": worst[0],
        "all_in_8_bits": vars(effects.together),
        "float_accuracy": effects.in_float,
        "rank": best_rank([loss.path for loss in losses if loss.kind != "float"], victims),
        "rank_by_energy": best_rank(energy, victims),
        "ranked_by_energy": len(energy),
    }


def fine_tune(folder: Path) -> Any:
    """Fine-tune a checkpoint for twelve epochs on the bundled data."""
    import kerasbert as kb
    from kerasbert.data import assistant

    train = assistant.load("train")
    task = kb.TextClassifier.from_pretrained(folder, labels=assistant.INTENTS, sequence_length=32)
    task.compile(kb.adamw(5e-4, warmup=0, decay="constant"))
    task.fit(list(train.texts), list(train.intents), epochs=12, seed=0, verbose=0)
    return task


def main() -> None:
    """Diagnose the intact and all corrupted models and write the result."""
    arguments = _arguments()
    import kerasbert as kb
    from kerasbert.data import assistant
    from kerasbert.layers.traversal import dense_layers

    load = record.load()
    task = kb.load_task(arguments.model) if arguments.model else fine_tune(arguments.checkpoint)
    dev, train = assistant.load("dev"), assistant.load("train")
    texts, labels = list(dev.texts[:ROWS]), list(dev.intents[:ROWS])
    data = texts, labels, list(train.texts[:CALIBRATION])
    occurring = {i for row in task.encode(texts + data[2]).input_ids for i in row}
    ids = task.tokenizer.encode(["the"], max_length=8).input_ids[0]
    cases = corruptions(ids[1], next(i for i in range(1500, 8000) if i not in occurring))
    controls = {mode: diagnose(task, mode, data, ()) for mode in MODES}
    for mode, control in controls.items():
        first = f"first {control['first']} {control['first_db']} dB, {control['below_alarm']} alarms"
        print(f"{'nothing broken':44s} {mode:13s} {first}")
    stored = {f"{dense.path}.kernel" for dense in dense_layers(task)} | {"embeddings.word.table"}
    results = []
    with tempfile.TemporaryDirectory() as folder:
        task.save_pretrained(Path(folder) / "model")
        for name, corruption in cases.items():
            for factor in FACTORS:
                corrupted = kb.load_task(Path(folder) / "model")
                corruption.apply(corrupted.variables_by_path(), factor)
                for mode in MODES:
                    if mode == "dynamic" and not stored.intersection(corruption.victims):
                        continue  # no victim is quantized in this mode
                    case = {"break": name, "kind": corruption.kind, "factor": factor, "mode": mode}
                    results.append({**case, **diagnose(corrupted, mode, data, corruption.victims)})
                    _print_case(results[-1])
    result = {
        "rows": ROWS,
        "calibration_rows": CALIBRATION,
        "unbroken": controls,
        "summary": summarize(results),
        "results": results,
    }
    record.write(arguments.json, result, record.versions(PACKAGES), load)


def summarize(results: list[dict]) -> dict:
    """Count how often a victim ranks first, by mode and factor, over the cases with a quantized victim."""
    counts = {}
    for mode in MODES:
        for factor in FACTORS:
            cases = [case for case in results if (case["mode"], case["factor"]) == (mode, factor) and case["rank"]]
            ranked = [case["rank_by_energy"] for case in cases if case["rank_by_energy"]]
            counts[f"{mode}, times {factor}"] = {
                "cases": len(cases),
                "first": sum(case["rank"] == 1 for case in cases),
                "worst_rank": max((case["rank"] for case in cases), default=None),
                "first_by_energy": sum(rank == 1 for rank in ranked),
                "worst_rank_by_energy": max(ranked, default=None),
                "not_ranked_by_energy": len(cases) - len(ranked),
            }
    return counts


def _print_case(case: dict) -> None:
    before, after = (case[name] or "-" for name in ("rank_by_energy", "rank"))
    print(
        f"{case['break']:44s} {case['factor']:5d} {case['mode']:13s} by energy {before:>3} of {case['ranked_by_energy']:3d}, "
        f"now {after:>3} of {case['tensors']:3d}; first {case['first']} {case['first_db']} dB, "
        f"output error {case['first_alone']['error']:.2%}",
        flush=True,
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", metavar="FOLDER", help="a classifier of the bundled data")
    parser.add_argument(
        "--checkpoint", type=Path, default=Path(__file__).parents[2] / "zoo" / "small-en", metavar="FOLDER"
    )
    record.add_output(parser, "diagnose_ranks")
    return parser.parse_args()


if __name__ == "__main__":
    main()
