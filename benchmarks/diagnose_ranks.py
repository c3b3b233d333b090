"""Whether `kerasbert diagnose` names a tensor that was broken on purpose: its rank among all tensors, and what it costs the output.

    python benchmarks/diagnose_ranks.py --model runs/assistant

A classifier of the bundled data is broken in one place, quantized and diagnosed: columns and rows of kernels, channels of a norm, words,
in several layers, by factors of 10, 100 and 1,000. `compensated` breaks divide what reads the tensor, so float answers as before. The rank
of the best of the tensors that suffer directly is told twice: by signal-to-noise over all values (what is largest decides), and as
`worst_first` sorts. Without --model, zoo/small-en is fine-tuned first, for about 20 seconds.
"""

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import record

PACKAGES = ("tensorflow", "tf-keras", "tensorflow-model-optimization", "numpy")
FACTORS = (10, 100, 1000)
ROWS = 64
CALIBRATION = 256
MODES = {
    "static": {"recipe": "static_wi8_ai8"},
    "integer-only": {"recipe": "static_wi8_ai8", "integer_only": True},
    "dynamic": {"recipe": "dynamic_wi8_afp32"},
}
ALARM = 10.0  # dB


def scale(variable, axis: int, place: int, factor: float) -> None:
    """Multiplies one slice of a variable."""
    values = np.moveaxis(variable.numpy(), axis, 0).copy()
    values[place] *= factor
    variable.assign(np.moveaxis(values, 0, axis))


def column(path: str, *victims: str, reader: str | None = None) -> tuple[Callable, tuple[str, ...], str]:
    """One output channel of a dense; reader: the kernel whose input row is divided."""

    def break_it(variables, factor):
        scale(variables[f"encoder.{path}.kernel"], 1, 5, factor)
        scale(variables[f"encoder.{path}.bias"], 0, 5, factor)
        if reader is not None:
            scale(variables[f"encoder.{reader}.kernel"], 0, 5, 1 / factor)

    return break_it, victims, "column, compensated" if reader else "column"


def row(path: str) -> tuple[Callable, tuple[str, ...], str]:
    """One input of a dense."""
    return (
        lambda variables, factor: scale(variables[f"encoder.{path}.kernel"], 0, 5, factor),
        (f"{path}.kernel",),
        "row",
    )


def norm_channel(path: str, *victims: str, readers: tuple[str, ...] = ()) -> tuple[Callable, tuple[str, ...], str]:
    """One channel of what a norm writes."""

    def break_it(variables, factor):
        for name in ("gamma", "beta"):
            scale(variables[f"encoder.{path}.{name}"], 0, 5, factor)
        for reader in readers:
            scale(variables[f"encoder.{reader}.kernel"], 0, 5, 1 / factor)

    return break_it, victims, "activation channel"


def word(identifier: int, *victims: str) -> tuple[Callable, tuple[str, ...], str]:
    """One row of the word table."""
    return (
        lambda variables, factor: scale(variables["encoder.embeddings.word.table"], 0, identifier, factor),
        victims,
        "word",
    )


def query_and_key(layer: int) -> tuple[Callable, tuple[str, ...], str]:
    """A channel of the queries, with the keys divided."""
    path = f"layers.{layer}.attention"

    def break_it(variables, factor):
        for name, by in (("query", factor), ("key", 1 / factor)):
            scale(variables[f"encoder.{path}.{name}.kernel"], 1, 5, by)
            scale(variables[f"encoder.{path}.{name}.bias"], 0, 5, by)

    return break_it, (f"{path}.query.output",), "column, compensated"


