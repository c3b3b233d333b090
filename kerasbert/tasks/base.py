"""The base of all tasks: texts in, predictions out, folders on disk."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import tensorflow as tf

from kerasbert.arguments import argument
from kerasbert.encoders import encoder_class
from kerasbert.encoders.base import Encoder, complete_inputs
from kerasbert.errors import KerasBertError
from kerasbert.heads.head import Head
from kerasbert.heads.head_set import HeadSet
from kerasbert.heads.own_head import OwnHead
from kerasbert.heads.registry import DEFAULT, checked_settings
from kerasbert.ids import INPUT_NAMES
from kerasbert.processors.registry import TASK_NAMES
from kerasbert.sharing import ThreadLock
from kerasbert.tasks.forks import check_not_forked
from kerasbert.tasks.inference import InferenceModel
from kerasbert.tasks.keras_task import KerasTask
from kerasbert.tasks.pretrained import from_folder
from kerasbert.tasks.saving import save_task
from kerasbert.text import Tokenizer, has_tokenizer, tokenizer_from_config, tokenizer_from_folder
from kerasbert.text.vocabulary_size import check_vocabulary_size

if TYPE_CHECKING:
    import tf_keras as keras

DEFAULT_LENGTH = 128  # tokens
_NAMED_LABELS = 8  # in the line that shows a task
_SHORTEST_LENGTH = 3  # [CLS], one token, [SEP]


def check_task(task: object) -> None:
    """Check that an argument is a task.

    Raises:
        KerasBertError: When it is something else, such as a model of Keras' functional interface.
    """
    if not isinstance(task, Task):
        raise KerasBertError(
            f"expected a task, such as kb.TextClassifier, received a {type(task).__name__}; layers of your own on an encoder are a head: "
            "see kb.register_head"
        )


class Task(InferenceModel, KerasTask):
    """An encoder, a head, and the tokenizer that turns texts into their inputs.

    A subclass makes its head in `__init__` by `add_head`, and defines `answer` (logits to outputs), `processor` and `default_loss`.

    `fit`, `evaluate`, `predict` and `score` accept the task's examples as lists, a dataset of `kerasbert.data`, packed inputs (a dict of
    int32 arrays `(rows, length)`) or a `tf.data.Dataset` of packed inputs or of texts. The task's processor defines examples, predictions
    and metrics; see `kerasbert.processors`.

    Args:
        encoder: The encoder.
        tokenizer: The tokenizer, or None for a task that reads packed inputs only.
        sequence_length: Tokens in the longest row, special ones included. By default 128, or the positions of the encoder if these are
            fewer.
        head: The name of a head of `kb.register_head`. None, or `default`, for the task's own.
        head_settings: Arguments of that head beside `outputs`, JSON-able.
        kwargs: Arguments of `keras.Model`.

    Attributes:
        architecture: The end of Hugging Face's class name for the task, as `heads` from the table of tasks in `processors/registry.py`.
        heads: Attributes of the layers that a checkpoint stores as heads; none with a head of the user's.
        reads: The output of the encoder that the head reads, `pooled` or `sequence`.
        labelled: Whether the first head has one output for each label.
        pools: Whether the task reads the encoder's pooled vector. None: it does not, but keeps the pooler of a checkpoint that has one.
        grouped: Whether a row has several token lists: inputs are `(batch, group, length)`.
        reads_mask: Whether `serve` itself reads the attention mask, beside the encoder.
        not_exported: For a task that has no file for applications: what to convert instead.
        predicts_arrays: Whether `predict` on texts returns the outputs as one array, instead of a readable prediction for each example.
        labels: Names of the classes in the order of the outputs, or None.
        recommended: The learning rates and the epochs that the folder of the checkpoint recommends, or None.
        has_new_head: Whether the head was neither loaded nor trained by a run.

    Raises:
        KerasBertError: When the sequence length is too long for the encoder, the vocabulary is too large for it, or the task needs a
            pooler that the encoder does not have.

    Example:
        ```python
        task = kb.load_task("runs/mine")
        task.predict(["a joy from start to end"])
        task.predictions(["a joy from start to end"])[0]["label"]
        task.score(texts, labels)["accuracy"]
        ```
    """

    architecture: ClassVar[str] = "Model"
    heads: tuple[str, ...] = ()
    reads: ClassVar[str] = "sequence"
    labelled: ClassVar[bool] = False
    pools: bool | None = False
    grouped: ClassVar[bool] = False
    reads_mask: bool = False
    predicts_arrays: ClassVar[bool] = False
    not_exported: ClassVar[str] = ""
    labels: tuple[str, ...] | None = None

    if TYPE_CHECKING:  # Keras' own attributes, which its untyped package hides
        name: str
        head: OwnHead | HeadSet | None
        layers: list[keras.layers.Layer]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if (names := TASK_NAMES.get(cls.__name__)) is not None:
            cls.architecture, cls.heads = names.architecture, names.heads

    def __init__(
        self,
        encoder: Encoder,
        tokenizer: Tokenizer | None,
        sequence_length: int | None = None,
        head: str | None = None,
        head_settings: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        check_not_forked()
        super().__init__(**kwargs)
        self.head_name = None if head == DEFAULT else head
        self.head = None  # no attribute of the class: Keras would not track a layer of that name
        self.head_settings = checked_settings(self.head_name, head_settings)
        if self.head_name is not None:
            self.heads, self.pools, self.reads_mask = (), None, True
        if self.pools and not encoder.pools:
            raise KerasBertError(
                f"expected an encoder with a pooler for {type(self).__name__}, received one without; make it with pooler=True"
            )
        longest = encoder.config.longest
        sequence_length = min(DEFAULT_LENGTH, longest) if sequence_length is None else sequence_length
        if not _SHORTEST_LENGTH <= sequence_length <= longest:
            raise KerasBertError(
                f"expected {argument('sequence_length')} from {_SHORTEST_LENGTH} to {longest} (the positions of this model), received "
                f"{sequence_length}; shorten it, or lengthen a checkpoint's table with kerasbert pretrain"
            )
        if tokenizer is not None:
            check_vocabulary_size(tokenizer.vocabulary_size, encoder.config.vocab_size, type(self).__name__)
        self.encoder, self.sequence_length = encoder, sequence_length
        self._tokenizer = tokenizer
        self.truncated_texts = 0
        name = type(self).__name__
        self._state_lock, self._predict_lock = ThreadLock(name), ThreadLock(f"{name}.predict", nested=True)
        self._compiled_lock = ThreadLock(f"fit or evaluate of {name}", nested=True)
        self._notes: set[str] = self._no_dependency(set())

    def add_head(self, outputs: int, rate: float | None = None, path: str = "classifier") -> None:
        """Make the layer from the encoder's output to logits: the task's own, or the user's of `head`.

        Args:
            outputs: Numbers that it returns for each text, or for each token.
            rate: The dropout rate of the task's own; None for no dropout.
            path: The path of the task's own that quantization policies match.
        """
        if self.head_name is None:
            head = Head(self.encoder, outputs, self.reads, path, rate)
            head.stand_in(self, self.heads[-1])
            self._head_logits = head.logits
            return
        per_token = self.reads == "sequence"
        self._set_head(OwnHead(self.encoder, self.head_name, self.head_settings, outputs, per_token))

    def _set_head(self, head: OwnHead | HeadSet) -> None:
        self.head = head
        for layer in head.unread_parts(self.encoder):
            layer.trainable = False  # no gradient reaches it

    def logits(self, inputs: dict[str, tf.Tensor], training: bool | None = None) -> tf.Tensor:
        """Compute the head's output on the encoder's.

        Args:
            inputs: Int32 tensors `(batch, length)` by input name.
            training: Whether dropout is applied.

        Returns:
            Float32 `(batch, outputs)`, or `(batch, length, outputs)` where the head reads the sequence.
        """
        own = self.head
        if own is None:
            encoded = self.encoder(inputs, training=training)
            return self._head_logits(encoded, training=training)
        encoded = self.encoder(inputs, training, output_hidden_states=True, output_attentions=True)
        return own.logits(encoded, complete_inputs(inputs)[1], training)

    def call(self, inputs: dict[str, tf.Tensor], training: bool | None = None) -> Any:
        """Compute what the loss reads: logits, or a dict of them by output name.

        Args:
            inputs: Int32 tensors `(batch, length)` by input name.
            training: Whether dropout is applied.

        Returns:
            Float32 tensors `(batch, ...)`.
        """
        return self.logits(inputs, training)

    def serve(self, inputs: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
        outputs = self(inputs, training=False)
        return outputs if isinstance(outputs, dict) else {self.output_name: self.answer(outputs)}

    def answer(self, logits: tf.Tensor) -> tf.Tensor:
        """Compute the output of the exported file from logits; most tasks return them as they are.

        Args:
            logits: Float32 `(batch, ...)`.

        Returns:
            Float32 of the same shape.
        """
        return logits

    def _create_variables(self) -> None:
        """Create all variables at once, so that weights can be loaded into a new task."""
        # Keras' `export` and `save` would fix the shape of the first call otherwise.
        self._set_save_spec({name: tf.TensorSpec((None, None), tf.int32, name=name) for name in INPUT_NAMES})
        ids = tf.zeros((1, 8), tf.int32)
        self({name: ids for name in INPUT_NAMES})

    def build_from_config(self, config: Mapping[str, Any]) -> None:
        """Do nothing: variables exist since construction. Keras would call the task with float ids.

        Args:
            config: Not used.
        """

    @property
    def soft_loss(self) -> str:
        """The loss of distillation: `softmax`, `token_softmax` (over the tokens of a row), `sigmoid` or `squared_error`."""
        processor = self.processor
        if processor.compared_as == "multi_label":
            return "sigmoid"
        if processor.compared_as in ("regression", "embedding"):
            return "squared_error"
        return "token_softmax" if processor.per_token and processor.output_rank == 2 else "softmax"

    @property
    def unserved(self) -> tuple[str, ...]:
        """Paths of Dense layers that a checkpoint stores and `serve` does not use."""
        if self.head is not None:
            return () if "pooled" in self.head.findings.reads else ("pooler",)
        return ("pooler",) if self.pools is None else ()

    @property
    def float_parts(self) -> str | None:
        """A description of the parts of `serve` without an integer form; None if an integer-only model can compute everything."""
        if self.encoder.has_loop:
            return "the loop of a BiLSTM"
        if not self.encoder.is_transformer:
            return "the mean of static vectors"
        return None if self.head_name is None else f"the head {self.head_name!r}"

    # -- settings -------------------------------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        """Tell encoder, labels, length and parameters in one line; `summary` shows the layers."""
        if "encoder" not in vars(self):  # while it is made
            return object.__repr__(self)
        labels = self.labels or ()
        named = [f"{len(labels)} labels" if len(labels) > _NAMED_LABELS else f"labels {list(labels)}"] if labels else []
        head = [] if self.head_name is None else [f"head {self.head_name}"]
        sizes = [f"{self.sequence_length} tokens a row", f"{self.count_params():,} parameters"]
        return f"{type(self).__name__}({'; '.join([repr(self.encoder), *named, *head, *sizes])})"

    def get_config(self) -> dict[str, Any]:
        encoder = {"model_type": self.config.model_type, "config": self.encoder.get_config()}
        return {
            "name": self.name,
            "encoder": encoder,
            "tokenizer": None if self._tokenizer is None else self._tokenizer.get_config(),
            "sequence_length": self.sequence_length,
            **({} if self.head_name is None else {"head": self.head_name}),
            **({"head_settings": dict(self.head_settings)} if self.head_settings else {}),
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Self:
        settings = dict(config)
        encoder = settings["encoder"]
        settings["encoder"] = encoder_class(encoder["model_type"]).from_config(encoder["config"])
        settings["tokenizer"] = tokenizer_from_config(settings["tokenizer"]) if settings["tokenizer"] else None
        return cls(**settings)

    def head_config(self) -> dict[str, Any]:
        """Return the constructor arguments beside encoder and tokenizer, as JSON-able values.

        Returns:
            The arguments by name.
        """
        return {
            name: value for name, value in self.get_config().items() if name not in ("encoder", "tokenizer", "name")
        }

    # -- folders ----------------------------------------------------------------------------------------------------------------------

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: str | os.PathLike,
        *,
        max_position_embeddings: int | None = None,
        vocab_size: int | None = None,
        adapters: int | None = None,
        layer_mix: bool | None = None,
        new_head: bool = False,
        base: str | os.PathLike | None = None,
        **settings: Any,
    ) -> Self:
        """Load a task from a checkpoint folder or the hub. An encoder without a head gets a new one, which a note says.

        A checkpoint that has a head of this task must have all of it. Tensors that are unknown are errors. Labels in another order than
        the checkpoint's move the rows of its head.

        Args:
            name_or_path: The folder, the name of an encoder of the zoo, or a name on the hub.
            max_position_embeddings: Positions to keep; by default all.
            vocab_size: Rows of the token embeddings; the last ones are removed, or new ones are added.
            adapters: Width of new adapters; see `Encoder`.
            layer_mix: Whether to add a learned weighted sum of all layers; see `Encoder`.
            new_head: Whether to make a new head where the checkpoint has one, such as for other labels. Unknown tensors behind the encoder
                are then left out, which a note says.
            base: The base model of a LoRA folder of PEFT; by default the folder that it names.
            settings: Arguments of the constructor in place of those of the folder. None keeps the folder's.

        Returns:
            The task, with the checkpoint's weights.

        Raises:
            KerasBertError: When files are damaged or do not match, or settings do not fit the checkpoint's head.
        """
        sizes = {"max_position_embeddings": max_position_embeddings, "vocab_size": vocab_size}
        options = {"adapters": adapters, "layer_mix": layer_mix}
        return from_folder(cls, name_or_path, sizes, options, new_head, base=base, **settings)

    def save_pretrained(
        self, folder: str | os.PathLike, dtype: str = "float32", shard_bytes: int | None = None
    ) -> None:
        """Write a Hugging Face folder: config.json, model.safetensors, the tokenizer's files, and kerasbert.json.

        The folder is written whole or not at all. A model that was saved there is replaced; other files in the folder stay.

        Args:
            folder: The folder.
            dtype: Type of the weights in the file, `float32` or `float16`; the latter halves the file and rounds the weights.
            shard_bytes: Largest size of a file in bytes: the weights are divided into several files with an index. None writes one file.

        Raises:
            KerasBertError: When the folder has files but no model of kerasbert; and when a weight is too large for `float16`.
        """
        save_task(self, folder, dtype, shard_bytes)

    @classmethod
    def pools_with(cls, settings: Mapping[str, Any], model_type: str) -> bool | None:
        """Return whether a task with these settings reads the encoder's pooled vector; see `pools`.

        Args:
            settings: Arguments of the constructor.
            model_type: The architecture.
        """
        return cls.pools

    @classmethod
    def settings_of(cls, config: dict[str, Any], folder: Path) -> dict[str, Any]:
        """Return the constructor arguments that a checkpoint of another library defines.

        Args:
            config: The folder's config.json.
            folder: The folder, for files beside it.

        Returns:
            The arguments by name.
        """
        return {}

    @classmethod
    def read_tokenizer(cls, folder: Path) -> Tokenizer | None:
        """Read the tokenizer of a checkpoint.

        Args:
            folder: The folder.

        Returns:
            The tokenizer; None for a folder without one.

        Raises:
            KerasBertError: When its files are damaged, or it is of a kind that is not supported.
        """
        return tokenizer_from_folder(folder) if has_tokenizer(folder) else None

    def hub_config(self) -> dict[str, Any]:
        """Return the entries about the head in Hugging Face's config.json."""
        return {}

    def write_companions(self, folder: Path) -> None:
        """Write further files that other libraries expect beside the weights.

        Args:
            folder: The folder of `save_pretrained`.
        """
