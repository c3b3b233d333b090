"""The PyTorch side of `benchmarks.training.finetuning`: one data set, one seed, transformers' model in a plain loop.

Prints one line of JSON per epoch, then one with the speed. Training matches the Keras side: AdamW (fused, PyTorch's fastest) without decay
on biases and norms, linear warmup and decay, clipped gradients, batches of similar lengths. Both sides tokenize before the clock starts.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import torch
import transformers

from benchmarks.common.finetuning_cases import CASES, CLIP_NORM, WARMUP, WEIGHT_DECAY, Case
from benchmarks.training.transformers_baseline import TASKS
from kerasbert.data.batching import LengthBatches


def main() -> None:
    """Train, and print scores and speed."""
    arguments = _arguments()
    case = CASES[arguments.case]
    torch.manual_seed(arguments.seed)
    task = TASKS[case.task](case, arguments.data, arguments.checkpoint)
    batches = LengthBatches(task.lengths, case.batch_size, shuffle=True, seed=arguments.seed)
    step = make_step(task.model, case, len(batches) * case.epochs)
    seconds = 0.0
    for epoch in range(case.epochs):
        task.model.train()
        start = time.perf_counter()
        for index in batches:
            step(task.model(**task.batch(index)).loss)
        seconds += time.perf_counter() - start
        print(json.dumps({"epoch": epoch + 1, "dev": task.scores(), "seconds": seconds}), flush=True)
    print(json.dumps({"examples_per_second": task.examples * case.epochs / seconds, "seconds": seconds}), flush=True)


def make_step(model: torch.nn.Module, case: Case, steps: int) -> Callable[[torch.Tensor], None]:
    """Make a function that takes a loss and updates the model.

    Args:
        model: The model to train.
        case: The training settings.
        steps: All steps, for the schedule of the learning rate.
    """
    parameters = list(model.parameters())
    with_decay, without_decay = [p for p in parameters if p.ndim > 1], [p for p in parameters if p.ndim <= 1]
    groups = [{"params": with_decay, "weight_decay": WEIGHT_DECAY}, {"params": without_decay, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, case.learning_rate, eps=1e-8, fused=True)
    schedule = transformers.get_linear_schedule_with_warmup(optimizer, round(WARMUP * steps), steps)

    def step(loss: torch.Tensor) -> None:
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, CLIP_NORM)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()

    return step


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--case", choices=CASES, required=True)
    parser.add_argument("--seed", type=int, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    main()
