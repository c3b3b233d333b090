"""Edge TPU delegation forecast for the accelerator model of presets with random weights.

    python -m benchmarks.backends.edge_tpu_forecast --texts dev.tsv --vocabulary vocab.txt --presets mobilebert

Measured: operators that are forecast as mapped, the reasons for the others, and file sizes. `convert --target edge-tpu` makes the model.
The forecast applies documented rules; no compiler and no device are involved.
"""

import argparse
from collections import Counter
from pathlib import Path

from benchmarks.common import record

PACKAGES = ("tensorflow", "tf-keras", "ai-edge-litert", "numpy")


def main() -> None:
    """Forecast all presets and write the result."""
    arguments = _arguments()
    from kerasbert.data import read_table

    load = record.load()
    texts = read_table(arguments.texts, max_rows=16).texts
    presets = {name: _forecast(name, arguments, texts) for name in arguments.presets}
    record.write(arguments.json, {"length": arguments.length, "presets": presets}, record.versions(PACKAGES), load)


def _forecast(name: str, arguments: argparse.Namespace, texts: list[str]) -> dict:
    import tf_keras as keras

    import kerasbert as kb
    from kerasbert.encoders import encoder_class, preset
    from kerasbert.export.backends.edge_tpu import forecast
    from kerasbert.export.tflite.model_file import ModelFile
    from kerasbert.text import WordPiece

    keras.utils.set_random_seed(0)
    config = preset(name)
    words = WordPiece(arguments.vocabulary.read_text("utf-8").splitlines())
    model = kb.TextClassifier(
        encoder_class(config.model_type)(config), words, labels=["a", "b"], sequence_length=arguments.length
    )
    converted = kb.export.convert(model, target="edge-tpu", calibration=texts)
    file = ModelFile.read(converted.content)
    verdicts = forecast(file)
    refused = Counter(
        f"{verdict.operator}: {verdict.unsupported_reason}" for verdict in verdicts if verdict.unsupported_reason
    )
    facts = {
        "operators": len(verdicts), "mapped": sum(verdict.unsupported_reason is None for verdict in verdicts), "refused": dict(refused),
        "kinds": dict(Counter(verdict.operator for verdict in verdicts)),
        "body_bytes": len(converted.content), "host_bytes": len(converted.host),
    }  # fmt: skip
    print(name, facts, flush=True)
    return facts


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", required=True, metavar="FILE", help="calibration texts")
    parser.add_argument(
        "--vocabulary", type=Path, required=True, metavar="FILE", help="vocab.txt of an uncased checkpoint"
    )
    parser.add_argument("--presets", nargs="+", default=["mobilebert"])
    parser.add_argument("--length", type=int, default=64)
    record.add_output(parser, "edge_tpu_forecast")
    return parser.parse_args()


if __name__ == "__main__":
    main()
