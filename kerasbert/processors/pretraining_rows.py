"""The rows of pretraining: tokenized documents, packed into rows of a fixed length, with or without a second segment."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kerasbert.data.plain_text import split_sentences
from kerasbert.data.text_stream import Document
from kerasbert.errors import KerasBertError
from kerasbert.processors.features import WHOLE
from kerasbert.processors.word_pieces import token_words
from kerasbert.text import Tokenizer

PAIRINGS = ("next-sentence", "sentence-order")
_SHORT = 0.1  # the fraction of pairs with a shorter length, drawn uniformly (Devlin et al. 2018, appendix A.2)
_FEWEST = 8  # tokens in a row; shorter ends of a block are left out


@dataclass(frozen=True)
class Rows:
    """Rows of token ids with their special tokens.

    Attributes:
        ids: Int32 `(rows, length)`, padded.
        lengths: Int32 `(rows,)`.
        types: Int8 `(rows, length)`, 1 for the second segment.
        words: Int32 `(rows, length)`, the number of each token's word; -1 for special tokens.
        pairs: Int32 `(rows,)`, 0 for original pairs and 1 for changed ones; None for rows without pairs.
    """

    ids: np.ndarray
    lengths: np.ndarray
    types: np.ndarray
    words: np.ndarray
    pairs: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def select(self, index: np.ndarray) -> "Rows":
        """Return some rows, in this order."""
        pairs = None if self.pairs is None else self.pairs[index]
        return Rows(self.ids[index], self.lengths[index], self.types[index], self.words[index], pairs)

    def joined(self, other: "Rows") -> "Rows":
        """Return these rows, and others after them."""
        both = zip(self._parts(), other._parts(), strict=True)
        return Rows(*(None if one is None else np.concatenate([one, two]) for one, two in both))  # type: ignore[arg-type]

    def _parts(self) -> tuple:
        return self.ids, self.lengths, self.types, self.words, self.pairs


@dataclass(frozen=True)
class Segment:
    """Tokens of running text without special tokens.

    Attributes:
        ids: Int32 `(n,)`.
        words: Int32 `(n,)`, the number of each token's word.
    """

    ids: np.ndarray
    words: np.ndarray

    def __len__(self) -> int:
        return len(self.ids)


def tokenize(
    texts: Sequence[str],
    tokenizer: Tokenizer,
    spans: Sequence[Sequence[tuple[int, int]]] = (),
    words_by: str | None = None,
) -> list[Segment]:
    """Tokenize texts of a stream.

    Args:
        texts: The texts.
        tokenizer: The tokenizer.
        spans: `(start, end)` characters of the entities of each text: the tokens of an entity count as one word.
        words_by: What finds words; see `Tokenizer.token_words`.
    """
    ids, words = token_words(texts, tokenizer, words_by)
    if len(spans):
        offsets = tokenizer.encode(texts, max_length=WHOLE).offsets
        words = [
            _merged(numbers, places[1:-1], of_text) if of_text else numbers
            for numbers, places, of_text in zip(words, offsets, spans, strict=True)
        ]
    return [Segment(*parts) for parts in zip(ids, words, strict=True)]


def _merged(words: np.ndarray, offsets: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int]]) -> np.ndarray:
    """Give the tokens of each span one word number."""
    words, places = words.copy(), np.array(offsets)
    for start, end in spans:
        inside = (places[:, 0] < end) & (places[:, 1] > start)
        inside = np.isin(words, words[inside])  # whole words, also where a span ends inside of one
        words[inside] = words[inside].min(initial=0) if inside.any() else 0
    return words


def make_rows(
    documents: Sequence[Document],
    tokenizer: Tokenizer,
    length: int,
    pairing: str | None,
    random: np.random.Generator,
    entities: bool = False,
    words_by: str | None = None,
) -> Rows:
    """Tokenize and pack documents.

    Args:
        documents: The documents of a block.
        tokenizer: The tokenizer.
        length: Tokens in a row, special ones included.
        pairing: None for full rows of running text, with a separator between documents. `next-sentence` and `sentence-order` for
            rows of two segments.
        random: The random generator.
        entities: Whether the tokens of an entity count as one word.
        words_by: What finds words; see `Tokenizer.token_words`.

    Raises:
        KerasBertError: When `next-sentence` has a single document.
    """
    if pairing is None:
        texts = [text for document in documents for text in document.texts]
        spans = [each for document in documents for each in document.spans] if entities else ()
        segments = iter(tokenize(texts, tokenizer, spans, words_by))
        joined = [_joined([next(segments) for _ in document.texts]) for document in documents]
        return _full_rows(joined, tokenizer, length)
    sentences = [[part for text in document.texts for part in split_sentences(text)] for document in documents]
    segments = iter(tokenize([part for document in sentences for part in document], tokenizer, (), words_by))
    parts = [[each for each in (next(segments) for _ in document) if len(each)] for document in sentences]
    return _pair_rows([document for document in parts if document], tokenizer, length, pairing, random)


def _joined(segments: Sequence[Segment]) -> Segment:
    """Return texts as one segment; words keep different numbers."""
    shift, words = 0, []
    for segment in segments:
        words.append(segment.words + shift)
        shift += int(segment.words.max(initial=-1)) + 1
    if not segments:
        return Segment(np.zeros(0, np.int32), np.zeros(0, np.int32))
    return Segment(np.concatenate([segment.ids for segment in segments]), np.concatenate(words))


def _full_rows(documents: Sequence[Segment], tokenizer: Tokenizer, length: int) -> Rows:
    """Fill rows with running text (Liu et al. 2019, section 4.2: full sentences). A row ends with a whole word where there is one."""
    separators = np.full(tokenizer.template.separators, tokenizer.sep_id, np.int32)
    outside = np.full(len(separators), -1, np.int32)
    ids = np.concatenate([part for document in documents for part in (document.ids, separators)])
    words = np.concatenate([part for document in documents for part in (document.words, outside)])
    begins = np.concatenate([[True], words[1:] != words[:-1]])
    starts = np.flatnonzero(begins)
    room, rows, first = length - 2, [], 0
    while first < len(ids):
        if words[first] < 0:  # no row begins with a separator
            first += 1
            continue
        end = min(first + room, len(ids))
        if end < len(ids) and not begins[end]:
            whole = int(starts[np.searchsorted(starts, end) - 1])
            end = whole if whole > first else end
        last = end
        while last > first and words[last - 1] < 0:
            last -= 1
        if last - first >= _FEWEST:
            rows.append(slice(first, last))
        first = end
    packed = _Packed(len(rows), length, tokenizer)
    for number, row in enumerate(rows):
        packed.fill(number, [Segment(ids[row], words[row])])
    return packed.rows()


def _pair_rows(
    documents: Sequence[Sequence[Segment]], tokenizer: Tokenizer, length: int, pairing: str, random: np.random.Generator
) -> Rows:
    """Make rows of two segments, each of one or several sentences (Devlin et al. 2018, appendix A.2; Lan et al. 2019, section 3.1)."""
    if pairing == "next-sentence" and len(documents) < 2:
        raise KerasBertError(
            "expected two or more documents for next-sentence, received one; put blank lines between documents, or leave next-sentence out"
        )
    room = length - tokenizer.template.special_tokens(True)
    pairs = []
    for number, document in enumerate(documents):
        for chunk in _chunks(document, room, random):
            split = int(random.integers(1, len(chunk.sentences))) if len(chunk.sentences) > 1 else 1
            first, second = chunk.sentences[:split], chunk.sentences[split:]
            changed = random.random() < 0.5
            if pairing == "sentence-order":
                if not second:
                    continue
                first, second = (second, first) if changed else (first, second)
            elif changed or not second:
                changed = True
                chunk.give_back(len(second))
                second = _other_document(documents, number, chunk.target - sum(map(len, first)), random)
            pairs.append((*_truncated(_joined(first), _joined(second), room, random), changed))
    packed = _Packed(len(pairs), length, tokenizer)
    for number, (a, b, _) in enumerate(pairs):
        packed.fill(number, [a, b])
    return packed.rows(np.array([changed for *_, changed in pairs], np.int32))


class _Chunk:
    """Sentences of a document that fill a row together."""

    def __init__(self, sentences: Sequence[Segment], target: int):
        self.sentences, self.target, self.unused = sentences, target, 0

    def give_back(self, sentences: int) -> None:
        """Leave the last sentences to the next chunk."""
        self.unused = sentences


def _chunks(document: Sequence[Segment], room: int, random: np.random.Generator):  # noqa: ANN202
    """Yield the chunks of a document."""
    place = 0
    while place < len(document):
        target = room if random.random() >= _SHORT else int(random.integers(2, room + 1))
        end, tokens = place, 0
        while end < len(document) and tokens < target:
            tokens += len(document[end])
            end += 1
        chunk = _Chunk(document[place:end], target)
        yield chunk
        place = max(end - chunk.unused, place + 1)


def _other_document(
    documents: Sequence[Sequence[Segment]], number: int, tokens: int, random: np.random.Generator
) -> Sequence[Segment]:
    """Return sentences of another document, from a place drawn uniformly, with about as many tokens."""
    other = int(random.integers(len(documents) - 1))
    document = documents[other + (other >= number)]
    first = int(random.integers(len(document)))
    end, found = first, 0
    while end < len(document) and found < max(1, tokens):
        found += len(document[end])
        end += 1
    return document[first:end]


def _truncated(first: Segment, second: Segment, room: int, random: np.random.Generator) -> tuple[Segment, Segment]:
    """Remove tokens of the longer segment until both fit, at its start or its end."""
    lengths = [len(first), len(second)]
    excess = max(0, sum(lengths) - room)
    difference = abs(lengths[0] - lengths[1])
    longer = int(lengths[1] > lengths[0])
    cuts = [0, 0]
    cuts[longer] = min(excess, difference)
    rest = excess - cuts[longer]
    cuts[longer] += (rest + 1) // 2
    cuts[1 - longer] += rest // 2
    parts = []
    for segment, cut in zip((first, second), cuts, strict=True):
        start = int(random.binomial(cut, 0.5)) if cut else 0
        kept = slice(start, len(segment) - (cut - start))
        parts.append(Segment(segment.ids[kept], segment.words[kept]))
    return parts[0], parts[1]


class _Packed:
    """Rows that are filled one by one."""

    def __init__(self, number: int, length: int, tokenizer: Tokenizer):
        self.tokenizer = tokenizer
        self.ids = np.full((number, length), tokenizer.pad_id, np.int32)
        self.words = np.full((number, length), -1, np.int32)
        self.types = np.zeros((number, length), np.int8)
        self.lengths = np.zeros(number, np.int32)

    def fill(self, row: int, segments: Sequence[Segment]) -> None:
        """Write a row: one segment, or a pair."""
        tokenizer, place = self.tokenizer, 1
        self.ids[row, 0] = tokenizer.cls_id
        shift = 0
        for number, segment in enumerate(segments):
            last = number == len(segments) - 1
            end = place + len(segment)
            self.ids[row, place:end] = segment.ids
            kept = segment.words >= 0
            self.words[row, place:end] = np.where(kept, segment.words + shift, -1)
            shift += int(segment.words.max(initial=-1)) + 1
            separators = 1 if last else tokenizer.template.separators
            self.ids[row, end : end + separators] = tokenizer.sep_id
            if number:
                self.types[row, place : end + separators] = tokenizer.template.second_type
            place = end + separators
        self.lengths[row] = place

    def rows(self, pairs: np.ndarray | None = None) -> Rows:
        return Rows(self.ids, self.lengths, self.types, self.words, pairs)
