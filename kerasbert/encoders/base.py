"""The base of all encoders: token ids to vectors, through a stack of blocks."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import tensorflow as tf
import tf_keras as keras

from kerasbert.encoders.config import EncoderConfig
from kerasbert.errors import KerasBertError
from kerasbert.ids import check_ids
from kerasbert.layers.attention import attention_bias
from kerasbert.layers.capture import capture
from kerasbert.layers.dense import truncated_normal
from kerasbert.layers.embeddings import Embeddings
from kerasbert.layers.lowering.options import TRAINING_OPTIONS, LoweringOptions
from kerasbert.layers.pooling import first_token
from kerasbert.layers.quantization.activation_quantizers import TANH_RANGE, activation_quantizer
from kerasbert.layers.quantization.calls import numbered_calls, set_call, set_num_calls
from kerasbert.layers.quantization.dense import make_dense
from kerasbert.layers.quantization.policy import QuantizationPolicy, integer_part
from kerasbert.layers.transformer_block import TransformerBlock
from kerasbert.layers.traversal import named_variables

INPUT_NAMES = ("input_ids", "attention_mask", "token_type_ids")


class EncoderOutput(NamedTuple):
    """The output of an encoder.

    Attributes:
        sequence: (B, S, H), the last block's output or the mix of all.
        pooled: (B, H), or None without a pooler.
        hidden_states: (B, S, H) of the embeddings and of each block; None unless asked for.
        attentions: (B, N, S, S) of each block; None unless asked for.
    """

    sequence: Any
    pooled: Any = None
    hidden_states: Any = None
    attentions: Any = None


class Encoder(keras.layers.Layer):
    """Token ids to vectors: a dict of int32 `input_ids`, `attention_mask`, `token_type_ids`, each (B, S) -> `EncoderOutput`.

    The last two inputs may be left out. An architecture overrides `make_embeddings`, `make_block`, and `stack`, the order of the calls.

    Args:
        config: the sizes.
        policy: which activations and weights are held in 8 bits while training, or None.
        pooler: False leaves the pooler out, and `pooled` is None.
        adapters: the size of an adapter behind each attention and feed-forward network (Houlsby et al. 2019), or None.
        layer_mix: whether the sequence is a learned weighted sum of the embeddings and every block's output (Peters et al. 2018).
        cut: sizes of pruned blocks, as `kerasbert.encoders.pruned_sizes.Cut.to_dict` gives them; or None.

    Raises:
        KerasBertError: for a size of adapters below 1, and a cut that does not fit the config.
    """

    config_class: type[EncoderConfig]
    pooler_activation = staticmethod(tf.tanh)
    pooler_is_trained = True  # False: `pooled` is the first token's vector as it is

    def __init__(
        self,
        config: EncoderConfig,
        policy: QuantizationPolicy | None = None,
        pooler: bool = True,
        adapters: int | None = None,
        layer_mix: bool = False,
        cut: Mapping | None = None,
        **kwargs,
    ):
        super().__init__(**{"name": "encoder", **kwargs})
        if policy is not None and policy.integer_only and (adapters or layer_mix):
            raise KerasBertError(
                f"expected a model without {'adapters' if adapters else 'a mix of layers'} for a policy without any float, received one "
                "with them; quantize without integer_only"
            )
        self.config, self.policy, self.adapters = config, policy, adapters
        self.cut = None if cut is None else _pruned_sizes(cut, config)
        self.embeddings = self.make_embeddings()
        self.layers = [self.make_block(f"layers.{i}", **self._block_sizes(i)) for i in range(config.blocks)]
        if adapters is not None:
            _insert_adapters(self, adapters)
        self.layer_mix = _scalar_mix(1 + len(list(self.stack()))) if layer_mix else None
        self.sequence_source = _connect_quantizers(self)
        self.pools, self.pooler = pooler, None
        if pooler and self.pooler_is_trained:
            self._make_pooler()

    def _make_pooler(self) -> None:
        config, policy = self.config, self.policy
        fixed_range = TANH_RANGE if self.pooler_activation is tf.tanh else None
        self.pooler_quantizer = activation_quantizer(policy, "pooler.input")
        self.pooled_quantizer = activation_quantizer(integer_part(policy), "pooler.activated", fixed_range=fixed_range)
        if policy is not None:
            from kerasbert.layers.quantization.tie_ranges import tie_sequence

            tie_sequence(self, self.pooler_quantizer)
        self.pooler = make_dense(
            config.hidden_size, self.pooler_quantizer, policy, "pooler",
            initializer=truncated_normal(config), activation=self.pooler_activation,
        )  # fmt: skip

    def make_embeddings(self) -> keras.layers.Layer:
        """The layer from ids and token types (B, S) to (B, S, H)."""
        return Embeddings(self.config, self.policy)

    def make_block(self, path: str, **sizes) -> keras.layers.Layer:
        """A block (B, S, H) -> (B, S, H), attention probabilities (B, N, S, S). sizes: of a pruned block."""
        return TransformerBlock(self.config, self.policy, path, **sizes)

    def stack(self) -> Iterable[keras.layers.Layer]:
        """The blocks in the order of their calls."""
        return self.layers

    def call(
        self,
        inputs,
        training=None,
        output_hidden_states=False,
        output_attentions=False,
        layout: LoweringOptions = TRAINING_OPTIONS,
    ):
        x, bias = self.embedded(inputs, training=training, layout=layout)  # (B, S, H), (B, 1, 1, S)
        hidden_states, attentions = [], []
        for block, call_index in numbered_calls(self.stack()):
            hidden_states.append(self._unscaled(block, x))
            if self.policy is not None:
                set_call(block, call_index)
            x, probabilities = block(x, bias, training=training, layout=layout)  # (B, S, H), (B, N, S, S)
            attentions.append(probabilities)
        hidden_states.append(x)
        capture("encoder", (tuple(hidden_states), tuple(attentions)))
        if self.layer_mix is not None:
            x = self.layer_mix(hidden_states)
        return EncoderOutput(
            x,
            self._pooled(x, training),  # (B, H)
            tuple(hidden_states) if output_hidden_states else None,
            tuple(attentions) if output_attentions else None,
        )

    def embedded(self, inputs, training=None, layout: LoweringOptions = TRAINING_OPTIONS) -> tuple:
        """The input of the first block (B, S, H), and the attention bias (B, 1, 1, S).

        inputs: as of a call. They may hold just these two instead, as `hidden` and `attention_bias` (B, S): an exporter cuts there.
        """
        if isinstance(inputs, dict) and "hidden" in inputs:
            return inputs["hidden"], inputs["attention_bias"][:, tf.newaxis, tf.newaxis]
        input_ids, attention_mask, token_type_ids = complete_inputs(inputs)
        if tf.executing_eagerly():  # in a graph ids have no values yet
            check_ids(input_ids, self.config.vocab_size, type(self).__name__)
        capture("attention_mask", attention_mask)
        bias = attention_bias(attention_mask, layout.mask_constant, bool(integer_part(self.policy)))
        return self.embeddings(input_ids, token_type_ids, training=training, layout=layout), bias

    def _unscaled(self, block, x):
        """A hidden state as a float model has it."""
        if integer_part(self.policy) is None:
            return x
        from kerasbert.layers.quantization.residual_streams import unscaled_input

        return unscaled_input(block, x)

    def _pooled(self, x, training):
        if not self.pools:
            return None
        if self.pooler is None:
            return first_token(x)
        pooled = self.pooler(self.pooler_quantizer(first_token(x), training=training), training=training)
        return self.pooled_quantizer(pooled, training=training)

    def summary(self, **options) -> None:
        """Prints the layers with their output shapes and parameters; see `kerasbert.encoders.summary.show_summary`."""
        from kerasbert.encoders.summary import show_summary

        show_summary(self, lambda inputs: self(inputs, training=False), input_spec(), **options)

    def variables_by_path(self) -> dict[str, tf.Variable]:
        """Every trained variable under its attribute path, such as `layers.0.attention.query.kernel`."""
        return {path: v for path, v in named_variables(self).items() if v.trainable}

    @property
    def options(self) -> dict[str, int | bool | dict]:
        """Those of `adapters`, `layer_mix` and `cut` that this encoder has, JSON-able."""
        cut = None if self.cut is None else self.cut.to_dict()
        options = {"adapters": self.adapters, "layer_mix": self.layer_mix is not None, "cut": cut}
        return {name: value for name, value in options.items() if value}

    def _block_sizes(self, block: int) -> dict:
        return {} if self.cut is None else self.cut.of_block(block, self.config.feed_forwards)

    def get_config(self):
        policy = self.policy.get_config() if self.policy else None
        config = {"config": self.config.to_dict(), "policy": policy, "pooler": self.pools}
        return {**super().get_config(), **config, **self.options}

    @classmethod
    def from_config(cls, config):
        config = dict(config)
        config["config"] = cls.config_class.from_dict(config["config"])
        config["policy"] = QuantizationPolicy.from_config(config["policy"]) if config.get("policy") else None
        return cls(**config)


# What few models have is imported for them only.
def _pruned_sizes(cut: Mapping, config: EncoderConfig):
    from kerasbert.encoders.pruned_sizes import Cut

    return Cut.from_dict(cut, config)


def _insert_adapters(encoder: Encoder, size: int) -> None:
    from kerasbert.layers.adapters import insert_adapters

    insert_adapters(encoder, size)


def _scalar_mix(count: int) -> keras.layers.Layer:
    from kerasbert.layers.scalar_mix import ScalarMix

    return ScalarMix(count)


def _connect_quantizers(encoder: Encoder) -> tuple:
    """Relates the quantizers of neighbouring layers. Returns the source of the sequence output, see `tie_ranges`."""
    from kerasbert.layers.quantization.residual_streams import equalize_residuals
    from kerasbert.layers.quantization.tie_ranges import tie_ranges

    if integer_part(encoder.policy) is not None:
        equalize_residuals(encoder)
    for block, call_index in numbered_calls(encoder.stack()):
        if call_index:
            set_num_calls(block, call_index + 1)
    return tie_ranges(encoder)


def input_spec(rank: int = 2) -> dict[str, tf.TensorSpec]:
    """Inputs of any size: (batch, length), of rank 3 (batch, group, length)."""
    return {name: tf.TensorSpec((None,) * rank, tf.int32, name=name) for name in INPUT_NAMES}


def complete_inputs(inputs) -> tuple:
    """Ids, mask and token types from a dict in which the last two may be missing (all attended, first text), or from bare ids."""
    if not isinstance(inputs, dict):
        inputs = {"input_ids": inputs}
    ids = tf.convert_to_tensor(inputs["input_ids"])
    mask, types = inputs.get("attention_mask"), inputs.get("token_type_ids")
    return ids, tf.ones_like(ids) if mask is None else mask, tf.zeros_like(ids) if types is None else types
