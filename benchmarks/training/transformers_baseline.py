"""Tasks of `benchmarks.training.finetuning_pytorch` as transformers' example scripts train them: features, batches and dev scores."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from benchmarks.common.finetuning_cases import Case
from kerasbert.data import read_table
from kerasbert.processors import make_processor, processor_class

IGNORED = -100
EVALUATION_BATCH = 64


class Classification:
    """Sequence classification, or regression with one output."""

    def __init__(self, case: Case, data: Path, checkpoint: str) -> None:
        text, pair, label = case.columns
        self.case, self.tokenizer = case, transformers.AutoTokenizer.from_pretrained(checkpoint)
        train, self.dev = (
            read_table(data / name, text=text, pair=pair, label=label) for name in (case.train, case.dev)
        )
        kind = processor_class("regression" if case.task == "regression" else "single_label")
        self.processor = make_processor(kind.name, kind.label_names(train.labels))
        self.rows, self.dev_rows = (self._tokenize(table) for table in (train, self.dev))
        self.targets = self.processor.encode_labels(train.labels, train.texts, None)
        self.examples, self.lengths = len(train), np.array([len(row["input_ids"]) for row in self.rows])
        regression = kind.name == "regression"
        self.model = transformers.AutoModelForSequenceClassification.from_pretrained(
            checkpoint, num_labels=len(self.processor.labels or (0,)), dtype=torch.float32,
            problem_type="regression" if regression else None,
        )  # fmt: skip
        self.kind = torch.float32 if regression else torch.int64

    def _tokenize(self, table) -> list[dict]:
        encoded = self.tokenizer(table.texts, table.pairs, truncation=True, max_length=self.case.length)
        return [dict(zip(encoded, values, strict=True)) for values in zip(*encoded.values(), strict=True)]

    def batch(self, index: np.ndarray) -> dict:
        """Pad the rows of these numbers to a batch with labels."""
        inputs = self.tokenizer.pad([self.rows[i] for i in index], return_tensors="pt")
        return {**inputs, "labels": torch.tensor(self.targets[index], dtype=self.kind)}

    def scores(self) -> dict[str, float]:
        """Compute the metrics on the dev data."""
        (logits,) = outputs(self.model, self.tokenizer, self.dev_rows, ("logits",))
        raw_results = [{self.processor.outputs[0]: row[None]} for row in logits]
        return self.processor.metrics(self.dev.labels, self.dev.texts, None, raw_results)


class Tagging:
    """Token classification with a label on the first token of each word. Truncated words count as O."""

    def __init__(self, case: Case, data: Path, checkpoint: str) -> None:
        from kerasbert.data.conll import read_conll

        self.case, self.tokenizer = case, transformers.AutoTokenizer.from_pretrained(checkpoint)
        train, self.dev = (read_conll(data / name) for name in (case.train, case.dev))
        self.labels = list(processor_class("tagging").label_names(train.y))
        self.rows, self.targets = self._tokenize(train)
        self.dev_rows, self.dev_targets = self._tokenize(self.dev)
        self.examples, self.lengths = len(train), np.array([len(row["input_ids"]) for row in self.rows])
        self.model = transformers.AutoModelForTokenClassification.from_pretrained(
            checkpoint, num_labels=len(self.labels), dtype=torch.float32
        )

    def _tokenize(self, table) -> tuple[list[dict], list[list[int]]]:
        encoded = self.tokenizer(table.x, is_split_into_words=True, truncation=True, max_length=self.case.length)
        rows = [dict(zip(encoded, values, strict=True)) for values in zip(*encoded.values(), strict=True)]
        targets = []
        for number, tags in enumerate(table.y):
            words = encoded.word_ids(number)
            first = [word is not None and word != before for word, before in zip(words, [None, *words], strict=False)]
            targets.append(
                [self.labels.index(tags[word]) if new else IGNORED for word, new in zip(words, first, strict=True)]
            )
        return rows, targets

    def batch(self, index: np.ndarray) -> dict:
        """Pad the rows of these numbers to a batch with labels."""
        inputs = self.tokenizer.pad([self.rows[i] for i in index], return_tensors="pt")
        labels = torch.full(inputs["input_ids"].shape, IGNORED)
        for place, i in enumerate(index):
            labels[place, : len(self.targets[i])] = torch.tensor(self.targets[i])
        return {**inputs, "labels": labels}

    def scores(self) -> dict[str, float]:
        """Compute the metrics on the dev data."""
        from kerasbert.data.entities import entity_scores

        (logits,) = outputs(self.model, self.tokenizer, self.dev_rows, ("logits",))
        predictions = []
        for row, targets, tags in zip(logits, self.dev_targets, self.dev.y, strict=True):
            chosen = [self.labels[row[i].argmax()] for i, target in enumerate(targets) if target != IGNORED]
            predictions.append((chosen + ["O"] * len(tags))[: len(tags)])
        return entity_scores(self.dev.y, predictions)


class QuestionAnswering:
    """Question answering over windows, with the official example's features, n-best search and "no answer" (SQuAD 2)."""

    n_best, longest_answer = 20, 30

    def __init__(self, case: Case, data: Path, checkpoint: str) -> None:
        from kerasbert.data.squad import read_squad

        self.case, self.tokenizer = case, transformers.AutoTokenizer.from_pretrained(checkpoint)
        train = read_squad(data / case.train)
        self.evaluated = {
            name: read_squad(data / path) for name, path in {"dev": case.dev, **dict(case.extra_evaluations)}.items()
        }
        encoded = self._encode(train)
        self.rows = self._rows(encoded)
        self.starts, self.ends = self._targets(encoded, train)
        self.examples, self.lengths = len(train), np.array([len(row["input_ids"]) for row in self.rows])
        self.model = transformers.AutoModelForQuestionAnswering.from_pretrained(checkpoint, dtype=torch.float32)

    def _encode(self, table):
        questions, contexts = (
            [str(example[i]).strip() if i == 0 else example[i] for example in table.x] for i in (0, 1)
        )
        return self.tokenizer(
            questions, contexts, truncation="only_second", max_length=self.case.length, stride=self.case.length // 3,
            return_overflowing_tokens=True, return_offsets_mapping=True,
        )  # fmt: skip

    @staticmethod
    def _rows(encoded) -> list[dict]:
        names = [name for name in ("input_ids", "attention_mask", "token_type_ids") if name in encoded]
        return [{name: encoded[name][i] for name in names} for i in range(len(encoded["input_ids"]))]

    @staticmethod
    def _targets(encoded, table) -> tuple[list[int], list[int]]:
        starts, ends = [], []
        for row, example in enumerate(encoded["overflow_to_sample_mapping"]):
            answer, segments, offsets = table.y[example], encoded.sequence_ids(row), encoded["offset_mapping"][row]
            place = (0, 0)
            if answer["text"]:
                first = answer["answer_start"][0]
                last = first + len(answer["text"][0])
                inside = [i for i, segment in enumerate(segments) if segment == 1]
                if offsets[inside[0]][0] <= first and offsets[inside[-1]][1] >= last:
                    start = max(i for i in inside if offsets[i][0] <= first)
                    place = (start, min(i for i in inside if offsets[i][1] >= last))
            starts.append(place[0])
            ends.append(place[1])
        return starts, ends

    def batch(self, index: np.ndarray) -> dict:
        """Pad the rows of these numbers to a batch with labels."""
        inputs = self.tokenizer.pad([self.rows[i] for i in index], return_tensors="pt")
        places = {"start_positions": self.starts, "end_positions": self.ends}
        return {**inputs, **{name: torch.tensor([values[i] for i in index]) for name, values in places.items()}}

    def scores(self) -> dict[str, float]:
        """Compute the metrics on the dev data."""
        results = {}
        for name, table in self.evaluated.items():
            scores = self._scores(table)
            results |= scores if name == "dev" else {f"{name} {metric}": value for metric, value in scores.items()}
        return results

    def _scores(self, table) -> dict[str, float]:
        from kerasbert.processors.squad_scores import squad_scores

        encoded = self._encode(table)
        logits = outputs(self.model, self.tokenizer, self._rows(encoded), ("start_logits", "end_logits"))
        best = [(-np.inf, "")] * len(table)
        null = [np.inf] * len(table)
        for row, example in enumerate(encoded["overflow_to_sample_mapping"]):
            start, end = (side[row] for side in logits)
            null[example] = min(null[example], float(start[0] + end[0]))
            segments, offsets = encoded.sequence_ids(row), encoded["offset_mapping"][row]
            for i in np.argsort(-start)[: self.n_best]:
                for j in np.argsort(-end)[: self.n_best]:
                    if (
                        i < len(segments)
                        and j < len(segments)
                        and segments[i] == segments[j] == 1
                        and 0 <= j - i < self.longest_answer
                    ):
                        score = float(start[i] + end[j])
                        if score > best[example][0]:
                            best[example] = (score, table.x[example][1][offsets[i][0] : offsets[j][1]])
        # The model was trained with unanswerable questions, so "no answer" competes on all data.
        answers = [text if score >= nothing else "" for (score, text), nothing in zip(best, null, strict=True)]
        return squad_scores([answer["text"] for answer in table.y], answers)


TASKS = {
    "classification": Classification,
    "regression": Classification,
    "tagging": Tagging,
    "question-answering": QuestionAnswering,
}


def outputs(model: torch.nn.Module, tokenizer: Any, rows: list[dict], names: tuple[str, ...]) -> list[list[np.ndarray]]:
    """Run the model on all rows, the longest first.

    Args:
        model: A transformers model.
        tokenizer: The tokenizer, for padding.
        rows: Tokenized rows.
        names: Of the outputs.

    Returns:
        For each name one array per row, in the order of the rows.
    """
    model.eval()
    order = np.argsort([-len(row["input_ids"]) for row in rows], kind="stable")
    arrays: list[list] = [[None] * len(rows) for _ in names]
    with torch.no_grad():
        for start in range(0, len(order), EVALUATION_BATCH):
            index = order[start : start + EVALUATION_BATCH]
            results = model(**tokenizer.pad([rows[i] for i in index], return_tensors="pt"))
            for name, values in zip(names, arrays, strict=True):
                for i, row in zip(index, results[name].numpy(), strict=True):
                    values[i] = row
    return arrays
