"""Questions about texts to token rows `[CLS] question [SEP] part of the text [SEP]`, aligned with the characters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.processors.features import WHOLE, Features, TokenLists, whole_texts
from kerasbert.text import Tokenizer
from kerasbert.text.windows import default_stride, windows

LONGEST_QUESTION = 64  # tokens, as in the BERT authors' own code


@dataclass(frozen=True, eq=False)
class Context:
    """A text's tokens, special ones not included.

    Attributes:
        ids: Token ids, `(n,)`.
        starts: The first character of each token, white space left out, `(n,)` int.
        ends: The character after each token, `(n,)` int.
    """

    ids: list[int]
    starts: np.ndarray
    ends: np.ndarray

    def tokens(self, start: int, end: int) -> tuple[int, int]:
        """Return the first and the last token of characters `start` to `end`; the first is after the last if no token has any."""
        return int(np.searchsorted(self.ends, start, "right")), int(np.searchsorted(self.starts, end, "left")) - 1


class Window(NamedTuple):
    """Tokens of a context in a row.

    Attributes:
        context: The context.
        first: The first token.
        end: The token after the last one.
        begin: The position in the row of the first token.
    """

    context: Context
    first: int
    end: int
    begin: int

    @property
    def positions(self) -> slice:
        """The positions of the context's tokens in the row."""
        return slice(self.begin, self.begin + self.end - self.first)


def window_features(
    examples: Sequence[tuple[str, str]], tokenizer: Tokenizer, length: int, stride: int | None
) -> Features:
    """Return one row for each window over each example's context; `alignment` has the `Window` of each row.

    A question has at most 64 tokens, and half of the row; a longer one is truncated.

    Args:
        examples: Questions with their contexts.
        tokenizer: The tokenizer.
        length: Tokens in the longest row.
        stride: Tokens from the start of a window to that of the next one; see `QuestionAnswering`.

    Raises:
        KerasBertError: When rows have no room for a token of each text.
    """
    template = tokenizer.template
    space = length - template.special_tokens(True)
    if space < 2:
        raise KerasBertError(
            f"expected rows of at least {template.special_tokens(True) + 2} tokens for a question and a text, received {length}"
        )
    longest = min(LONGEST_QUESTION, space // 2)
    questions = _questions([question for question, _ in examples], tokenizer)
    contexts = _contexts([context for _, context in examples], tokenizer)
    cls, sep = [tokenizer.cls_id], [tokenizer.sep_id]
    lists, types, numbers, alignment, truncated = [], [], [], [], 0
    for number, (question_text, context_text) in enumerate(examples):
        question, context = questions[question_text], contexts[context_text]
        truncated += len(question) > longest
        head = cls + question[:longest] + sep * template.separators
        room = length - len(head) - 1
        step = default_stride(length, room) if stride is None else min(stride, room)
        for first, end in windows(len(context.ids), room, step):
            lists.append(head + context.ids[first:end] + sep)
            types.append([0] * len(head) + [template.second_type] * (end - first + 1))
            numbers.append(number)
            alignment.append(Window(context, first, end, len(head)))
    return Features(TokenLists(lists, types), np.array(numbers, np.int64), 1, truncated, alignment)


def questions_fit(windows: Sequence[Window], length: int) -> bool:
    """Return whether no question of some rows is longer than half of a shorter row, and would be truncated there.

    Args:
        windows: The window of each row, `[CLS] question [SEP] context [SEP]`; some models write two `[SEP]` after the question.
        length: Tokens in the longest row.
    """
    return max(window.begin for window in windows) - 2 <= (length - 4) // 2


def _questions(texts: list[str], tokenizer: Tokenizer) -> dict[str, list[int]]:
    """Tokenize questions; return token ids by text."""
    distinct = list(dict.fromkeys(texts))
    encoded = tokenizer.encode(distinct, max_length=WHOLE)
    return {text: ids[1:-1] for text, ids in zip(distinct, encoded.input_ids, strict=True)}


def _contexts(texts: list[str], tokenizer: Tokenizer) -> dict[str, Context]:
    """Tokenize contexts; return them by text, as many questions may share one."""
    distinct = list(dict.fromkeys(texts))
    return {
        text: Context(ids, *_trimmed(text, np.array(offsets, np.int64).reshape(-1, 2)))
        for text, (ids, offsets) in zip(distinct, whole_texts(distinct, tokenizer), strict=True)
    }


def _trimmed(text: str, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return int32 starts and ends of tokens without the white space that SentencePiece and byte-level BPE include."""
    starts, ends = offsets[:, 0], offsets[:, 1]
    positions = np.arange(len(text) + 1)
    filled = np.array([not char.isspace() for char in text], bool)
    next_filled = np.minimum.accumulate(np.where(np.append(filled, True), positions, len(text))[::-1])[::-1]
    after_filled = np.maximum.accumulate(np.where(np.append(True, filled), positions, 0))
    starts = np.minimum(next_filled[starts], ends)
    return starts.astype(np.int32), np.maximum(after_filled[ends], starts).astype(np.int32)
