"""MobileBERT: Sun et al. 2020, "MobileBERT: a Compact Task-Agnostic BERT for Resource-Limited Devices"."""

from dataclasses import dataclass
from typing import ClassVar

import tf_keras as keras

from kerasbert.encoders.base import Encoder
from kerasbert.files.record import setting
from kerasbert.layers.blocks.bottleneck import BottleneckConfig, MobileBertBlock
from kerasbert.layers.blocks.trigram_embeddings import TrigramEmbeddings


@dataclass(frozen=True)
class MobileBertConfig(BottleneckConfig):
    """The sizes and switches of a MobileBERT. The defaults are those of the published one.

    See `EncoderConfig` for the other attributes.

    Attributes:
        embedding_size: Width of the token embeddings.
        use_bottleneck: Whether blocks are between bottlenecks.
        intra_bottleneck_size: Width between the bottlenecks.
        use_bottleneck_attention: Whether queries, keys and values are all the output of the bottleneck.
        key_query_shared_bottleneck: Whether queries and keys are the output of a bottleneck that they share; the values are the block's
            input.
        num_feedforward_networks: Number of feed-forward networks in a block.
        normalization_type: `no_norm` or `layer_norm`.
        trigram_input: Whether the embeddings of the previous and the next token are concatenated to those of a token.
        classifier_activation: Whether the pooler is a Dense layer with tanh; otherwise the pooled output is the vector of the first token.

    Example:
        ```python
        kb.encoders.MobileBertConfig(num_hidden_layers=2)
        ```
    """

    model_type: ClassVar[str] = "mobilebert"

    hidden_size: int = 512
    num_hidden_layers: int = 24
    num_attention_heads: int = 4
    intermediate_size: int = 512
    hidden_act: str = "relu"
    hidden_dropout_prob: float = 0.0
    embedding_size: int = setting(128, at_least=1)
    trigram_input: bool = True
    classifier_activation: bool = True

    @property
    def masked_lm_form(self) -> tuple[int, str, int]:
        return self.hidden_size, self.hidden_act, self.hidden_size - self.embedding_size

    def check(self) -> None:
        super().check()
        fits = self.embedding_size <= self.hidden_size
        self.expect(fits, "embedding_size", f"of at most hidden_size ({self.hidden_size})")


@keras.utils.register_keras_serializable("kerasbert")
class MobileBertEncoder(Encoder):
    """MobileBERT (Sun et al. 2020): trigram embeddings, and thin, deep blocks between bottlenecks.

    Without `classifier_activation` the pooler has no weights, and the pooled output is the vector of the first token. The last token of a
    text sees the token after it, which is padding or nothing, as in every implementation of this model.

    See `Encoder` for the arguments.

    Example:
        ```python
        config = kb.encoders.MobileBertConfig(num_hidden_layers=2, vocab_size=1000)
        encoder = kb.encoders.MobileBertEncoder(config)  # random weights
        ```
    """

    config_class = MobileBertConfig
    config: MobileBertConfig
    embeddings_class = TrigramEmbeddings
    block_class = MobileBertBlock

    @property
    def pooler_is_trained(self) -> bool:
        return self.config.classifier_activation
