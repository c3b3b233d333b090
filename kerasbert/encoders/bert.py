"""BERT: Devlin et al. 2018, "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding".

MiniLM (Wang et al. 2020) and TinyBERT (Jiao et al. 2020) are BERTs of other sizes.
"""

from dataclasses import dataclass
from typing import ClassVar

import tf_keras as keras

from kerasbert.encoders.base import Encoder
from kerasbert.encoders.config import EncoderConfig


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


@keras.utils.register_keras_serializable("kerasbert")
class BertEncoder(Encoder):
    """Word, position and token type embeddings, a stack of transformer blocks, and a tanh pooler over the first token."""

    config_class = BertConfig
