"""Fine-tunes an encoder in PyTorch transformers on what `benchmarks.zoo.task_peers` sends; run by its `--peer-python`.

    python -m benchmarks.zoo.torch_peer FOLDER 1

Reads one JSON object a line from stdin: `train` and `test`, lists of rows. A row has `words` or `text`, and class numbers: `class` of the
text, `tags` of the words. `classes` and `tags` are the numbers of outputs; `epochs`, `rate`, `head_rate`, `length`, `smoothing` and `seed`
are settings. Writes one a line: `classes` with the probabilities of each test row, `tags` with class numbers of its words, `seconds` and
`versions`. AdamW, weight decay 0.01 but for biases and norms, 6 % warmup, linear decay, gradients clipped at 1, batches of 32 rows of
similar length.
"""

import argparse
import importlib.metadata
import json
import os
import sys
import time

BATCH = 32


def main() -> None:
    """Answer until stdin ends."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="an encoder's folder")
    parser.add_argument("threads", type=int)
    arguments = parser.parse_args()
    import torch

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the libraries print to stdout
    torch.set_num_threads(arguments.threads)
    for line in sys.stdin:
        answers.write(json.dumps(fine_tuned(arguments.folder, json.loads(line))) + "\n")
        answers.flush()


def fine_tuned(folder: str, given: dict) -> dict:
    """Train, and predict the test rows.

    Args:
        folder: The encoder's folder.
        given: The object of a line.
    """
    import torch
    from transformers import AutoModel, AutoTokenizer, get_linear_schedule_with_warmup

    torch.manual_seed(given["seed"])
    tokenizer, body = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).float()
    width = body.config.hidden_size
    model = torch.nn.ModuleDict({"body": body})
    for name in ("classes", "tags"):
        if given[name]:
            model[name] = torch.nn.Sequential(torch.nn.Dropout(0.1), torch.nn.Linear(width, given[name]))
            torch.nn.init.normal_(model[name][1].weight, std=0.02)

    def outputs(rows: list[dict]):
        texts = [row.get("words") or row["text"] for row in rows]
        packed = tokenizer(
            texts, is_split_into_words="words" in rows[0], padding=True, truncation=True, max_length=given["length"],
            return_tensors="pt",
        )  # fmt: skip
        states, mask = body(**packed).last_hidden_state, packed["attention_mask"][..., None]
        mean = (states * mask).sum(1) / mask.sum(1)
        return (
            packed,
            model["classes"](mean) if given["classes"] else None,
            model["tags"](states) if given["tags"] else None,
        )

    def first_pieces(packed, row: int) -> list[int]:
        """The position of the first piece of each word that was not cut off."""
        words = packed.word_ids(row)
        return [i for i, word in enumerate(words) if word is not None and word != words[i - 1]]

    def loss_of(rows: list[dict]):
        packed, classes, tags = outputs(rows)
        losses = []
        if classes is not None:
            targets = torch.tensor([row["class"] for row in rows])
            losses.append(
                torch.nn.functional.cross_entropy(classes, targets, label_smoothing=given.get("smoothing", 0.0))
            )
        if tags is not None:
            targets = torch.full(tags.shape[:2], -100)
            for number, row in enumerate(rows):
                pieces = first_pieces(packed, number)
                targets[number, pieces] = torch.tensor(row["tags"][: len(pieces)])
            losses.append(torch.nn.functional.cross_entropy(tags.flatten(0, 1), targets.flatten()))
        return sum(losses)

    begin = time.perf_counter()
    batches = given["epochs"] * (len(given["train"]) // BATCH)
    optimizer = torch.optim.AdamW(_groups(model, given["rate"], given["head_rate"]))
    schedule = get_linear_schedule_with_warmup(optimizer, int(0.06 * batches), batches)
    random = torch.Generator().manual_seed(given["seed"])
    model.train()
    for _ in range(given["epochs"]):
        for rows in _batches(given["train"], random):
            loss = loss_of(rows)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
    seconds = time.perf_counter() - begin
    model.eval()
    found: dict[str, list] = {"classes": [], "tags": []}
    with torch.no_grad():
        for start in range(0, len(given["test"]), 64):
            rows = given["test"][start : start + 64]
            packed, classes, tags = outputs(rows)
            if classes is not None:
                found["classes"] += torch.softmax(classes, -1).tolist()
            if tags is not None:
                found["tags"] += [tags[i, first_pieces(packed, i)].argmax(-1).tolist() for i in range(len(rows))]
    versions = {name: importlib.metadata.version(name) for name in ("torch", "transformers")}
    return {**found, "seconds": seconds, "versions": versions}


def _groups(model, rate: float, head_rate: float) -> list[dict]:
    """The parameters with their rates and weight decay."""
    groups = []
    for head in (False, True):
        for matrix in (False, True):
            members = [
                each for name, each in model.named_parameters()
                if name.startswith("body.") != head and (each.ndim > 1) == matrix
            ]  # fmt: skip
            groups.append(
                {"params": members, "lr": head_rate if head else rate, "weight_decay": 0.01 if matrix else 0.0}
            )
    return groups


def _batches(rows: list[dict], random):
    """Whole batches of rows in random order, each sorted within 50 batches by length."""
    import torch

    order = torch.randperm(len(rows), generator=random).tolist()
    batches = []
    for start in range(0, len(order), 50 * BATCH):
        part = sorted(
            order[start : start + 50 * BATCH], key=lambda row: len(rows[row].get("words") or rows[row]["text"].split())
        )
        batches += [part[i : i + BATCH] for i in range(0, len(part) - BATCH + 1, BATCH)]
    for number in torch.randperm(len(batches), generator=random).tolist():
        yield [rows[row] for row in batches[number]]


if __name__ == "__main__":
    main()
