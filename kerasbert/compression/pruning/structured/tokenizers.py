"""Tokenizers with fewer tokens that split the texts which need no others exactly as before."""

import base64
from collections.abc import Collection, Sequence

from kerasbert.errors import KerasBertError
from kerasbert.text import Tokenizer
from kerasbert.text.byte_bpe import ByteLevelBPE
from kerasbert.text.client_wordpiece import ClientWordPiece
from kerasbert.text.japanese import JapaneseTokenizer
from kerasbert.text.sentence_piece import SentencePiece
from kerasbert.text.sentencepiece_model import read_model
from kerasbert.text.wordpiece import WordPiece


def check_trimmable(tokenizer: Tokenizer) -> None:
    """Raises KerasBertError for a kind of tokenizer of which it is not known how it splits with fewer tokens."""
    if type(tokenizer) not in _KINDS:
        names = ", ".join(kind.__name__ for kind in _KINDS)
        raise KerasBertError(f"expected a tokenizer of {names} to trim, received a {type(tokenizer).__name__}")


def with_what_they_need(tokenizer: Tokenizer, ids: Collection[int], characters: bool) -> set[int]:
    """`ids` with the special and added tokens, and all that must stay for texts of these tokens to be split as before.

    characters: the tokens of a single character stay, too.
    """
    numbers = {token: number for number, token in enumerate(tokenizer.vocabulary)}
    special = (tokenizer.unk_id, tokenizer.cls_id, tokenizer.sep_id, tokenizer.pad_id, tokenizer.mask_id)
    found = {*ids, *special, *(numbers[token["content"]] for token in tokenizer.added_tokens)}
    if characters:
        mark = _KINDS[type(tokenizer)].mark
        single = (number for token, number in numbers.items() if 1 in (len(token), len(token.removeprefix(mark))))
        found.update(single)
    return found | _KINDS[type(tokenizer)].needed(tokenizer, found, numbers)


def with_tokens(tokenizer: Tokenizer, ids: Sequence[int]) -> Tokenizer:
    """The tokenizer with those tokens of its vocabulary alone, in their order; `ids` are what `with_what_they_need` gave, sorted."""
    config = tokenizer.get_config()
    config["vocabulary"] = [tokenizer.vocabulary[number] for number in ids]
    return type(tokenizer).from_config(_KINDS[type(tokenizer)].config(tokenizer, config, ids))


class _LongestMatch:
    """WordPiece: at every place the longest token that fits. What was the longest one still is when others are gone."""

    mark = "##"

    @staticmethod
    def needed(tokenizer: Tokenizer, ids: Collection[int], numbers: dict[str, int]) -> set[int]:
        return set()

    @staticmethod
    def config(tokenizer: Tokenizer, config: dict, ids: Sequence[int]) -> dict:
        return config


class _Unigram:
    """SentencePiece: the likeliest way to split. It is among those that are left, and none of them became likelier, as long as an unknown
    character costs what it did: ten less than the unlikeliest piece, which therefore stays.
    """

    mark = "\u2581"

    @staticmethod
    def needed(tokenizer: SentencePiece, ids: Collection[int], numbers: dict[str, int]) -> set[int]:
        pieces = read_model(tokenizer.model)
        both = ([score for _, score in pieces.albert_scores()], pieces.scores)  # the engine's, and the file's own
        return {scores.index(min(scores)) for scores in both}

    @staticmethod
    def config(tokenizer: SentencePiece, config: dict, ids: Sequence[int]) -> dict:
        model = _model_with(tokenizer.model, ids)
        return {**config, "model": base64.b64encode(model).decode("ascii")}


class _Merges:
    """Byte-level BPE: pairs are merged, those that were learned first come first. Merges that no text made are not missed; those that lead
    to a token stay, and all single bytes, since a byte without a token would vanish from a text.
    """

    mark = ""

    @classmethod
    def needed(cls, tokenizer: ByteLevelBPE, ids: Collection[int], numbers: dict[str, int]) -> set[int]:
        merges = cls._made(tokenizer, ids)
        found = {numbers[part] for merge in merges for part in (*merge.split(" "), merge.replace(" ", ""))}
        return found | {number for token, number in numbers.items() if len(token) == 1}

    @classmethod
    def config(cls, tokenizer: ByteLevelBPE, config: dict, ids: Sequence[int]) -> dict:
        made = cls._made(tokenizer, ids)
        return {**config, "merges": [merge for merge in tokenizer.merges if merge in made]}

    @staticmethod
    def _made(tokenizer: ByteLevelBPE, ids: Collection[int]) -> set[str]:
        """The merges that lead from single bytes to these tokens."""
        ranks = {merge: rank for rank, merge in enumerate(tokenizer.merges)}
        found: set[str] = set()
        for number in ids:
            parts, made = list(tokenizer.vocabulary[number]), []
            while len(parts) > 1:
                pairs = [f"{left} {right}" for left, right in zip(parts, parts[1:], strict=False)]
                best = min(pairs, key=lambda pair: ranks.get(pair, len(ranks)))
                if best not in ranks:
                    break
                place = pairs.index(best)
                parts[place : place + 2] = [parts[place] + parts[place + 1]]
                made.append(best)
            if len(parts) == 1:  # no special token, whose name no merge leads to
                found.update(made)
        return found


_KINDS = {
    **dict.fromkeys((WordPiece, ClientWordPiece, JapaneseTokenizer), _LongestMatch),
    SentencePiece: _Unigram,
    ByteLevelBPE: _Merges,
}


def _model_with(model: bytes, ids: Sequence[int]) -> bytes:
    """A SentencePiece model file with those of its pieces alone; ids behind its pieces are added tokens, which are in no file."""
    from sentencepiece import sentencepiece_model_pb2

    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(model)
    kept = [number for number in ids if number < len(proto.pieces)]
    places = {number: place for place, number in enumerate(kept)}
    pieces = [proto.pieces[number] for number in kept]
    smaller = sentencepiece_model_pb2.ModelProto()  # without samples of what the file with all pieces gives
    smaller.trainer_spec.CopyFrom(proto.trainer_spec)
    smaller.normalizer_spec.CopyFrom(proto.normalizer_spec)
    if proto.HasField("denormalizer_spec"):
        smaller.denormalizer_spec.CopyFrom(proto.denormalizer_spec)
    smaller.pieces.extend(pieces)
    smaller.trainer_spec.vocab_size = len(kept)
    for name in ("unk_id", "bos_id", "eos_id", "pad_id"):
        setattr(smaller.trainer_spec, name, places.get(getattr(proto.trainer_spec, name), -1))
    return smaller.SerializeToString(deterministic=True)
