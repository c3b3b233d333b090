"""Other people's clients on a file: MediaPipe Tasks and TFLite's Task Library get the texts, and tokenize them themselves.

Rows that a client tokenizes as the model does are judged apart from those that it does not. Which these are is measured: a file that gives
back its ids runs in the client first (`client_probe`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.backends.client_tools.answerer import LENGTH, answerer_checks
from kerasbert.export.backends.client_tools.calls import CLIENTS, KINDS, Client, ClientAnswers, ask
from kerasbert.export.backends.client_tools.tokenization import RowsApart, decision_limits, rows_apart
from kerasbert.export.backends.context import ValidationContext
from kerasbert.export.tflite import metadata as packed
from kerasbert.export.tflite.metadata import Metadata
from kerasbert.export.validation.checks import FAILED, NOT_RUN, Check, Tolerance
from kerasbert.export.validation.examples import Kept
from kerasbert.text.client_wordpiece import client_unsupported_reason


def mediapipe(job: ValidationContext) -> tuple[list[Check], list[Kept]]:
    """Runs all rows in MediaPipe Tasks."""
    return _checks(CLIENTS["mediapipe"], job)


def task_library(job: ValidationContext) -> tuple[list[Check], list[Kept]]:
    """Runs all rows in TFLite's Task Library."""
    return _checks(CLIENTS["task-library"], job)


def _checks(client: Client, job: ValidationContext) -> tuple[list[Check], list[Kept]]:
    card = packed.read(job.model_path)
    if reason := _not_run(client, job, card):
        return [Check(client.name, NOT_RUN, reason)], []
    try:
        apart = rows_apart(client, job, card)
    except KerasBertError as error:  # the simplest file there is
        return [Check(client.name, NOT_RUN, f"the client does not run here: {_help(str(error))}")], []
    kind = KINDS[job.examples.processor.name]
    texts = job.examples.raw if kind == "answerer" else flat_texts(job)
    if kind == "answerer" and job.examples.length != LENGTH:
        reason = f"the client feeds {LENGTH} tokens, and the file takes {job.examples.length}: convert with --length {LENGTH}"
        return [Check(client.name, FAILED, reason, device=client.device)], []
    job.progress(client.name, 0, len(job.examples))
    try:
        answers = ask(client, kind, job.model_path, texts)
        outputs = _outputs(kind, card, answers) if kind != "answerer" else {}
    except KerasBertError as error:
        return [Check(client.name, FAILED, f"{error}{_advice(client, card)}", device=client.device)], []
    job.progress(client.name, len(job.examples), len(job.examples))
    if kind == "answerer":
        return answerer_checks(client, job, apart, answers), []
    kept = job.keep(outputs, np.arange(len(job.examples)))
    return _judged(client, job, apart, kept, answers.seconds), kept


def _not_run(client: Client, job: ValidationContext, card: Metadata | None) -> str:
    """Why nothing is run; empty where it can be."""
    if not client.environment.ready:
        return client.environment.missing
    name = job.examples.processor.name
    if name not in client.processors:
        return f"the client has no task like {name}; it knows {', '.join(client.processors)}"
    if job.examples.raw is None:
        return "the client takes texts, and the data are packed ids; validate with texts"
    if card is None or card.inputs != packed.IDS:
        return "the client takes a file of ids with kerasbert's metadata"
    if reason := client_unsupported_reason(card.tokenizer, card.vocabulary):
        return f"the client cannot tokenize for this file: {reason}"
    if KINDS[name] == "classifier" and any(isinstance(each, tuple) for each in job.examples.raw):
        return "the client takes one text, and the data are pairs"
    return ""


def flat_texts(job: ValidationContext) -> list[str]:
    """The texts of all token lists, in their order."""
    return [text for each in job.examples.raw for text in (each if isinstance(each, tuple) else (each,))]


def _outputs(kind: str, card: Metadata, answers: ClientAnswers) -> dict[str, np.ndarray]:
    """The client's answers as the file's outputs, (token lists, ...). Raises KerasBertError for other classes than the file's."""
    if kind == "embedder":
        return {"embedding": np.array(answers.answers, np.float32)}
    for scores in answers.answers:
        if set(scores) != set(card.labels):
            raise KerasBertError(
                f"expected the classes {_listed(card.labels)}, received {_listed(scores)} from the client"
            )
    found = [[scores[label] for label in card.labels] for scores in answers.answers]
    return {"probabilities": np.array(found, np.float32)}


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, sorted(names)))


def _judged(
    client: Client, job: ValidationContext, apart: RowsApart, kept: list[Kept], seconds: Sequence[float]
) -> list[Check]:
    """One check where every row is tokenized alike; else one of each kind of rows, and of the metric over all."""
    took = np.reshape(seconds, (len(job.examples), -1)).mean(axis=1)  # of a row's texts, of which a pair has two

    def judged(name: str, rows: np.ndarray, **options) -> Check:
        chosen = [kept[row] for row in rows]
        return job.judged(name, rows, chosen, took[rows], device=client.device, threads=1, **options)

    every = np.arange(len(job.examples))
    if not len(apart.other):
        return [judged(client.name, every, remark="every row tokenized as by the model")]
    checks, limits = [], decision_limits(job)
    if len(apart.same):
        checks.append(judged(f"{client.name}: tokenized alike", apart.same, metric=False))
    decisions = replace(limits, metric_share=None)
    name = f"{client.name}: tokenized otherwise"
    other = judged(name, apart.other, metric=False, sample=False, limits=decisions)
    reason = "; ".join(filter(None, [other.reason, apart.described(client.name)]))
    checks.append(replace(other, reason=reason, named_rows=apart.named))
    if job.examples.measurable:
        whole = judged(f"{client.name}: all rows", every, limits=Tolerance(metric_share=limits.metric_share))
        checks.append(replace(whole, latency=None))
    return checks


def _help(words: str) -> str:
    return f"{words}; install libusb-1.0 (Debian: libusb-1.0-0)" if "libusb" in words else words


def _advice(client: Client, card: Metadata) -> str:
    """What may help where the client refuses a file, by what is known of the file."""
    if card.sequence_length is None or card.lengths:
        return "; the client takes one fixed length: convert with one --length"
    if client.name == "task-library":
        return "; its runtime is of 2022: convert with --min-runtime 2.9"
    return ""
