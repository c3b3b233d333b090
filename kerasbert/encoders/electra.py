"""ELECTRA: Clark et al. 2020, "ELECTRA: Pre-training Text Encoders as Discriminators Rather Than Generators"."""

from dataclasses import dataclass
from typing import ClassVar

import tf_keras as keras

from kerasbert.encoders.base import Encoder
from kerasbert.encoders.bert import BertConfig
from kerasbert.layers.activations import gelu
from kerasbert.layers.embeddings import Embeddings


@dataclass(frozen=True)
class ElectraConfig(BertConfig):
    """The sizes of an ELECTRA; defaults are electra-small."""

    model_type: ClassVar[str] = "electra"
    positive: ClassVar[tuple[str, ...]] = (*BertConfig.positive, "embedding_size")

    hidden_size: int = 256
    num_attention_heads: int = 4
    intermediate_size: int = 1024
    embedding_size: int = 128


@keras.utils.register_keras_serializable("kerasbert")
class ElectraEncoder(Encoder):
    """BERT with embeddings of their own width. The pooler is the GELU layer that its text classifiers begin with."""

    config_class = ElectraConfig
    pooler_activation = staticmethod(gelu)

    def make_embeddings(self):
        config = self.config
        return Embeddings(
            config, self.policy, width=config.embedding_size, project=config.embedding_size != config.hidden_size
        )
