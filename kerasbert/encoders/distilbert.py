"""DistilBERT: Sanh et al. 2019, "DistilBERT, a distilled version of BERT". A BERT without token types and without a trained pooler."""

from dataclasses import dataclass
from typing import ClassVar

import tensorflow as tf
import tf_keras as keras

from kerasbert.encoders.base import Encoder
from kerasbert.layers.config import EncoderConfig


@dataclass(frozen=True)
class DistilBertConfig(EncoderConfig):
    """The sizes of a DistilBERT. The defaults are those of distilbert-base.

    See `EncoderConfig` for the attributes.

    Example:
        ```python
        kb.encoders.DistilBertConfig(num_hidden_layers=2, hidden_size=128, num_attention_heads=2, intermediate_size=512)
        ```
    """

    model_type: ClassVar[str] = "distilbert"
    aliases: ClassVar[dict[str, str]] = {
        "hidden_size": "dim",
        "num_hidden_layers": "n_layers",
        "num_attention_heads": "n_heads",
        "intermediate_size": "hidden_dim",
        "hidden_act": "activation",
        "hidden_dropout_prob": "dropout",
        "attention_probs_dropout_prob": "attention_dropout",
    }
    type_vocab_size: ClassVar[int] = 0
    layer_norm_eps: ClassVar[float] = 1e-12

    num_hidden_layers: int = 6


@keras.utils.register_keras_serializable("kerasbert")
class DistilBertEncoder(Encoder):
    """DistilBERT (Sanh et al. 2019): BERT's blocks over token and position embeddings.

    The pooler is the ReLU layer of its text classifiers.

    See `Encoder` for the arguments.

    Example:
        ```python
        config = kb.encoders.DistilBertConfig(num_hidden_layers=2, hidden_size=64, num_attention_heads=2, intermediate_size=128)
        encoder = kb.encoders.DistilBertEncoder(config)  # random weights
        ```
    """

    config_class = DistilBertConfig
    pooler_activation = staticmethod(tf.nn.relu)
