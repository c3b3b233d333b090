"""BERT: Devlin et al. 2018, "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding"."""

from dataclasses import dataclass
from typing import ClassVar

import tensorflow as tf
import tf_keras as keras

from kerasbert.encoders.base import Encoder, EncoderConfig, EncoderOutput, complete_inputs
from kerasbert.layers.attention import attention_bias
from kerasbert.layers.blocks import TransformerBlock
from kerasbert.layers.dense import Dense
from kerasbert.layers.embeddings import Embeddings
from kerasbert.layers.graph import TRAINING_LAYOUT, GraphLayout
from kerasbert.layers.initializers import normal
from kerasbert.layers.points import ActivationPoint, QuantizationPolicy
from kerasbert.layers.pooling import first_token


@dataclass(frozen=True)
class BertConfig(EncoderConfig):
    """The sizes of a BERT; defaults are BERT-base uncased."""

    model_type: ClassVar[str] = "bert"

    vocab_size: int = 30522
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    hidden_act: str = "gelu"
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    initializer_range: float = 0.02
    layer_norm_eps: float = 1e-12
    pad_token_id: int = 0
    tie_word_embeddings: bool = True

    def __post_init__(self):
        self.check()


@keras.utils.register_keras_serializable("kerasbert")
class BertEncoder(Encoder):
    """Embeddings, a stack of transformer blocks, and a pooler over the first token.

    config: the sizes. policy: which points are held in 8 bits while training, or None. pooler: False leaves the pooler out, and `pooled`
    is None.
    """

    config_class = BertConfig

    def __init__(self, config: BertConfig, policy: QuantizationPolicy | None = None, pooler: bool = True, **kwargs):
        super().__init__(**{"name": "encoder", **kwargs})
        self.config, self.policy = config, policy
        self.embeddings = Embeddings(config, policy)
        self.layers = [TransformerBlock(config, policy, f"layers.{i}") for i in range(config.num_hidden_layers)]
        self.pooler = None
        if pooler:
            self.pooler_input = ActivationPoint(policy, "pooler.input")
            self.pooler = Dense(
                config.hidden_size, self.pooler_input, policy, "pooler", initializer=normal(config), activation=tf.tanh
            )

    def call(
        self,
        inputs,
        training=None,
        output_hidden_states=False,
        output_attentions=False,
        layout: GraphLayout = TRAINING_LAYOUT,
    ):
        input_ids, attention_mask, token_type_ids = complete_inputs(inputs)
        bias = attention_bias(attention_mask, layout.mask_constant)  # (B, 1, 1, S)
        x = self.embeddings(input_ids, token_type_ids, training=training, layout=layout)  # (B, S, H)
        hidden_states, attentions = [x], []
        for layer in self.layers:
            x, probabilities = layer(x, bias, training=training, layout=layout)
            hidden_states.append(x)
            attentions.append(probabilities)
        pooled = None
        if self.pooler is not None:
            pooled = self.pooler(self.pooler_input(first_token(x), training=training), training=training)  # (B, H)
        return EncoderOutput(
            x,
            pooled,
            tuple(hidden_states) if output_hidden_states else None,
            tuple(attentions) if output_attentions else None,
        )

    def get_config(self):
        return {**super().get_config(), "pooler": self.pooler is not None}
