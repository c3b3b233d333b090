"""The PyTorch side of finetuning.py: one data set, one seed, transformers' model in a plain loop; prints a JSON line an epoch.

AdamW (fused, PyTorch's fastest) without decay on biases and norms, linear warm-up and decay, gradients clipped, batches of like length:
what the Keras side does. Texts are tokenized before the clock starts, on both sides.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
import transformers
from finetuning_cases import CASES, CLIP_NORM, WARMUP, WEIGHT_DECAY, Case

from kerasbert.cli.scores import scores
from kerasbert.data import LabelSet, read_table
from kerasbert.data.batching import LengthBatches

EVALUATION_BATCH = 64


def main() -> None:
    arguments = _arguments()
    case = CASES[arguments.case]
    torch.manual_seed(arguments.seed)
    tokenizer = transformers.AutoTokenizer.from_pretrained(arguments.checkpoint)
    (rows, targets, names), (dev_rows, dev_targets, _) = _data(arguments, case, tokenizer)
    regression = case.task == "regression"
    model = transformers.AutoModelForSequenceClassification.from_pretrained(
        arguments.checkpoint,
        num_labels=len(names) or 1,
        dtype=torch.float32,
        problem_type="regression" if regression else None,
    )
    lengths = np.array([len(row["input_ids"]) for row in rows])
    batches = LengthBatches(lengths, case.batch_size, shuffle=True, seed=arguments.seed)
    step = stepper(model, case, len(batches) * case.epochs)
    kind, problem = (torch.float32, "regression") if regression else (torch.int64, "single_label")
    seconds = 0.0
    for epoch in range(case.epochs):
        model.train()
        start = time.perf_counter()
        for index in batches:
            batch = tokenizer.pad([rows[i] for i in index], return_tensors="pt")
            step(model(**batch, labels=torch.tensor(targets[index], dtype=kind)).loss)
        seconds += time.perf_counter() - start
        found = scores(problem, dev_targets, _predictions(model, tokenizer, dev_rows))
        print(json.dumps({"epoch": epoch + 1, "dev": found, "seconds": seconds}), flush=True)
    print(json.dumps({"examples_per_second": len(rows) * case.epochs / seconds, "seconds": seconds}), flush=True)


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


def _data(arguments, case: Case, tokenizer):
    """Token rows, targets and label names of train and dev part; labels are numbered by those of the train part."""
    text, pair, label = case.columns
    parts = [read_table(arguments.data / name, text=text, pair=pair, label=label) for name in (case.train, case.dev)]
    names = () if case.task == "regression" else LabelSet.from_values(parts[0].labels).names
    for table in parts:
        encoded = tokenizer(table.texts, table.pairs, truncation=True, max_length=case.length)
        rows = [dict(zip(encoded, values, strict=True)) for values in zip(*encoded.values(), strict=True)]
        targets = LabelSet(names).index(table.labels) if names else LabelSet.to_scores(table.labels)
        yield rows, targets, names


def _predictions(model, tokenizer, rows) -> np.ndarray:
    model.eval()
    order = np.argsort([-len(row["input_ids"]) for row in rows], kind="stable")
    found = []
    with torch.no_grad():
        for start in range(0, len(order), EVALUATION_BATCH):
            batch = tokenizer.pad([rows[i] for i in order[start : start + EVALUATION_BATCH]], return_tensors="pt")
            found.append(model(**batch).logits.numpy())
    return np.concatenate(found)[np.argsort(order)]


def _arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--case", choices=CASES, required=True)
    parser.add_argument("--seed", type=int, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    main()
