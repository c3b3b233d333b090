"""The ranks of factors: which layers become two, and which stay whole."""

import fnmatch
import re
from collections.abc import Mapping
from dataclasses import dataclass

import tf_keras as keras

from kerasbert.compression.quantization.policy_checks import unserved_layers
from kerasbert.encoders.ranks import WORD_TABLE, first_factors, word_factor
from kerasbert.errors import KerasBertError
from kerasbert.layers.blocks.adapters import Adapter
from kerasbert.layers.blocks.heads import MaskedLMHead
from kerasbert.layers.traversal import dense_layers, sublayers
from kerasbert.tasks.base import Task
from kerasbert.values import is_number, is_whole_number

Rank = int | float  # a whole number, or the share of a matrix' full rank


@dataclass(frozen=True)
class RankPlan:
    """The ranks of a factorization.

    Attributes:
        ranks: The rank of each layer that becomes two factors, by path.
        whole: Paths of the layers that were asked for, but whose two factors would have no fewer weights.
    """

    ranks: dict[str, int]
    whole: list[str]

    @property
    def whole_patterns(self) -> list[str]:
        """The paths in `whole`, with `*` for the number of the layer where no layer has factors there."""
        factored = {_pattern(path) for path in self.ranks}
        return list(dict.fromkeys(path if _pattern(path) in factored else _pattern(path) for path in self.whole))


def _pattern(path: str) -> str:
    return re.sub(r"^layers\.\d+\.", "layers.*.", path)


def plan_ranks(
    task: Task, rank: Rank | None, embedding_rank: Rank | None = None, parts: Mapping[str, Rank] | None = None
) -> RankPlan:
    """Choose the ranks of a task's layers; see `factorize` for the arguments.

    Raises:
        KerasBertError: When a rank is 0 or larger than a matrix, a part matches no layer, no layer would become smaller, or the token
            embeddings are read by a language model's head too.
    """
    if not task.encoder.is_transformer:
        raise KerasBertError(
            f"expected a transformer for ranks, received a {type(task.encoder).__name__}; factorize another model"
        )
    shapes = _whole_layers(task)
    table = shapes.pop(WORD_TABLE, None)
    requested: dict[str, Rank] = {} if rank is None else dict.fromkeys(shapes, rank)
    if table is not None:
        shapes[WORD_TABLE] = table
    if embedding_rank is not None:
        if table is None:
            raise KerasBertError("expected a whole table of token embeddings, received two factors; leave its rank out")
        requested[WORD_TABLE] = embedding_rank
    for part, value in (parts or {}).items():
        matches = fnmatch.filter(shapes, part)
        if not matches:
            names = ", ".join([*list(shapes)[:1], *list(shapes)[-1:]]) or "none here"
            raise KerasBertError(
                f"expected a part that fits whole layers, such as {names}, received {part!r}; change it"
            )
        requested |= dict.fromkeys(matches, value)
    if not requested:
        raise KerasBertError("expected a rank of layers, of the token embeddings or of parts, received none; give one")
    if WORD_TABLE in requested and any(head.decoder is None for head in sublayers(task, MaskedLMHead)):
        raise KerasBertError(
            f"expected a task that reads its token embeddings once, received a {type(task).__name__}, whose head has them as decoder; "
            "factorize a fine-tuned task, or only Dense layers"
        )
    ranks = {path: _rank(value, shapes[path], path) for path, value in requested.items()}
    paying = {path: found for path, found in ranks.items() if _pays(found, shapes[path])}
    if not paying:
        path = min(ranks, key=lambda path: _break_even(shapes[path]))
        raise KerasBertError(
            f"expected a rank with which two factors have fewer weights, such as below {_break_even(shapes[path]):g} for {path} "
            f"{_times(shapes[path])}, received {ranks[path]}; choose a smaller one"
        )
    return RankPlan(paying, [path for path in ranks if path not in paying])


def _whole_layers(task: Task) -> dict[str, tuple[int, int]]:
    """Return the shapes of the encoder's layers that may become two factors, by path; the token embeddings last."""
    encoder, unserved = task.encoder, unserved_layers(task)
    adapters = {id(dense) for adapter in sublayers(encoder, Adapter) for dense in dense_layers(adapter)}
    left_out = adapters | {id(dense) for dense in first_factors(encoder)}
    shapes = {
        dense.path: _shape(dense.kernel)
        for dense in dense_layers(encoder)
        if id(dense) not in left_out and dense.factor is None and dense.path not in unserved
    }
    if word_factor(encoder) is None:
        shapes[WORD_TABLE] = _shape(encoder.embeddings.word.table)
    return shapes


def _shape(variable: object) -> tuple[int, int]:
    rows, columns = keras.backend.int_shape(variable) or (0, 0)
    return rows, columns


def _check_rank(value: object) -> None:
    """Check that a value is a rank: a whole number from 1 on, or a fraction above 0 and at most 1.

    Raises:
        KerasBertError: When it is neither.
    """
    if not is_whole_number(value, 1) and not (isinstance(value, float) and is_number(value, most=1.0) and value > 0):
        raise KerasBertError(
            "expected a rank as a whole number from 1 on, or as a fraction of the full rank above 0.0 and at most 1.0, received "
            f"{value!r}; correct it"
        )


def _rank(value: Rank, shape: tuple[int, int], path: str) -> int:
    """Return the rank of a matrix: a fraction is one of its full rank, and at least 1."""
    _check_rank(value)
    full = min(shape)
    if not is_whole_number(value):
        return max(1, round(value * full))
    if value > full:
        raise KerasBertError(
            f"expected a rank of at most {full} for {path} {_times(shape)}, received {value}; choose a smaller one, or a fraction"
        )
    return int(value)


def _break_even(shape: tuple[int, int]) -> float:
    """Return the rank at which two factors have as many weights as the matrix."""
    return shape[0] * shape[1] / (shape[0] + shape[1])


def _pays(rank: int, shape: tuple[int, int]) -> bool:
    return rank < _break_even(shape)


def _times(shape: tuple[int, int]) -> str:
    return f"({shape[0]:,} x {shape[1]:,})"
