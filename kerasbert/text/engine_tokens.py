"""Tokens by the engine: ids, places and words of texts of any length. Special tokens around a text are the template's."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from kerasbert.text.encoded import Numbered, Segment
from kerasbert.text.engine_errors import engine_errors
from kerasbert.text.long_texts import PiecedSegment, by_chunk, growing_batches, pieces, word_ends
from kerasbert.text.truncation import WHOLE
from kerasbert.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Engine
    from tokenizers.decoders import Decoder


class EngineTokens(Vocabulary):
    """A vocabulary with an engine, which a subclass builds."""

    # The characters that end a word wherever they stand between two letters.
    word_spaces: str = " "
    splits_punctuation: bool = False  # whether each punctuation character is a word of its own, see `word_ends`
    splits_ideographs: bool = False  # whether each ideograph is

    @cached_property
    def _engine(self) -> "Engine":
        """The `tokenizers.Tokenizer`. It adds no special tokens around a text."""
        from tokenizers import AddedToken

        with engine_errors():
            engine = self._build_engine()
        # As in Hugging Face, a special token's name inside a text is that token, for example "[MASK]" in a cloze.
        fields: dict[str, dict[str, Any]] = {token: {"normalized": False} for token in self.special_tokens().values()}
        if self.mask_takes_space:
            fields[self.mask_token] = {"normalized": False, "lstrip": True}
        fields |= {token["content"]: {"normalized": False, **token} for token in self.added_tokens}
        for token in fields.values():
            token.pop("content", None)
        with engine_errors():
            ordered = sorted(fields, key=lambda token: self._ids[token])
            engine.add_special_tokens([AddedToken(token, **fields[token]) for token in ordered])
        return engine

    @cached_property
    def _word_ends(self) -> re.Pattern[str] | None:
        """The places at which a long text may be cut."""
        return word_ends(
            self._found_tokens(),
            self.word_spaces,
            splits_punctuation=self.splits_punctuation,
            splits_ideographs=self.splits_ideographs,
        )

    def _found_tokens(self) -> list[str]:
        """Return the tokens that are found in a text, as they are and normalized. One that takes the space behind it has it."""
        normalizer, found = self._engine.normalizer, list(self.special_tokens().values())
        for token in self.added_tokens:
            found.append(token["content"] + (" " if token.get("rstrip") else ""))
            if token.get("normalized") and normalizer is not None:
                found.append(normalizer.normalize_str(token["content"]))
        return found

    def _token_ids(self, texts: list[str], limit: int) -> list[list[int]]:
        """Return the token ids of each text. A text with more than `limit` tokens may lack some behind them."""
        return by_chunk(
            texts,
            self._batch_ids,
            lambda text: list(islice(chain.from_iterable(self._piece_ids(text)), limit + 1)),
        )

    def _batch_ids(self, texts: list[str]) -> list[list[int]]:
        engine = self._engine
        with engine_errors():
            encodings = engine.encode_batch_fast(texts, add_special_tokens=False)
        return [encoding.ids for encoding in encodings]

    def _piece_ids(self, text: str) -> Iterator[list[int]]:
        """Yield the token ids of the pieces of a long text."""
        for batch in growing_batches(pieces(text, self._word_ends)):
            yield from self._batch_ids([piece for _, piece in batch])

    def _count(self, text: str) -> int:
        """Return the number of tokens of a text."""
        return sum(map(len, self._piece_ids(text)))

    def _segments(self, texts: list[str], limit: int) -> Sequence[Segment]:
        """Return the tokens of each text without special tokens around it, at least the first `limit` ones."""
        return by_chunk(texts, self._batch_segments, lambda text: self._long_segment(text, limit))

    def _numbered(self, texts: list[str]) -> Sequence[Numbered]:
        """Return the ids and the word of each token of each text."""
        return self._segments(texts, WHOLE)

    def _batch_segments(self, texts: list[str]) -> Sequence[Segment]:
        engine = self._engine
        with engine_errors():
            return engine.encode_batch(texts, add_special_tokens=False)

    def _long_segment(self, text: str, limit: int) -> Segment:
        pieced = PiecedSegment()
        for batch in growing_batches(pieces(text, self._word_ends)):
            segments = self._batch_segments([piece for _, piece in batch])
            for (start, _), segment in zip(batch, segments, strict=True):
                pieced.extend(segment.ids, self._shifted(segment.offsets, start), segment.word_ids)
            if len(pieced) >= limit:
                break
        return pieced

    def _shifted(self, offsets: list[tuple[int, int]], start: int) -> list[tuple[int, int]]:
        """Return the offsets of a piece in its text."""
        return [(first + start, end + start) for first, end in offsets]

    def _build_engine(self) -> "Engine":
        """Build a `tokenizers.Tokenizer` without special tokens."""
        raise NotImplementedError

    def _decoder(self) -> "Decoder":
        """Return what joins tokens to a text: pieces that begin with `##` to the one before."""
        from tokenizers import decoders

        return decoders.WordPiece()
