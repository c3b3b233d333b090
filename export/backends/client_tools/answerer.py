"""Answers of the Task Library's `BertQuestionAnswerer` against the model's own."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.backends.client_tools.calls import Client, ClientAnswers
from kerasbert.export.backends.client_tools.tokenization import RowsApart, decision_limits, raw_examples
from kerasbert.export.validation.checks import FAILED, NOT_RUN, PASSED, Check, Latency, Tolerance
from kerasbert.export.validation.comparison import Evidence, Metric
from kerasbert.export.validation.context import ValidationContext
from kerasbert.export.validation.verdict import judge
from kerasbert.processors import RawResult
from kerasbert.processors.contributions import Ratio
from kerasbert.processors.question_answering import QuestionAnswering, answer_texts
from kerasbert.processors.span_windows import LONGEST_QUESTION
from kerasbert.processors.squad_scores import f1, squad_scores, units

LENGTH = 384  # tokens a row, a constant of the client
# The client combines its best first with its best last tokens, and knows no longer answer.
_BEST, _LONGEST_ANSWER = 5, 32


def answerer_checks(
    client: Client, context: ValidationContext, apart: RowsApart, answers: ClientAnswers
) -> list[Check]:
    """Judge answers by their words. Only questions with one row count: the client reads the start of a long context only.

    The client always answers, cuts at white space only, and combines the five best first with the five best last tokens. The model's
    answers are searched in the same way. The task's metric is that of each one's own answers.

    Args:
        client: The client.
        context: The validation.
        apart: Its examples by their tokenization.
        answers: The client's, one an example.
    """
    fitting = _fitting_questions(context)
    if not len(fitting):
        return [Check(client.name, NOT_RUN, "no question whose context fits into one row", device=client.device)]
    model_answers, unit = _search_alike(context), _processor(context).unit
    equal = np.array(
        [units(one, unit) == units(other, unit) for one, other in zip(model_answers, answers.answers, strict=True)],
        bool,
    )
    fields = {"device": client.device, "threads": 1, "latency": Latency.of(answers.seconds[1:] or answers.seconds)}
    checks = []
    apart = apart.among(fitting)
    if len(apart.same):
        checks.append(_check_answers(f"{client.name}: tokenized alike", context, equal[apart.same], "", fields))
    if len(apart.other):
        named = {**fields, "named_rows": apart.named}
        name = f"{client.name}: tokenized otherwise"
        checks.append(_check_answers(name, context, equal[apart.other], apart.describe(client.name), named))
    if context.examples.measurable:
        checks.append(_check_metric(f"{client.name}: all rows", context, fitting, answers.answers, fields))
    return checks


def _processor(context: ValidationContext) -> QuestionAnswering:
    processor = context.examples.processor
    if not isinstance(processor, QuestionAnswering):
        raise KerasBertError(f"expected a question answering model, received {processor.name}; use another client")
    return processor


def _fitting_questions(context: ValidationContext) -> np.ndarray:
    """Find the questions whose context fits into one row."""
    features = context.examples.features
    window_counts = np.bincount(features.example, minlength=len(raw_examples(context)))
    question_lengths = np.zeros(len(window_counts), int)
    for row, window in enumerate(features.alignment):
        question_lengths[features.example[row]] = window.begin - 2
    return np.flatnonzero((window_counts == 1) & (question_lengths < LONGEST_QUESTION))


def _search_alike(context: ValidationContext) -> list[str]:
    """Find the model's best answers as the client searches, widened to whole words."""
    processor, raw = replace(_processor(context), longest_answer=_LONGEST_ANSWER), raw_examples(context)
    raw_results = [_best_places(outputs.raw_result) for outputs in context.expected]
    answers = processor.predictions(raw, context.examples.features, raw_results)
    return [_whole_words(answer["best"], text) for answer, (_, text) in zip(answers, raw, strict=True)]


def _best_places(raw_result: RawResult) -> dict[str, np.ndarray]:
    """Keep the logits of the best places only."""
    return {
        name: np.where(logits >= np.sort(logits, axis=-1)[..., [-min(_BEST, logits.shape[-1])]], logits, -np.inf)
        for name, logits in raw_result.items()
    }


def _whole_words(best: Sequence[dict], text: str) -> str:
    """Return the first answer that is not empty, from white space to white space."""
    answer = next((answer for answer in best if answer["answer"]), None)
    if answer is None:
        return ""
    before = re.findall(r"\S*$", text[: answer["start"]])[0]
    after = re.findall(r"^\S*", text[answer["end"] :])[0]
    return before + answer["answer"] + after


def _check_answers(
    name: str, context: ValidationContext, equal: np.ndarray, remark: str, fields: Mapping[str, Any]
) -> Check:
    least = decision_limits(context).agreement
    count = f"{equal.sum()} of {len(equal)} answers are equal"
    failed = least is not None and equal.mean() < least
    reason = f"{count}, less than {least:g} of them" if failed else count
    return Check(
        name, FAILED if failed else PASSED, "; ".join(filter(None, (reason, remark))), rows=len(equal), **fields
    )


def _check_metric(
    name: str, context: ValidationContext, rows: np.ndarray, client_answers: Sequence[str], fields: Mapping[str, Any]
) -> Check:
    """Judge the task's metric of each one's own answers."""
    processor, raw = _processor(context), raw_examples(context)
    predictions = processor.predictions(
        raw, context.examples.features, [outputs.raw_result for outputs in context.expected]
    )
    right = answer_texts(context.examples.y, raw)
    both: tuple[list[str], list[str]] = ([prediction["answer"] for prediction in predictions], list(client_answers))
    reference, client = (
        squad_scores([right[row] for row in rows], [answers[row] for row in rows], processor.unit) for answers in both
    )
    scores = (np.array([f1(right[row], answers[row], processor.unit) for row in rows]) for answers in both)
    evidence = Evidence.of(*map(Ratio.of_decisions, scores))
    metrics = tuple(
        Metric(key, value, client[key], evidence if key == "F1" else None) for key, value in reference.items()
    )
    limits = Tolerance(metric_share=decision_limits(context).metric_share)
    verdict = judge(limits, (), metrics, processor.compared_as, rows=len(rows))
    return Check(
        name, verdict.status, verdict.reason, rows=len(rows), metrics=metrics, judgements=verdict.judgements, **fields
    )
