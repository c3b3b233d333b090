"""The base of all encoders: token ids to vectors, through a stack of blocks."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf
import tf_keras as keras

from kerasbert.capture import capture
from kerasbert.encoders.call_inputs import Inputs, complete_inputs
from kerasbert.encoders.layer_groups import blocks_per_layer
from kerasbert.encoders.ranks import check_ranks, read_ranks
from kerasbert.encoders.replaced_blocks import called_blocks
from kerasbert.ids import check_ids
from kerasbert.layers.blocks.embeddings import Embeddings
from kerasbert.layers.blocks.transformer_block import TransformerBlock, attention_bias
from kerasbert.layers.config import EncoderConfig
from kerasbert.layers.quantization.activation_quantizers import TANH_RANGE
from kerasbert.layers.quantization.connections import connect_quantizers, each_call, unscaled
from kerasbert.layers.quantization.factory import LayerFactory
from kerasbert.layers.quantization.padding import integer_attention_bias
from kerasbert.layers.quantization.policy import QuantizationPolicy, integer_part


class EncoderOutput(NamedTuple):
    """The output of an encoder.

    Attributes:
        sequence: (B, S, H), the output of the last block, or the mix of all.
        pooled: (B, H), or None without a pooler.
        hidden_states: (B, S, H) of the embeddings and of each block, or None.
        attentions: (B, N, S, S) of each block, or None.

    Example:
        ```python
        output = encoder(task.pack(texts[:2]))
        output.sequence, output.pooled
        ```
    """

    sequence: tf.Tensor
    pooled: tf.Tensor | None = None
    hidden_states: tuple[tf.Tensor, ...] | None = None
    attentions: tuple[tf.Tensor, ...] | None = None


class Encoder(keras.layers.Layer):
    """Token ids to vectors. An architecture names its layers, and overrides `stack`, the order of the calls, where blocks are shared.

    Args:
        config: The sizes.
        policy: The activations and weights that are quantized while training, or None for float.
        pooler: Whether there is a pooled output.
        adapters: The width of an adapter after each attention and feed-forward network (Houlsby et al. 2019), or None.
        layer_mix: Whether the sequence is a learned weighted sum of all hidden states (Peters et al. 2018).
        cut: Sizes of pruned blocks, see `kerasbert.encoders.pruned_sizes.PrunedSizes.to_dict`, or None.
        ranks: Ranks of Dense layers and of `embeddings.word` that are stored as two factors, by path, or None.
        kwargs (Any): Arguments of `keras.layers.Layer`.

    Attributes:
        embeddings_class: The layer from ids and token types (B, S) to (B, S, H).
        block_class: The block: (B, S, H), bias (B, 1, 1, S) -> (B, S, H), attention probabilities (B, N, S, S).
        pooler_activation: The activation of the pooler.
        pooler_is_trained: Whether the pooler has weights. Otherwise `pooled` is the vector of the first token.
        is_transformer: Whether the blocks have attention, which pruning, adapters and some objectives of distillation need.
        has_loop: Whether it runs token by token, which some targets refuse.

    Raises:
        KerasBertError: When `adapters` is below 1, `cut` does not fit the config, or `ranks` names no layer.

    Example:
        ```python
        output = encoder(task.pack(texts[:2]), output_hidden_states=True, output_attentions=True)
        output.sequence.shape  # (batch, length, hidden)
        output.attentions[0].shape  # (batch, heads, length, length)
        ```
    """

    config_class: type[EncoderConfig]
    config: EncoderConfig
    embeddings_class: Any = Embeddings
    block_class: Any = TransformerBlock
    pooler_activation = staticmethod(tf.tanh)
    pooler_is_trained = True
    is_transformer = True
    has_loop = False
    layer_mix: keras.layers.Layer | None
    sequence_source: tuple

    def __init__(
        self, config: EncoderConfig, policy: QuantizationPolicy | None = None, pooler: bool = True,
        adapters: int | None = None, layer_mix: bool = False, cut: Mapping | None = None,
        ranks: Mapping[str, int] | None = None, **kwargs,
    ):  # fmt: skip
        super().__init__(**{"name": "encoder", **kwargs})
        self.config, self.policy, self.pools, self.adapters = config, policy, pooler, adapters
        self.cut = self.layer_mix = self.pooler = None
        sizes: list[dict[str, Any]] = [{}] * config.blocks
        if cut is not None:
            from kerasbert.encoders.pruned_sizes import PrunedSizes

            self.cut = PrunedSizes.read(cut, config)
            sizes = self.cut.of_blocks(config)
        self.ranks = self._no_dependency(read_ranks(ranks))
        make = LayerFactory(config, policy, ranks=self.ranks)
        self.embeddings = self.embeddings_class(make.at("embeddings"))
        self.layers = [self.block_class(make.at(f"layers.{i}"), **sizes[i]) for i in range(config.blocks)]
        if adapters is not None or layer_mix:
            from kerasbert.encoders.extensions import extend_encoder

            extend_encoder(self, adapters, layer_mix)
        self.final_norm = make.norm("final_norm") if config.pre_norm else None
        if pooler and self.pooler_is_trained:
            activation = self.pooler_activation
            fixed_range = TANH_RANGE if activation is tf.tanh else None
            self.pooler_quantizer = make.quantizer("pooler.input")
            self.pooled_quantizer = make.quantizer("pooler.activated", integer_only=True, fixed_range=fixed_range)
            self.pooler = make.dense(
                "pooler", config.hidden_size, self.pooler_quantizer, activation=activation, has_bias=True
            )
        check_ranks(self)
        connect_quantizers(self)

    def stack(self) -> Sequence[keras.layers.Layer]:
        """Return the blocks in the order of their calls."""
        return self.layers

    def call(
        self, inputs: Inputs, training: bool | None = None, output_hidden_states: bool = False,
        output_attentions: bool = False,
    ) -> EncoderOutput:  # fmt: skip
        x, bias = self.embed(inputs, training=training)  # (B, S, H), (B, 1, 1, S)
        hidden_states, attentions = (), ()
        for block in called_blocks(self):
            hidden_states += (unscaled(x, block.input_sum()),)
            x, probabilities = block(x, bias, training=training)  # (B, S, H), (B, N, S, S)
            attentions += (probabilities,)
        hidden_states += (x,)
        capture("encoder", (hidden_states, attentions))
        return self.output_of(
            x, training, hidden_states, hidden_states if output_hidden_states else None,
            attentions if output_attentions else None,
        )  # fmt: skip

    def output_of(
        self, x: tf.Tensor, training: bool | None = None, mixed: Sequence[tf.Tensor] = (), *states: Any
    ) -> EncoderOutput:
        """Return the output for the vectors (B, S, H) of the last block.

        Args:
            x: The vectors.
            training: Whether dropout is applied.
            mixed: The hidden states that `layer_mix` reads.
            states: The hidden states and the attentions of the output.

        Returns:
            The output, with these states.
        """
        if self.final_norm is not None:
            x = self.final_norm(x, training=training)
        sequence = x if self.layer_mix is None else self.layer_mix(mixed)  # (B, S, H)
        pooled = self.pool(sequence, training) if self.pools else None  # (B, H)
        return EncoderOutput(sequence, pooled, *states)

    def run_layers(self, x: tf.Tensor, bias: tf.Tensor, layers: range, training: bool | None = None) -> tf.Tensor:
        """Run some layers, which count from 0: (B, S, H) -> (B, S, H).

        Args:
            x: The output of the layer before them.
            bias: The attention bias (B, 1, 1, S).
            layers: Their numbers.
            training: Whether dropout is applied.

        Returns:
            The output of the last of them, (B, S, H).
        """
        size = blocks_per_layer(self.config)
        for block in itertools.islice(each_call(self), layers.start * size, layers.stop * size):
            x, _ = block(x, bias, training=training)
        return x

    def embed(self, inputs: Inputs, training: bool | None = None) -> tuple[tf.Tensor, tf.Tensor]:
        """Return the input of the first block (B, S, H) and the attention bias (B, 1, 1, S).

        `inputs` may hold these two instead, as `hidden` and `attention_bias` (B, S): an exporter splits the graph here.

        Args:
            inputs: Int32 tensors `(B, S)` by input name.
            training: Whether dropout is applied.
        """
        if isinstance(inputs, Mapping) and "hidden" in inputs:
            return inputs["hidden"], inputs["attention_bias"][:, tf.newaxis, tf.newaxis]
        input_ids, attention_mask, token_type_ids = complete_inputs(inputs, self.config.longest)
        if tf.executing_eagerly():  # in a graph ids have no values yet
            check_ids(input_ids, self.config.vocab_size, type(self).__name__)
        capture("attention_mask", attention_mask)
        return self.embeddings(input_ids, token_type_ids, training=training), self.bias_of(attention_mask)

    def bias_of(self, attention_mask: tf.Tensor) -> tf.Tensor:
        """Return the attention bias (B, 1, 1, S) of a mask (B, S).

        Args:
            attention_mask: 1 for tokens, 0 for padding; int32.

        Returns:
            The bias, float.
        """
        bias = attention_bias if integer_part(self.policy) is None else integer_attention_bias
        return bias(attention_mask)

    def pool(self, sequence: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        """Return the sequence pooled by the first token: (B, S, H) -> (B, H).

        Args:
            sequence: The sequence.
            training: Whether dropout is applied.
        """
        first = first_token(sequence)
        if self.pooler is None:
            return first
        pooled = self.pooler(self.pooler_quantizer(first, training=training), training=training)
        return self.pooled_quantizer(pooled, training=training)

    def summary(self, **options: Any) -> None:
        """Print the layers, see `kerasbert.encoders.summary.show_summary`.

        Args:
            options: Keras' `line_length`, `print_fn`, `expand_nested`, `show_trainable` and `layer_range`.
        """
        from kerasbert.encoders.summary import input_spec, show_summary

        show_summary(self, lambda inputs: self(inputs, training=False), input_spec(), **options)

    def __repr__(self) -> str:
        """Tell the class, the sizes and the recipe in one line; `summary` shows the layers."""
        if "policy" not in vars(self):  # while it is made
            return object.__repr__(self)
        config = self.config
        count = config.num_hidden_layers
        sizes = [
            f"{count} layer{'s' * (count != 1)}",
            f"hidden size {config.hidden_size}",
            f"{config.vocab_size:,} tokens",
        ]
        return f"{type(self).__name__}({', '.join([*sizes, *([self.policy.recipe] if self.policy else [])])})"

    def variables_by_path(self) -> dict[str, tf.Variable]:
        """Return every trained variable by its attribute path, such as `layers.0.attention.query.kernel`."""
        from kerasbert.layers.traversal import named_variables

        return {path: v for path, v in named_variables(self).items() if v.trainable}

    @property
    def options(self) -> dict[str, int | bool | dict]:
        """Those of `adapters`, `layer_mix`, `cut` and `ranks` that this encoder has, JSON-able."""
        cut = self.cut and self.cut.to_dict()
        mix, ranks = self.layer_mix is not None, dict(self.ranks)
        options = {"adapters": self.adapters, "layer_mix": mix, "cut": cut, "ranks": ranks}
        return {name: value for name, value in options.items() if value}

    def get_config(self) -> dict[str, Any]:
        policy = self.policy.get_config() if self.policy else None
        settings = {"config": self.config.to_dict(), "policy": policy, "pooler": self.pools, **self.options}
        return {**super().get_config(), **settings}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> "Encoder":
        policy = QuantizationPolicy.from_config(config["policy"]) if config.get("policy") else None
        return cls(**{**config, "config": cls.config_class.from_dict(config["config"]), "policy": policy})


def first_token(sequence: tf.Tensor) -> tf.Tensor:
    """(B, S, H) -> (B, H), by a slice that keeps the axis and a reshape: delegates refuse a slice that drops one."""
    batch = sequence.shape[0] if sequence.shape[0] is not None else -1
    return tf.reshape(sequence[:, :1], (batch, sequence.shape[-1]))