def breaks(common: int, rare: int) -> dict[str, tuple[Callable, tuple[str, ...], str]]:
    """Name -> what breaks the model, the tensors that suffer directly, the kind. common, rare: ids of words in the data, and not there."""
    first, second, third = (f"layers.{i}" for i in range(3))
    after_second = f"{second}.attention"
    return {
        "value column": column(
            f"{after_second}.value", f"{after_second}.value.output", f"{after_second}.context"
        ),
        "value column, compensated": column(
            f"{after_second}.value", f"{after_second}.value.output", f"{after_second}.context",
            reader=f"{after_second}.output_dense",
        ),
        "value column of the last layer, compensated": column(
            f"{third}.attention.value", f"{third}.attention.value.output", f"{third}.attention.context",
            reader=f"{third}.attention.output_dense",
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
            readers=tuple(f"{second}.attention.{name}" for name in ("query", "key", "value")),
        ),
        "word of the data": word(
            common, "embeddings.word.table", "embeddings.positioned", "embeddings.stream", "embeddings.norm.unscaled",
            "embeddings.norm.centred", "embeddings.norm.mean",
        ),
        "word that the data lack": word(rare, "embeddings.word.table"),
    }  # fmt: skip


class OverAllValues:
    """An observer that compares each activation with itself before, over all values: how tensors were ranked by energy alone."""

    before_scaling = False

    def __init__(self, attended):
        self.attended, self.found = attended, {}

    def __call__(self, quantizer, x):
        from kerasbert.compression.quantization.observers import attended_values, fake_quantize, quantizer_key
        from kerasbert.compression.quantization.signal_to_noise import decibels
        from kerasbert.layers.quantization.activation_quantizers import ActivationFakeQuant

        quantized = fake_quantize(quantizer, x)
        if isinstance(quantizer, ActivationFakeQuant):
            sides = (attended_values(values.numpy(), self.attended)[0] for values in (x, quantized))
            self.found[quantizer_key(quantizer)] = decibels(*sides)
        return quantized


def ranked_by_energy(model, texts) -> list[str]:
    """Paths of activations, the worst first."""
    from kerasbert.compression.quantization.observers import observe_quantizers, pack_rows

    features = model.features(texts, scoring=True)[1]
    inputs = pack_rows(model, features, range(len(features)))
    observer = OverAllValues(inputs["attention_mask"].numpy().astype(bool))
    with observe_quantizers(model, observer):
        model.serve(inputs)
    return [path for path, _ in sorted(observer.found, key=observer.found.get)]


def rank(paths: list[str], victims) -> int | None:
    """The place of the first of them, from 1 on; None where none is there."""
    return next((place for place, path in enumerate(paths, 1) if path in victims), None)


def judge(task, mode: str, data, victims, top: int = 2) -> dict:
    """Quantizes and diagnoses a model in float. Victims that the mode leaves in float have no rank."""
    from kerasbert import compression
    from kerasbert.compression.quantization.diagnosis import worst_first

    texts, labels, calibration = data
    model = compression.quantize(task, calibration=calibration, **MODES[mode])
    found = compression.diagnose(model, texts, ROWS)
    losses = worst_first(found)
    first = losses[0]
    effects = compression.measure_effects(model, texts, [loss.key for loss in losses[:top]], labels, ROWS)
    worst = max(effects.alone, key=lambda key: effects.alone[key].error)
    energy = ranked_by_energy(model, texts)
    return {
        "tensors": len(losses),
        "below_alarm": sum(loss.least_signal_to_noise < ALARM for loss in losses),
        "first": first.path,
        "first_db": round(first.least_signal_to_noise, 2),
        "first_alone": vars(effects.alone[first.key]),
        "worst_for_output": worst[0],
        "all_in_8_bits": vars(effects.together),
        "float_accuracy": effects.in_float,
        "rank": rank([loss.path for loss in losses if loss.kind != "float"], victims),
        "rank_by_energy": rank(energy, victims),
        "ranked_by_energy": len(energy),
    }


def fine_tuned(folder: Path):
    """zoo/small-en after twelve epochs of the bundled data."""
    import kerasbert as kb
    from kerasbert.data import assistant

    train = assistant.load("train")
    task = kb.TextClassifier.from_pretrained(folder, labels=assistant.INTENTS, sequence_length=32)
    task.compile(kb.adamw(5e-4))
    task.fit(list(train.texts), list(train.intents), epochs=12, seed=0, verbose=0)
    return task


