"""The reader of the metadata of a `.tflite` file; `fuzz_tflite` damages the model."""

from pathlib import Path

from benchmarks.robustness.fuzz_targets.samples import TEXTS, WORDS, wordpiece
from benchmarks.robustness.fuzz_targets.target import Target


def _metadata(folder: Path) -> None:
    from kerasbert.export.tflite import metadata

    description = metadata.read(folder / "a.tflite")
    if description is not None:
        metadata.tokenizer_of(description).encode(TEXTS, max_length=16)


def _metadata_files() -> list[dict[str, bytes]]:
    from kerasbert.export.tflite.metadata import Metadata, append
    from kerasbert.processors.classification import SingleLabel

    settings = {name: value for name, value in wordpiece().get_config().items() if name != "vocabulary"}
    description = Metadata(
        task="TextClassifier", processor=SingleLabel(("bad", "good")), sequence_length=16, recipe="float", target="cpu",
        parameters=100, weights="",
        vocab_size=len(WORDS), tokenizer=settings, signature="serve", kerasbert="0.1.0", vocabulary=WORDS,
    )  # fmt: skip
    return [{"a.tflite": append(b"\x1c\0\0\0TFL3" + bytes(100), description)}]


TARGETS = [Target("metadata of a .tflite", _metadata, _metadata_files)]
