"""Makes the parts of a layer, in float or quantized as a policy asks."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from kerasbert.layers.config import EncoderConfig
from kerasbert.layers.dense import Dense, truncated_normal
from kerasbert.layers.embedding_table import EmbeddingTable
from kerasbert.layers.norms import Norm
from kerasbert.layers.quantization.activation_quantizers import ActivationFakeQuant, activation_quantizer
from kerasbert.layers.quantization.dense import make_dense
from kerasbert.layers.quantization.embedding_table import make_embedding_table
from kerasbert.layers.quantization.norms import make_norm
from kerasbert.layers.quantization.policy import QuantizationPolicy, integer_part

NOTHING: Mapping[str, int] = MappingProxyType({})


class LayerFactory:
    """Makes the parts of the layer at a path; weights start with BERT's initializer.

    Args:
        config: the encoder's sizes.
        policy: the quantization policy, or None for float.
        path: the attribute path of the layer, such as `layers.0.attention`, on which policies match. Empty for the encoder.
        ranks: ranks of Dense layers and tables that are stored as two factors, by path.
    """

    def __init__(
        self,
        config: EncoderConfig,
        policy: QuantizationPolicy | None,
        path: str = "",
        ranks: Mapping[str, int] = NOTHING,
    ):
        self.config, self.policy, self.path, self.name = config, policy, path, path.replace(".", "_")
        self.ranks = ranks
        self.integer_only = integer_part(policy) is not None

    def at(self, name: str) -> "LayerFactory":
        """Return the factory of a layer inside of this one."""
        return LayerFactory(self.config, self.policy, f"{self.path}.{name}" if self.path else name, self.ranks)

    def quantizer(self, name: str, **options: Any) -> ActivationFakeQuant:
        """Make the fake quantizer of an activation, see `activation_quantizer`."""
        return activation_quantizer(self.policy, self.at(name).path, **options)

    def dense(self, name: str, units: int, input_quantizer: ActivationFakeQuant, **options: Any) -> Dense:
        """Make a Dense layer, see `make_dense`."""
        options = {"initializer": truncated_normal(self.config), "has_bias": self.config.has_biases, **options}
        return make_dense(units, input_quantizer, self.policy, self.at(name).path, rank=self.rank(name), **options)

    def rank(self, name: str) -> int | None:
        """Return the rank of a Dense layer or a table that is stored as two factors; None for a whole one."""
        return self.ranks.get(self.at(name).path)

    def norm(self, name: str, kind: str = "layer_norm", epsilon: float | None = None) -> Norm:
        """Make a norm, by default with the config's epsilon."""
        epsilon = epsilon or self.config.layer_norm_eps
        return make_norm(kind, epsilon, self.at(name).path, self.policy, self.config.has_biases)

    def table(self, name: str, rows: int, width: int, integer_only: bool = False) -> EmbeddingTable:
        """Make an embedding table, with `integer_only` one that only integer-only models quantize."""
        policy = integer_part(self.policy) if integer_only else self.policy
        return make_embedding_table(rows, width, policy, self.at(name).path, truncated_normal(self.config))
