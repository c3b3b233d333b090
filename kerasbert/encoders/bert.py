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
    """The sizes of a BERT. The defaults are those of BERT-base, uncased."""

    model_type: ClassVar[str] = "bert"


@keras.utils.register_keras_serializable("kerasbert")
class BertEncoder(Encoder):
    """Token, position and token type embeddings, transformer blocks, and a tanh pooler over the first token."""

    config_class = BertConfig
