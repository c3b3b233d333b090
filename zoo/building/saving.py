"""Writes a trained student as an encoder of the zoo: a sentence encoder's folder, in float16, in small files.

The numbers are rounded to seven significant bits first. A file's size stays the same, but a wheel compresses it to three quarters. The
rounding is finer than that of int8 weights: at most 0.8 % of a number, and not of the largest number of its row.
"""

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kerasbert.files.training_recommendation import Recommendation

if TYPE_CHECKING:
    from kerasbert.zoo.building.students import Student

SHARD_BYTES = 9_800_000  # of tensors in a file, which stays below 10 MB
SIGNIFICANT_BITS = 7
DROPOUT = 0.1  # for fine-tuning; the distillation has none


def save_encoder(
    student: "Student", folder: str | os.PathLike, name: str = "", fine_tuning: Recommendation | None = None
) -> dict[str, int]:
    """Write a student's folder.

    Args:
        student: The trained student.
        folder: The folder.
        name: The name of the encoder.
        fine_tuning: What suits fine-tuning, or None.

    Returns:
        Numbers of `parameters` and `shards`.

    Raises:
        KerasBertError: When the folder has files but no model of kerasbert.
    """
    import kerasbert as kb

    config = student.config.with_dropout(DROPOUT) if student.encoder.is_transformer else student.config
    encoder = type(student.encoder)(config, None, pooler=True)
    plain = kb.SentenceEncoder(encoder, student.tokenizer, sequence_length=student.sequence_length)
    weights = student.variables_by_path()
    for path, variable in plain.variables_by_path().items():
        variable.assign(round_weights(weights[path].numpy()))
    if fine_tuning:
        plain.recommended = replace(fine_tuning, source=name)
    plain.save_pretrained(folder, dtype="float16", shard_bytes=SHARD_BYTES)
    parameters = sum(variable.numpy().size for variable in weights.values())
    return {
        "parameters": parameters,
        "shards": len([name for name in os.listdir(folder) if name.endswith(".safetensors")]),
    }


def round_weights(weights: np.ndarray) -> np.ndarray:
    """Round numbers to `SIGNIFICANT_BITS` significant bits.

    Args:
        weights: Numbers of any shape.
    """
    mantissas, exponents = np.frexp(weights.astype(np.float32))
    return np.ldexp(np.rint(np.ldexp(mantissas, SIGNIFICANT_BITS)), exponents - SIGNIFICANT_BITS)
