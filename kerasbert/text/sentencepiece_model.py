"""Reading and writing SentencePiece model files (`spiece.model`).

The format is the protocol buffer `ModelProto` of https://github.com/google/sentencepiece, `src/sentencepiece_model.proto`.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from kerasbert.errors import KerasBertError
from kerasbert.text.charsmap import check_charsmap

_MAX_PIECES = 1_000_000
_UNIGRAM = 1  # TrainerSpec.ModelType
_NORMAL, _UNKNOWN, _CONTROL = 1, 2, 3  # SentencePiece.Type
# Added to the score of pieces that end in a digit and a comma, because ALBERT splits "9,9" into "9", ",", "9".
_NUMBER_COMMA = -100.0


@dataclass(frozen=True)
class Pieces:
    """The content of a model file.

    Attributes:
        pieces: The pieces in the order of their ids.
        scores: Their log probabilities.
        unk_id: Id of the unknown piece.
        charsmap: The compiled normalization of characters, or b"".
    """

    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    unk_id: int
    charsmap: bytes

    def albert_scores(self) -> list[tuple[str, float]]:
        """Return pieces and scores as in ALBERT's `tokenizer.json`, where pieces such as "9," are unlikely."""
        pairs = zip(self.pieces, self.scores, strict=True)
        return [(piece, score + _NUMBER_COMMA if _ends_number_comma(piece) else score) for piece, score in pairs]


def read_model(model: bytes) -> Pieces:
    """Read the pieces of a unigram model.

    Args:
        model: The content of the file.

    Raises:
        KerasBertError: When the content is not a SentencePiece model, or the model is not of type unigram.
    """
    from google.protobuf.message import DecodeError

    proto = _empty_model()
    try:
        proto.ParseFromString(model)
    except DecodeError:
        raise KerasBertError(
            "expected a SentencePiece model, received a damaged file, or one of another kind"
        ) from None
    if len(proto.pieces) > _MAX_PIECES:
        raise KerasBertError(
            f"expected a SentencePiece model of at most {_MAX_PIECES:,} pieces, received {len(proto.pieces):,}"
        )
    check_charsmap(proto.normalizer_spec.precompiled_charsmap)
    for number, piece in enumerate(proto.pieces):
        if not isinstance(piece.piece, str):  # protobuf returns bytes that are no UTF-8 as they are
            raise KerasBertError(
                f"expected a SentencePiece model with pieces in UTF-8, received other bytes in piece {number}; copy the file again"
            )
    unknown = [number for number, piece in enumerate(proto.pieces) if piece.type == _UNKNOWN]
    if not unknown:
        raise KerasBertError("expected a SentencePiece model with an unknown piece, received one without, or no model")
    if proto.trainer_spec.model_type != _UNIGRAM:
        name = proto.trainer_spec.ModelType.Name(proto.trainer_spec.model_type)
        raise KerasBertError(f"expected a SentencePiece model of type UNIGRAM, as ALBERT's, received {name}")
    return Pieces(
        tuple(piece.piece for piece in proto.pieces),
        tuple(piece.score for piece in proto.pieces),
        unknown[0],
        proto.normalizer_spec.precompiled_charsmap,
    )


def albert_pieces(scores: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """Return the pieces and scores of a model file of ALBERT from those of its `tokenizer.json`.

    Args:
        scores: Pieces and scores, see `Pieces.albert_scores`.
    """
    return [(piece, score - _NUMBER_COMMA if _ends_number_comma(piece) else score) for piece, score in scores]


def build_model(scores: Sequence[tuple[str, float]], unk_id: int, controls: Collection[str], charsmap: bytes) -> bytes:
    """Build a model file from the unigram model of a `tokenizer.json`.

    Args:
        scores: Pieces and scores of the file.
        unk_id: Id of the unknown piece.
        controls: The pieces that no text contains.
        charsmap: The compiled normalization of characters, or b"".

    Returns:
        The content of the file.
    """
    proto = _empty_model()
    for number, (piece, score) in enumerate(scores):
        kind = _UNKNOWN if number == unk_id else _CONTROL if piece in controls else _NORMAL
        proto.pieces.add(piece=piece, score=score, type=kind)
    proto.trainer_spec.model_type = _UNIGRAM
    proto.trainer_spec.vocab_size = len(scores)
    proto.trainer_spec.unk_id = unk_id
    proto.trainer_spec.unk_piece = scores[unk_id][0]
    proto.normalizer_spec.precompiled_charsmap = charsmap
    return proto.SerializeToString(deterministic=True)


def reordered(model: bytes, pieces: Sequence[str], unk_id: int) -> bytes:
    """Return a model file with its pieces in another order. Pieces that it lacks become control pieces with the score 0.

    Args:
        model: The content of the file.
        pieces: The pieces. Those that are left out are lost.
        unk_id: The new id of the unknown piece.

    Returns:
        The content of the new file.
    """
    proto, found = _empty_model(), _empty_model()
    proto.ParseFromString(model)
    by_name = {each.piece: each for each in proto.pieces}
    found.trainer_spec.CopyFrom(proto.trainer_spec)
    found.normalizer_spec.CopyFrom(proto.normalizer_spec)
    for number, piece in enumerate(pieces):
        if number == unk_id:
            found.pieces.add(piece=piece, score=0.0, type=_UNKNOWN)
        elif piece in by_name:
            found.pieces.append(by_name[piece])
        else:
            found.pieces.add(piece=piece, score=0.0, type=_CONTROL)
    found.trainer_spec.vocab_size = len(pieces)
    found.trainer_spec.unk_id = unk_id
    return found.SerializeToString(deterministic=True)


def _empty_model() -> Any:
    from sentencepiece import sentencepiece_model_pb2

    return sentencepiece_model_pb2.ModelProto()  # pyright: ignore[reportAttributeAccessIssue]  # protobuf adds it at import


def _ends_number_comma(piece: str) -> bool:
    return len(piece) > 1 and piece[-1] == "," and piece[-2].isdigit()
