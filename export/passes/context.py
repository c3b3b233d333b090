"""What the passes of one conversion know beside the model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kerasbert.export.recipes import Recipe
from kerasbert.export.tflite.model import Model


@dataclass(frozen=True)
class DensePlan:
    """How one Dense layer is stored and run.

    Attributes:
        path: of the layer.
        kernel: the digest of its kernel (out, in), as the file holds it.
        reads, writes: trained (minimum, maximum) of input and output, or None for ranges found at run time.
    """

    path: str
    kernel: str
    reads: tuple[float, float] | None = None
    writes: tuple[float, float] | None = None


@dataclass(frozen=True)
class PassContext:
    """The settings of a conversion that passes depend on.

    Attributes:
        recipe: the number format.
        plans: one for each call of each Dense layer, in the order of the graph; empty where kernels are not stored as integers.
        tables: the embedding tables (rows, width) that are stored in int8.
        per_channel: whether kernels of dynamic Dense layers have a scale for each output channel, which runtimes before 2.17 do not know.
        split_k: whether float matrix products accumulate in parts.
    """

    recipe: Recipe
    plans: Sequence[DensePlan] = ()
    tables: Sequence[np.ndarray] = ()
    per_channel: bool = True
    split_k: bool = False


Pass: TypeAlias = Callable[[Model, PassContext], None]  # changes the model in place
