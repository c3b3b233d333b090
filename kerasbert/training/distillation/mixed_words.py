"""Texts whose words are tokenized by one of two vocabularies, as draws decide (Zhao et al. 2019, section 3.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kerasbert.console.output import note
from kerasbert.errors import KerasBertError
from kerasbert.processors.features import Features, TokenLists
from kerasbert.processors.word_pieces import WordPieces, word_pieces
from kerasbert.text import WordPiece

_CHUNK = 512  # texts that are tokenized at once


@dataclass(frozen=True)
class TwoVocabularies:
    """The tokens of two tokenizers as one vocabulary: the teacher's, and behind them the student's.

    Attributes:
        teacher: The teacher's tokenizer.
        student: The student's tokenizer.
    """

    teacher: WordPiece
    student: WordPiece

    @property
    def size(self) -> int:
        """The number of tokens of both."""
        return self.teacher.vocabulary_size + self.student.vocabulary_size

    @cached_property
    def student_ids(self) -> np.ndarray:
        """The id of each token of the student in both vocabularies, `(student's tokens,)`. Special tokens are the teacher's."""
        ids = self.teacher.vocabulary_size + np.arange(self.student.vocabulary_size)
        for role in ("pad", "unk", "cls", "sep", "mask"):
            ids[getattr(self.student, f"{role}_id")] = getattr(self.teacher, f"{role}_id")
        return ids

    @cached_property
    def pieces(self) -> WordPieces:
        """The word pieces of both."""
        first, second = word_pieces(self.teacher), word_pieces(self.student)
        return WordPieces(
            np.concatenate([first.special, second.special]),
            np.concatenate([first.continues, second.continues]),
            np.concatenate([first.closed, second.closed]),
            np.concatenate([first.words, second.words + self.teacher.vocabulary_size]).astype(np.int32),
        )


@dataclass(frozen=True)
class MixedRows:
    """Rows of words, each tokenized by both tokenizers. A row fits the length, whichever of them each word is tokenized by.

    Attributes:
        vocabularies: Both tokenizers.
        teacher: The teacher's token ids of each row, without special tokens.
        student: The student's.
        teacher_words: The number of each token's word in its row.
        student_words: The same for the student's tokens.
        example: The number of each row's text.
    """

    vocabularies: TwoVocabularies
    teacher: Sequence[np.ndarray]
    student: Sequence[np.ndarray]
    teacher_words: Sequence[np.ndarray]
    student_words: Sequence[np.ndarray]
    example: np.ndarray

    def student_features(self) -> Features:
        """Return the rows by the student's tokenizer, special tokens included."""
        tokenizer = self.vocabularies.student
        lists = [[tokenizer.cls_id, *ids.tolist(), tokenizer.sep_id] for ids in self.student]
        return Features(TokenLists(lists, [[0] * len(ids) for ids in lists]), self.example)

    def mixed(self, row: int, rate: float, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw which words of a row are tokenized by the student's tokenizer.

        Args:
            row: The number of the row.
            rate: The probability of a word.
            random: The random generator.

        Returns:
            Ids in both vocabularies with the teacher's special tokens, and the number of each token's word, -1 for special tokens.
        """
        words, others = self.teacher_words[row], self.student_words[row]
        by_student = random.random(int(words[-1]) + 1) < rate
        kept, taken = ~by_student[words], by_student[others]
        ids = np.concatenate([self.teacher[row][kept], self.vocabularies.student_ids[self.student[row][taken]]])
        numbers = np.concatenate([words[kept], others[taken]])
        order = np.argsort(numbers, kind="stable")
        tokenizer = self.vocabularies.teacher
        return (
            np.concatenate([[tokenizer.cls_id], ids[order], [tokenizer.sep_id]]).astype(np.int32),
            np.concatenate([[-1], numbers[order], [-1]]),
        )


def mixed_rows(texts: Sequence[str], vocabularies: TwoVocabularies, length: int) -> MixedRows:
    """Tokenize texts by both tokenizers, and divide them into rows between words.

    Args:
        texts: The texts.
        vocabularies: Both tokenizers. They split texts into the same words, as long as neither finds added tokens in them.
        length: The tokens of a row, special tokens included.

    Raises:
        KerasBertError: When no text is left.
    """
    rows: list[tuple[np.ndarray, ...]] = []
    example, differing = [], 0
    for start in range(0, len(texts), _CHUNK):
        chunk = texts[start : start + _CHUNK]
        encoded = [tokenizer.token_words(chunk) for tokenizer in (vocabularies.teacher, vocabularies.student)]
        for number in range(len(chunk)):
            ids, words = ([each[part][number] for each in encoded] for part in (0, 1))
            counts = [np.bincount(each) for each in words]
            if len(counts[0]) != len(counts[1]):
                differing += 1
                continue
            for first, end in _windows(np.maximum(*counts), length - 2):
                inside = [(each >= first) & (each < end) for each in words]
                rows.append(
                    (
                        *(each[part] for each, part in zip(ids, inside, strict=True)),
                        *(each[part] - first for each, part in zip(words, inside, strict=True)),
                    )
                )
                example.append(start + number)
    if differing:
        note(
            f"note: {differing:,} of {len(texts):,} texts are left out: the tokenizers find other words in them, such as added tokens"
        )
    if not rows:
        raise KerasBertError(
            f"expected texts with words, received {len(texts):,} without one that both tokenizers read; give others"
        )
    teacher, student, teacher_words, student_words = zip(*rows, strict=True)
    return MixedRows(vocabularies, teacher, student, teacher_words, student_words, np.array(example, np.int64))


def _windows(sizes: np.ndarray, room: int) -> list[tuple[int, int]]:
    """Return windows of words, as (first, end), with at most `room` tokens each. A longer word is in none."""
    windows, first, taken = [], 0, 0
    for word, size in enumerate(sizes.tolist()):
        if taken + size > room:
            windows.append((first, word))
            first, taken = (word, 0) if size <= room else (word + 1, -size)
        taken += size
    windows.append((first, len(sizes)))
    return [(start, end) for start, end in windows if end > start]
