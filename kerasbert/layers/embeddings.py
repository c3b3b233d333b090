"""Token ids to vectors: word + position + token type, normalized."""

import tensorflow as tf
import tf_keras as keras

from kerasbert.layers.dense import Dense
from kerasbert.layers.dropout import Dropout
from kerasbert.layers.initializers import normal
from kerasbert.layers.lowering.options import TRAINING_LAYOUT, GraphLayout, leading
from kerasbert.layers.norms import MOBILEBERT_EPSILON, make_norm
from kerasbert.layers.quantization.fake_quant import table_fake_quant
from kerasbert.layers.quantization.policy import QuantizationPolicy, integer_part
from kerasbert.layers.quantization.quantizers import ActivationPoint, ConstantPoint


class EmbeddingTable(keras.layers.Layer):
    """One row of `width` floats for each of `rows` ids; a policy may hold the table in int8.

    writes_to: the stream whose scaled channels it writes, if there is one; set before it is called.
    observer: called with the layer and the rows that a table in int8 gives, and gives what is given instead.
    """

    def __init__(self, rows: int, width: int, policy: QuantizationPolicy | None, path: str, initializer):
        super().__init__(name=path.replace(".", "_"))
        self.path, self.quantized = path, bool(policy and policy.tables)
        self.observer = None
        self.writes_to: ActivationPoint | None = None
        self.bound: float | None = None  # the table's largest size, where a graph must hold it as a constant
        self.table = self.add_weight("table", (rows, width), initializer=initializer)

    def call(self, ids, layout: GraphLayout = TRAINING_LAYOUT):
        table = tf.cast(self.table, self.compute_dtype)
        if not layout.flat_ids:
            return self._on_grid(self._written(tf.gather(table, ids)))
        rows = tf.gather(table[None], tf.reshape(ids, (-1,)), axis=1)  # (1, rows, H) -> (1, B S, H)
        if ids.shape[0] != 1:
            rows = tf.reshape(rows, (*leading(ids), table.shape[1]))
        return self._on_grid(self._written(rows))

    @property
    def factors(self) -> tf.Variable | None:
        """What its columns are multiplied by, (width,); None: nothing."""
        return None if self.writes_to is None else self.writes_to.factors

    def _written(self, rows):
        """Rows as a stream takes them: without a mean, and scaled."""
        if self.writes_to is not None and self.writes_to.offset is not None:
            rows = rows - tf.reduce_mean(rows, axis=-1, keepdims=True)
        return rows if self.factors is None else rows * tf.cast(self.factors, rows.dtype)

    def in_float(self):
        """The whole table before it is quantized: (rows, width)."""
        return self._written(tf.convert_to_tensor(self.table))

    def on_grid(self):
        """The whole table as a file stores it: (rows, width), on its int8 grid where a policy says so."""
        return self._on_grid(self.in_float())

    def slice(self, first: int, length):
        """So many rows from row `first` on, in float: a graph holds them as a constant of their own."""
        return self._written(tf.cast(self.table[first : first + length], self.compute_dtype))

    def _on_grid(self, rows):
        if not self.quantized:
            return rows
        return self.rounded(rows) if self.observer is None else self.observer(self, rows)

    def rounded(self, rows):
        """Rows (..., width) on the table's int8 grid."""
        if self.bound is not None:
            return table_fake_quant(rows, self.bound)
        return table_fake_quant(rows, tf.reduce_max(tf.abs(self.in_float())))


