"""Questions about texts, with answers: SQuAD's JSON, and JSON Lines."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

from kerasbert.data.bad_rows import BadRows
from kerasbert.data.dataset import Dataset
from kerasbert.data.limits import check_max_rows
from kerasbert.data.lines import read_whole
from kerasbert.data.records import data_suffix, read_objects
from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import parse_json
from kerasbert.files.read_limits import ReadBudget
from kerasbert.values import is_whole_number

MAX_SHIFT = 10  # characters between the stated and the actual start of an answer


class Answer(NamedTuple):
    """An answer and the character of its context at which it starts."""

    text: str
    start: int


@dataclass(frozen=True)
class SquadTable(Dataset):
    """Questions about texts.

    `x` holds `(question, context)` of each question. `y` holds `{"text": [...], "answer_start": [...]}` of each question, or is None. Both
    lists are empty for a question without an answer.

    Attributes:
        ids: The id of each question; its number from 0 on if the file has no ids.
        repaired: Number of answers whose start was corrected.
        dropped: Number of answers that do not occur near their start.
        left_out: Ids of questions without a remaining answer.
        overruled: Number of questions that are marked `is_impossible` and list answers. The answers were dropped.
    """

    ids: tuple[str, ...] = ()
    repaired: int = 0
    dropped: int = 0
    left_out: tuple[str, ...] = ()
    overruled: int = 0

    def kind(self) -> str:
        return "questions"

    def label_summary(self) -> str:
        contexts = f"{len({context for _, context in self.x}):,} contexts"
        if self.y is None:
            return f"{contexts}; no answers"
        unanswered = sum(not answers["text"] for answers in self.y)
        return f"{contexts}; {unanswered:,} without an answer ({unanswered / max(len(self), 1):.1%})"

    def full_texts(self) -> list[str]:
        return [f"{question} {context}" for question, context in self.x]

    def remarks(self) -> list[str]:
        remarks = []
        if self.repaired:
            remarks.append(f"{self.repaired:,} answers stood near the place that the file gives, and were put right")
        if self.dropped:
            remarks.append(f"{self.dropped:,} answers do not stand there, and were dropped")
        if self.left_out:
            more = ", ..." if len(self.left_out) > 3 else ""
            remarks.append(f"{len(self.left_out):,} questions left out with them: {', '.join(self.left_out[:3])}{more}")
        if self.overruled:
            remarks.append(
                f"{self.overruled:,} questions are marked is_impossible and list answers, which were dropped"
            )
        return remarks

    def select(self, rows: Sequence[int]) -> Self:
        return replace(super().select(rows), ids=tuple(self.ids[row] for row in rows))

    def groups(self) -> list[list[int]]:
        by_context: dict[str, list[int]] = {}
        for row, (_, context) in enumerate(self.x):
            by_context.setdefault(context, []).append(row)
        return list(by_context.values())


def read_squad(
    path: str | os.PathLike,
    *,
    max_rows: int | None = None,
    skip_bad_rows: bool = False,
    encoding: str | None = None,
) -> SquadTable:
    """Read questions, contexts and answers of SQuAD 1.1 (Rajpurkar et al. 2016) or 2.0 (2018), or of files in that form.

    The file holds SQuAD's `data` -> `paragraphs` -> `qas`, or one object for each question. Such an object has `question` and `context`,
    and optionally `answers`, `id` and `is_impossible`. The objects form a list, alone or as `data`, or the lines of a `.jsonl`. Each file
    may also be compressed as `.gz`.

    An answer must occur in its context at character `answer_start`. Otherwise it is searched up to 10 characters away, with and without its
    surrounding white space. If it occurs exactly once there, its start is corrected. If not, the answer is dropped, and with its last
    answer the question. `SquadTable` counts both.

    Args:
        path: The file.
        max_rows: The maximum number of questions to read.
        skip_bad_rows: Skip questions of another form, and count them in `Dataset.bad`.
        encoding: As for `read_table`.

    Returns:
        The table.

    Raises:
        KerasBertError: When the file cannot be read, has another form or no questions; when only some questions have answers, and the
            others are not marked as impossible.

    Example:
        ```python
        data = kb.data.read_squad("questions.json")
        data.x[0], data.y[0]  # (question, context), and its answers
        ```
    """
    path = Path(path)
    check_max_rows(max_rows)
    builder = _TableBuilder(path, BadRows(path, skip_bad_rows))
    for where, record in _read_questions(path, builder.bad, encoding):
        if len(builder) == max_rows:
            break
        builder.add(where, record)
    return builder.build()


class _TableBuilder:
    """Collects the questions of a file."""

    def __init__(self, path: Path, bad: BadRows) -> None:
        self.path, self.bad = path, bad
        self.x: list[tuple[str, str]] = []
        self.y: list[dict[str, list] | None] = []
        self.ids: list[str] = []
        self.repaired, self.dropped, self.overruled = 0, 0, 0
        self.left_out: list[str] = []

    def __len__(self) -> int:
        return len(self.x) + len(self.left_out)

    def add(self, where: str, record: Mapping) -> None:
        try:
            self._add(where, record)
        except KerasBertError as error:
            self.bad.refuse_with(error)

    def _add(self, where: str, record: Mapping) -> None:
        question, context = (_get_text(self.path, where, record, name) for name in ("question", "context"))
        name = str(record.get("id", len(self.ids) + len(self.left_out)))
        stated = _parse_answers(self.path, where, record)
        answers = None if stated is None else self._locate(context, stated)
        if stated and not answers:
            self.left_out.append(name)
            return
        labelled = answers is not None
        if self.y and labelled is not (self.y[0] is not None):
            raise KerasBertError(
                f"expected answers to all questions or to none in {self.path}, received "
                f"{'some' if labelled else 'none'} in {where}, and {'none' if labelled else 'some'} before"
            )
        self.overruled += bool(record.get("is_impossible")) and _lists_answers(record.get("answers"))
        self.x.append((question, context))
        self.ids.append(name)
        self.y.append(
            None
            if answers is None
            else {"text": [answer.text for answer in answers], "answer_start": [answer.start for answer in answers]}
        )

    def _locate(self, context: str, answers: Sequence[Answer]) -> list[Answer]:
        """Return the answers that occur in the context, with their actual starts."""
        located = []
        for stated in answers:
            answer = _find_near(context, stated)
            if answer is None:
                self.dropped += 1
            else:
                self.repaired += answer != stated
                located.append(answer)
        return located

    def build(self) -> SquadTable:
        if not self.x:
            received = f"none whose answer stands in its context, of {len(self.left_out)}" if self.left_out else "none"
            raise KerasBertError(f"expected questions in {self.path}, received {received}")
        y = None if self.y[0] is None else self.y
        return SquadTable(
            self.path, self.x, y, tuple(self.ids), self.repaired, self.dropped, tuple(self.left_out), self.overruled,
            bad=self.bad,
        )  # fmt: skip


def _find_near(context: str, answer: Answer) -> Answer | None:
    """Return the answer at its stated start, or where it occurs exactly once near by, or None."""
    text, start = answer
    if 0 <= start and context[start : start + len(text)] == text:
        return answer
    for candidate in dict.fromkeys((text, text.strip())):
        low, high = max(start - MAX_SHIFT, 0), max(start + MAX_SHIFT, 0) + len(candidate)
        place = context.find(candidate, low, high) if candidate else -1
        if place >= 0 and context.find(candidate, place + 1, high) < 0:
            return Answer(candidate, place)
    return None


def _read_questions(path: Path, bad: BadRows, encoding: str | None) -> Iterator[tuple[str, Mapping]]:
    """Yield (location in the file, question with its context)."""
    if data_suffix(path) == ".jsonl":
        for line, record in read_objects(path, bad, encoding):
            yield f"line {line}", record
        return
    content = _read_json(path, encoding)
    data = content.get("data") if isinstance(content, dict) else content
    if not isinstance(data, list):
        raise _form_error(path, "a list 'data' of articles or questions", content if data is None else data, "the file")
    for i, entry in enumerate(data):
        if isinstance(entry, dict) and "question" in entry:
            yield f"data[{i}]", entry
        else:
            yield from _questions_of_article(path, f"data[{i}]", entry)


def _questions_of_article(path: Path, where: str, article: object) -> Iterator[tuple[str, Mapping]]:
    for j, paragraph in enumerate(_get_list(path, where, article, "paragraphs")):
        paragraph_where = f"{where}.paragraphs[{j}]"
        questions = _get_list(path, paragraph_where, paragraph, "qas")
        context = _get_text(path, paragraph_where, paragraph, "context")
        for k, question in enumerate(questions):
            question_where = f"{paragraph_where}.qas[{k}]"
            if not isinstance(question, dict):
                raise _form_error(path, "an object", question, question_where)
            yield question_where, {**question, "context": context}


def _read_json(path: Path, encoding: str | None) -> Any:
    text = read_whole(path, encoding)
    return parse_json(
        text,
        path,
        advice="if it is JSON lines, call it .jsonl",
        unique_names=True,
        memory=ReadBudget.of_file(path).max_bytes,
    )


def _get_list(path: Path, where: str, record: object, name: str) -> list:
    value = record.get(name) if isinstance(record, dict) else None
    if not isinstance(value, list):
        raise _form_error(path, f"a list {name!r}", record if value is None else value, where)
    return value


def _get_text(path: Path, where: str, record: Mapping, name: str) -> str:
    value = record.get(name)
    if not isinstance(value, str):
        raise _form_error(path, f"a text {name!r}", record if value is None else value, where)
    return value


def _parse_answers(path: Path, where: str, record: Mapping) -> list[Answer] | None:
    """Return a question's answers as the file states them; None for an unlabelled question."""
    if record.get("is_impossible"):
        return []
    answers = record.get("answers")
    if answers is None:
        return None
    if isinstance(answers, dict):  # Hugging Face's columns
        texts, starts = (_get_list(path, f"{where}.answers", answers, name) for name in ("text", "answer_start"))
        if len(texts) != len(starts):
            raise _form_error(path, "as many 'text' as 'answer_start'", answers, where)
        answers = [{"text": text, "answer_start": start} for text, start in zip(texts, starts, strict=True)]
    if not isinstance(answers, list):
        raise _form_error(path, "a list 'answers'", answers, where)
    parsed = [_parse_answer(path, f"{where}.answers[{i}]", answer) for i, answer in enumerate(answers)]
    return [answer for answer in parsed if answer.text]


def _lists_answers(answers: object) -> bool:
    listed = answers.get("text") if isinstance(answers, dict) else answers
    return isinstance(listed, list) and any(a.get("text") if isinstance(a, dict) else a for a in listed)


def _parse_answer(path: Path, where: str, answer: object) -> Answer:
    text, start = (answer.get("text"), answer.get("answer_start")) if isinstance(answer, dict) else (None, None)
    if not isinstance(text, str) or not is_whole_number(start):
        raise _form_error(path, "'text' and a whole number 'answer_start'", answer, where)
    return Answer(text, start)


def _form_error(path: Path, expected: str, received: object, where: str) -> KerasBertError:
    if isinstance(received, dict):
        description = f"an object with {', '.join(map(str, received)) or 'nothing'}"
    else:
        description = f"{type(received).__name__} {str(received)[:40]}"
    return KerasBertError(f"expected {expected} in {path}, received {description}, in {where}")
