"""The settings of a conversion that its passes depend on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kerasbert.export.passes.recipes import Recipe
from kerasbert.export.tflite.model import Model


@dataclass(frozen=True)
class DensePlan:
    """The storage and arithmetic of one call of a Dense layer.

    Attributes:
        path: The layer's path.
        kernel: The digest of its kernel `(out, in)`, as the file holds it.
        input_range: The trained (minimum, maximum) of the input; None for a range found at run time.
        output_range: The trained (minimum, maximum) of the output; None for a range found at run time.
        kernel_bits: Bits of the kernel; None for those of the recipe.
        block: Inputs of a channel that share a scale; None for all of them.
        call: The number of the layer's call, from 0: blocks of ALBERT are called several times.
    """

    path: str
    kernel: str
    input_range: tuple[float, float] | None = None
    output_range: tuple[float, float] | None = None
    kernel_bits: int | None = None
    block: int | None = None
    call: int = 0


@dataclass(frozen=True)
class PassContext:
    """The settings of a conversion that passes depend on.

    Attributes:
        recipe: The number format.
        plans: One for each call of each Dense layer, in the order of the graph; empty if kernels are not stored as integers.
        tables: The embedding tables `(rows, width)` that are stored as integers.
        table_bits: Bits of their values: 8, with one scale for the table, or 4, with one for each row.
        per_channel: Whether kernels of dynamic Dense layers have one scale per output channel. Runtimes before 2.17 do not support that.
        split_k: Whether float matrix products accumulate in parts.
        keeps_float: Whether products of other kernels than those of the plans stay in float, as those of a user's head.
    """

    recipe: Recipe
    plans: Sequence[DensePlan] = ()
    tables: Sequence[np.ndarray] = ()
    table_bits: int = 8
    per_channel: bool = True
    split_k: bool = False
    keeps_float: bool = False


Pass: TypeAlias = Callable[[Model, PassContext], None]  # changes the model in place