class Embeddings(keras.layers.Layer):
    """Ids and token types (B, S) -> (B, S, H): word + position + token type, normalized (Devlin et al. 2018, figure 2).

    width: of the tables, where it is not the hidden size. project: whether a dense brings the normalized sum to the hidden size (ALBERT's
    factorised embeddings, Lan et al. 2019, section 3.1).
    """

    def __init__(
        self,
        config,
        policy: QuantizationPolicy | None,
        path: str = "embeddings",
        *,
        width: int | None = None,
        word_width: int | None = None,
        project: bool = False,
        norm: str = "layer_norm",
        epsilon: float | None = None,
    ):
        super().__init__(name=path)
        width = width or config.hidden_size
        self.offset = config.position_offset
        self.word = EmbeddingTable(config.vocab_size, word_width or width, policy, f"{path}.word", normal(config))
        # Small tables stay in float: one scale for the position table leaves an error of 17 % of its size in a real checkpoint, and a file
        # of fixed length holds its first rows as a float constant anyway.
        integer = integer_part(policy)
        self.position = EmbeddingTable(
            config.max_position_embeddings, width, integer, f"{path}.position", normal(config)
        )
        self.position_point = ConstantPoint(integer, f"{path}.position_rows")
        self.token_type = None
        if config.type_vocab_size:
            self.token_type = EmbeddingTable(
                config.type_vocab_size, width, integer, f"{path}.token_type", normal(config)
            )
        self.positioned = ActivationPoint(integer if config.type_vocab_size else None, f"{path}.positioned")
        self.stream = ActivationPoint(integer, f"{path}.stream", stream=True)
        self.stream.equalized = self.stream.equalized and norm == "layer_norm" and word_width in (None, width)
        self.norm = make_norm(norm, epsilon or config.layer_norm_eps, f"{path}.norm", policy)
        if self.stream.equalized:
            self.stream.centre()
            self.norm.read(self.stream)
            for table in filter(None, (self.word, self.position, self.token_type)):
                table.writes_to = self.stream
        self.dropout = Dropout(config.hidden_dropout_prob)
        self.projection = None
        if project:
            self.projection_input = ActivationPoint(policy, f"{path}.projection.input")
            self.projection = Dense(
                config.hidden_size,
                self.projection_input,
                policy,
                f"{path}.projection",
                initializer=normal(config),
                keeps_bias=True,
            )
            self.projection_input.follow(self.norm.output_point)

    @property
    def written(self) -> ActivationPoint:
        """The point of what it gives."""
        return self.norm.output_point if self.projection is None else self.projection.writes

    def call(self, input_ids, token_type_ids, training=None, layout: GraphLayout = TRAINING_LAYOUT):
        x = self.words(input_ids, training=training, layout=layout) + self._positions(input_ids, layout)  # (B, S, H)
        if self.token_type is not None:
            x = self.positioned(x, training=training) + self.token_type(token_type_ids, layout=layout)
        x = self.stream(x, training=training)
        x = self.dropout(self.norm(x, training=training, layout=layout), training=training)
        if self.projection is None:
            return x
        return self.projection(self.projection_input(x, training=training), training=training)

    def words(self, input_ids, training=None, layout: GraphLayout = TRAINING_LAYOUT):
        """(B, S) -> what positions and token types are added to."""
        return self.word(input_ids, layout=layout)

    def _positions(self, input_ids, layout):
        if layout.positions == "gather":
            ones = tf.ones_like(input_ids)
            return self.position(tf.cumsum(ones, axis=1) - ones + self.offset)
        length = input_ids.shape[1] or tf.shape(input_ids)[1]
        rows = self.position_point(self.position.slice(self.offset, length))
        return rows[None] if layout.flat_ids else rows  # of one rank with what was looked up


class TrigramEmbeddings(Embeddings):
    """MobileBERT's (Sun et al. 2020, section 4): a narrow word table, three neighbouring words side by side, a dense to the hidden size."""

    def __init__(
        self, config, policy: QuantizationPolicy | None, path: str = "embeddings", *, trigram: bool, norm: str
    ):
        super().__init__(config, policy, path, word_width=config.embedding_size, norm=norm, epsilon=MOBILEBERT_EPSILON)
        self.trigram = trigram
        self.transformation = None
        if trigram or config.embedding_size != config.hidden_size:
            self.transformation_input = ActivationPoint(policy, f"{path}.transformation.input")
            self.transformation = Dense(
                config.hidden_size,
                self.transformation_input,
                policy,
                f"{path}.transformation",
                initializer=normal(config),
                keeps_bias=True,
            )

    def words(self, input_ids, training=None, layout: GraphLayout = TRAINING_LAYOUT):
        x = self.word(input_ids, layout=layout)  # (B, S, E)
        if self.trigram:
            following = tf.pad(x[:, 1:], ((0, 0), (0, 1), (0, 0)))
            preceding = tf.pad(x[:, :-1], ((0, 0), (1, 0), (0, 0)))
            x = tf.concat([following, x, preceding], axis=2)  # (B, S, 3 E)
        if self.transformation is None:
            return x
        return self.transformation(self.transformation_input(x, training=training), training=training)
