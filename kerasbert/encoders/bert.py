"""BERT: Devlin et al. 2018, "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding".

MiniLM (Wang et al. 2020) and TinyBERT (Jiao et al. 2020) are BERTs of other sizes.
"""

from dataclasses import dataclass
from typing import ClassVar

import tf_keras as keras

from kerasbert.encoders.base import Encoder
from kerasbert.layers.config import EncoderConfig


@dataclass(frozen=True)
class BertConfig(EncoderConfig):
    """The sizes of a BERT. The defaults are those of BERT-base, uncased.

    See `EncoderConfig` for the attributes.

    Example:
        ```python
        kb.encoders.BertConfig(num_hidden_layers=2, hidden_size=128, num_attention_heads=2, intermediate_size=512)
        ```
    """

    model_type: ClassVar[str] = "bert"


@keras.utils.register_keras_serializable("kerasbert")
class BertEncoder(Encoder):
    """BERT (Devlin et al. 2018): token, position and token type embeddings, transformer blocks, and a tanh pooler over the first token.

    See `Encoder` for the arguments.

    Example:
        ```python
        config = kb.encoders.BertConfig(num_hidden_layers=2, hidden_size=64, num_attention_heads=2, intermediate_size=128)
        encoder = kb.encoders.BertEncoder(config)  # random weights
        ```
    """

    config_class = BertConfig
