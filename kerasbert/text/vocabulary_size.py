"""Comparison of the size of a vocabulary with that of the token embeddings."""

from kerasbert.console.output import note
from kerasbert.errors import KerasBertError

# Embeddings are padded to a multiple of 8 to 128 for tensor cores, and Megatron pads to 128 times up to 8 GPUs. The 30,522 tokens of
# bert-base are padded to 30,528 (64), 30,592 (128) or 30,720 (1,024) rows. No such padding adds 1,024 rows. A vocabulary that lacks that
# many tokens was truncated, or belongs to another checkpoint: all missing tokens would silently become [UNK] or pieces. If it lacks fewer,
# and the number of rows is no such multiple, it may have lost its last lines or its added tokens. That is worth a note, but no error.
PADDINGS = (8, 16, 32, 64, 128, 256, 512, 1024)
_noted: set[tuple[int, int]] = set()  # pairs of sizes


def check_vocabulary_size(size: int, rows: int, where: object = "the model") -> None:
    """Check that a vocabulary and the token embeddings belong together.

    A small difference that is not padding is noted on stderr, once for each pair of sizes.

    Args:
        size: Number of tokens, added ones included.
        rows: Rows of the token embeddings, `vocab_size` of config.json.
        where: The model or file; the message begins with it.

    Raises:
        KerasBertError: When there are more tokens than rows, or at least 1,024 rows without a token.
    """
    if size > rows:
        raise KerasBertError(
            f"{where}: expected a vocabulary of at most {rows} tokens (vocab_size of config.json), received {size}: the vocabulary belongs "
            "to another checkpoint; copy the checkpoint's own"
        )
    if rows - size >= PADDINGS[-1]:
        raise KerasBertError(
            f"{where}: expected a vocabulary of {rows} tokens (vocab_size of config.json), received {size}: it was cut short, or belongs "
            f"to another checkpoint; copy the checkpoint's own, or cut the token embeddings to it with "
            f"from_pretrained(..., vocab_size={size})"
        )
    if (
        rows != size
        and not any(-(-size // padding) * padding == rows for padding in PADDINGS)
        and (size, rows) not in _noted
    ):
        _noted.add((size, rows))
        note(
            f"note: {where}: {rows - size:,} of the {rows:,} rows of the token embeddings have no token in the vocabulary; is it complete?"
        )
