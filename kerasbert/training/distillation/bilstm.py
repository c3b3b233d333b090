"""A BiLSTM as the student of a trained task (Tang et al. 2019)."""

import numpy as np

from kerasbert.arguments import check_flag, check_whole_number
from kerasbert.checkpoints.name_tables import head_entries
from kerasbert.encoders.bilstm import BiLstmConfig, BiLstmEncoder
from kerasbert.errors import KerasBertError
from kerasbert.tasks.base import Task, check_task


def bilstm_student(
    teacher: Task,
    units: int = 150,
    embedding_size: int | None = None,
    siamese: bool | None = None,
    pretrained_embeddings: bool = True,
    sequence_length: int | None = None,
) -> Task:
    """Return a new task of the teacher's class on a BiLSTM, with the teacher's tokenizer.

    The token embeddings begin as those of the teacher, reduced to their principal components. Everything else is new. The student learns
    by `SoftLabels`; it has no attention to compare. Its files run on the target `cpu`.

    Args:
        teacher: The teacher: a task with classes, scores, tags, choices or sentence vectors.
        units: Units of the LSTM in each direction.
        embedding_size: Width of the token embeddings; None is 128, or the teacher's if that is less.
        siamese: Whether both texts of a pair are read apart by the same weights, and compared. None is True for a teacher of pairs.
        pretrained_embeddings: Whether embeddings begin as the teacher's; else at random.
        sequence_length: The student's sequence length in tokens; None takes the teacher's.

    Returns:
        The student, in float.

    Raises:
        KerasBertError: When the task has no form on a BiLSTM, a size is out of range, the embeddings are wider than the teacher's, or the
            teacher's tokenizer does not tell the two texts of a pair apart.

    Example:
        ```python
        from kerasbert.training.distillation import Distiller, Logits, bilstm_student
        student = bilstm_student(task, units=32, embedding_size=32)
        distiller = Distiller(student, task, [Logits()], label_weight=0)
        distiller.compile(optimizer=kb.adamw(3e-3))
        ```
    """
    check_task(teacher)
    units = check_whole_number(units, "units", least=1, most=4096)
    check_flag(pretrained_embeddings, "pretrained_embeddings")
    for head in teacher.heads:
        head_entries(BiLstmConfig.model_type, head)  # raises an error for a head that it does not have
    if teacher.head is not None:
        raise KerasBertError(
            f"expected a teacher with its own head for a BiLSTM, received the head {teacher.head_name!r}"
        )
    table = teacher.encoder.embeddings.word.table.numpy()  # (V, W)
    width = min(128, table.shape[1]) if embedding_size is None else embedding_size
    most = table.shape[1] if pretrained_embeddings else 4096
    width = check_whole_number(width, "an embedding_size", least=1, most=most)
    siamese = bool(getattr(teacher, "paired", None)) if siamese is None else check_flag(siamese, "siamese")
    if siamese:
        _check_types(teacher)
    settings = teacher.head_config()
    longest = min(teacher.sequence_length, teacher.config.longest)
    settings["sequence_length"] = longest if sequence_length is None else sequence_length
    config = BiLstmConfig(
        vocab_size=table.shape[0],
        embedding_size=width,
        hidden_size=2 * units,
        max_position_embeddings=max(teacher.config.longest, settings["sequence_length"]),
        pad_token_id=teacher.config.pad_token_id,
        siamese=siamese,
    )
    encoder = BiLstmEncoder(config, None, pooler=bool(teacher.pools))
    student = type(teacher)(encoder, teacher.tokenizer if teacher.has_tokenizer else None, **settings)
    if pretrained_embeddings:
        encoder.embeddings.word.table.assign(principal_components(table, width))
    student.has_new_head = True
    return student


def principal_components(vectors: np.ndarray, width: int) -> np.ndarray:
    """Return vectors in the space of their first principal components, scaled to a variance of 1.

    Args:
        vectors: The vectors, `(rows, W)`.
        width: Number of components, at most W.

    Returns:
        `(rows, width)` float32.
    """
    centered = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    _, directions = np.linalg.eigh(centered.T @ centered)  # in rising order of their variance
    reduced = centered @ directions[:, ::-1][:, :width]
    return (reduced / max(float(reduced.std()), 1e-9)).astype(np.float32)


def _check_types(teacher: Task) -> None:
    """Check that the tokenizer marks the second text of a pair by its token types."""
    if teacher.has_tokenizer and 1 not in teacher.tokenizer.encode(["a"], ["b"], max_length=8).token_type_ids[0]:
        raise KerasBertError(
            "expected a tokenizer that marks the second text of a pair for a siamese BiLSTM, received one without token types; pass "
            "siamese=False"
        )
