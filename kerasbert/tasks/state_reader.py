"""Reads what is inside an encoder for some texts: the hidden states and attentions of each layer, without padding."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import tensorflow as tf

from kerasbert.arguments import shown
from kerasbert.checkpoints.hugging_face import max_sequence_length, read_config, resolve
from kerasbert.checkpoints.sentence_modules import read_modules, root_folder
from kerasbert.console.output import note
from kerasbert.data.batching import LengthBatches, padded_length
from kerasbert.encoders.base import Encoder, EncoderOutput
from kerasbert.errors import KerasBertError
from kerasbert.files.model_folder import read_own_config
from kerasbert.ids import INPUT_NAMES
from kerasbert.processors import Features
from kerasbert.tasks.auto import load_task
from kerasbert.tasks.base import Task
from kerasbert.tasks.forks import check_not_forked
from kerasbert.tasks.pretrained import load_encoder
from kerasbert.text import Tokenizer, tokenizer_from_folder
from kerasbert.text.encoded import Encoded
from kerasbert.values import is_whole_number

Report = Callable[[int, int], None]
_FEW = 2  # batches that are computed without a trace, which takes longer than they do


class RowStates(NamedTuple):
    """What an encoder computed for one row.

    Attributes:
        row: The number of the row.
        states: The embeddings and the output of each layer, `(layers + 1, tokens, hidden)`.
        attentions: The attention probabilities of each layer, `(heads, tokens, tokens)`; none unless they were asked for.
    """

    row: int
    states: np.ndarray
    attentions: tuple[np.ndarray, ...]


@dataclass(frozen=True, eq=False)
class StateReader:
    """An encoder with its tokenizer.

    Attributes:
        encoder: The encoder; a quantized one computes with its fake quantizers.
        tokenizer: The tokenizer.
        length: Tokens in the longest row, special tokens included.
        task: The task that the encoder is of, if it has one.
        prefix: The prompt of a sentence encoder, which stands before each text.
    """

    encoder: Encoder
    tokenizer: Tokenizer
    length: int
    task: Task | None = None
    prefix: str = ""

    @classmethod
    def open(cls, model: Any) -> Self:
        """Return the reader of a task, a folder, an encoder of the zoo or a hub name.

        Args:
            model: One of these.

        Raises:
            KerasBertError: When it is something else, such as a `.tflite` file, or has no tokenizer.
        """
        if isinstance(model, Task):
            return cls(model.encoder, model.tokenizer, model.sequence_length, model, _prefix(model))
        if not isinstance(model, str | os.PathLike):
            raise KerasBertError(
                f"expected a task, a folder or a name to look inside, received {shown(model)}; load a folder with kb.load_task"
            )
        if os.path.isfile(model) or os.fspath(model).endswith(".tflite"):
            raise KerasBertError(
                f"expected a folder, received the file {os.fspath(model)!r}, which holds only its outputs and no hidden states; "
                "name the folder that it was converted from"
            )
        folder = resolve(model)
        if read_own_config(folder).get("task") or read_modules(root_folder(folder)):
            return cls.open(load_task(folder))
        encoder, tokenizer = load_encoder(folder), tokenizer_from_folder(folder)
        longest = min(encoder.config.longest, max_sequence_length(read_config(folder)))
        return cls(encoder, tokenizer, min(longest, tokenizer.model_max_length or longest))

    @property
    def layers(self) -> int:
        """The number of layers, which is that of the calls of blocks where layers share them."""
        return len(self.encoder.stack())

    def layer(self, number: Any, least: int = 0) -> int:
        """Return the number of a layer, counted from the embeddings, which are 0.

        Args:
            number: A layer; below 0 it counts from the top, -1 being the last one.
            least: 1 where the embeddings are no choice.

        Raises:
            KerasBertError: When there is no such layer.
        """
        count = self.layers
        lowest = least - count - 1
        if not is_whole_number(number, lowest, count) or lowest <= -1 < number < least:
            first = "0 (the embeddings)" if least == 0 else "1"
            raise KerasBertError(
                f"expected a layer from {first} to {count}, or from -1 (the last) to {lowest}, received {shown(number)}; name one of these"
            )
        return int(number) if number >= 0 else int(number) + count + 1

    def tokenize(self, texts: Sequence[str], pairs: Sequence[str] | None = None, limit: int | None = None) -> Encoded:
        """Tokenize texts or pairs, each behind the prompt, and print a note when some are truncated.

        Args:
            texts: The texts.
            pairs: The second text of each pair.
            limit: The most tokens of a row; None for those of the model.

        Raises:
            KerasBertError: When an entry is not a text.
        """
        limit = self.length if limit is None else min(limit, self.length)
        prompted = [self.prefix + text for text in texts] if self.prefix else texts
        encoded = self.tokenizer.encode(prompted, pairs, max_length=limit)
        if encoded.truncated:
            note(
                f"note: {encoded.truncated} of {len(encoded)} texts are too long for {limit} tokens and were truncated"
            )
        return encoded

    def read(
        self, features: Features, attentions: bool = False, batch_size: int = 32, report: Report | None = None
    ) -> Iterator[RowStates]:
        """Run the encoder, and yield what it computed for each row, the longest rows first.

        Args:
            features: The rows.
            attentions: Whether attentions are returned.
            batch_size: Rows in a batch.
            report: Called with the number of finished rows and of all rows.

        Raises:
            KerasBertError: When an id is outside the vocabulary, or a state is not finite.
        """
        check_not_forked()
        batches = LengthBatches(features.lengths, batch_size)
        run = self._function(attentions, traced=len(batches) > _FEW)
        done = 0
        for index in batches:
            length = padded_length(int(features.lengths[index].max()), self.encoder.config.longest)
            output = run(features.pack(index, length, self.encoder.config.pad_token_id))
            states = np.stack([state.numpy().astype(np.float32) for state in output.hidden_states or ()])
            found = [each.numpy().astype(np.float32) for each in output.attentions or ()]
            for place, row in enumerate(index):
                tokens = int(features.lengths[row])
                of_row = states[:, place, :tokens]
                if not np.isfinite(of_row).all():
                    raise KerasBertError(
                        f"expected finite hidden states, received NaN or infinity in row {row}; the model is damaged, or its training "
                        "diverged"
                    )
                yield RowStates(int(row), of_row, tuple(each[place, :, :tokens, :tokens] for each in found))
            done += len(index)
            if report is not None:
                report(done, len(features))

    def _function(self, attentions: bool, traced: bool) -> Callable[[dict[str, np.ndarray]], EncoderOutput]:
        def run(inputs: dict[str, tf.Tensor]) -> EncoderOutput:
            return self.encoder(inputs, training=False, output_hidden_states=True, output_attentions=attentions)

        if not traced:
            return lambda packed: run({name: tf.constant(packed[name]) for name in INPUT_NAMES})
        spec = {name: tf.TensorSpec((None, None), tf.int32) for name in INPUT_NAMES}
        function = tf.function(run, input_signature=[spec], autograph=False)
        return lambda packed: function({name: tf.constant(packed[name]) for name in INPUT_NAMES})


def _prefix(task: Task) -> str:
    try:
        return task.processor.prefix
    except KerasBertError:  # a task that reads packed inputs only
        return ""
