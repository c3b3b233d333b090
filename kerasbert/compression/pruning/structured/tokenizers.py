"""Trimmed tokenizers: texts that need only the remaining tokens are tokenized exactly as before."""

import base64
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Any, Protocol

from kerasbert.errors import KerasBertError
from kerasbert.text import Tokenizer
from kerasbert.text.byte_bpe import ByteLevelBPE
from kerasbert.text.client_wordpiece import ClientWordPiece
from kerasbert.text.japanese import JapaneseTokenizer
from kerasbert.text.sentence_piece import SentencePiece
from kerasbert.text.sentencepiece_model import read_model
from kerasbert.text.unigram import UnigramTokenizer
from kerasbert.text.wordpiece import WordPiece
from kerasbert.text.xlm_roberta import XlmRobertaTokenizer


def check_trimmable(tokenizer: Tokenizer) -> None:
    """Check that a tokenizer is of a kind that can be trimmed.

    Raises:
        KerasBertError: When it is not.
    """
    if type(tokenizer) not in _ALGORITHMS:
        names = ", ".join(kind.__name__ for kind in _ALGORITHMS)
        raise KerasBertError(f"expected a tokenizer of {names} to trim, received a {type(tokenizer).__name__}")


def add_required_ids(tokenizer: Tokenizer, ids: Collection[int], characters: bool) -> set[int]:
    """Return `ids` with the special and added tokens, and those that tokenization needs to stay the same.

    Args:
        tokenizer: The tokenizer to trim.
        ids: Token ids to keep.
        characters: Whether all tokens of a single character are kept too.
    """
    id_of = {token: number for number, token in enumerate(tokenizer.vocabulary)}
    special = (tokenizer.unk_id, tokenizer.cls_id, tokenizer.sep_id, tokenizer.pad_id, tokenizer.mask_id)
    kept_ids = {*ids, *special, *(id_of[token["content"]] for token in tokenizer.added_tokens)}
    algorithm = _ALGORITHMS[type(tokenizer)]
    if characters:
        mark = algorithm.mark
        kept_ids.update(number for token, number in id_of.items() if 1 in (len(token), len(token.removeprefix(mark))))
    return kept_ids | algorithm.required(tokenizer, kept_ids, id_of)


def trim_tokenizer(tokenizer: Tokenizer, ids: Sequence[int]) -> Tokenizer:
    """Return a tokenizer with some tokens of the vocabulary, in their order.

    Args:
        tokenizer: The tokenizer to trim.
        ids: Sorted ids of the tokens to keep, from `add_required_ids`.
    """
    config = tokenizer.get_config()
    config["vocabulary"] = [tokenizer.vocabulary[number] for number in ids]
    return type(tokenizer).from_config(_ALGORITHMS[type(tokenizer)].config(tokenizer, config, ids))


class _Algorithm(Protocol):
    """A tokenization algorithm, as far as trimming depends on it.

    Attributes:
        mark: The prefix of tokens inside of, or at the beginning of, a word.
    """

    mark: str

    def required(self, tokenizer: Any, ids: Collection[int], id_of: dict[str, int]) -> set[int]:
        """Return the ids that must stay, for texts of the tokens `ids` to be tokenized as before."""
        ...

    def config(self, tokenizer: Any, config: dict, ids: Sequence[int]) -> dict:
        """Return the config of a tokenizer with these tokens, from one with the new vocabulary."""
        ...


class _LongestMatch:
    """WordPiece: the longest token that matches. It stays the longest when others are removed."""

    mark = "##"

    def required(self, tokenizer: Tokenizer, ids: Collection[int], id_of: dict[str, int]) -> set[int]:
        return set()

    def config(self, tokenizer: Tokenizer, config: dict, ids: Sequence[int]) -> dict:
        return config


