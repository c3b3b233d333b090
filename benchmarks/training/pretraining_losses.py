"""Losses of pretraining against transformers' heads, on the same masked rows.

    python -m benchmarks.training.pretraining_losses --text corpus.txt.gz --peer-python peers/bin/python

For every architecture and its objectives, `kerasbert` makes a small model with random weights of a large spread, masks `--rows` rows of the
corpus by each unit, computes the losses, and saves the folder. transformers opens the folder with its own class for pretraining and
computes the losses of the same rows. The result has both, and the largest relative difference.

A generator draws the tokens that a detector reads: the detector's loss is compared on the ids that were drawn.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import record
from benchmarks.training.training_throughput import peer_versions

PACKAGES = ("tensorflow", "tf-keras", "tokenizers", "sentencepiece", "numpy")
UNITS = ("tokens", "words", "n-grams", "spans")
LENGTH = 64
SPREAD = 3.0  # factor on the initial kernels, so that logits differ from token to token


@dataclass(frozen=True)
class Case:
    """An architecture and what it learns.

    Attributes:
        preset: A preset, whose sizes are made small.
        objectives: The objectives.
        peer: transformers' class.
        learn: The kind of the vocabulary.
    """

    preset: str
    objectives: tuple[str, ...]
    peer: str
    learn: str = "wordpiece"


CASES = {
    "bert": Case("bert-tiny", ("masked-lm", "next-sentence"), "BertForPreTraining"),
    "bert words": Case("bert-tiny", ("masked-lm",), "BertForMaskedLM"),
    "bert pairs": Case("bert-tiny", ("next-sentence",), "BertForNextSentencePrediction"),
    "albert": Case("albert-base", ("masked-lm", "sentence-order"), "AlbertForPreTraining", "sentencepiece"),
    "mobilebert": Case("mobilebert", ("masked-lm", "next-sentence"), "MobileBertForPreTraining"),
    "distilbert": Case("distilbert", ("masked-lm",), "DistilBertForMaskedLM"),
    "roberta": Case("roberta-base", ("masked-lm",), "RobertaForMaskedLM", "bpe"),
    "electra": Case("electra-small", ("replaced-tokens",), "ElectraForPreTraining"),
}


def main() -> None:
    """Compare every case and write the result."""
    arguments = _arguments()
    load, cases = record.load(), {}
    with tempfile.TemporaryDirectory() as folder:
        for name, case in CASES.items():
            cases[name] = _compare(case, Path(folder) / name.replace(" ", "-"), arguments)
            print(name, f"{cases[name]['largest_relative_difference']:.1e}", flush=True)
    largest = max(each["largest_relative_difference"] for each in cases.values())
    result = {"rows": arguments.rows, "length": LENGTH, "largest_relative_difference": largest, "cases": cases}
    record.write(arguments.json, result, {**record.versions(PACKAGES), **peer_versions(arguments.peer_python)}, load)


def _compare(case: Case, folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    folder.mkdir()
    ours = _own_losses(case, folder, arguments)
    command = [arguments.peer_python, "-m", "benchmarks.training.pretraining_losses_peer", str(folder), case.peer]
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if answer.returncode:
        sys.exit(f"expected exit code 0, received {answer.returncode} of {' '.join(command)}")
    theirs = json.loads(answer.stdout)
    units = {unit: {"ours": ours[unit], "transformers": theirs[unit]} for unit in ours}
    differences = [
        abs(value - theirs[unit][name]) / abs(value) for unit, losses in ours.items() for name, value in losses.items()
    ]
    return {"class": case.peer, "units": units, "largest_relative_difference": max(differences)}


def _own_losses(case: Case, folder: Path, arguments: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Save a model and its masked rows; return the losses by unit and objective."""
    import tf_keras as keras

    import kerasbert as kb
    from kerasbert.encoders import encoder_class, preset
    from kerasbert.tasks.pretraining_objectives import OBJECTIVES
    from kerasbert.text import learn_tokenizer

    texts = kb.data.TextStream(arguments.text)
    tokenizer = learn_tokenizer(case.learn, islice(texts.texts(), 20_000), 4_000)
    sizes = _small(preset(case.preset), tokenizer)
    keras.utils.set_random_seed(1)
    kind = encoder_class(sizes.model_type)
    encoder = kind(sizes, pooler=kind.pooler_is_trained and sizes.model_type in ("bert", "albert", "mobilebert"))
    options: dict[str, Any] = {"sequence_length": LENGTH, "objectives": case.objectives}
    task = kb.Pretrainer(encoder, tokenizer, **options)
    random = np.random.default_rng(1)
    for variable in task.trainable_variables:
        if len(variable.shape) > 1:
            variable.assign(variable * SPREAD)
        elif "bias" in variable.name:
            variable.assign(random.normal(0, 0.1, variable.shape))
    task.save_pretrained(folder / "model")
    if task.has_generator:
        task.save_generator(folder / "generator")
    losses = {}
    for unit in UNITS if "masked-lm" in task.objective_weights else ("tokens",):
        same: kb.Pretrainer = kb.Pretrainer(encoder, tokenizer, **options, masking=unit)
        same.set_weights(task.get_weights())
        batch = next(same.batches(texts, arguments.rows, seed=1).batches())
        x, y, _ = keras.utils.unpack_x_y_sample_weight(same.masked_only((batch.inputs, batch.labels)))
        outputs = same(x, training=False)
        arrays: dict[str, Any] = {**batch.inputs, **{f"label {name}": value for name, value in batch.labels.items()}}
        if same.has_generator:
            arrays["corrupted"] = outputs["corrupted"].numpy()
        np.savez(folder / f"{unit}.npz", **arrays)
        labels, logits = same.targets(x, y, outputs)
        losses[unit] = {
            name: float(OBJECTIVES[name].loss()(_of(labels, name), _of(logits, name)))
            for name in same.objective_weights
        }
    return losses


def _small(sizes: Any, tokenizer: Any) -> Any:
    """Return the sizes of two layers, without dropout."""
    changes = {"vocab_size": tokenizer.vocabulary_size, "pad_token_id": tokenizer.pad_id, "num_hidden_layers": 2}
    if sizes.model_type != "mobilebert":
        changes |= {"hidden_size": 64, "num_attention_heads": 2, "intermediate_size": 128}
    fitting = {name: value for name, value in changes.items() if name in sizes.__dataclass_fields__}
    return replace(sizes.with_dropout(0.0), **fitting)


def _of(values: Any, name: str) -> Any:
    from kerasbert.tasks.pretraining_objectives import OBJECTIVES

    return values[OBJECTIVES[name].output] if isinstance(values, dict) else values


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--text", required=True, metavar="FILE|FOLDER", help="running text, with blank lines between documents"
    )
    parser.add_argument(
        "--peer-python", required=True, metavar="PYTHON", help="of the environment of requirements-peers.txt"
    )
    parser.add_argument("--rows", type=int, default=128, help="rows of a case")
    record.add_output(parser, "pretraining_losses")
    return parser.parse_args()


if __name__ == "__main__":
    main()
