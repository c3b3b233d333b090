"""MobileBERT: Sun et al. 2020, "MobileBERT: a Compact Task-Agnostic BERT for Resource-Limited Devices"."""

from dataclasses import dataclass
from typing import ClassVar

import tf_keras as keras

from kerasbert.encoders.base import Encoder
from kerasbert.encoders.config import EncoderConfig
from kerasbert.layers.bottleneck import MobileBertBlock
from kerasbert.layers.norms import NORMS
from kerasbert.layers.trigram_embeddings import TrigramEmbeddings


@dataclass(frozen=True)
class MobileBertConfig(EncoderConfig):
    """The sizes and switches of a MobileBERT; defaults are those of the published one."""

    model_type: ClassVar[str] = "mobilebert"
    positive: ClassVar[tuple[str, ...]] = (
        *EncoderConfig.positive,
        "embedding_size",
        "intra_bottleneck_size",
        "num_feedforward_networks",
    )

    vocab_size: int = 30522
    hidden_size: int = 512
    num_hidden_layers: int = 24
    num_attention_heads: int = 4
    intermediate_size: int = 512
    hidden_act: str = "relu"
    hidden_dropout_prob: float = 0.0
    attention_probs_dropout_prob: float = 0.1
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    initializer_range: float = 0.02
    layer_norm_eps: float = 1e-12
    pad_token_id: int = 0
    embedding_size: int = 128
    trigram_input: bool = True
    use_bottleneck: bool = True
    intra_bottleneck_size: int = 128
    use_bottleneck_attention: bool = False
    key_query_shared_bottleneck: bool = True
    num_feedforward_networks: int = 4
    normalization_type: str = "no_norm"
    classifier_activation: bool = True
    tie_word_embeddings: bool = True

    @property
    def true_hidden_size(self) -> int:
        """The width between the bottlenecks."""
        return self.intra_bottleneck_size if self.use_bottleneck else self.hidden_size

    @property
    def head_width(self) -> int:
        return self.true_hidden_size

    @property
    def feed_forwards(self) -> int:
        return self.num_feedforward_networks

    def check(self) -> None:
        super().check()
        if self.normalization_type not in NORMS:
            raise self._wrong("normalization_type", f"of {list(NORMS)}")
        if self.embedding_size > self.hidden_size:
            raise self._wrong("embedding_size", f"at most hidden_size ({self.hidden_size})")


@keras.utils.register_keras_serializable("kerasbert")
class MobileBertEncoder(Encoder):
    """Trigram embeddings and thin, deep blocks between bottlenecks.

    Without `classifier_activation` the pooled vector is the first token's, and the pooler has no weights. What stands behind a text (a
    padding word, or nothing) is seen by its last token, as in every implementation of this model.
    """

    config_class = MobileBertConfig

    @property
    def pooler_is_trained(self):
        return self.config.classifier_activation

    def make_embeddings(self):
        config = self.config
        return TrigramEmbeddings(config, self.policy, trigram=config.trigram_input, norm=config.normalization_type)

    def make_block(self, path, **sizes):
        return MobileBertBlock(self.config, self.policy, path, **sizes)
