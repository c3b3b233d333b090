"""Ranks of the layers of an encoder that are stored as two factors."""

from collections.abc import Mapping, Sequence

import tf_keras as keras

from kerasbert.errors import KerasBertError
from kerasbert.layers.dense import Dense
from kerasbert.layers.traversal import dense_layers
from kerasbert.values import Rule

WORD_TABLE = "embeddings.word"


def read_ranks(values: Mapping[str, int] | None) -> dict[str, int]:
    """Return ranks by path after checking their types; none for None.

    Raises:
        KerasBertError: When it is no object of whole numbers from 1 on.
    """
    return dict(Rule(dict[str, int], at_least=1).check(values or {}, "the ranks of the encoder"))


def check_ranks(encoder: keras.layers.Layer) -> None:
    """Check that every rank of an encoder belongs to one of its layers.

    Raises:
        KerasBertError: When a path is that of no layer.
    """
    known = {dense.path for dense in factored_layers(encoder)}
    if word_factor(encoder) is not None:
        known.add(WORD_TABLE)
    if unknown := sorted(encoder.ranks.keys() - known):
        raise KerasBertError(
            f"expected ranks of layers of {type(encoder).__name__}, received {unknown[0]!r}, which it does not have; correct the path"
        )


def factored_layers(encoder: keras.layers.Layer) -> list[Dense]:
    """Return the Dense layers whose kernel is a product of two factors."""
    return [dense for dense in dense_layers(encoder) if dense.factor is not None]


def word_factor(encoder: keras.layers.Layer) -> Dense | None:
    """Return the Dense layer behind a narrow token table, its second factor; None for a whole table."""
    return getattr(encoder.embeddings, "word_factor", None)


def first_factors(encoder: keras.layers.Layer) -> list[Dense]:
    """Return the layers that no checkpoint of transformers has: the first factors, and the factor behind a narrow token table."""
    factors = [dense.factor for dense in factored_layers(encoder) if dense.factor is not None]
    word = word_factor(encoder)
    return [*factors, *([] if word is None else [word])]


def ranks_of_blocks(ranks: Mapping[str, int], blocks: Sequence[int]) -> dict[str, int]:
    """Return the ranks of an encoder with these blocks only.

    Args:
        ranks: Ranks by path.
        blocks: Indices of the blocks that stay, in the order of the new ones.
    """
    kept = {path: rank for path, rank in ranks.items() if not path.startswith("layers.")}
    for position, block in enumerate(blocks):
        start = f"layers.{block}."
        below = {path: rank for path, rank in ranks.items() if path.startswith(start)}
        kept |= {f"layers.{position}.{path.removeprefix(start)}": rank for path, rank in below.items()}
    return kept
