"""A bidirectional LSTM over a row of tokens, both directions in one loop."""

from dataclasses import replace
from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.dense import Dense
from kerasbert.layers.dropout import Dropout
from kerasbert.layers.quantization.edges import Edges
from kerasbert.layers.quantization.factory import LayerFactory


class TokenEmbeddings(keras.layers.Layer):
    """Token embeddings alone, without positions, types and norm: ids (B, S) -> (B, S, E).

    Args:
        make: the factory of the layer.
    """

    def __init__(self, make: LayerFactory):
        super().__init__(name=make.name)
        config: Any = make.config
        self.word = make.table("word", config.vocab_size, config.embedding_size)
        self.dropout = Dropout(config.hidden_dropout_prob)

    def call(self, input_ids: tf.Tensor, token_type_ids: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        return self.dropout(self.word(input_ids), training=training)

    def edges(self) -> Edges:
        return Edges((), self)


class LstmDirection(keras.layers.Layer):
    """The weights of one direction of an LSTM. The gates are in PyTorch's order: input, forget, cell, output.

    The recurrent product is in float while training. A file quantizes its kernel, and its input at run time.

    Args:
        make: the factory of the layer.
        units: U, the width of the state.
        input_quantizer: the fake quantizer of the input, which both directions share.
    """

    def __init__(self, make: LayerFactory, units: int, input_quantizer: keras.layers.Layer):
        super().__init__(name=make.name)
        policy = make.policy and replace(make.policy, activations=())
        inside = LayerFactory(
            make.config, policy, make.path
        )  # without ranges: they would be trained inside of the loop
        uniform, orthogonal = keras.initializers.GlorotUniform(), keras.initializers.Orthogonal()
        self.units = units
        self.projection: Dense = make.dense("projection", 4 * units, input_quantizer, initializer=uniform)
        self.recurrent_input = inside.quantizer("recurrent.input")
        self.recurrent: Dense = inside.dense(
            "recurrent", 4 * units, self.recurrent_input, initializer=orthogonal, has_bias=False
        )

    def build(self, input_shape: tf.TensorShape) -> None:
        self.projection.build(input_shape)
        self.recurrent.build(tf.TensorShape((None, self.units)))
        forget = [0.0] * self.units + [1.0] * self.units + [0.0] * (2 * self.units)
        self.projection.bias.assign(forget)  # Jozefowicz et al. 2015: a new LSTM remembers
        super().build(input_shape)

    def call(self, x: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        return self.projection(x, training=training)  # (B, S, E) -> (B, S, 4 U)


class BiLstmLayer(keras.layers.Layer):
    """A bidirectional LSTM (Hochreiter & Schmidhuber 1997; Schuster & Paliwal 1997): (B, S, E), lengths (B,) -> (B, S, 2 U).

    The backward direction reads each row reversed within its length, so padding comes last in both. One loop computes both, so a file
    holds one loop of any number of steps. The fused operator of TFLite is no choice: it keeps its state from one call to the next.

    Args:
        make: the factory of the layer.
    """

    def __init__(self, make: LayerFactory):
        super().__init__(name=make.name)
        self.units = make.config.hidden_size // 2
        self.input_quantizer = make.quantizer("input")
        self.forward = LstmDirection(make.at("forward"), self.units, self.input_quantizer)
        self.backward = LstmDirection(make.at("backward"), self.units, self.input_quantizer)
        self.dropout = Dropout(make.config.hidden_dropout_prob)

    def build(self, input_shape: tf.TensorShape) -> None:
        for direction in (self.forward, self.backward):
            direction.build(input_shape)  # before the loop: variables belong outside
        super().build(input_shape)

    def call(self, x: tf.Tensor, lengths: tf.Tensor, training: bool | None = None) -> tf.Tensor:
        x = self.input_quantizer(x, training=training)
        reverse = tf.reverse_sequence(x, lengths, seq_axis=1)
        gates = [self.forward(x, training=training), self.backward(reverse, training=training)]  # (B, S, 4 U) each
        states = self._run(tf.transpose(tf.stack(gates, 2), (1, 0, 2, 3)), training)  # (S, B, 2, U)
        states = tf.transpose(states, (1, 2, 0, 3))  # (B, 2, S, U)
        backward = tf.reverse_sequence(states[:, 1], lengths, seq_axis=1)
        return self.dropout(tf.concat([states[:, 0], backward], -1), training=training)  # (B, S, 2 U)

    def _run(self, gates: tf.Tensor, training: bool | None) -> tf.Tensor:
        """Run both directions: the products of the inputs (S, B, 2, 4 U) -> states (S, B, 2, U)."""
        steps = gates.shape[0] or tf.shape(gates)[0]
        batch = gates.shape[1] or tf.shape(gates)[1]
        zeros = tf.zeros((batch, 2, self.units), gates.dtype)
        inputs = tf.TensorArray(gates.dtype, size=steps, element_shape=gates.shape[1:]).unstack(gates)
        states = tf.TensorArray(gates.dtype, size=steps, element_shape=zeros.shape)

        def step(t: tf.Tensor, h: tf.Tensor, c: tf.Tensor, states: tf.TensorArray) -> tuple:
            forward = self.forward.recurrent(self.forward.recurrent_input(h[:, 0], training=training))
            backward = self.backward.recurrent(self.backward.recurrent_input(h[:, 1], training=training))
            total = inputs.read(t) + tf.stack([forward, backward], 1)  # (B, 2, 4 U)
            i, f, g, o = tf.split(total, 4, axis=-1)  # (B, 2, U) each
            c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
            h = tf.sigmoid(o) * tf.tanh(c)
            return t + 1, h, c, states.write(t, h)

        *_, states = tf.while_loop(
            lambda t, *_: t < steps, step, (tf.constant(0), zeros, zeros, states), maximum_iterations=steps
        )
        return states.stack()

    def edges(self, before: keras.layers.Layer | None) -> Edges:
        return Edges((self.input_quantizer,), self)
