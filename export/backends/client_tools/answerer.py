"""Answers of the Task Library's `BertQuestionAnswerer` against the model's own."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kerasbert.export.backends.client_tools.calls import Client, ClientAnswers
from kerasbert.export.backends.client_tools.tokenization import RowsApart, decision_limits
from kerasbert.export.backends.context import ValidationContext
from kerasbert.export.validation.checks import FAILED, NOT_RUN, PASSED, Check, Latency, Tolerance
from kerasbert.export.validation.comparison import Evidence, Metric
from kerasbert.export.validation.verdict import judge
from kerasbert.processors import RawResult
from kerasbert.processors.contributions import Ratio
from kerasbert.processors.question_answering.processor import answer_texts
from kerasbert.processors.question_answering.span_windows import LONGEST_QUESTION
from kerasbert.processors.question_answering.squad_scores import f1, squad_scores, units

LENGTH = 384  # tokens a row, a constant of the client
_BEST, _LONGEST_ANSWER = 5, 32  # first and last places that it looks at, and the tokens of its longest answer


def answerer_checks(client: Client, job: ValidationContext, apart: RowsApart, answers: ClientAnswers) -> list[Check]:
    """Judges answers by their words. Only questions with one row count: the client reads the beginning of a long context and no more.

    The client always answers, cuts at white space only, and combines the five best first with the five best last tokens. Ours are searched
    in the same way. The task's metric is that of both sides' own answers.
    """
    fit = _fitting(job)
    if not len(fit):
        return [Check(client.name, NOT_RUN, "no question whose context fits into one row", device=client.device)]
    ours, unit = _searched_alike(job), job.examples.processor.unit
    equal = np.array([units(ours[row], unit) == units(answers.answers[row], unit) for row in range(len(ours))], bool)
    facts = {"device": client.device, "threads": 1, "latency": Latency.of(answers.seconds[1:] or answers.seconds)}
    checks = []
    apart = apart.among(fit)
    if len(apart.same):
        checks.append(_check(f"{client.name}: tokenized alike", job, equal[apart.same], "", facts))
    if len(apart.other):
        named = {**facts, "named_rows": apart.named}
        name = f"{client.name}: tokenized otherwise"
        checks.append(_check(name, job, equal[apart.other], apart.described(client.name), named))
    if job.examples.measurable:
        checks.append(_metric_check(f"{client.name}: all rows", job, fit, answers.answers, facts))
    return checks


def _fitting(job: ValidationContext) -> np.ndarray:
    """The questions that the client reads whole."""
    rows = job.examples.rows
    windows = np.bincount(rows.example, minlength=len(job.examples.raw))
    question = np.zeros(len(windows), int)
    for row, window in enumerate(rows.alignment):
        question[rows.example[row]] = window.begin - 2
    return np.flatnonzero((windows == 1) & (question < LONGEST_QUESTION))


def _searched_alike(job: ValidationContext) -> list[str]:
    """The model's best answer to each question, found as the client searches, and widened to whole words."""
    processor = replace(job.examples.processor, longest_answer=_LONGEST_ANSWER)
    raw_results = [_best_places(kept.reading) for kept in job.expected]
    answers = processor.predictions(job.examples.raw, job.examples.rows, raw_results)
    return [_whole_words(each["best"], context) for each, (_, context) in zip(answers, job.examples.raw, strict=True)]


def _best_places(reading: RawResult) -> dict[str, np.ndarray]:
    """The logits of the best places, and of no other."""
    return {
        name: np.where(logits >= np.sort(logits, axis=-1)[..., [-min(_BEST, logits.shape[-1])]], logits, -np.inf)
        for name, logits in reading.items()
    }


def _whole_words(best: Sequence[dict], context: str) -> str:
    """The best answer that is one, from white space to white space."""
    found = next((answer for answer in best if answer["answer"]), None)
    if found is None:
        return ""
    begun = re.search(r"\S*$", context[: found["start"]])
    ended = re.match(r"\S*", context[found["end"] :])
    return begun.group() + found["answer"] + ended.group()


def _check(name: str, job: ValidationContext, equal: np.ndarray, remark: str, facts: dict) -> Check:
    least = decision_limits(job).agreement
    found = f"{equal.sum()} of {len(equal)} answers are equal"
    failed = least is not None and equal.mean() < least
    words = f"{found}, less than {least:g} of them" if failed else found
    return Check(name, FAILED if failed else PASSED, "; ".join(filter(None, (words, remark))), rows=len(equal), **facts)


def _metric_check(name: str, job: ValidationContext, rows: np.ndarray, found: Sequence[str], facts: dict) -> Check:
    """The scores of both sides' own answers."""
    processor, raw = job.examples.processor, job.examples.raw
    own = processor.predictions(raw, job.examples.rows, [kept.reading for kept in job.expected])
    right = answer_texts(job.examples.y, raw)
    sides = [
        squad_scores([right[row] for row in rows], [side[row] for row in rows], processor.unit)
        for side in ([each["answer"] for each in own], found)
    ]
    each = [
        Ratio.of_decisions([f1(right[row], side[row], processor.unit) for row in rows])
        for side in ([answer["answer"] for answer in own], found)
    ]
    evidence = Evidence.of(*each)
    metrics = tuple(
        Metric(key, value, sides[1][key], evidence if key == "F1" else None) for key, value in sides[0].items()
    )
    limits = Tolerance(metric_share=decision_limits(job).metric_share)
    verdict = judge(limits, (), metrics, processor.compared_as, rows=len(rows))
    return Check(
        name, verdict.status, verdict.reason, rows=len(rows), metrics=metrics, judgements=verdict.judgements, **facts
    )