class _Unigram:
    """SentencePiece: the most likely segmentation. It stays the most likely one when other pieces are removed.

    The condition is that an unknown character costs the same: ten less than the least likely piece. So that piece stays.
    """

    mark = "\u2581"

    def required(self, tokenizer: UnigramTokenizer, ids: Collection[int], id_of: dict[str, int]) -> set[int]:
        pieces = read_model(tokenizer.model)
        score_lists = ([score for _, score in pieces.albert_scores()], pieces.scores)  # the engine's, and the file's
        return {scores.index(min(scores)) for scores in score_lists}

    def config(self, tokenizer: UnigramTokenizer, config: dict, ids: Sequence[int]) -> dict:
        model = _trim_model(tokenizer.model, ids)
        return {**config, "model": base64.b64encode(model).decode("ascii")}


class _Merges:
    """Byte-level BPE: pairs are merged in the order in which they were learned.

    Merges that lead to a kept token stay, and all single bytes: a byte without a token would vanish from a text.
    """

    mark = ""

    def required(self, tokenizer: ByteLevelBPE, ids: Collection[int], id_of: dict[str, int]) -> set[int]:
        merges = _used_merges(tokenizer, ids)
        parts = {id_of[part] for merge in merges for part in (*merge.split(" "), merge.replace(" ", ""))}
        return parts | {number for token, number in id_of.items() if len(token) == 1}

    def config(self, tokenizer: ByteLevelBPE, config: dict, ids: Sequence[int]) -> dict:
        used = _used_merges(tokenizer, ids)
        return {**config, "merges": [merge for merge in tokenizer.merges if merge in used]}


def _used_merges(tokenizer: ByteLevelBPE, ids: Collection[int]) -> set[str]:
    """The merges from single bytes to these tokens."""
    ranks = {merge: rank for rank, merge in enumerate(tokenizer.merges)}
    used: set[str] = set()
    for number in ids:
        parts, merges = list(tokenizer.vocabulary[number]), []
        while len(parts) > 1:
            pairs = [f"{left} {right}" for left, right in pairwise(parts)]
            best = min(pairs, key=lambda pair: ranks.get(pair, len(ranks)))
            if best not in ranks:
                break
            position = pairs.index(best)
            parts[position : position + 2] = [parts[position] + parts[position + 1]]
            merges.append(best)
        if len(parts) == 1:  # otherwise a special token, which no merge leads to
            used.update(merges)
    return used


_ALGORITHMS: dict[type[Tokenizer], _Algorithm] = {
    **dict.fromkeys((WordPiece, ClientWordPiece, JapaneseTokenizer), _LongestMatch()),
    **dict.fromkeys((SentencePiece, XlmRobertaTokenizer), _Unigram()),
    ByteLevelBPE: _Merges(),
}


def _trim_model(model: bytes, ids: Sequence[int]) -> bytes:
    """A SentencePiece model file with some of its pieces. Ids beyond its pieces are added tokens, which the file does not contain."""
    from sentencepiece import sentencepiece_model_pb2

    model_class = sentencepiece_model_pb2.ModelProto  # pyright: ignore[reportAttributeAccessIssue]  # protobuf creates it on import
    proto = model_class()
    proto.ParseFromString(model)
    kept_ids = [number for number in ids if number < len(proto.pieces)]
    new_ids = {number: new_id for new_id, number in enumerate(kept_ids)}
    trimmed = model_class()  # without self-test samples, whose segmentation may need removed pieces
    trimmed.trainer_spec.CopyFrom(proto.trainer_spec)
    trimmed.normalizer_spec.CopyFrom(proto.normalizer_spec)
    if proto.HasField("denormalizer_spec"):
        trimmed.denormalizer_spec.CopyFrom(proto.denormalizer_spec)
    trimmed.pieces.extend(proto.pieces[number] for number in kept_ids)
    trimmed.trainer_spec.vocab_size = len(kept_ids)
    for name in ("unk_id", "bos_id", "eos_id", "pad_id"):
        setattr(trimmed.trainer_spec, name, new_ids.get(getattr(proto.trainer_spec, name), -1))
    return trimmed.SerializeToString(deterministic=True)
