"""Whether a file of one length pads much, and which lengths would not."""

import numpy as np

from kerasbert.export.tflite.metadata import IDS, Metadata

_LENGTHS = (16, 32, 64, 128, 256)  # that are proposed beside the file's own
_LONG = 64  # tokens, from where on a file pads much of short texts
_ROWS = 32  # fewer are done at once in any case
_WORTH = 2.0  # times the work
_SHARE = 0.1  # of the rows, that a length must be for


def padding_note(card: Metadata, tokens: np.ndarray) -> str:
    """A line for users whose texts are much shorter than the one length of their file; empty where they are not, or are few.

    Args:
        card: the file's; its length may be its target's choice, or its graph's.
        tokens: in each row, (rows,).
    """
    length = card.sequence_length
    if length is None or card.lengths or card.target != "cpu" or card.inputs != IDS or len(tokens) < _ROWS:
        return ""
    lengths = better_lengths(tokens, length)
    needed = np.take(lengths, np.searchsorted(lengths, np.minimum(tokens, length)))
    times = len(tokens) * length / needed.sum()
    if times < _WORTH:
        return ""
    listed = ",".join(map(str, lengths))
    return (
        f"note: the file runs every text at {length} tokens, {times:.1f} times what these need (median {int(np.median(tokens))}); a file "
        f"converted with --length {listed} runs each at the shortest that it fits"
    )


def length_note(card: Metadata) -> str:
    """A line for users who convert a model to its one long length; empty for a file that pads little, or whose target has one length."""
    length = card.sequence_length
    if length is None or card.lengths or card.target != "cpu" or card.inputs != IDS or length < _LONG:
        return ""
    listed = ",".join(str(each) for each in (*(each for each in _LENGTHS if _LONG // 2 <= each < length), length))
    return (
        f"note: the file runs every text at {length} tokens; with --length {listed} it runs each at the shortest that it fits, and is "
        "little larger"
    )


def better_lengths(tokens: np.ndarray, length: int) -> list[int]:
    """Rising lengths up to that of the file, each the shortest for at least a tenth of the rows."""
    found, covered = [], 0.0
    for each in (each for each in _LENGTHS if each < length):
        share = float(np.mean(tokens <= each))
        if share - covered > _SHARE - 1e-9:
            found.append(each)
            covered = share
    return [*found, length]
