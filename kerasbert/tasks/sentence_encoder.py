"""A text to one vector."""

import json
from pathlib import Path

import tensorflow as tf
import tf_keras as keras

from kerasbert.checkpoints.hugging_face import max_sequence_length
from kerasbert.encoders.base import Encoder
from kerasbert.encoders.pooling import POOLINGS, pool
from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import read_json
from kerasbert.layers.lowering.options import TRAINING_OPTIONS, LoweringOptions
from kerasbert.losses.pairs import PairLoss, SentenceLoss, text_numbers
from kerasbert.processors.embedding import Embedding
from kerasbert.tasks.base import Task
from kerasbert.text import Tokenizer

# sentence-transformers' names in 1_Pooling/config.json
POOLING_KEYS = {"mean": "pooling_mode_mean_tokens", "cls": "pooling_mode_cls_token", "max": "pooling_mode_max_tokens"}


@keras.utils.register_keras_serializable("kerasbert")
class SentenceEncoder(Task):
    """Pooled token vectors (Reimers & Gurevych 2019), of length 1 when `normalize` is set.

    pooling: `mean`, `cls` or `max` over the tokens. Calling it, and `predict`, give vectors (rows, H) float32, of pairs (rows, 2, H).

    `fit` takes pairs of texts with scores from 0 to 1, pairs that are alike without scores, or texts with target vectors; what is learned
    from each: `kerasbert.losses.pairs.SentenceLoss`, and other losses beside it.
    """

    architecture = "Model"
    output_name = "embedding"
    soft_loss = "squared_error"
    reads_mask = True
    unserved = ("pooler",)
    pools = None
    arrays = True

    def __init__(
        self,
        encoder: Encoder,
        tokenizer: Tokenizer | None,
        pooling: str = "mean",
        normalize: bool = True,
        sequence_length: int | None = None,
        **kwargs,
    ):
        super().__init__(encoder, tokenizer, sequence_length, **kwargs)
        if pooling not in POOLINGS:
            raise KerasBertError(f"expected a pooling of {POOLINGS}, received {pooling!r}")
        self.pooling, self.normalize = pooling, normalize
        self._create_variables()
        if encoder.pooler is not None:
            encoder.pooler.trainable = False  # nothing reads it here, so it has no gradients

    @classmethod
    def from_pretrained(
        cls,
        name_or_path,
        pooling: str | None = None,
        normalize: bool | None = None,
        sequence_length: int | None = None,
        **sizes,
    ) -> "SentenceEncoder":
        """From a checkpoint or sentence-transformers folder, or a hub name; pooling and length follow the folder where it tells them.

        sizes: see `Task.from_pretrained`.
        """
        return super().from_pretrained(
            name_or_path, pooling=pooling, normalize=normalize, sequence_length=sequence_length, **sizes
        )

    @classmethod
    def settings_of(cls, config, folder):
        settings = {}
        modes = _read(folder / "1_Pooling" / "config.json", {})
        found = [name for name, key in POOLING_KEYS.items() if modes.get(key)]
        if len(found) == 1:
            settings["pooling"] = found[0]
        modules = _read(folder / "modules.json", None)
        if modules is not None:
            settings["normalize"] = any(module.get("type", "").endswith("Normalize") for module in modules)
        length = _read(folder / "sentence_bert_config.json", {}).get("max_seq_length")
        if isinstance(length, int):
            settings["sequence_length"] = min(length, max_sequence_length(config))
        return settings

    def write_companions(self, folder):
        """The files by which sentence-transformers knows pooling and normalization."""
        kinds = ["Transformer", "Pooling"] + ["Normalize"] * self.normalize
        paths = ["", "1_Pooling", "2_Normalize"]
        modules = [
            {"idx": i, "name": str(i), "path": paths[i], "type": f"sentence_transformers.models.{kind}"}
            for i, kind in enumerate(kinds)
        ]
        modes = {key: name == self.pooling for name, key in POOLING_KEYS.items()}
        _write(folder / "modules.json", modules)
        _write(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": self.config.hidden_size, **modes})
        _write(folder / "sentence_bert_config.json", {"max_seq_length": self.sequence_length, "do_lower_case": False})

    def call(self, inputs, training=None, layout: LoweringOptions = TRAINING_OPTIONS):
        if inputs["input_ids"].shape.rank == 3:  # pairs (B, 2, S) -> (B, 2, H)
            group = tf.shape(inputs["input_ids"])[1]
            flat = {name: tf.reshape(ids, (-1, tf.shape(ids)[2])) for name, ids in inputs.items()}
            vectors = self.call(flat, training=training, layout=layout)
            return tf.reshape(vectors, (-1, group, vectors.shape[-1]))
        sequence = self.encoder(inputs, training=training, layout=layout).sequence  # (B, S, H)
        vectors = tf.cast(pool(sequence, inputs["attention_mask"], self.pooling), tf.float32)  # (B, H)
        if not self.normalize:
            return vectors
        # By the mean square and not the sum: the converter makes an operator of the latter that no GPU delegate has.
        width = self.config.hidden_size
        square = tf.reduce_mean(tf.square(vectors), axis=-1, keepdims=True)
        return vectors * (tf.math.rsqrt(tf.maximum(square, 1e-12 / width)) * width**-0.5)

    def serve(self, inputs, layout: LoweringOptions = TRAINING_OPTIONS):
        return {self.output_name: self(inputs, training=False, layout=layout)}

    @property
    def processor(self) -> Embedding:
        return Embedding(width=self.config.hidden_size)

    def default_loss(self):
        return SentenceLoss()

    def encode_targets(self, y, examples, features):
        """Of pairs without scores the numbers of both texts, where the loss of this task wants them.

        Raises KerasBertError for what the loss cannot learn from.
        """
        y, loss = super().encode_targets(y, examples, features), getattr(self, "loss", None)
        if not isinstance(loss, PairLoss):
            return y
        if features.group == 2:
            loss.check(y)
            return text_numbers(features) if y is None and loss.numbers_texts else y
        if not isinstance(loss, SentenceLoss):
            raise KerasBertError(f"expected pairs of texts for {type(loss).__name__}, received single texts")
        return y

    def get_config(self):
        return {**super().get_config(), "pooling": self.pooling, "normalize": self.normalize}


def _read(path: Path, default):
    return read_json(path) if path.is_file() else default


def _write(path: Path, content) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n", "utf-8")
