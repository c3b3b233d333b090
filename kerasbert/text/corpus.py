"""The texts of a corpus, read once and never all in memory: counted, cut where they are long, sampled."""

import heapq
import random
import re
from collections.abc import Iterable, Iterator

from kerasbert.errors import KerasBertError
from kerasbert.text.long_texts import pieces
from kerasbert.text.strings import each_string

LONGEST = 1 << 20  # characters of a piece without a place to cut it, such as one word
SAMPLED = 50_000_000  # characters that SentencePiece takes; it holds about 50 bytes for each
_SEED = 20180819  # arbitrary, but constant


class Corpus:
    """Texts that a vocabulary is learned from.

    Args:
        texts: An iterable of strings, such as a generator. It is read once.

    Raises:
        KerasBertError: When it is no iterable of strings.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = each_string(texts)
        self.count = 0  # texts so far
        self.has_words = False  # whether one of them is more than white space

    def pieces(self, ends: re.Pattern[str] | None) -> Iterator[str]:
        """Yield the texts, in pieces where they are long; a piece has the words of its text.

        Args:
            ends: The places at which a text may be cut, see `kerasbert.text.long_texts.word_ends`.

        Raises:
            KerasBertError: When an entry is not a text. The message names it.
        """
        for text in self._texts:
            self.count += 1
            self.has_words = self.has_words or bool(text.strip())
            for _, piece in pieces(text, ends):
                for start in range(0, len(piece) or 1, LONGEST):
                    yield piece[start : start + LONGEST]

    def check_words(self, found: object = True) -> None:
        """Check that the texts have words.

        Args:
            found: What the tokenizer counted or drew of them.

        Raises:
            KerasBertError: When they are empty or white space, or nothing was found.
        """
        if not (self.has_words and found):
            raise KerasBertError(
                f"expected texts to learn a vocabulary from, received {self.count} texts without any word; give files with texts"
            )


def sample(texts: Iterable[str], most: int) -> list[str]:
    """Draw texts of at most some characters together, in their order: all of them, or each with the same chance.

    The draw is the same in every run. Texts that are not drawn are not kept.

    Args:
        texts: The texts.
        most: The characters.
    """
    draw, kept, characters = random.Random(_SEED), [], 0
    for number, text in enumerate(texts):
        heapq.heappush(kept, (draw.random(), number, text))
        characters += len(text)
        while characters > most and len(kept) > 1:
            characters -= len(heapq.heappop(kept)[2])
    return [text for _, text in sorted((number, text) for _, number, text in kept)]
