"""ELECTRA: Clark et al. 2020, "ELECTRA: Pre-training Text Encoders as Discriminators Rather Than Generators"."""

from dataclasses import dataclass
from typing import ClassVar

import tf_keras as keras

from kerasbert.encoders.base import Encoder
from kerasbert.encoders.bert import BertConfig
from kerasbert.layers.config import gelu
from kerasbert.layers.embeddings import Embeddings
from kerasbert.layers.factorized_embeddings import FactorizedEmbeddings
from kerasbert.layers.quantization.factory import LayerFactory


@dataclass(frozen=True)
class ElectraConfig(BertConfig):
    """The sizes of an ELECTRA. The defaults are those of electra-small."""

    model_type: ClassVar[str] = "electra"

    hidden_size: int = 256
    num_attention_heads: int = 4
    intermediate_size: int = 1024
    embedding_size: int = 128


@keras.utils.register_keras_serializable("kerasbert")
class ElectraEncoder(Encoder):
    """BERT with embeddings of their own width. The pooler is the GELU layer of its text classifiers."""

    config_class = ElectraConfig
    config: ElectraConfig
    pooler_activation = staticmethod(gelu)

    def make_embeddings(self, make: LayerFactory) -> keras.layers.Layer:
        if self.config.embedding_size == self.config.hidden_size:
            return Embeddings(make)
        return FactorizedEmbeddings(make, self.config.embedding_size)
