"""Notes about padding: whether a file of one length pads much, and which lengths would pad less."""

import numpy as np

from kerasbert.export.lowering.targets import target_of_file
from kerasbert.export.tflite.metadata import IDS, Metadata

_LENGTHS = (16, 32, 64, 128, 256)  # suggested beside the file's own
_LONG = 64  # tokens from which on a file pads short texts much
_MIN_ROWS = 32  # with fewer rows, speed does not matter
_MIN_FACTOR = 2.0  # of needless work, for a note
_MIN_SHARE = 0.1  # of the rows, for a suggested length


def padding_note(metadata: Metadata, tokens: np.ndarray) -> str:
    """Return a note for users whose texts are much shorter than the one length of their file; empty for others, and for few texts.

    Args:
        metadata: The file's metadata. Files with several lengths, and of targets with one length only, need no note.
        tokens: The number of tokens in each row, `(rows,)`.
    """
    length = metadata.sequence_length
    if length is None or not _could_have_lengths(metadata) or len(tokens) < _MIN_ROWS:
        return ""
    lengths = better_lengths(tokens, length)
    needed = np.take(lengths, np.searchsorted(lengths, np.minimum(tokens, length)))
    factor = len(tokens) * length / needed.sum()
    if factor < _MIN_FACTOR:
        return ""
    names = ",".join(map(str, lengths))
    return (
        f"note: the file runs every text at {length} tokens, {factor:.1f} times what these need (median {int(np.median(tokens))}); a file "
        f"converted with --length {names} runs each at the shortest that it fits"
    )


def length_note(metadata: Metadata) -> str:
    """Return a note for users who convert a model to one long length; empty for a short one, and for targets with one length only."""
    length = metadata.sequence_length
    if length is None or not _could_have_lengths(metadata) or length < _LONG:
        return ""
    names = ",".join(str(each) for each in (*(each for each in _LENGTHS if _LONG // 2 <= each < length), length))
    return (
        f"note: the file runs every text at {length} tokens; with --length {names} it runs each at the shortest that it fits, and is "
        "little larger"
    )


def better_lengths(tokens: np.ndarray, length: int) -> list[int]:
    """Return rising lengths up to that of the file, each the shortest for at least a tenth of the rows."""
    lengths, covered = [], 0.0
    for each in (each for each in _LENGTHS if each < length):
        share = float(np.mean(tokens <= each))
        if share - covered > _MIN_SHARE - 1e-9:
            lengths.append(each)
            covered = share
    return [*lengths, length]


def _could_have_lengths(metadata: Metadata) -> bool:
    target = target_of_file(metadata.target)
    return not metadata.lengths and target is not None and target.resizable is not None and metadata.inputs == IDS
