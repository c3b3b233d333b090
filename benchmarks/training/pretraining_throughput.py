"""Speed of pretraining in tokens per second: `kb.Pretrainer.fit` against PyTorch transformers.

    python -m benchmarks.training.pretraining_throughput --text corpus.txt.gz --peer-python peers/bin/python

Measured: the time of a segment of `--steps` steps of masked language modelling, with the same model and the same masked rows. Both sides
load one folder; its vocabulary is learned from the corpus. AdamW has no decay on biases and norms, gradients are clipped to norm 1.

Precisions are float32 and, on processors that have it, bfloat16: `mixed_bfloat16` of Keras, `torch.autocast` of PyTorch. transformers'
`BertForMaskedLM` computes the logits of all tokens. The variants `masked-only` compute those of the masked tokens alone, as kerasbert does;
transformers has no option for it, so that the loop does it by hand.

All variants run in their own processes and take turns, one segment each. The ratios compare the fastest variant of each side.
"""

import argparse
import statistics
import sys
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import record
from benchmarks.common.interleaved import Worker
from benchmarks.training.training_throughput import peer_versions

OURS = {"keras": [], "keras-jit": ["--jit"]}
PEERS = {
    "pytorch": [],
    "pytorch-compiled": ["--compile"],
    "pytorch-masked-only": ["--masked-only"],
    "pytorch-masked-only-compiled": ["--masked-only", "--compile"],
}
BY_HAND = "masked-only"
PACKAGES = ("tensorflow", "tf-keras", "numpy")


def main() -> None:
    """Measure every precision and write the result."""
    arguments = _arguments()
    load = record.load()
    with tempfile.TemporaryDirectory() as folder:
        parameters = write_inputs(arguments, Path(folder), arguments.steps * (arguments.rounds + 2))
        cases = {precision: _measure(precision, Path(folder), arguments) for precision in arguments.precisions}
    result = {
        "model": arguments.model, "parameters": parameters, "vocabulary": arguments.vocabulary_size, "batch": arguments.batch,
        "length": arguments.length, "steps_a_segment": arguments.steps, "cases": cases,
    }  # fmt: skip
    record.write(arguments.json, result, {**record.versions(PACKAGES), **peer_versions(arguments.peer_python)}, load)


def write_inputs(arguments: argparse.Namespace, folder: Path, batches: int, dropout: float | None = None) -> int:
    """Write the checkpoint and the rows of both sides; return the number of parameters.

    Args:
        arguments: With `text`, `model`, `vocabulary_size`, `length` and `batch`.
        folder: Where they go: `model` and `rows.npz`.
        batches: The number of batches.
        dropout: The dropout rate of the checkpoint, or None for that of the model.
    """
    import kerasbert as kb
    from kerasbert.training.pretrain_config import PretrainConfig
    from kerasbert.training.pretraining import model_config, new_pretrainer
    from kerasbert.training.pretraining_inputs import make_tokenizer, text_stream

    config = PretrainConfig(
        model=arguments.model, text=arguments.text, out=str(folder), objectives="masked-lm",
        vocabulary_size=arguments.vocabulary_size, sequence_length=arguments.length, dropout=dropout,
    )  # fmt: skip
    texts, sizes = text_stream(arguments.text), model_config(arguments.model)
    if sizes is None:
        raise SystemExit(f"expected a preset or a config.json, received {arguments.model}; correct --model")
    task: kb.Pretrainer = new_pretrainer(config, sizes, make_tokenizer(config, sizes.model_type, texts))
    task.save_pretrained(folder / "model")
    made = islice(task.batches(texts, arguments.batch).batches(), batches)
    inputs, labels = zip(*((each.inputs, each.labels[task.processor.outputs[0]]) for each in made), strict=True)
    rows: dict[str, Any] = {name: np.stack([each[name] for each in inputs]) for name in inputs[0]}
    np.savez(folder / "rows.npz", labels=np.stack(labels), **rows)
    return task.count_params()


def _measure(precision: str, folder: Path, arguments: argparse.Namespace) -> dict:
    options = [str(folder), "--precision", precision]
    workers: list[Worker] = []
    try:
        for name in arguments.ours:
            workers.append(
                Worker(name, [sys.executable, "-m", "benchmarks.training.pretraining_keras", *options, *OURS[name]])
            )
        for name in arguments.peers:
            command = [arguments.peer_python, "-m", "benchmarks.training.pretraining_pytorch", *options, *PEERS[name]]
            workers.append(Worker(name, command))
        seconds: dict[str, list[float]] = {worker.name: [] for worker in workers}
        losses: dict[str, float] = {}
        for turn in range(1 + arguments.rounds):
            for worker in workers:
                answer = worker.ask(steps=arguments.steps)
                losses[worker.name] = answer.get("loss", float("nan"))
                if turn:  # the first turn is warmup
                    seconds[worker.name].append(answer["seconds"])
                speed = arguments.batch * arguments.length * arguments.steps / answer["seconds"]
                print(f"  {turn:2d} {precision} {worker.name:30s} {speed:9,.0f} tokens/s", flush=True)
    finally:
        for worker in workers:
            worker.close()
    return _summary(seconds, set(arguments.ours), arguments)


def _summary(seconds: dict[str, list[float]], ours: set[str], arguments: argparse.Namespace) -> dict:
    tokens = arguments.batch * arguments.length * arguments.steps
    by_time = sorted(seconds, key=lambda name: statistics.median(seconds[name]))
    own = next(name for name in by_time if name in ours)
    peers = [name for name in by_time if name not in ours]
    published = [name for name in peers if BY_HAND not in name]
    ratios = {name: record.ratio(seconds[name], seconds[own]) for name in peers}
    for name in {published[0], peers[0]}:
        print(f"{own} / {name} = {ratios[name]['of_medians']:.2f}")
    return {
        "ours": own, "peer": published[0], "ratio": ratios[published[0]], "ratios_to_each_peer": ratios,
        "tokens_per_second": {name: record.spread([tokens / value for value in values]) for name, values in seconds.items()},
    }  # fmt: skip


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", required=True, metavar="FILE|FOLDER", help="running text, a line each")
    parser.add_argument(
        "--peer-python", required=True, metavar="PYTHON", help="of the environment of requirements-peers.txt"
    )
    parser.add_argument("--model", default="bert-mini", help="preset or config.json (bert-mini)")
    parser.add_argument("--precisions", nargs="+", choices=("float32", "bfloat16"), default=["float32", "bfloat16"])
    parser.add_argument("--ours", nargs="+", choices=tuple(OURS), default=["keras"])
    parser.add_argument("--peers", nargs="+", choices=tuple(PEERS), default=list(PEERS))
    parser.add_argument("--vocabulary-size", type=int, default=16_000)
    parser.add_argument("--length", type=int, default=128, help="tokens of a row")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=8, help="steps of a segment")
    parser.add_argument("--rounds", type=int, default=6, help="segments of each variant, after one of warmup")
    record.add_output(parser, "pretraining_throughput")
    return parser.parse_args()


if __name__ == "__main__":
    main()
