"""Writes a trained student as an encoder of the zoo: a sentence encoder's folder, in float16, in small files.

The numbers are rounded to bfloat16's eight significant bits first. A file's size stays the same, but a wheel compresses it to five sixths.
"""

import os
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kerasbert.zoo.building.students import Student

SHARD_BYTES = 9_800_000  # of tensors in a file, which stays below 10 MB
DROPOUT = 0.1  # for fine-tuning; the distillation has none


def save_encoder(student: "Student", folder: str | os.PathLike) -> dict[str, int]:
    """Write a student's folder.

    Args:
        student: The trained student.
        folder: The folder.

    Returns:
        Numbers of `parameters` and `shards`.

    Raises:
        KerasBertError: When the folder has files but no model of kerasbert.
    """
    import tensorflow as tf

    import kerasbert as kb

    config = replace(student.config, hidden_dropout_prob=DROPOUT, attention_probs_dropout_prob=DROPOUT)
    encoder = type(student.encoder)(config, None, pooler=True)
    plain = kb.SentenceEncoder(encoder, student.tokenizer, sequence_length=student.sequence_length)
    weights = student.variables_by_path()
    for path, variable in plain.variables_by_path().items():
        variable.assign(tf.cast(tf.cast(weights[path], tf.bfloat16), tf.float32))
    plain.save_pretrained(folder, dtype="float16", shard_bytes=SHARD_BYTES)
    parameters = sum(variable.numpy().size for variable in weights.values())
    return {
        "parameters": parameters,
        "shards": len([name for name in os.listdir(folder) if name.endswith(".safetensors")]),
    }
