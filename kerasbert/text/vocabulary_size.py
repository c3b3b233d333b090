"""Whether a vocabulary and a word table belong together, by their sizes."""

from kerasbert.console.output import note
from kerasbert.errors import KerasBertError

# Tables are padded to a multiple of 8 to 128 for tensor cores, and of 128 times up to 8 GPUs by Megatron: bert-base's 30,522 words stand in
# 30,528 rows (64), 30,592 (128) or 30,720 (1,024). No such padding adds 1,024 rows. A vocabulary that lacks more was cut short or is
# another checkpoint's, and every word that it lacks becomes [UNK] or pieces, without an error anywhere. One that lacks fewer and
# fits no multiple may have lost its last lines, or its added tokens: that is worth a line, not a refusal.
PADDINGS = (8, 16, 32, 64, 128, 256, 512, 1024)


def check_vocabulary_size(size: int, rows: int, where: object = "the model") -> None:
    """Notes on stderr, once for each pair of sizes, that a vocabulary is shorter than its word table without being padded.

    Args:
      size: the words of the vocabulary, added tokens included.
      rows: the rows of the word table, `vocab_size` of config.json.
      where: what they belong to; the message begins with it.

    Raises:
      KerasBertError: more words than rows, or at least 1,024 rows without a word.
    """
    if size > rows:
        raise KerasBertError(
            f"{where}: expected a vocabulary of at most {rows} words (vocab_size of config.json), received {size}: the vocabulary belongs "
            "to another checkpoint"
        )
    if rows - size >= PADDINGS[-1]:
        raise KerasBertError(
            f"{where}: expected a vocabulary of {rows} words (vocab_size of config.json), received {size}: it was cut short, or belongs to "
            f"another checkpoint; copy the checkpoint's own, or cut the word table to it with from_pretrained(..., vocab_size={size})"
        )
    if (
        rows != size
        and not any(-(-size // padding) * padding == rows for padding in PADDINGS)
        and (size, rows) not in _told
    ):
        _told.add((size, rows))
        note(
            f"note: {where}: {rows - size:,} of the {rows:,} rows of the word table have no word in the vocabulary; is it whole?"
        )


_told: set[tuple[int, int]] = set()
