"""Lowers a task to a file that takes a text instead of ids, with the tokenizer in its graph. Needs tensorflow-text to build and to run it.

tensorflow-text has two TFLite operators that split texts as BERT does (Song et al. 2021, "Fast WordPiece Tokenization"). They differ from
the original in details: some letters are folded (final sigma, "ª"), control characters are blanks, special tokens in a text are unknown,
and the length of a word is counted in bytes. `kerasbert.text` follows the original. So does `GraphWordPiece`, whose operators TFLite lacks.
On ordinary text there is no difference.
"""

from collections.abc import Callable

import tensorflow as tf

from kerasbert.errors import KerasBertError
from kerasbert.export.tflite.metadata import TEXT
from kerasbert.ids import INPUT_NAMES
from kerasbert.tasks import SentenceEncoder, TextClassifier
from kerasbert.tasks.base import Task
from kerasbert.text.in_graph import import_tensorflow_text
from kerasbert.text.wordpiece import WordPiece

_TASKS = (TextClassifier, SentenceEncoder)


def check_text_inputs(task: Task) -> None:
    """Check that a task can become a file that takes texts.

    Raises:
        KerasBertError: when the task takes more than one text or has a default prompt, when its tokenizer has no counterpart in
            tensorflow-text, and when tensorflow-text is not installed.
    """
    advice = "convert it with inputs of ids"
    if not isinstance(task, _TASKS):
        kinds = " or ".join(kind.__name__ for kind in _TASKS)
        raise KerasBertError(
            f"expected a {kinds} for a file that takes texts, received a {type(task).__name__}; {advice}"
        )
    tokenizer = task.tokenizer
    if type(tokenizer) is not WordPiece:
        raise KerasBertError(
            f"expected a WordPiece tokenizer for a file that takes texts, received {type(tokenizer).__name__}; {advice}"
        )
    if tokenizer.strip_accents not in (None, tokenizer.lowercase):
        raise KerasBertError(
            "expected a tokenizer that lowercases and strips accents, or neither, for a file that takes texts, received one that does half "
            f"of it; {advice}"
        )
    if task.processor.prefix:
        raise KerasBertError(
            f"expected a model without default prompt for a file that takes texts, received {task.processor.prefix[:40]!r}; {advice}"
        )
    import_tensorflow_text()


def text_function(twin: Task, length: int) -> tuple[Callable, dict[str, tf.TensorSpec]]:
    """Build the function `serve` of one text, which is cut to `length` tokens.

    Returns:
        The function and the specification of its inputs.
    """
    tokenizer = twin.tokenizer
    if not isinstance(tokenizer, WordPiece):
        raise KerasBertError(
            f"expected a WordPiece tokenizer for a file that takes texts, received {type(tokenizer).__name__}; "
            "convert it with inputs of ids"
        )
    graph_tokenizer = import_tensorflow_text().FastBertTokenizer(
        vocab=list(tokenizer.vocabulary), unknown_token=tokenizer.unk_token, token_out_type=tf.int32,
        lower_case_nfd_strip_accents=tokenizer.lowercase,
    )  # fmt: skip

    def serve(**inputs: tf.Tensor) -> dict[str, tf.Tensor]:
        pieces = graph_tokenizer.tokenize(inputs[TEXT]).flat_values[: length - 2]
        ids = tf.concat([[tokenizer.cls_id], pieces, [tokenizer.sep_id]], 0)
        tokens = tf.shape(ids)[0]
        padding = tf.fill([length - tokens], tokenizer.pad_id)
        mask = tf.cast(tf.range(length) < tokens, tf.int32)
        arrays = (tf.concat([ids, padding], 0), mask, tf.zeros((length,), tf.int32))
        model_inputs = {name: tf.reshape(array, (1, length)) for name, array in zip(INPUT_NAMES, arrays, strict=True)}
        return twin.serve(model_inputs)

    return serve, {TEXT: tf.TensorSpec((1,), tf.string, name=TEXT)}
