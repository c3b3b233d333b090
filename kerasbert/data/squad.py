"""Questions about texts, with answers: SQuAD's JSON, and JSON lines."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kerasbert.data.bad_rows import BadRows
from kerasbert.data.lines import read_whole
from kerasbert.data.records import read_records
from kerasbert.data.table import Table
from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import parse_json
from kerasbert.files.read_limits import ReadBudget

REACH = 10  # characters that an answer may stand away from where the file says


@dataclass(frozen=True)
class SquadTable(Table):
    """x: `(question, context)`; y: `{"text": [...], "answer_start": [...]}` of each, both empty without an answer, or None.

    Attributes:
      ids: the file's name of each question; its number from 0 on where it has none.
      repaired: how many answers stood near where the file said, and were put right.
      dropped: how many answers did not stand there at all.
      left_out: the names of questions that lost all their answers by that.
    """

    ids: tuple[str, ...] = ()
    repaired: int = 0
    dropped: int = 0
    left_out: tuple[str, ...] = ()

    def kind(self):
        return "questions"

    def told_labels(self):
        contexts = f"{len({context for _, context in self.x}):,} contexts"
        if self.y is None:
            return f"{contexts}; no answers"
        silent = sum(not answers["text"] for answers in self.y)
        return f"{contexts}; {silent:,} without an answer ({silent / max(len(self), 1):.1%})"

    def texts(self):
        return [f"{question} {context}" for question, context in self.x]

    def remarks(self):
        told = []
        if self.repaired:
            told.append(f"{self.repaired:,} answers stood near the place that the file gives, and were put right")
        if self.dropped:
            told.append(f"{self.dropped:,} answers do not stand there, and were dropped")
        if self.left_out:
            more = ", ..." if len(self.left_out) > 3 else ""
            told.append(f"{len(self.left_out):,} questions left out with them: {', '.join(self.left_out[:3])}{more}")
        return told


def read_squad(path: str | os.PathLike, *, max_rows: int | None = None, skip_bad_rows: bool = False) -> SquadTable:
    """Reads questions, contexts and answers, of SQuAD 1.1 (Rajpurkar et al. 2016) or 2.0 (2018), or files of that form.

    SQuAD's `data` -> `paragraphs` -> `qas`; or one object a question with `question`, `context` and, if there are any, `answers`, `id` and
    `is_impossible`: a list of such, as `data` or alone, or a `.jsonl` with one a line. Each also with `.gz`.

    An answer must stand in its context at `answer_start`, which counts characters. Where it does not, but the text, or the text without
    white space around it, occurs exactly once up to 10 characters away, that place is taken; else the answer is dropped, and a question
    without any other is left out. See `SquadTable`.

    Args:
      path: the file.
      max_rows: read no more questions than this.
      skip_bad_rows: leave out questions of another form, and count them in `Table.bad`.

    Raises:
      KerasBertError: a file that cannot be read, is not of that form, has answers to some questions and none to others that are not said to
        be impossible, or has no questions.
    """
    path = Path(path)
    if max_rows is not None and max_rows < 1:
        raise KerasBertError(f"expected max_rows of at least 1, received {max_rows}")
    found = _Found(path, BadRows(path, skip_bad_rows))
    for where, record in _records(path, found.bad):
        if len(found) == max_rows:
            break
        found.add(where, record)
    return found.table()


class _Found:
    """What was read so far."""

    def __init__(self, path: Path, bad: BadRows):
        self.path, self.bad, self.x, self.y, self.ids = path, bad, [], [], []
        self.repaired, self.dropped, self.left_out = 0, 0, []

    def __len__(self) -> int:
        return len(self.x) + len(self.left_out)

    def add(self, where: str, record: Mapping) -> None:
        try:
            self._add(where, record)
        except KerasBertError as error:
            self.bad.refuse_as(error)

    def _add(self, where: str, record: Mapping) -> None:
        question, context = (_text(self.path, where, record, name) for name in ("question", "context"))
        name = str(record.get("id", len(self.ids) + len(self.left_out)))
        raw = _raw_answers(self.path, where, record)
        answers = None if raw is None else self._placed(context, raw)
        if raw and not answers:
            self.left_out.append(name)
            return
        labelled = answers is not None
        if self.y and labelled is not (self.y[0] is not None):
            raise KerasBertError(
                f"expected answers to all questions or to none in {self.path}, received "
                f"{'some' if labelled else 'none'} in {where}, and {'none' if labelled else 'some'} before"
            )
        self.x.append((question, context))
        self.ids.append(name)
        texts, starts = zip(*answers, strict=True) if answers else ((), ())
        self.y.append({"text": list(texts), "answer_start": list(starts)} if labelled else None)

    def _placed(self, context: str, answers: list[tuple[str, int]]) -> list[tuple[str, int]]:
        """Those of the answers that stand in the context, where they do."""
        placed = []
        for text, start in answers:
            found = _near(context, text, start)
            self.dropped += found is None
            if found is not None:
                self.repaired += found != (text, start)
                placed.append(found)
        return placed

    def table(self) -> SquadTable:
        if not self.x:
            left = f"none whose answer stands in its context, of {len(self.left_out)}" if self.left_out else "none"
            raise KerasBertError(f"expected questions in {self.path}, received {left}")
        y = None if self.y[0] is None else self.y
        return SquadTable(
            self.path, self.x, y, tuple(self.ids), self.repaired, self.dropped, tuple(self.left_out), bad=self.bad
        )


def _near(context: str, text: str, start: int) -> tuple[str, int] | None:
    """The answer and where it begins: as given, or where it occurs once near by; or None."""
    if 0 <= start and context[start : start + len(text)] == text:
        return text, start
    for candidate in dict.fromkeys((text, text.strip())):
        low, high = max(start - REACH, 0), max(start + REACH, 0) + len(candidate)
        place = context.find(candidate, low, high) if candidate else -1
        if place >= 0 and context.find(candidate, place + 1, high) < 0:
            return candidate, place
    return None


def _records(path: Path, bad: BadRows) -> Iterator[tuple[str, Mapping]]:
    """(Where it stands, one question with its context)."""
    if Path(path.name.removesuffix(".gz")).suffix.lower() == ".jsonl":
        for line, record in read_records(path, bad=bad).rows:
            yield f"line {line}", record
        return
    content = _json(path)
    data = content.get("data") if isinstance(content, dict) else content
    if not isinstance(data, list):
        raise _wrong(path, "a list 'data' of articles or questions", content if data is None else data, "the file")
    for i, entry in enumerate(data):
        if isinstance(entry, dict) and "question" in entry:
            yield f"data[{i}]", entry
        else:
            yield from _of_article(path, f"data[{i}]", entry)


def _of_article(path: Path, where: str, article) -> Iterator[tuple[str, Mapping]]:
    for j, paragraph in enumerate(_list(path, where, article, "paragraphs")):
        inside = f"{where}.paragraphs[{j}]"
        questions = _list(path, inside, paragraph, "qas")
        context = _text(path, inside, paragraph, "context")
        for k, question in enumerate(questions):
            place = f"{inside}.qas[{k}]"
            if not isinstance(question, dict):
                raise _wrong(path, "an object", question, place)
            yield place, {**question, "context": context}


def _json(path: Path):
    text = read_whole(path)
    return parse_json(
        text, path, advice="if it is JSON lines, call it .jsonl", memory=ReadBudget.of_file(path).max_bytes
    )


def _list(path: Path, where: str, record, name: str) -> list:
    value = record.get(name) if isinstance(record, dict) else None
    if not isinstance(value, list):
        raise _wrong(path, f"a list {name!r}", record if value is None else value, where)
    return value


def _text(path: Path, where: str, record: Mapping, name: str) -> str:
    value = record.get(name)
    if not isinstance(value, str):
        raise _wrong(path, f"a text {name!r}", record if value is None else value, where)
    return value


def _raw_answers(path: Path, where: str, record: Mapping) -> list[tuple[str, int]] | None:
    """(Text, start) of a question's answers as the file gives them; None where it gives nothing."""
    if record.get("is_impossible"):
        return []
    answers = record.get("answers")
    if answers is None:
        return None
    if isinstance(answers, dict):  # Hugging Face's columns
        texts, starts = (_list(path, f"{where}.answers", answers, name) for name in ("text", "answer_start"))
        if len(texts) != len(starts):
            raise _wrong(path, "as many 'text' as 'answer_start'", answers, where)
        answers = [{"text": text, "answer_start": start} for text, start in zip(texts, starts, strict=True)]
    if not isinstance(answers, list):
        raise _wrong(path, "a list 'answers'", answers, where)
    found = [_raw_answer(path, f"{where}.answers[{i}]", answer) for i, answer in enumerate(answers)]
    return [(text, start) for text, start in found if text]


def _raw_answer(path: Path, where: str, answer) -> tuple[str, int]:
    text, start = (answer.get("text"), answer.get("answer_start")) if isinstance(answer, dict) else (None, None)
    if not isinstance(text, str) or isinstance(start, bool) or not isinstance(start, int):
        raise _wrong(path, "'text' and a whole number 'answer_start'", answer, where)
    return text, start


def _wrong(path: Path, expected: str, received, where: str) -> KerasBertError:
    if isinstance(received, dict):
        received = f"an object with {', '.join(map(str, received)) or 'nothing'}"
    else:
        received = f"{type(received).__name__} {str(received)[:40]}"
    return KerasBertError(f"expected {expected} in {path}, received {received}, in {where}")
