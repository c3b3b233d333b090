"""What every task has: text in, Keras in the middle, folders on disk."""

import hashlib
import sys
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras as keras

from kerasbert.encoders import encoder_class
from kerasbert.encoders.base import INPUT_NAMES, Encoder, named_variables
from kerasbert.errors import KerasBertError
from kerasbert.ids import check_ids
from kerasbert.layers.graph import TRAINING_LAYOUT, GraphLayout
from kerasbert.layers.points import QuantizationPolicy
from kerasbert.problems import Problem, Reading, Rows, problem_named
from kerasbert.tasks import inputs as task_inputs
from kerasbert.text import Tokenizer, tokenizer_from_config

DEFAULT_LENGTH = 128  # tokens


class Task(keras.Model):
    """An encoder, a head and the tokenizer that feeds them (None: packed inputs only).

    sequence_length: the longest row in tokens, special ones included; by default 128, or what the encoder has positions for.

    `fit`, `evaluate`, `predict` and `score` take the task's examples as users hold them (see the task), a table of `kerasbert.data`,
    packed inputs (a dict of int32 arrays (rows, length)) or a `tf.data.Dataset` of packed inputs or of texts. What examples, answers and
    metrics are is the task's problem: see `kerasbert.problems`.
    """

    output_name: str  # of the exported file; where there are several, of the one that packed inputs give
    problem: str  # what it is asked and answers: a name of kerasbert.problems
    arrays: bool = False  # whether `predict` gives texts' outputs as one array instead of readable answers
    labels: tuple[str, ...] | None = None
    architecture: str  # what Hugging Face's class name for this task ends in
    not_for: tuple[str, ...] = ()  # model types whose checkpoints of that name are another task's
    heads: tuple[str, ...] = ()  # heads that a checkpoint may hold, by attribute
    labelled: bool = False  # whether its first head has one output a label
    pools: bool | None = False  # whether it needs the encoder's pooled vector; None: as the checkpoint has it
    per_token: bool = False  # one output a token: packed inputs are predicted at the length of `sequence_length`
    unserved: tuple[str, ...] = ()  # denses that a checkpoint holds and `serve` does not reach

    def __init__(self, encoder: Encoder, tokenizer: Tokenizer | None, sequence_length: int | None = None, **kwargs):
        super().__init__(**kwargs)
        longest = encoder.config.longest
        sequence_length = min(DEFAULT_LENGTH, longest) if sequence_length is None else sequence_length
        if not 3 <= sequence_length <= longest:
            raise KerasBertError(
                f"expected a sequence_length from 3 to {longest} (the positions of this model), received {sequence_length}"
            )
        if tokenizer is not None and tokenizer.vocabulary_size > encoder.config.vocab_size:
            raise KerasBertError(
                f"expected a vocabulary of at most {encoder.config.vocab_size} words (vocab_size of config.json), received "
                f"{tokenizer.vocabulary_size}: the vocabulary belongs to another checkpoint"
            )
        self.encoder, self.sequence_length = encoder, sequence_length
        self._tokenizer = tokenizer
        self.truncated_texts = 0

    def _create_variables(self):
        """Variables exist from the start, so that weights can be loaded into a new task."""
        ids = tf.zeros((1, 8), tf.int32)
        self({name: ids for name in INPUT_NAMES})

    def build_from_config(self, config):
        """Nothing to do: variables exist since construction (Keras would call the task with float ids)."""

    @property
    def tokenizer(self) -> Tokenizer:
        """What turns texts into ids. Raises KerasBertError for a task that was made without one."""
        if self._tokenizer is None:
            raise KerasBertError(
                "expected packed inputs, received texts: this model came without a tokenizer (vocab.txt, tokenizer.json, spiece.model, "
                "or vocab.json with merges.txt)"
            )
        return self._tokenizer

    @property
    def has_tokenizer(self) -> bool:
        return self._tokenizer is not None

    @property
    def config(self):
        """The encoder's config."""
        return self.encoder.config

    @property
    def policy(self) -> QuantizationPolicy | None:
        """What is held in 8 bits while training, or None."""
        return self.encoder.policy

    # -- text -> ids -----------------------------------------------------------------------------------------------------------------

    def encode(self, texts, pairs=None):
        """Tokenizes texts, cut to `sequence_length`; says once a call how many were cut."""
        encoded = self.tokenizer.encode(texts, pairs, max_length=self.sequence_length)
        self.truncated_texts += encoded.truncated
        return encoded

    def pack(self, texts, pairs=None, length: int | None = None) -> dict[str, np.ndarray]:
        """int32 arrays `input_ids`, `attention_mask`, `token_type_ids` of shape (rows, length); by default `sequence_length`."""
        from kerasbert.text import pack

        length = length or self.sequence_length
        encoded = self.tokenizer.encode(texts, pairs, max_length=length)
        return pack(encoded, length=length, pad_id=self.tokenizer.pad_id)

    # -- the model -------------------------------------------------------------------------------------------------------------------

    def serve(self, inputs, layout: GraphLayout = TRAINING_LAYOUT) -> dict[str, tf.Tensor]:
        """What a user reads, under the exported file's output name; float32."""
        raise NotImplementedError

    def _serving(self):
        """`serve`, traced once for batches of every size and length."""
        if not hasattr(self, "_served"):
            spec = {name: tf.TensorSpec((None, None), tf.int32) for name in INPUT_NAMES}
            self._served = tf.function(lambda inputs: self.serve(inputs), input_signature=[spec])
        return self._served

    def forget_traces(self) -> None:
        """Has the model traced anew when it next predicts: what a quantization point does is fixed in a trace."""
        self.predict_function = None
        for name in ("_served", "_served_places"):
            if hasattr(self, name):
                delattr(self, name)

    def serve_numpy(self, packed: dict[str, np.ndarray], batch_size: int = 32) -> dict[str, np.ndarray]:
        """`serve` over packed arrays of one length, in batches."""
        check_ids(packed["input_ids"], self.config.vocab_size, type(self).__name__)
        rows = len(packed["input_ids"])
        parts = [
            self._serving()({name: tf.constant(packed[name][i : i + batch_size]) for name in INPUT_NAMES})
            for i in range(0, rows, batch_size)
        ]
        return {name: np.concatenate([part[name].numpy() for part in parts]) for name in parts[0]}

    def predict_step(self, data):
        return self.serve(data[0] if isinstance(data, tuple) else data)[self.output_name]

    # -- examples -> rows -> answers -------------------------------------------------------------------------------------------------

    @property
    def asks(self) -> Problem:
        """What this task is asked and answers."""
        return problem_named(self.problem, self.labels, self.problem_settings())

    def problem_settings(self) -> dict:
        """The problem's own settings, JSON-able."""
        return {}

    def rows(self, x, scoring: bool = False) -> tuple[list | None, Rows]:
        """Examples and token rows of what a user hands over; of packed inputs there are no examples. Says how many texts were cut.

        scoring: the rows by which the problem's `scores` go.
        """
        if task_inputs.is_packed(x):
            return None, task_inputs.packed_rows(self, x)
        examples = self.asks.examples(x.x if is_table(x) else x)
        if not examples:
            raise KerasBertError("expected at least one text, received none")
        make = self.asks.scoring_rows if scoring else self.asks.rows
        rows = make(examples, self.tokenizer, self.sequence_length)
        self.truncated_texts += rows.truncated
        if rows.truncated:
            print(
                f"note: {rows.truncated} of {len(examples)} texts are longer than {self.sequence_length} tokens and were cut",
                file=sys.stderr,
            )
        return examples, rows

    def readings(self, rows: Rows, batch_size: int = 32, report=None) -> list[Reading]:
        """What the problem keeps of the outputs of each row, in their order. report: called with (rows done, all rows)."""
        data, order = task_inputs.batches(self, rows, batch_size=batch_size, inputs_only=True)
        done = 0
        found: list[Reading] = [{}] * len(rows)
        for (inputs, *_), index in zip(data, order, strict=True):
            for row, reading in zip(index, self._read(inputs, rows, index), strict=True):
                found[row] = reading
            done += len(index)
            if report is not None:
                report(done, len(rows))
        return found

    def _read(self, inputs: dict[str, tf.Tensor], rows: Rows, index: np.ndarray) -> list[Reading]:
        """What the problem keeps of the outputs of one batch: of the rows numbered `index`, packed as `inputs`."""
        problem = self.asks
        outputs = {
            name: self._by_row(values.numpy(), rows.group) for name, values in self._serving()(_flat(inputs)).items()
        }
        return [
            problem.read({name: values[place] for name, values in outputs.items()}, rows, int(row))
            for place, row in enumerate(index)
        ]

    @staticmethod
    def _by_row(values: np.ndarray, group: int) -> np.ndarray:
        """(rows * group, ...) -> (rows, ...), with a group axis behind the first where a row has several token lists."""
        return values if group == 1 else values.reshape(-1, group, *values.shape[1:])

    def answer(self, x, batch_size: int | None = None, report=None) -> list:
        """Readable answers, one an example, JSON-able: what `kerasbert predict` prints."""
        examples, rows = self._examples(x)
        return self.asks.answers(examples, rows, self.readings(rows, batch_size or 32, report))

    def score(self, x, y=None, batch_size: int | None = None, report=None) -> dict[str, float]:
        """The task's own metrics by name (accuracy, entity F1, exact match, ...), over whole texts; the first one is the main one."""
        examples, rows = self._examples(x, scoring=True)
        y = x.y if y is None and is_table(x) else y
        if y is None and not self.asks.self_supervised:
            raise KerasBertError("expected labels to score answers by, received none")
        return self.asks.scores(y, examples, rows, self.readings(rows, batch_size or 32, report))

    def _examples(self, x, scoring: bool = False) -> tuple[list, Rows]:
        examples, rows = self.rows(x, scoring)
        if examples is None:
            raise KerasBertError("expected texts, received packed inputs: they have outputs (`predict`) and no answers")
        return examples, rows

    # -- Keras on texts --------------------------------------------------------------------------------------------------------------

    def encode_labels(self, y) -> np.ndarray:
        """Labels of texts with one row each as the loss wants them."""
        return self.asks.targets(y, range(len(y)), Rows(None, np.arange(len(y))))

    def default_loss(self) -> Any:
        raise NotImplementedError

    def default_metrics(self) -> list:
        return []

    def targets(self, y, examples, rows: Rows):
        """What the loss wants of each row, see `Problem.targets`; None where there is nothing to learn from."""
        return None if y is None else self.asks.targets(y, examples, rows)

    def compile(self, optimizer="adam", loss=None, metrics=None, **kwargs):
        """Keras' compile; loss and metrics default to the task's own. An optimizer of `kb.adamw` gets to know the parts of this task."""
        inner = getattr(optimizer, "inner_optimizer", optimizer)  # of a loss scale's, under mixed precision
        if hasattr(inner, "bind"):
            inner.bind(self)
        super().compile(
            optimizer=optimizer, loss=self.default_loss() if loss is None else loss,
            metrics=self.default_metrics() if metrics is None else metrics, **kwargs,
        )  # fmt: skip

    def get_compile_config(self):
        """What `compile` was given, and what was frozen: for a `.keras` file."""
        from kerasbert.training.freezing import frozen_paths

        config, frozen = super().get_compile_config(), frozen_paths(self)
        return {**config, "frozen": frozen} if config and frozen else config

    def compile_from_config(self, config):
        """Compiles a loaded task as the saved one was."""
        from kerasbert.training.freezing import freeze_paths

        config = dict(config)
        freeze_paths(self, config.pop("frozen", ()))
        self.compile(**keras.saving.deserialize_keras_object(config))
        if self.optimizer is not None:
            self.optimizer.build(self.trainable_variables)

    def dataset(self, x, y=None, batch_size: int = 32, shuffle: bool = False, sample_weight=None, seed: int = 0):
        """A `tf.data.Dataset` of what `fit` is fed: texts tokenized once, batches of rows of like length, padded only to their longest.

        shuffle: another order at each pass, fixed by `seed`. Elements: packed inputs, then targets and sample weights where there are any.
        """
        return self._dataset(x, y, batch_size, shuffle, sample_weight, seed)

    def fit(
        self,
        x=None,
        y=None,
        batch_size=None,
        epochs=1,
        shuffle=True,
        validation_data=None,
        sample_weight=None,
        seed=None,
        start=None,
        **kwargs,
    ):
        """Keras' fit. Rows of like length share a batch; `seed` fixes their order (default: from NumPy's global generator).

        start: the epoch and the batch in it to begin with, both from 0 on, for a training that goes on where it stopped.
        """
        size = batch_size or 32
        seed = int(np.random.randint(2**31)) if seed is None else seed
        start = start or (kwargs.get("initial_epoch", 0), 0)
        data = self._dataset(x, y, size, shuffle, sample_weight, seed, start)
        if isinstance(data.element_spec, dict):
            raise KerasBertError("expected labels for the texts, received none")
        if validation_data is not None:
            alone = not isinstance(validation_data, tuple | list) or isinstance(validation_data[0], str)
            parts = (validation_data, None) if alone else tuple(validation_data)
            weights = parts[2] if len(parts) > 2 else None
            batch = kwargs.pop("validation_batch_size", None) or size
            validation_data = self._dataset(parts[0], parts[1], batch, sample_weight=weights)
        self._start = start
        return super().fit(data, epochs=epochs, validation_data=validation_data, **kwargs)

    def _maybe_load_initial_counters_from_ckpt(self, steps_per_epoch, initial_epoch):
        """Where Keras begins to count; it asks for the sake of its own recovery of workers."""
        return self._start

    def evaluate(self, x=None, y=None, batch_size=None, sample_weight=None, **kwargs):
        """Keras' evaluate: the loss and the compiled metrics. See `score` for the task's own."""
        return super().evaluate(self._dataset(x, y, batch_size or 32, sample_weight=sample_weight), **kwargs)

    def predict(self, x, batch_size=None, verbose=0, **kwargs):
        """Of texts: answers in their order, or for a task with one output vector a text an array of them. Of packed inputs and datasets:
        the output `output_name` of the exported file; see `serve`.
        """
        if isinstance(x, tf.data.Dataset):
            return super().predict(self._dataset(x, None, batch_size or 32), verbose=verbose, **kwargs)
        if not (self.arrays or task_inputs.is_packed(x)):
            return self.answer(x, batch_size)
        _, rows = self.rows(x)
        data, order = task_inputs.batches(
            self, rows, batch_size=batch_size or 32, full=self.per_token, inputs_only=True
        )
        results = super().predict(data, verbose=verbose, **kwargs)
        restored = np.empty_like(results)
        restored[order.order] = results
        return restored

    def _dataset(self, x, y, batch_size, shuffle=False, sample_weight=None, seed=0, start=(0, 0)) -> tf.data.Dataset:
        if isinstance(x, tf.data.Dataset):
            return task_inputs.tokenized(self, x, batch_size) if task_inputs.is_string_dataset(x) else x
        y = x.y if y is None and is_table(x) else y
        examples, rows = self.rows(x)
        if examples is None:
            examples = rows.example
        targets = self.targets(y, examples, rows)
        data, _ = task_inputs.batches(
            self, rows, targets, sample_weight, batch_size=batch_size, shuffle=shuffle, seed=seed, start=start
        )
        return data if len(data.element_spec) > 1 else data.map(lambda inputs: inputs)

    # -- saving ----------------------------------------------------------------------------------------------------------------------

    def variables_by_path(self) -> dict[str, tf.Variable]:
        """Every trained variable by attribute path, such as `encoder.layers.0.attention.query.kernel`."""
        return {path: v for path, v in named_variables(self).items() if v.trainable}

    def fingerprint(self) -> str:
        """Sixteen hex digits that change when any trained weight does."""
        digest = hashlib.sha256()
        for path, variable in sorted(self.variables_by_path().items()):
            digest.update(path.encode() + variable.numpy().tobytes())
        return digest.hexdigest()[:16]

    def get_config(self):
        encoder = {"model_type": self.config.model_type, "config": self.encoder.get_config()}
        return {
            "name": self.name,
            "encoder": encoder,
            "tokenizer": self._tokenizer.get_config() if self.has_tokenizer else None,
            "sequence_length": self.sequence_length,
        }

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        encoder = config["encoder"]
        config["encoder"] = encoder_class(encoder["model_type"]).from_config(encoder["config"])
        config["tokenizer"] = tokenizer_from_config(config["tokenizer"]) if config["tokenizer"] else None
        return cls(**config)

    def head_config(self) -> dict:
        """The constructor arguments beside encoder and tokenizer, JSON-able."""
        return {
            name: value for name, value in self.get_config().items() if name not in ("encoder", "tokenizer", "name")
        }

    def with_policy(self, policy: QuantizationPolicy | None) -> "Task":
        """The same task with the same weights (copied) under another quantization policy; ranges start empty."""
        config = self.get_config()
        config["encoder"]["config"]["policy"] = policy.get_config() if policy else None
        other = type(self).from_config(config)
        mine = self.variables_by_path()
        for path, variable in other.variables_by_path().items():
            variable.assign(mine[path])
        return other

    @classmethod
    def from_pretrained(
        cls,
        name_or_path,
        *,
        max_position_embeddings: int | None = None,
        vocab_size: int | None = None,
        adapters: int | None = None,
        layer_mix: bool | None = None,
        **settings,
    ):
        """From a checkpoint folder or a hub name. What the folder does not say of the head (`labels`, ...) comes from `settings`.

        max_position_embeddings: cuts the position table. vocab_size: cuts the word table, or adds rows with new values.
        adapters, layer_mix: see `Encoder`; new ones where the checkpoint has none.

        Raises KerasBertError for damaged or mismatching files, and settings that do not fit the checkpoint's head.
        """
        from kerasbert.tasks.folders import from_folder

        sizes = {"max_position_embeddings": max_position_embeddings, "vocab_size": vocab_size}
        return from_folder(cls, name_or_path, sizes, {"adapters": adapters, "layer_mix": layer_mix}, **settings)

    @classmethod
    def settings_of(cls, config: dict, folder) -> dict:
        """Constructor arguments that a foreign checkpoint folder tells: its config.json and what lies beside it."""
        return {}

    def hub_config(self) -> dict:
        """What Hugging Face's config.json says about the head."""
        return {}

    def write_companions(self, folder) -> None:
        """Further files that other programs expect beside the weights."""

    def save_pretrained(self, folder) -> None:
        """Writes a Hugging Face folder: config.json, model.safetensors, the tokenizer's files, and our kerasbert.json."""
        from kerasbert.tasks.folders import save_task

        save_task(self, folder)


def is_table(x) -> bool:
    """True for a table of `kerasbert.data`: examples as `x`, labels or None as `y`."""
    return hasattr(x, "x") and hasattr(x, "y") and hasattr(x, "describe")


def _flat(inputs: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    """(rows, group, length) -> (rows * group, length): what `serve`, like the exported file, takes."""
    return {name: tf.reshape(values, (-1, tf.shape(values)[-1])) for name, values in inputs.items()}
