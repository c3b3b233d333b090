"""The PyTorch side of finetuning.py: one data set, one seed, transformers' model in a plain loop; prints a JSON line an epoch.

AdamW (fused, PyTorch's fastest) without decay on biases and norms, linear warm-up and decay, gradients clipped, batches of like length:
what the Keras side does. Texts are tokenized before the clock starts, on both sides.
"""

import argparse
import json
import time
from pathlib import Path

import torch
import transformers
from finetuning_cases import CASES, CLIP_NORM, WARMUP, WEIGHT_DECAY, Case
from peer_tasks import TASKS

from kerasbert.data.batching import LengthBatches


def main() -> None:
    arguments = _arguments()
    case = CASES[arguments.case]
    torch.manual_seed(arguments.seed)
    task = TASKS[case.task](case, arguments.data, arguments.checkpoint)
    batches = LengthBatches(task.lengths, case.batch_size, shuffle=True, seed=arguments.seed)
    step = stepper(task.model, case, len(batches) * case.epochs)
    seconds = 0.0
    for epoch in range(case.epochs):
        task.model.train()
        start = time.perf_counter()
        for index in batches:
            step(task.model(**task.batch(index)).loss)
        seconds += time.perf_counter() - start
        print(json.dumps({"epoch": epoch + 1, "dev": task.scores(), "seconds": seconds}), flush=True)
    print(json.dumps({"examples_per_second": task.examples * case.epochs / seconds, "seconds": seconds}), flush=True)


def stepper(model, case: Case, steps: int):
    """Takes a loss and goes one step."""
    parameters = list(model.parameters())
    decayed, others = [p for p in parameters if p.ndim > 1], [p for p in parameters if p.ndim <= 1]
    groups = [{"params": decayed, "weight_decay": WEIGHT_DECAY}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, case.learning_rate, eps=1e-8, fused=True)
    schedule = transformers.get_linear_schedule_with_warmup(optimizer, round(WARMUP * steps), steps)

    def step(loss: torch.Tensor) -> None:
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, CLIP_NORM)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()

    return step


def _arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--case", choices=CASES, required=True)
    parser.add_argument("--seed", type=int, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    main()
