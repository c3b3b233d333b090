"""Questions made from plain texts, to train question answering before labelled questions do.

    python -m kerasbert.zoo.building.cloze_questions text-en/ --files 'openstax-*,wiki-*' --out questions.json.gz

Cloze translation (Lewis et al. 2019, Unsupervised Question Answering by Cloze Translation): a phrase of a sentence is the answer, and the
clause around it, with a question word in its place and some noise, is the question. Rules choose the phrases here, not a parser.
"""

import argparse
import gzip
import json
import random
import re
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from kerasbert.files.atomic import atomic_file
from kerasbert.zoo.building.texts import PASSAGE_WORDS, TextCounts, sample_texts, split_sentences, text_files

UNANSWERABLE = 0.3  # of the questions; half of them ask about another passage, half with another name or number
FRONTED = 0.6  # of the questions begin with the question word
DROPPED_WORDS, DROPPED_ENDINGS = 0.12, 0.25  # noise, as a share of the question's words
FEWEST_CLAUSE_WORDS, MOST_CLAUSE_WORDS = 4, 22
_TEXTS_FOR_A_QUESTION = 0.8

_FUNCTION_WORDS = frozenset(
    "a an the this that these those it its he she they we you i his her their our your my who whom which what when where why "
    "how and or but nor so yet if than as of in on at by for from to with into onto over under between through during before "
    "after about against among within without upon is are was were be been being am do does did has have had having will "
    "would can could may might must shall should not no there then also only very more most much many such some any all both "
    "each other another own same too just because while although though however therefore thus one first often usually always "
    "never still even like".split()
)
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_DATE = re.compile(rf"\b(?:(?:{_MONTHS})(?: \d{{1,2}})?,? )?(?:1[0-9]\d\d|20[0-2]\d)\b(?![\d%])")
_NUMBER = re.compile(r"(?<![\w.])\$?\d[\d,]*(?:\.\d+)?(?: (?:percent|million|billion|thousand)\b|%)?(?![\w-])")
_NAME = re.compile(r"\b[A-Z][\w\u2019'.-]*[\w](?: (?:(?:of|the|de|and) )?[A-Z][\w\u2019'.-]*[\w])*")
_WORD = re.compile(r"[A-Za-z][\w\u2019'-]*")
_CLAUSE_END = re.compile(r"[,;:()\u2014\u2013]| - ")
_ENDING = re.compile(r"(?<=\w{3})(?:ing|ed|es|s|ly)$")
_PREPOSITION = re.compile(r"\b(?:in|at|from|near|to)$", re.IGNORECASE)
_QUESTION_WORDS = {
    "date": ("when", "in what year", "what year"),
    "number": ("how many", "how much", "what number of", "what"),
    "name": ("who", "what", "which", "what"),
    "place": ("where", "in what place", "which"),
    "phrase": ("what", "what", "what type of", "which", "how"),
}
_SHARES = {"date": 3, "number": 2, "name": 4, "phrase": 4}  # of the kinds that a sentence offers


class Phrase(NamedTuple):
    """A phrase of a text that can be an answer: its kind and its characters."""

    kind: str
    start: int
    end: int


def make_questions(texts: Sequence[str], count: int, seed: int) -> list[dict]:
    """Make questions about passages, in the form of SQuAD 2.0's paragraphs.

    Args:
        texts: Passages of several sentences.
        count: The number of questions, at most.
        seed: The seed of all choices.

    Returns:
        `{"context": ..., "qas": [one question]}` for each. An unanswerable one has `is_impossible` and no answers.
    """
    generator = random.Random(seed)
    made: list[dict] = []
    for index, text in enumerate(texts):
        if len(made) == count:
            break
        cloze = _cloze(text, generator)
        if cloze is None:
            continue
        phrase, words = cloze
        answer = text[phrase.start : phrase.end]
        context, answers = text, [{"text": answer, "answer_start": phrase.start}]
        if generator.random() < UNANSWERABLE:
            other = _other_words(words, text, phrase, generator) if generator.random() < 0.5 else None
            if other is None:
                context = texts[index - 1]
            words = other or words
            answers = []
        if answers or context is text or answer.lower() not in context.lower():
            question = {"id": str(len(made)), "question": _ask(phrase, words, text, generator), "answers": answers}
            made.append({"context": context, "qas": [{**question, "is_impossible": not answers}]})
    return made


def phrases(text: str, start: int, end: int) -> list[Phrase]:
    """Return the phrases of a sentence that can be answers.

    Args:
        text: The passage.
        start: First character of the sentence.
        end: The character after its last one.
    """
    found = [Phrase("date", *match.span()) for match in _DATE.finditer(text, start, end)]
    numbers = [Phrase("number", *match.span()) for match in _NUMBER.finditer(text, start, end)]
    found += [each for each in numbers if not _overlaps(each, found)]
    names = [Phrase("name", *match.span()) for match in _NAME.finditer(text, start, end)]
    found += [
        each
        for each in names
        if not _overlaps(each, found)
        and (each.start > start or " " in text[each.start : each.end])
        and text[each.start : each.end].lower() not in _FUNCTION_WORDS
    ]
    return found + [each for each in _content_phrases(text, start, end) if not _overlaps(each, found)]


