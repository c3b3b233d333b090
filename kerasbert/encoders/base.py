"""What every encoder has: the way from ids to vectors, named variables, one kind of output."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import tensorflow as tf
import tf_keras as keras

from kerasbert.encoders.config import EncoderConfig
from kerasbert.encoders.pruned_sizes import Cut
from kerasbert.errors import KerasBertError
from kerasbert.ids import check_ids
from kerasbert.layers.adapters import Adapter, check_size
from kerasbert.layers.attention import SelfAttention, attention_bias
from kerasbert.layers.capture import tap
from kerasbert.layers.dense import Dense
from kerasbert.layers.embeddings import Embeddings
from kerasbert.layers.initializers import normal
from kerasbert.layers.lowering.options import TRAINING_LAYOUT, GraphLayout
from kerasbert.layers.pooling import first_token
from kerasbert.layers.quantization.policy import QuantizationPolicy, integer_part
from kerasbert.layers.quantization.quantizers import TANH_BOUNDS, ActivationPoint
from kerasbert.layers.scalar_mix import LayerMix
from kerasbert.layers.transformer_block import FeedForward, TransformerBlock

INPUT_NAMES = ("input_ids", "attention_mask", "token_type_ids")


class EncoderOutput(NamedTuple):
    """sequence (B, S, H), the last block's output or the mix of all; pooled (B, H), or None without a pooler.

    hidden_states: the embedding output and each block's, and attentions: (B, N, S, S) of each block; None unless asked for.
    """

    sequence: Any
    pooled: Any = None
    hidden_states: Any = None
    attentions: Any = None


class Encoder(keras.layers.Layer):
    """Token ids to vectors.

    Called with a dict of int32 `input_ids`, and optionally `attention_mask` and `token_type_ids`, each (B, S); gives an `EncoderOutput`.
    config: the sizes. policy: which points are held in 8 bits while training, or None. pooler: False leaves the pooler out, and `pooled`
    is None.
    adapters: the size of an adapter behind each attention and feed-forward network (Houlsby et al. 2019), or None.
    layer_mix: whether the sequence is a learned weighted sum of the embedding output and every block's output (Peters et al. 2018).
    cut: sizes that differ from what the config says of all blocks, see `kerasbert.encoders.pruned_sizes.Cut`, as its `to_dict` gives
    them; or None.

    Raises KerasBertError for a size of adapters below 1, and a cut that does not fit the config.

    An architecture says how ids are embedded (`make_embeddings`), which blocks it has (`make_layers`) and in what order they are called
    (`stack`).
    """

    config_class: type[EncoderConfig]
    pooler_activation = staticmethod(tf.tanh)

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
        check_size(adapters)
        self._integer_only = bool(policy and policy.integer_only)
        if self._integer_only and (adapters or layer_mix):
            raise KerasBertError(
                f"expected a model without {'adapters' if adapters else 'a mix of layers'} for a policy without any float, received one "
                "with them; quantize without integer_only"
            )
        self.config, self.policy, self.adapters = config, policy, adapters
        self.cut = Cut.from_dict(cut, config)
        self.embeddings = self.make_embeddings()
        self.layers = self.make_layers()
        self.layer_mix = LayerMix(1 + len(list(self.stack()))) if layer_mix else None
        self.sequence_point, self.sequence_turn = self._connect()
        self.pools, self.pooler = pooler, None
        if pooler and self.pooler_is_trained:
            self.pooler_input = ActivationPoint(policy, "pooler.input")
            self.reads_sequence(self.pooler_input)
            bounds = TANH_BOUNDS if self.pooler_activation is tf.tanh else None
            self.pooled_point = ActivationPoint(integer_part(policy), "pooler.activated", bounds=bounds)
            self.pooler = Dense(
                config.hidden_size,
                self.pooler_input,
                policy,
                "pooler",
                initializer=normal(config),
                activation=self.pooler_activation,
            )

    def _connect(self) -> tuple[ActivationPoint, int]:
        """Tells every block what comes in, and gives the point of what comes out, and which of its calls that is."""
        point, turn = self.embeddings.written, 0
        calls = list(self.stack())
        for block in self.stack():
            block.come_after(point, turn)
            point, turn = block.written, block.written.turn
        norms = [self.embeddings.norm if self.embeddings.projection is None else None]
        norms += [block.written_by for block in self.layers]
        for norm, block in zip(norms, self.layers, strict=False):
            if norm is not None and calls.count(block) == 1:
                block.receive(norm)
        return point, turn

    def reads_sequence(self, point: ActivationPoint) -> None:
        """Says that `point` holds what the encoder gives, unchanged: tokens of the sequence, or all of it."""
        if self.layer_mix is None:
            point.follow(self.sequence_point, of=self.sequence_turn)

    def reads_pooled(self, point: ActivationPoint) -> None:
        """Says that `point` holds the pooled vector."""
        if self.pooler is None:
            self.reads_sequence(point)
        else:
            point.follow(self.pooled_point)

    @property
    def pooler_is_trained(self) -> bool:
        """False where `pooled` is the first token's vector as it is."""
        return True

    def make_embeddings(self) -> keras.layers.Layer:
        """ids, token types (B, S) -> (B, S, H)."""
        return Embeddings(self.config, self.policy)

    def make_layers(self) -> list[keras.layers.Layer]:
        """Blocks, each (B, S, H) -> (B, S, H), attention probabilities."""
        return [
            TransformerBlock(self.config, self.policy, f"layers.{i}", self.adapters, **self.block_sizes(i))
            for i in range(self.config.blocks)
        ]

    def block_sizes(self, block: int) -> dict:
        """What of a block's sizes is not the config's, as arguments of the block."""
        return {} if self.cut is None else self.cut.of_block(block, self.config.feed_forwards)

    def sizes_of(self, blocks: Iterable[int]) -> tuple[list[int], list[int]]:
        """How many heads each of these blocks has, and how wide each of their feed-forward networks is."""
        chosen = [self.layers[block] for block in blocks]
        heads = [attention.heads for block in chosen for attention in sublayers(block, SelfAttention)]
        return heads, [network.intermediate.units for block in chosen for network in sublayers(block, FeedForward)]

    def stack(self) -> Iterable[keras.layers.Layer]:
        """The blocks in the order of their calls."""
        return self.layers

    def call(
        self,
        inputs,
        training=None,
        output_hidden_states=False,
        output_attentions=False,
        layout: GraphLayout = TRAINING_LAYOUT,
    ):
        x, bias = self.embedded(inputs, training=training, layout=layout)
        hidden_states, attentions = [], []
        for layer in self.stack():
            hidden_states.append(layer.unscaled(x))
            x, probabilities = layer(x, bias, training=training, layout=layout)
            attentions.append(probabilities)
        hidden_states.append(x)
        tap("encoder", (tuple(hidden_states), tuple(attentions)))
        if self.layer_mix is not None:
            x = self.layer_mix(hidden_states)
        return EncoderOutput(
            x,
            self._pooled(x, training),  # (B, H)
            tuple(hidden_states) if output_hidden_states else None,
            tuple(attentions) if output_attentions else None,
        )

    def embedded(self, inputs, training=None, layout: GraphLayout = TRAINING_LAYOUT) -> tuple:
        """What the blocks start with: the embedded ids (B, S, H), and what is added to attention's scores, (B, 1, 1, S).

        inputs: as of a call. They may hold just these two instead, as `hidden` and `attention_bias` (B, S): an exporter cuts there.
        """
        if isinstance(inputs, dict) and "hidden" in inputs:
            return inputs["hidden"], inputs["attention_bias"][:, tf.newaxis, tf.newaxis]
        input_ids, attention_mask, token_type_ids = complete_inputs(inputs)
        if tf.executing_eagerly():  # in a graph ids have no values yet
            check_ids(input_ids, self.config.vocab_size, type(self).__name__)
        tap("attention_mask", attention_mask)
        bias = attention_bias(attention_mask, layout.mask_constant, self._integer_only)
        return self.embeddings(input_ids, token_type_ids, training=training, layout=layout), bias

    def _pooled(self, x, training):
        if not self.pools:
            return None
        if self.pooler is None:
            return first_token(x)
        pooled = self.pooler(self.pooler_input(first_token(x), training=training), training=training)
        return self.pooled_point(pooled, training=training)

    def summary(self, **options) -> None:
        """Prints the layers with their output shapes and parameters; see `kerasbert.encoders.summary.show_summary`."""
        from kerasbert.encoders.summary import show_summary

        show_summary(self, lambda inputs: self(inputs, training=False), input_spec(), **options)

    def variables_by_path(self) -> dict[str, tf.Variable]:
        """Every trained variable under its attribute path, such as `layers.0.attention.query.kernel`."""
        return {path: v for path, v in named_variables(self).items() if v.trainable}

    @property
    def options(self) -> dict[str, int | bool | dict]:
        """Of `adapters`, `layer_mix` and `cut` those that this encoder has, JSON-able."""
        cut = None if self.cut is None else self.cut.to_dict()
        options = {"adapters": self.adapters, "layer_mix": self.layer_mix is not None, "cut": cut}
        return {name: value for name, value in options.items() if value}

    def additions(self) -> dict[str, list[str]]:
        """Variables that an option added, and that no checkpoint of Hugging Face's has: their paths, by the option."""
        paths = {id(variable): path for path, variable in self.variables_by_path().items()}
        kinds = {"adapters": Adapter, "layer_mix": LayerMix}
        found = {
            option: [id(v) for layer in sublayers(self, kinds[option]) for v in layer.weights]
            for option in kinds
            if option in self.options
        }
        return {option: [paths[key] for key in keys if key in paths] for option, keys in found.items()}

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


