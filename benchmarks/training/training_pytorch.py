"""The PyTorch side of `benchmarks.training.training_throughput`: a plain loop that pauses after each segment.

Rows and batches are those of the Keras side, each batch padded to its longest row. AdamW has no decay on biases and norms, gradients are
clipped to norm 1, the schedule is linear with warmup. Both sides tokenize before the clock starts.
"""

import argparse
import time
from collections.abc import Callable, Sequence

import numpy as np
import torch
import transformers

from benchmarks.common.interleaved import Parent
from benchmarks.common.training_data import read_rows
from benchmarks.training.pytorch_update import make_update
from kerasbert.data.batching import LengthBatches


def main() -> None:
    """Train, one segment per message of the parent."""
    arguments = _arguments()
    parent = Parent()
    torch.manual_seed(arguments.seed)
    texts, labels = read_rows(arguments.train, arguments.case, arguments.length, arguments.rows)
    tokenizer = transformers.AutoTokenizer.from_pretrained(arguments.checkpoint)
    start = time.perf_counter()
    rows = tokenizer(texts, truncation=True, max_length=arguments.length)["input_ids"]
    tokenizing = time.perf_counter() - start
    lengths = np.array([len(row) for row in rows], np.int32)
    batches = iter(LengthBatches(lengths, arguments.batch, shuffle=True, seed=arguments.seed))
    step = _make_step(arguments, len(texts) // arguments.batch)

    def run(steps: int) -> float:
        loss = None
        for _ in range(steps):
            index = next(batches)
            loss = step(
                _batch([rows[i] for i in index], tokenizer.pad_token_id),
                torch.from_numpy(labels[index].astype(np.int64)),
            )
        return float(loss)

    for size in sorted({8, int(lengths.max())}):
        ids = np.resize(np.concatenate(rows[:64]), (arguments.batch, size))
        for _ in range(2):
            step(_batch(ids, tokenizer.pad_token_id), torch.zeros(arguments.batch, dtype=torch.int64))
    parent.send(
        tokens=int(lengths.sum()), rows=len(texts), tokenize_seconds=tokenizing, threads=torch.get_num_threads()
    )
    while (message := parent.receive()) is not None:
        start, processor = time.perf_counter(), time.process_time()
        run(message["steps"])
        parent.send(seconds=time.perf_counter() - start, processor_seconds=time.process_time() - processor)


def _batch(rows: Sequence, pad_id: int) -> dict[str, torch.Tensor]:
    longest = max(map(len, rows))
    ids = np.full((len(rows), longest), pad_id, np.int64)
    mask = np.zeros_like(ids)
    for i, row in enumerate(rows):
        ids[i, : len(row)], mask[i, : len(row)] = row, 1
    arrays = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def _make_step(arguments: argparse.Namespace, steps: int) -> Callable[..., torch.Tensor]:
    model = transformers.AutoModelForSequenceClassification.from_pretrained(
        arguments.checkpoint, num_labels=2, attn_implementation=arguments.attention, dtype=torch.float32
    ).train()
    update = make_update(model, 5e-5, steps, fused=arguments.fused)

    def step(inputs: dict[str, torch.Tensor], labels: torch.Tensor) -> torch.Tensor:
        return update(model(**inputs, labels=labels).loss)

    return step


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint")
    parser.add_argument("--train", required=True)
    parser.add_argument("--case", required=True)
    parser.add_argument("--length", type=int, required=True)
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--attention", choices=("eager", "sdpa"), required=True)
    parser.add_argument("--fused", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
