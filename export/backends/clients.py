"""Clients of other projects on a file: MediaPipe Tasks and TFLite's Task Library get the texts, and tokenize them themselves.

Rows that a client tokenizes as the model does are judged apart from the others. Which these are is measured: a file that returns its ids
runs in the client first (`client_tools.id_probe`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.backends.client_tools.answerer import LENGTH, answerer_checks
from kerasbert.export.backends.client_tools.calls import CLIENTS, KINDS, Client, ClientAnswers, ask
from kerasbert.export.backends.client_tools.tokenization import (
    RowsApart,
    decision_limits,
    raw_examples,
    split_by_tokenization,
)
from kerasbert.export.tflite.metadata import IDS, Metadata
from kerasbert.export.validation.checks import FAILED, Check, Tolerance
from kerasbert.export.validation.context import BackendResult, ValidationContext
from kerasbert.export.validation.examples import RowOutputs
from kerasbert.text.client_wordpiece import client_unsupported_reason

_LIBUSB = "libusb"


def run_mediapipe(context: ValidationContext) -> BackendResult:
    """Run all rows in MediaPipe Tasks."""
    return _run_client(CLIENTS["mediapipe"], context)


def run_task_library(context: ValidationContext) -> BackendResult:
    """Run all rows in TFLite's Task Library."""
    return _run_client(CLIENTS["task-library"], context)


def _run_client(client: Client, context: ValidationContext) -> BackendResult:
    metadata = context.file.metadata
    reason = _unsupported_reason(client, context, metadata)
    if reason or metadata is None:
        return BackendResult.not_run((client.name,), reason)
    try:
        apart = split_by_tokenization(client, context, metadata)
    except KerasBertError as error:  # over the simplest file there is
        return BackendResult.not_run((client.name,), f"the client does not run here: {_add_help(str(error))}")
    kind = KINDS[context.examples.processor.name]
    if kind == "answerer" and context.examples.length != LENGTH:
        length = context.examples.length
        reason = f"the client feeds {LENGTH} tokens, and the file takes {length}: convert with --length {LENGTH}"
        return BackendResult([Check(client.name, FAILED, reason, device=client.device)])
    context.progress.begin(f"running {client.name}", len(context.examples), "rows")
    context.progress.advance(0)
    texts = raw_examples(context) if kind == "answerer" else flat_texts(context)
    try:
        answers = ask(client, kind, context.model_path, texts)
        arrays = _output_arrays(kind, metadata, answers) if kind != "answerer" else {}
    except KerasBertError as error:
        reason = "; ".join(filter(None, (str(error), _advice(client, metadata))))
        return BackendResult([Check(client.name, FAILED, reason, device=client.device)])
    context.progress.advance(len(context.examples))
    if kind == "answerer":
        return BackendResult(answerer_checks(client, context, apart, answers))
    outputs = context.extract(arrays, np.arange(len(context.examples)))
    return BackendResult(_checks(client, context, apart, outputs, answers.seconds), outputs)


def _unsupported_reason(client: Client, context: ValidationContext, metadata: Metadata | None) -> str:
    """Return why the client cannot run these examples; empty where it can."""
    name = context.examples.processor.name
    if name not in client.processors:
        return f"the client has no task like {name}; it knows {', '.join(client.processors)}"
    if context.examples.raw is None:
        return "the client takes texts, and the data are packed ids; validate with texts"
    if metadata is None or metadata.inputs != IDS:
        return "the client takes a file of ids with kerasbert's metadata"
    if prefix := metadata.processor.prefix:
        return f"the client does not put the default prompt {prefix[:40]!r} before texts"
    if reason := client_unsupported_reason(metadata.tokenizer, metadata.vocabulary):
        return f"the client cannot tokenize for this file: {reason}"
    if KINDS[name] == "classifier" and any(isinstance(example, tuple) for example in context.examples.raw):
        return "the client takes one text, and the data are pairs"
    return ""


def flat_texts(context: ValidationContext) -> list[str]:
    """Return the texts of all token lists, in their order."""
    return [
        text for example in raw_examples(context) for text in (example if isinstance(example, tuple) else (example,))
    ]


def _output_arrays(kind: str, metadata: Metadata, answers: ClientAnswers) -> dict[str, np.ndarray]:
    """Make the file's outputs of the client's answers, (token lists, ...) by name.

    Raises:
        KerasBertError: When the client has other classes than the file.
    """
    if kind == "embedder":
        return {"embedding": np.array(answers.answers, np.float32)}
    labels = metadata.labels or ()
    for scores in answers.answers:
        if set(scores) != set(labels):
            raise KerasBertError(
                f"expected the classes {_listing(labels)}, received {_listing(scores)} from the client; convert the model again"
            )
    probabilities = [[scores[label] for label in labels] for scores in answers.answers]
    return {"probabilities": np.array(probabilities, np.float32)}


def _listing(names: Iterable[str]) -> str:
    return ", ".join(map(repr, sorted(names)))


def _checks(
    client: Client,
    context: ValidationContext,
    apart: RowsApart,
    outputs: Sequence[RowOutputs],
    seconds: Sequence[float],
) -> list[Check]:
    """Make one check where every row is tokenized alike; else one of each kind of rows, and one of the metric over all."""
    row_seconds = np.reshape(seconds, (len(context.examples), -1)).mean(
        axis=1
    )  # of a row's texts, of which a pair has two

    def make_check(
        name: str,
        rows: np.ndarray,
        limits: Tolerance | None = None,
        metric: bool = True,
        sample: bool = True,
        remark: str = "",
    ) -> Check:
        return context.make_check(
            name, rows, [outputs[row] for row in rows], row_seconds[rows], limits=limits, metric=metric, sample=sample,
            remark=remark, device=client.device, threads=1,
        )  # fmt: skip

    every = np.arange(len(context.examples))
    if not len(apart.other):
        return [make_check(client.name, every, remark="every row tokenized as by the model")]
    checks, limits = [], decision_limits(context)
    if len(apart.same):
        checks.append(make_check(f"{client.name}: tokenized alike", apart.same, metric=False))
    name = f"{client.name}: tokenized otherwise"
    other = make_check(name, apart.other, replace(limits, metric_share=None), metric=False, sample=False)
    reason = "; ".join(filter(None, [other.reason, apart.describe(client.name)]))
    checks.append(replace(other, reason=reason, named_rows=apart.named))
    if context.examples.measurable:
        whole = make_check(f"{client.name}: all rows", every, Tolerance(metric_share=limits.metric_share))
        checks.append(replace(whole, latency=None))
    return checks


def _add_help(message: str) -> str:
    """Names the system's package where the dynamic linker misses libusb."""
    return f"{message}; install libusb-1.0 (Debian: libusb-1.0-0)" if _LIBUSB in message else message


def _advice(client: Client, metadata: Metadata) -> str:
    """Return what may help where the client refuses a file; empty for nothing."""
    if metadata.sequence_length is None or metadata.lengths:
        return "the client takes one fixed length: convert with one --length"
    return client.advice
