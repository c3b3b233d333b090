"""Text or pair of texts to a class, several classes, or a score."""

from collections.abc import Iterable

import tensorflow as tf
import tf_keras as keras

from kerasbert.checkpoints.hugging_face import label_names
from kerasbert.encoders.base import Encoder
from kerasbert.errors import KerasBertError
from kerasbert.layers.dense import truncated_normal
from kerasbert.layers.dropout import Dropout
from kerasbert.layers.lowering.options import TRAINING_OPTIONS, LoweringOptions
from kerasbert.layers.quantization.activation_quantizers import SOFTMAX_RANGE, activation_quantizer
from kerasbert.layers.quantization.dense import make_dense
from kerasbert.layers.quantization.policy import integer_part
from kerasbert.layers.quantization.tie_ranges import tie_pooled
from kerasbert.processors.classification import MultiLabel, Regression, SingleLabel, TextProcessor
from kerasbert.tasks.base import Task
from kerasbert.text import Tokenizer

# `problem=` -> processor
PROBLEMS: dict[str, type[TextProcessor]] = {each.name: each for each in (SingleLabel, MultiLabel, Regression)}
# Hugging Face's names in config.json
HUB_PROBLEMS = {
    "single_label_classification": "single_label",
    "multi_label_classification": "multi_label",
    "regression": "regression",
}


@keras.utils.register_keras_serializable("kerasbert")
class TextClassifier(Task):
    """A dense head on the pooled first token (Devlin et al. 2018, section 4.1).

    labels: class names in the order of the logits; one name, or none, for regression. problem: `single_label` (softmax), `multi_label`
    (sigmoid) or `regression`. Calling it gives logits (B, classes); `predict` gives probabilities (rows, classes), or scores (rows, 1).
    """

    architecture = "ForSequenceClassification"
    labelled = True
    heads = ("classifier",)
    pools = True
    arrays = True

    def __init__(
        self,
        encoder: Encoder,
        tokenizer: Tokenizer | None,
        labels=None,
        problem: str = "single_label",
        sequence_length: int | None = None,
        **kwargs,
    ):
        super().__init__(encoder, tokenizer, sequence_length, **kwargs)
        if problem not in PROBLEMS:
            raise KerasBertError(f"expected problem to be one of {', '.join(PROBLEMS)}, received {problem!r}")
        labels = labels_of(labels) or (("score",) if problem == "regression" else ())
        if problem == "regression" and len(labels) != 1:
            raise KerasBertError(f"expected one label for regression, received {len(labels)}: {labels}")
        if problem != "regression" and (len(labels) < 2 or len(set(labels)) < len(labels)):
            raise KerasBertError(f"expected two or more different labels, received {labels}")
        if not encoder.pools:
            raise KerasBertError("expected an encoder with a pooler for a text classifier")
        self.labels, self.problem = labels, problem
        self.soft_loss = {"multi_label": "sigmoid", "regression": "squared_error"}.get(problem, "softmax")
        self.output_name = "score" if problem == "regression" else "probabilities"
        config = encoder.config
        self.dropout = Dropout(getattr(config, "classifier_dropout_prob", config.hidden_dropout_prob))
        self.classifier_input = activation_quantizer(encoder.policy, "classifier.input")
        tie_pooled(encoder, self.classifier_input)
        self.classifier = make_dense(
            len(labels), self.classifier_input, encoder.policy, "classifier", initializer=truncated_normal(config)
        )
        self.answer_quantizer = activation_quantizer(integer_part(encoder.policy), "answer", fixed_range=SOFTMAX_RANGE)
        self._create_variables()

    @classmethod
    def from_pretrained(
        cls, name_or_path, labels=None, sequence_length: int | None = None, problem: str | None = None, **sizes
    ) -> "TextClassifier":
        """From a checkpoint folder or hub name. A checkpoint without a classifier needs `labels`, and gets a new head.

        sizes: see `Task.from_pretrained`.

        Raises KerasBertError for damaged or mismatching files, and when labels and the checkpoint's head differ in number.
        """
        return super().from_pretrained(
            name_or_path, labels=labels, sequence_length=sequence_length, problem=problem, **sizes
        )

    @classmethod
    def settings_of(cls, config, folder):
        settings = hub_labels(cls, config)
        if config.get("problem_type") in HUB_PROBLEMS:
            settings["problem"] = HUB_PROBLEMS[config["problem_type"]]
        return settings

    @property
    def processor(self) -> TextProcessor:
        return PROBLEMS[self.problem](self.labels)

    def hub_config(self):
        names = {problem: name for name, problem in HUB_PROBLEMS.items()}
        return {**numbered(self.labels), "problem_type": names[self.problem]}

    def call(self, inputs, training=None, layout: LoweringOptions = TRAINING_OPTIONS):
        pooled = self.encoder(inputs, training=training, layout=layout).pooled  # (B, H)
        pooled = self.classifier_input(self.dropout(pooled, training=training), training=training)
        return tf.cast(self.classifier(pooled, training=training), tf.float32)  # (B, classes)

    def serve(self, inputs, layout: LoweringOptions = TRAINING_OPTIONS):
        logits = self(inputs, training=False, layout=layout)
        if self.problem == "regression":
            return {self.output_name: logits}
        return {
            self.output_name: self.answer_quantizer(
                (tf.sigmoid if self.problem == "multi_label" else tf.nn.softmax)(logits)
            )
        }

    def default_loss(self):
        return {
            "single_label": keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            "multi_label": keras.losses.BinaryCrossentropy(from_logits=True),
            "regression": keras.losses.MeanSquaredError(),
        }[self.problem]

    def default_metrics(self):
        return {
            "single_label": [keras.metrics.SparseCategoricalAccuracy("accuracy")],
            "multi_label": [keras.metrics.BinaryAccuracy("accuracy", threshold=0.0)],
            "regression": [],
        }[self.problem]

    def get_config(self):
        return {**super().get_config(), "labels": list(self.labels), "problem": self.problem}


def labels_of(labels) -> tuple[str, ...]:
    """Label names as given by a user. Raises KerasBertError for what is no list, and for a name that is there twice."""
    if labels is not None and (isinstance(labels, str) or not isinstance(labels, Iterable)):
        raise KerasBertError(f"expected labels as a list of names, received {labels!r}")
    names = tuple(str(label) for label in labels or ())
    if twice := [name for place, name in enumerate(names) if name in names[:place]]:
        raise KerasBertError(f"expected two or more different labels, received {twice[0]!r} twice")
    return names


def numbered(labels: tuple[str, ...]) -> dict:
    """Labels as a config.json of Hugging Face's keeps them."""
    return {
        "id2label": {str(i): name for i, name in enumerate(labels)},
        "label2id": {name: i for i, name in enumerate(labels)},
    }


def hub_labels(task_class, config: dict) -> dict:
    """`labels` as a checkpoint's config.json tells them to a task of its own architecture; else nothing."""
    architectures = config.get("architectures") or [""]
    own = isinstance(architectures, list) and str(architectures[0]).endswith(task_class.architecture)
    return {"labels": names} if own and (names := label_names(config)) else {}