def main() -> None:
    import kerasbert as kb
    from kerasbert.data import assistant
    from kerasbert.layers.dense import dense_layers

    arguments = _arguments()
    load = record.load()
    task = kb.load_task(arguments.model) if arguments.model else fine_tuned(arguments.checkpoint)
    dev, train = assistant.load("dev"), assistant.load("train")
    texts, labels = list(dev.texts[:ROWS]), list(dev.intents[:ROWS])
    data = texts, labels, list(train.texts[:CALIBRATION])
    seen = {i for row in task.encode(texts + data[2]).input_ids for i in row}
    ids = task.tokenizer.encode(["the"], max_length=8).input_ids[0]
    cases = breaks(ids[1], next(i for i in range(1500, 8000) if i not in seen))
    controls = {mode: judge(task, mode, data, ()) for mode in MODES}
    for mode, found in controls.items():
        print(
            f"{'nothing broken':44s} {mode:13s} first {found['first']} {found['first_db']} dB, {found['below_alarm']} alarms"
        )
    stored = {f"{dense.path}.kernel" for dense in dense_layers(task)} | {"embeddings.word.table"}
    results = []
    with tempfile.TemporaryDirectory() as folder:
        task.save_pretrained(Path(folder) / "model")
        for name, (break_it, victims, kind) in cases.items():
            for factor in FACTORS:
                broken = kb.load_task(Path(folder) / "model")
                break_it(broken.variables_by_path(), factor)
                for mode in MODES:
                    if mode == "dynamic" and not stored.intersection(victims):
                        continue  # it holds nothing of what suffers in 8 bits
                    found = {
                        "break": name,
                        "kind": kind,
                        "factor": factor,
                        "mode": mode,
                        **judge(broken, mode, data, victims),
                    }
                    results.append(found)
                    _say(found)
    result = {
        "rows": ROWS,
        "calibration_rows": CALIBRATION,
        "unbroken": controls,
        "summary": summary(results),
        "results": results,
    }
    record.write(arguments.json, result, record.versions(PACKAGES), load)


def summary(results: list[dict]) -> dict:
    """How often the broken tensor is first, by mode and factor, of the cases in which it suffers at all in that mode."""
    found = {}
    for mode in MODES:
        for factor in FACTORS:
            cases = [each for each in results if (each["mode"], each["factor"]) == (mode, factor) and each["rank"]]
            ranked = [each["rank_by_energy"] for each in cases if each["rank_by_energy"]]
            found[f"{mode}, times {factor}"] = {
                "cases": len(cases),
                "first": sum(each["rank"] == 1 for each in cases),
                "worst_rank": max((each["rank"] for each in cases), default=None),
                "first_by_energy": sum(place == 1 for place in ranked),
                "worst_rank_by_energy": max(ranked, default=None),
                "not_ranked_by_energy": len(cases) - len(ranked),
            }
    return found


def _say(found: dict) -> None:
    before, after = (found[name] or "-" for name in ("rank_by_energy", "rank"))
    print(
        f"{found['break']:44s} {found['factor']:5d} {found['mode']:13s} by energy {before:>3} of {found['ranked_by_energy']:3d}, "
        f"now {after:>3} of {found['tensors']:3d}; first {found['first']} {found['first_db']} dB, "
        f"output error {found['first_alone']['error']:.2%}",
        flush=True,
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", metavar="FOLDER", help="a classifier of the bundled data")
    parser.add_argument(
        "--checkpoint", type=Path, default=Path(__file__).parents[1] / "zoo" / "small-en", metavar="FOLDER"
    )
    record.add_output(parser, "diagnose_ranks")
    return parser.parse_args()


if __name__ == "__main__":
    main()
