"""Questions about texts to token rows: `[CLS] question [SEP] part of the text [SEP]`, and the way back to the characters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.processors.features import WHOLE, Features, TokenLists
from kerasbert.text import Tokenizer
from kerasbert.text.windows import default_stride, windows

LONGEST_QUESTION = 64  # tokens, as in the BERT authors' own code
_CHUNK = 512  # texts whose offsets are held at once as the engine gives them, which is large


@dataclass(frozen=True, eq=False)
class Context:
    """A text's tokens, special ones not counted.

    Attributes:
        ids: Token ids, `(n,)`.
        starts: First character of each token, `(n,)` int, white space left out.
        ends: The character behind each token's last one, `(n,)` int.
    """

    ids: list[int]
    starts: np.ndarray
    ends: np.ndarray

    def tokens(self, start: int, end: int) -> tuple[int, int]:
        """The first and the last token of characters `start` to `end`; the first is behind the last where no token has any of them."""
        return int(np.searchsorted(self.ends, start, "right")), int(np.searchsorted(self.starts, end, "left")) - 1


class Window(NamedTuple):
    """Tokens `first` to `end` of a context, which stand in their row from place `begin` on."""

    context: Context
    first: int
    end: int
    begin: int

    @property
    def place(self) -> slice:
        """The positions of the context's tokens in the row."""
        return slice(self.begin, self.begin + self.end - self.first)


def window_features(
    examples: Sequence[tuple[str, str]], tokenizer: Tokenizer, length: int, stride: int | None
) -> Features:
    """One row for each window over each example's context; `alignment` has a `Window` for each.

    A question has at most 64 tokens, and half of the row; a longer one is cut and counted as truncated.

    Args:
        examples: Questions with their contexts.
        tokenizer: The tokenizer.
        length: Tokens a row has at most.
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
    for number, (asked, text) in enumerate(examples):
        question, context = questions[asked], contexts[text]
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


def _questions(texts: list[str], tokenizer) -> dict[str, list[int]]:
    """Token ids by text."""
    distinct = list(dict.fromkeys(texts))
    encoded = tokenizer.encode(distinct, max_length=WHOLE)
    return {text: ids[1:-1] for text, ids in zip(distinct, encoded.input_ids, strict=True)}


def _contexts(texts: list[str], tokenizer) -> dict[str, Context]:
    """Contexts by text: many questions may be about one."""
    found = {}
    distinct = list(dict.fromkeys(texts))
    for start in range(0, len(distinct), _CHUNK):
        chunk = distinct[start : start + _CHUNK]
        encoded = tokenizer.encode(chunk, max_length=WHOLE)
        for text, ids, offsets in zip(chunk, encoded.input_ids, encoded.offsets, strict=True):
            found[text] = Context(ids[1:-1], *_trimmed(text, np.array(offsets[1:-1], np.int64).reshape(-1, 2)))
    return found


def _trimmed(text: str, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Starts and ends of tokens without the white space that SentencePiece and byte-level BPE count as theirs; int32."""
    starts, ends = offsets[:, 0], offsets[:, 1]
    positions = np.arange(len(text) + 1)
    filled = np.array([not char.isspace() for char in text], bool)
    following = np.minimum.accumulate(np.where(np.append(filled, True), positions, len(text))[::-1])[::-1]
    behind = np.maximum.accumulate(np.where(np.append(True, filled), positions, 0))
    starts = np.minimum(following[starts], ends)
    return starts.astype(np.int32), np.maximum(behind[ends], starts).astype(np.int32)
