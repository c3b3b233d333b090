"""What a layer declares about its tensors: which are read unchanged, and which are sums of residuals. `connections` reads it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import tf_keras as keras

from kerasbert.layers.norms import Norm
from kerasbert.layers.quantization.activation_quantizers import ActivationFakeQuant

Tie = tuple[ActivationFakeQuant, Any]  # a quantizer, and the layer whose output it reads


@dataclass(frozen=True)
class Residual:
    """A sum of a residual connection in an integer-only model, whose outlier channels may be scaled down.

    Attributes:
        sum: The quantizer of the sum.
        writers: The layers whose results are added. They write in the scales of the sum.
        readers: The quantizers that read the summand which is no result of the block, and so carry the scales.
        norm: The norm that reads the sum and undoes the scales; None where a Dense layer reads it.
        skip: The norm that wrote that summand: its mean is a constant, which others leave out. None: no summand has a mean.
        like: The sum with which a tensor between two Dense layers is scaled; None for a sum, which the policy decides.
    """

    sum: ActivationFakeQuant
    writers: Sequence[Any]
    readers: Sequence[ActivationFakeQuant] = ()
    norm: Norm | None = None
    skip: Norm | None = None
    like: ActivationFakeQuant | None = None


class Edges(NamedTuple):
    """The tensors of a layer that others write or read.

    Attributes:
        inputs: The quantizers that read the layer's input.
        output: The layer that writes its output.
        ties: (quantizer, layer) where the first reads what the second writes, unchanged.
        residuals: The sums that are equalized. Those of a layer that are not listed stay as they are.
    """

    inputs: Sequence[ActivationFakeQuant]
    output: keras.layers.Layer
    ties: Sequence[Tie] = ()
    residuals: Sequence[Residual] = ()


def output_quantizer(layer: keras.layers.Layer) -> ActivationFakeQuant | None:
    """Return the quantizer that writes a layer's output; None where that stays in float."""
    return layer if isinstance(layer, ActivationFakeQuant) else getattr(layer, "output_quantizer", None)
