"""What an Edge TPU is forecast to take of the body that `convert --target edge-tpu` makes of a preset with random weights.

    python benchmarks/edge_tpu_forecast.py --texts dev.tsv --vocabulary vocab.txt --presets mobilebert

The forecast is a table of with_operator_table rules. Nothing is compiled here, and nothing runs on a device.
"""

import argparse
from collections import Counter
from pathlib import Path

import record

PACKAGES = ("tensorflow", "tf-keras", "ai-edge-litert", "numpy")


def main() -> None:
    from kerasbert.data import read_table

    arguments = _arguments()
    load = record.load()
    texts = read_table(arguments.texts, max_rows=16).texts
    found = {name: _forecast(name, arguments, texts) for name in arguments.presets}
    record.write(arguments.json, {"length": arguments.length, "presets": found}, record.versions(PACKAGES), load)


def _forecast(name: str, arguments, texts: list[str]) -> dict:
    import tf_keras as keras

    import kerasbert as kb
    from kerasbert.encoders import encoder_class, preset
    from kerasbert.export.backends.edge_tpu import forecast
    from kerasbert.export.tflite.tflite_file import TFLiteFile
    from kerasbert.text import WordPiece

    keras.utils.set_random_seed(0)
    config = preset(name)
    words = WordPiece(arguments.vocabulary.read_text("utf-8").splitlines())
    model = kb.TextClassifier(
        encoder_class(config.model_type)(config), words, labels=["a", "b"], sequence_length=arguments.length
    )
    made = kb.export.convert(model, target="edge-tpu", calibration=texts)
    file = TFLiteFile.read(made.content)
    verdicts = forecast(file)
    refused = Counter(
        f"{verdict.operator}: {verdict.unsupported_reason}" for verdict in verdicts if verdict.unsupported_reason
    )
    facts = {
        "operators": len(verdicts), "mapped": sum(verdict.unsupported_reason is None for verdict in verdicts), "refused": dict(refused),
        "kinds": dict(Counter(verdict.operator for verdict in verdicts)),
        "body_bytes": len(made.content), "host_bytes": len(made.host),
    }  # fmt: skip
    print(name, facts, flush=True)
    return facts


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", required=True, metavar="FILE")
    parser.add_argument("--vocabulary", type=Path, required=True, metavar="FILE", help="WordPiece, a word a line")
    parser.add_argument("--presets", nargs="+", default=["mobilebert"])
    parser.add_argument("--length", type=int, default=64)
    record.add_output(parser, "edge_tpu_forecast")
    return parser.parse_args()


if __name__ == "__main__":
    main()
