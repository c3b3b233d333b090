"""A file that takes a text instead of ids: the tokenizer is a part of its graph. Needs tensorflow-text, to make it and to run it.

tensorflow-text has two operators for TFLite that split texts as BERT does (Song et al. 2021, "Fast WordPiece Tokenization"). They fold some
letters (final sigma, "ª"), take control characters for spaces, know no special tokens in a text and count a word's bytes, where our
tokenizers follow the original in each; `GraphWordPiece` does too, of operators that TFLite has not. On ordinary text there is no
difference.
"""

import tensorflow as tf

from kerasbert.errors import KerasBertError
from kerasbert.export.tflite.metadata import TEXT
from kerasbert.ids import INPUT_NAMES
from kerasbert.layers.lowering.options import LoweringOptions
from kerasbert.tasks import SentenceEncoder, TextClassifier
from kerasbert.text.in_graph import import_tensorflow_text
from kerasbert.text.wordpiece import WordPiece

_TASKS = (TextClassifier, SentenceEncoder)


def check_text_inputs(task) -> None:
    """Raises KerasBertError for a task that asks more than one text, and a tokenizer that tensorflow-text does not have."""
    if not isinstance(task, _TASKS):
        kinds = " or ".join(kind.__name__ for kind in _TASKS)
        raise KerasBertError(f"expected a {kinds} for a file that takes texts, received a {type(task).__name__}")
    tokenizer = task.tokenizer
    if type(tokenizer) is not WordPiece:
        raise KerasBertError(
            f"expected a WordPiece tokenizer for a file that takes texts, received {type(tokenizer).__name__}"
        )
    if tokenizer.strip_accents not in (None, tokenizer.lowercase):
        raise KerasBertError(
            "expected a tokenizer that lowers texts and strips accents, or neither, for a file of texts, received one that does half"
        )
    import_tensorflow_text()


def text_function(twin, length: int, layout: LoweringOptions):
    """`serve` of one text, and its specification. A text is cut to the length."""
    tokenizer = twin.tokenizer
    pieces = import_tensorflow_text().FastBertTokenizer(
        vocab=list(tokenizer.vocabulary), unknown_token=tokenizer.unk_token, token_out_type=tf.int32,
        lower_case_nfd_strip_accents=tokenizer.lowercase,
    )  # fmt: skip

    def serve(**inputs):
        ids = pieces.tokenize(inputs[TEXT]).flat_values[: length - 2]
        row = tf.concat([[tokenizer.cls_id], ids, [tokenizer.sep_id]], 0)
        tokens = tf.shape(row)[0]
        padding = tf.fill([length - tokens], tokenizer.pad_id)
        mask = tf.cast(tf.range(length) < tokens, tf.int32)
        rows = (tf.concat([row, padding], 0), mask, tf.zeros((length,), tf.int32))
        named = {name: tf.reshape(values, (1, length)) for name, values in zip(INPUT_NAMES, rows, strict=True)}
        return twin.serve(named, layout=layout)

    return serve, {TEXT: tf.TensorSpec((1,), tf.string, name=TEXT)}
