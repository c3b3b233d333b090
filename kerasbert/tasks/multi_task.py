"""Several heads on one encoder, trained together and served by one file."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.encoders.base import Encoder
from kerasbert.heads.head import Head, classifier_dropout
from kerasbert.heads.head_set import HeadSet
from kerasbert.heads.own_head import OwnHead
from kerasbert.heads.registry import DEFAULT, checked_settings
from kerasbert.losses import CrossEntropy
from kerasbert.processors.joint import Joint
from kerasbert.tasks.base import Task
from kerasbert.tasks.token_tagger import TaggedAccuracy
from kerasbert.text import Tokenizer


@keras.utils.register_keras_serializable("kerasbert")
class MultiTask(Task):
    """Heads for classes of texts and for tags of words, on one encoder.

    Calling it returns logits by head: `(batch, classes)`, or `(batch, length, tags)`. `fit` and `score` take a dict with the labels of
    each head. `predict` returns a dict for each text with the prediction of each head. The file has one output for each head.

    Args:
        encoder: An encoder with a pooler.
        tokenizer: The tokenizer, or None for packed inputs only.
        heads: The settings of each head by the name of its output: `task` (`classification` or `tagging`), `labels`, and for a head of
            your own `head` and `head_settings`; see `kerasbert.register_head`.
        sequence_length: Tokens in the longest row; see `Task`.
        kwargs: Arguments of `keras.Model`.

    Raises:
        KerasBertError: When a head has another task, or fewer than two different labels.

    Example:
        ```python
        heads = {"intent": {"task": "classification", "labels": ["travel", "music"]},
                 "slots": {"task": "tagging", "labels": ["O", "B-place"]}}
        task = kb.MultiTask.from_pretrained("small-en", heads=heads, sequence_length=16)
        task.compile(optimizer=kb.adamw(5e-4))
        task.fit(["fly to Lima", "play jazz"], {"intent": ["travel", "music"], "slots": [["O", "O", "B-place"], ["O", "O"]]})
        task.predict(["fly to Oslo"])[0]["intent"]["label"]
        ```
    """

    pools = True

    def __init__(
        self,
        encoder: Encoder,
        tokenizer: Tokenizer | None,
        heads: Mapping[str, Mapping[str, Any]] | None = None,
        sequence_length: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(encoder, tokenizer, sequence_length, **kwargs)
        self._processor = self._no_dependency(Joint(heads=_plain(heads)))
        self._heads = self._no_dependency(_plain(heads))
        self._set_head(HeadSet({name: self._made(name, head) for name, head in self._heads.items()}))
        self.reads_mask = True
        self._create_variables()

    def _made(self, name: str, head: Mapping[str, Any]) -> Head | OwnHead:
        outputs, per_token, path = len(head["labels"]), head["task"] == "tagging", f"head.{name}"
        own = head.get("head", DEFAULT)
        settings = checked_settings(None if own == DEFAULT else own, head.get("head_settings"))
        if own != DEFAULT:
            return OwnHead(self.encoder, own, settings, outputs, per_token, path)
        return Head(
            self.encoder, outputs, "sequence" if per_token else "pooled", path, classifier_dropout(self.encoder)
        )

    @property
    def processor(self) -> Joint:
        return self._processor

    @property
    def float_parts(self) -> str:
        return "several heads"

    @property
    def soft_loss(self) -> str:
        return "softmax"

    def serve(self, inputs: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
        logits = self(inputs, training=False)
        return {name: tf.nn.softmax(values) for name, values in logits.items()}

    def default_loss(self) -> dict[str, keras.losses.Loss]:
        return {name: CrossEntropy() if self._tags(name) else _class_loss() for name in self._heads}

    def default_metrics(self) -> dict[str, list[keras.metrics.Metric]]:
        accuracy = keras.metrics.SparseCategoricalAccuracy
        return {name: [(TaggedAccuracy if self._tags(name) else accuracy)("accuracy")] for name in self._heads}

    def _tags(self, name: str) -> bool:
        return self._heads[name]["task"] == "tagging"

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "heads": _plain(self._heads)}


def _class_loss() -> keras.losses.Loss:
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def _plain(heads: Any) -> Any:
    """Return the settings of heads as plain dicts; anything else as it is, for the processor to refuse."""
    if not isinstance(heads, Mapping) or not all(isinstance(head, Mapping) for head in heads.values()):
        return heads if heads is not None else {}
    return {name: {k: list(v) if isinstance(v, tuple) else v for k, v in head.items()} for name, head in heads.items()}
