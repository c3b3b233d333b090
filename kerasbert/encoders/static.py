"""Static token vectors: a text is the mean of its tokens' vectors, without layers. Tulkens & van Dongen 2024, "Model2Vec"."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf
import tf_keras as keras

from kerasbert.capture import capture
from kerasbert.encoders.base import Encoder, EncoderOutput
from kerasbert.encoders.call_inputs import Inputs, complete_inputs
from kerasbert.encoders.transformer_options import refuse_transformer_options
from kerasbert.errors import KerasBertError
from kerasbert.files.record import setting
from kerasbert.ids import check_ids
from kerasbert.layers.blocks.lstm import TokenEmbeddings
from kerasbert.layers.config import EncoderConfig
from kerasbert.layers.quantization.policy import QuantizationPolicy


@dataclass(frozen=True)
class StaticConfig(EncoderConfig):
    """The sizes of static vectors.

    See `EncoderConfig` for the other attributes.

    Attributes:
        hidden_size: Numbers in a vector.

    Example:
        ```python
        kb.encoders.StaticConfig(vocab_size=8000, hidden_size=64)
        ```
    """

    model_type: ClassVar[str] = "static"
    num_hidden_layers: ClassVar[int] = 0
    num_attention_heads: ClassVar[int] = 1
    intermediate_size: ClassVar[int] = 0
    hidden_act: ClassVar[str] = "relu"
    attention_probs_dropout_prob: ClassVar[float] = 0.0
    type_vocab_size: ClassVar[int] = 0
    layer_norm_eps: ClassVar[float] = 1e-12
    has_position_table: ClassVar[bool] = False

    hidden_size: int = setting(128, at_least=1)
    initializer_range: float = 0.1

    @property
    def embedding_size(self) -> int:
        """Width of the token embeddings, which are the vectors."""
        return self.hidden_size


@keras.utils.register_keras_serializable("kerasbert")
class StaticEncoder(Encoder):
    """A vector for each token, whatever stands beside it. The sequence is the tokens' vectors; the pooled output is their mean.

    It knows no order of words: `dog bites man` is `man bites dog`. A text takes microseconds.

    See `Encoder` for the arguments. There are no layers, and `attentions` is empty.

    Raises:
        KerasBertError: When adapters, a mix of layers, pruned sizes, integers only or ranges of activations are asked for.

    Example:
        ```python
        encoder = kb.encoders.StaticEncoder(kb.encoders.StaticConfig(vocab_size=8000, hidden_size=64))  # random vectors
        ```
    """

    config_class = StaticConfig
    config: StaticConfig
    embeddings_class = TokenEmbeddings
    pooler_is_trained = False
    is_transformer = False

    def __init__(
        self, config: StaticConfig, policy: QuantizationPolicy | None = None, pooler: bool = True,
        adapters: int | None = None, layer_mix: bool = False, cut: Mapping | None = None, **kwargs: Any,
    ):  # fmt: skip
        refuse_transformer_options("static vectors", adapters, layer_mix, cut, policy)
        if policy is not None and policy.activations:
            raise KerasBertError(
                f"expected a recipe of weights alone for static vectors, received {policy.recipe}; take dynamic_wi8_afp32"
            )
        super().__init__(config, policy, pooler, **kwargs)

    def call(
        self, inputs: Inputs, training: bool | None = None, output_hidden_states: bool = False,
        output_attentions: bool = False,
    ) -> EncoderOutput:  # fmt: skip
        input_ids, mask, types = complete_inputs(inputs, self.config.longest)
        if tf.executing_eagerly():
            check_ids(input_ids, self.config.vocab_size, type(self).__name__)
        capture("attention_mask", mask)
        x = self.embeddings(input_ids, types, training=training)  # (B, S, H)
        capture("encoder", ((x,), ()))
        pooled = _mean(x, mask) if self.pools else None
        return EncoderOutput(x, pooled, (x,) if output_hidden_states else None, () if output_attentions else None)


def _mean(x: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """The mean of the vectors (B, S, H) that the mask (B, S) keeps: (B, H)."""
    kept = tf.cast(mask, x.dtype)[:, :, tf.newaxis]
    return tf.reduce_sum(x * kept, 1) / tf.maximum(tf.reduce_sum(kept, 1), 1.0)