def _content_phrases(text: str, start: int, end: int) -> list[Phrase]:
    """Runs of one to four words that are no function words, without punctuation between."""
    runs: list[list[re.Match]] = [[]]
    for match in _WORD.finditer(text, start, end):
        if match[0].lower() in _FUNCTION_WORDS:
            runs.append([])
        elif runs[-1] and text[runs[-1][-1].end() : match.start()] != " ":
            runs.append([match])
        else:
            runs[-1].append(match)
    return [
        Phrase("phrase", run[0].start(), run[-1].end())
        for run in runs
        if 1 <= len(run) <= 4 and run[-1].end() - run[0].start() > 4
    ]


def _overlaps(phrase: Phrase, others: Sequence[Phrase]) -> bool:
    return any(phrase.start < other.end and other.start < phrase.end for other in others)


def _cloze(text: str, generator: random.Random) -> tuple[Phrase, tuple[str, str]] | None:
    """An answer of a random sentence, and the words of its clause before and after it."""
    sentences = list(split_sentences(text))
    if not sentences:
        return None
    sentence = generator.choice(sentences)
    start = text.find(sentence)
    offered = phrases(text, start, start + len(sentence)) if start >= 0 else []
    if not offered:
        return None
    kinds = sorted({phrase.kind for phrase in offered})
    kind = generator.choices(kinds, [_SHARES[each] for each in kinds])[0]
    phrase = generator.choice([each for each in offered if each.kind == kind])
    before, after = text[start : phrase.start], text[phrase.end : start + len(sentence)]
    words = _clause(before, after)
    return (phrase, words) if words else None


def _clause(before: str, after: str) -> tuple[str, str] | None:
    """The nearest clauses around an answer that have enough words together; None if there are too few words."""
    heads, tails = _CLAUSE_END.split(before)[::-1], _CLAUSE_END.split(after)
    head, tail = heads[0], tails[0]
    for more_head, more_tail in zip([*heads[1:], *[""] * len(tails)], [*tails[1:], *[""] * len(heads)], strict=False):
        if len(f"{head} {tail}".split()) >= FEWEST_CLAUSE_WORDS:
            break
        head, tail = f"{more_head} {head}", f"{tail} {more_tail}"
    if len(f"{head} {tail}".split()) < FEWEST_CLAUSE_WORDS:
        return None
    return " ".join(head.split()[-MOST_CLAUSE_WORDS // 2 :]), " ".join(tail.split()[: MOST_CLAUSE_WORDS // 2])


def _other_words(words: tuple[str, str], text: str, answer: Phrase, generator: random.Random) -> tuple[str, str] | None:
    """The same words with a name or number replaced by another one of the text, so that the text does not answer them."""
    for kind in ("date", "number", "name"):
        values = [text[each.start : each.end] for each in phrases(text, 0, len(text)) if each.kind == kind]
        asked = [value for value in values if any(value in part for part in words)]
        others = [value for value in values if value not in asked and value != text[answer.start : answer.end]]
        if asked and others:
            old, new = generator.choice(asked), generator.choice(others)
            head, tail = (part.replace(old, new) for part in words)
            return head, tail
    return None


def _ask(phrase: Phrase, words: tuple[str, str], text: str, generator: random.Random) -> str:
    """The question: the clause with noise and a question word, at its front or in the answer's place."""
    head, tail = (_noisy(part, generator) for part in words)
    kind = "place" if phrase.kind == "name" and _PREPOSITION.search(text[: phrase.start].rstrip()) else phrase.kind
    asked = generator.choice(_QUESTION_WORDS[kind])
    parts = [asked, head, tail] if generator.random() < FRONTED else [head, asked, tail]
    question = " ".join(filter(None, parts)).strip(" .!?\"'")
    return question[:1].upper() + question[1:] + "?"


def _noisy(text: str, generator: random.Random) -> str:
    kept = [word for word in text.split() if generator.random() >= DROPPED_WORDS]
    return " ".join(_ENDING.sub("", word) if generator.random() < DROPPED_ENDINGS else word for word in kept)


def main() -> None:
    """Write the questions as SQuAD 2.0's JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="+", type=Path, metavar="PATH", help="text files, or folders of them")
    parser.add_argument(
        "--files", default="*", metavar="PATTERNS", help="names of files to use, separated by commas (*)"
    )
    parser.add_argument("--count", type=int, default=60_000, metavar="N", help="questions (60,000)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of all choices (1)")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the questions (.json.gz)")
    arguments = parser.parse_args()
    wanted = TextCounts(0, round(arguments.count / _TEXTS_FOR_A_QUESTION))
    patterns = arguments.files.split(",")
    files = [path for path in text_files(arguments.texts) if any(fnmatch(path.name, each) for each in patterns)]
    passages = sample_texts(files, wanted, arguments.seed)
    made = make_questions(passages, arguments.count, arguments.seed)
    if not made:
        fewest, most = PASSAGE_WORDS
        raise SystemExit(
            f"expected passages of {fewest} to {most} words in files named {arguments.files}, received none that a question can be made "
            "from; give texts with one paragraph a line"
        )
    with atomic_file(arguments.out) as partial, gzip.open(partial, "wt", encoding="utf-8") as file:
        json.dump({"version": "v2.0", "data": [{"title": "", "paragraphs": made}]}, file)
    unanswerable = sum(each["qas"][0]["is_impossible"] for each in made)
    print(f"{arguments.out}: {len(made)} questions about {len(passages)} passages, {unanswerable} without an answer")


if __name__ == "__main__":
    main()
