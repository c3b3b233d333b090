"""The PyTorch side of `pretraining_throughput` and `pretraining_steps`: a plain loop that pauses after some steps."""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import transformers

from benchmarks.common.interleaved import Parent
from benchmarks.training.pytorch_update import make_update


def main() -> None:
    """Train, one segment per message of the parent."""
    arguments = _arguments()
    parent = Parent()
    torch.manual_seed(1)
    rows = np.load(arguments.folder / "rows.npz")
    names = ("input_ids", "attention_mask", "token_type_ids")
    batches = [
        {name: torch.from_numpy(rows[name][step].astype(np.int64)) for name in names}
        | {"labels": torch.from_numpy(rows["labels"][step].astype(np.int64))}
        for step in range(len(rows["labels"]))
    ]
    step = _make_step(arguments)
    parent.send(rows=len(batches[0]["labels"]))
    number = 0
    while (message := parent.receive()) is not None:
        start = time.perf_counter()
        loss = torch.zeros(())
        for _ in range(message["steps"]):
            loss = step(batches[number % len(batches)])
            number += 1
        parent.send(loss=float(loss), seconds=time.perf_counter() - start)


def _make_step(arguments: argparse.Namespace) -> Callable[[dict[str, torch.Tensor]], torch.Tensor]:
    model = transformers.AutoModelForMaskedLM.from_pretrained(
        arguments.folder / "model", attn_implementation="sdpa", dtype=torch.float32
    ).train()
    update = make_update(model, arguments.rate, arguments.steps, fused=True)

    def whole(inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        return model(**inputs).loss

    def masked_only(inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        labels = inputs["labels"]
        encoded = model.bert(**{name: value for name, value in inputs.items() if name != "labels"}).last_hidden_state
        chosen = labels != -100
        return torch.nn.functional.cross_entropy(model.cls(encoded[chosen]).float(), labels[chosen])

    loss_of: Callable[[dict[str, torch.Tensor]], torch.Tensor] = masked_only if arguments.masked_only else whole
    if arguments.compile:
        # The number of masked tokens differs from batch to batch, so that their head is not compiled.
        (model.bert if arguments.masked_only else model).compile()

    def step(inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16, enabled=arguments.precision == "bfloat16"):
            loss = loss_of(inputs)
        return update(loss)

    return step


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--precision", required=True)
    parser.add_argument("--masked-only", action="store_true")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--rate", type=float, default=5e-4)
    parser.add_argument("--steps", type=int, default=100_000, help="of the schedule")
    return parser.parse_args()


if __name__ == "__main__":
    main()
