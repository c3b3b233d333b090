"""A bidirectional LSTM as a student: Tang et al. 2019, "Distilling Task-Specific Knowledge from BERT into Simple Neural Networks"."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import tensorflow as tf
import tf_keras as keras

from kerasbert.capture import capture
from kerasbert.encoders.base import Encoder, EncoderOutput
from kerasbert.encoders.call_inputs import Inputs, complete_inputs
from kerasbert.encoders.transformer_options import refuse_transformer_options
from kerasbert.files.record import setting
from kerasbert.ids import check_ids
from kerasbert.layers.blocks.lstm import BiLstmLayer, TokenEmbeddings
from kerasbert.layers.config import EncoderConfig
from kerasbert.layers.quantization.policy import QuantizationPolicy


@dataclass(frozen=True)
class BiLstmConfig(EncoderConfig):
    """The sizes of a BiLSTM. The defaults are 150 units a direction, as in the paper, and embeddings of width 128.

    See `EncoderConfig` for the other attributes.

    Attributes:
        embedding_size: Width of the token embeddings.
        hidden_size: Width of the states, of both directions together, and of the hidden Dense layer.
        num_hidden_layers: BiLSTM layers, one on the other.
        siamese: Whether both texts of a pair are read apart, and their states compared.

    Example:
        ```python
        kb.encoders.BiLstmConfig(vocab_size=8000, embedding_size=64, hidden_size=128)
        ```
    """

    model_type: ClassVar[str] = "bilstm"
    num_attention_heads: ClassVar[int] = 1
    intermediate_size: ClassVar[int] = 0
    hidden_act: ClassVar[str] = "relu"
    attention_probs_dropout_prob: ClassVar[float] = 0.0
    type_vocab_size: ClassVar[int] = 0
    layer_norm_eps: ClassVar[float] = 1e-12
    has_position_table: ClassVar[bool] = False

    embedding_size: int = setting(128, at_least=1)
    hidden_size: int = setting(300, at_least=2)
    num_hidden_layers: int = 1
    initializer_range: float = 0.1
    siamese: bool = False

    def check(self) -> None:
        super().check()
        self.expect(self.hidden_size % 2 == 0, "hidden_size", "as an even number, half for each direction")


@keras.utils.register_keras_serializable("kerasbert")
class BiLstmEncoder(Encoder):
    """Token embeddings and a BiLSTM (Tang et al. 2019, section 3.1). The pooler is the paper's hidden layer, with ReLU.

    The sequence is both directions' states of each token. The pooler reads the last state of each direction. A siamese encoder reads both
    texts of a pair with the same weights, and the pooler reads a, b, a * b and |a - b| (section 3.1, figure 2).

    See `Encoder` for the arguments. There is no attention, and `attentions` is empty.

    Raises:
        KerasBertError: When adapters, a mix of layers, pruned sizes or integers only are asked for.

    Example:
        ```python
        config = kb.encoders.BiLstmConfig(vocab_size=8000, embedding_size=64, hidden_size=128)
        encoder = kb.encoders.BiLstmEncoder(config)  # random weights
        ```
    """

    config_class = BiLstmConfig
    config: BiLstmConfig
    pooler: Any
    embeddings_class = TokenEmbeddings
    block_class = BiLstmLayer
    pooler_activation = staticmethod(tf.nn.relu)
    is_transformer = False
    has_loop = True

    def __init__(
        self, config: BiLstmConfig, policy: QuantizationPolicy | None = None, pooler: bool = True,
        adapters: int | None = None, layer_mix: bool = False, cut: Mapping | None = None, **kwargs: Any,
    ):  # fmt: skip
        refuse_transformer_options("a BiLSTM", adapters, layer_mix, cut, policy)
        super().__init__(config, policy, pooler, **kwargs)

    def call(
        self, inputs: Inputs, training: bool | None = None, output_hidden_states: bool = False,
        output_attentions: bool = False,
    ) -> EncoderOutput:  # fmt: skip
        input_ids, mask, types = complete_inputs(inputs, self.config.longest)
        if tf.executing_eagerly():
            check_ids(input_ids, self.config.vocab_size, type(self).__name__)
        capture("attention_mask", mask)
        pair = _Pair(mask, types) if self.config.siamese else None
        lengths = tf.reduce_sum(tf.cast(mask, tf.int32), 1) if pair is None else pair.lengths
        x = self.embeddings(input_ids if pair is None else pair.apart(input_ids), types, training=training)
        states = [x]
        for block in self.layers:
            x = block(x, lengths, training=training)  # (B, S, H), or (2 B, S, H) of a pair
            states.append(x)
        hidden_states = tuple(states if pair is None else map(pair.together, states))  # (B, S, ...)
        capture("encoder", (hidden_states, ()))
        pooled = self._pool_last(x, lengths, training) if self.pools else None
        return EncoderOutput(
            hidden_states[-1],
            pooled,
            hidden_states if output_hidden_states else None,
            () if output_attentions else None,
        )

    def _pool_last(self, x: tf.Tensor, lengths: tf.Tensor, training: bool | None) -> tf.Tensor:
        """The hidden layer on the last state of each direction: (B, S, H), or (2 B, S, H) of pairs -> (B, H)."""
        units = self.config.hidden_size // 2
        last = tf.reverse_sequence(x[:, :, :units], lengths, seq_axis=1)[:, 0]
        last = tf.concat([last, x[:, 0, units:]], -1)  # (B, H)
        if self.config.siamese:
            read = tf.cast(tf.minimum(lengths, 1), last.dtype)[:, None]  # a single text has no second one
            a, b = tf.split(last * read, 2, axis=0)
            last = tf.concat([a, b, a * b, tf.abs(a - b)], -1)  # (B, 4 H)
        return self.pooled_quantizer(self.pooler(self.pooler_quantizer(last, training=training), training=training))


class _Pair:
    """The two texts of each row, which token types tell apart."""

    def __init__(self, mask: tf.Tensor, types: tf.Tensor):
        mask = tf.cast(mask, tf.int32)
        self.second = tf.cast(types, tf.int32) * mask  # (B, S)
        self.both, self.of_second = tf.reduce_sum(mask, 1), tf.reduce_sum(self.second, 1)  # (B,)
        self.lengths = tf.concat([self.both - self.of_second, self.of_second], 0)  # (2 B,)

    def apart(self, ids: tf.Tensor) -> tf.Tensor:
        """Move each second text to the front of a row of its own: (B, S) -> (2 B, S). Two reversals do it without a gather."""
        second = tf.reverse_sequence(tf.reverse_sequence(ids, self.both, seq_axis=1), self.of_second, seq_axis=1)
        return tf.concat([ids, second], 0)

    def together(self, states: tf.Tensor) -> tf.Tensor:
        """Put the states of both texts where their tokens are: (2 B, S, W) -> (B, S, W)."""
        first, second = tf.split(states, 2, axis=0)
        second = tf.reverse_sequence(tf.reverse_sequence(second, self.of_second, seq_axis=1), self.both, seq_axis=1)
        return tf.where(tf.expand_dims(tf.cast(self.second, tf.bool), -1), second, first)