def named_variables(layer: keras.layers.Layer, prefix: str = "", seen: set | None = None) -> dict[str, tf.Variable]:
    """Variables of a layer and of the layers below it, by attribute path."""
    seen = set() if seen is None else seen
    found = {}
    for name, value in vars(layer).items():
        if name.startswith("_"):
            continue
        items = enumerate(value) if isinstance(value, list | tuple) else [(None, value)]
        for index, item in items:
            path = f"{prefix}{name}" if index is None else f"{prefix}{name}.{index}"
            if id(item) in seen:
                continue
            if isinstance(item, tf.Variable):
                seen.add(id(item))
                found[path] = item
            elif isinstance(item, keras.layers.Layer):
                seen.add(id(item))
                found |= named_variables(item, f"{path}.", seen)
    return found


def sublayers(layer: keras.layers.Layer, kind: type) -> list:
    """Every layer of that class below `layer`, in the order in which it was made."""
    return [item for item in layer._flatten_layers(include_self=False) if isinstance(item, kind)]


def denses(layer) -> list[Dense]:
    """Every dense of a model: the places where its multiplications are."""
    return sublayers(layer, Dense)


def activation_points(layer) -> list[ActivationPoint]:
    """Every activation point of a model."""
    return sublayers(layer, ActivationPoint)
