"""Students with a smaller vocabulary and other widths than their teacher's."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from kerasbert.arguments import check_whole_number
from kerasbert.errors import KerasBertError
from kerasbert.tasks.masked_lm import MaskedLM
from kerasbert.text import WordPiece
from kerasbert.text.corpus import Corpus
from kerasbert.text.vocabulary_learning import SPECIAL_TOKENS, counted_words, learn_wordpiece
from kerasbert.training.distill_config import VOCABULARY_SIZE

_ROLES = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")  # of `SPECIAL_TOKENS`, in their order


def small_vocabulary_student(
    teacher: MaskedLM,
    texts: Sequence[str],
    vocabulary_size: int = VOCABULARY_SIZE,
    hidden_size: int | None = None,
    layers: int | None = None,
) -> MaskedLM:
    """Return a language model of the teacher's architecture with new weights, a vocabulary learned from texts, and smaller sizes.

    Words are split as the teacher's tokenizer splits them. The feed-forward networks shrink with the hidden size, and heads keep about
    their size. Train it with `DualVocabulary`.

    Args:
        teacher: The teacher, with a WordPiece tokenizer.
        texts: The texts from which the vocabulary is learned.
        vocabulary_size: The maximum number of tokens, the five special ones included.
        hidden_size: The hidden size; None for half of the teacher's.
        layers: The number of layers; None for the teacher's.

    Returns:
        The student.

    Raises:
        KerasBertError: When the teacher's tokenizer is of another kind, a size is above the teacher's, or the vocabulary is too small for
            the characters of the texts.

    Example:
        ```python
        from kerasbert.training.distillation import small_vocabulary_student
        teacher = kb.MaskedLM(encoder, task.tokenizer, sequence_length=32)
        student = small_vocabulary_student(teacher, texts, vocabulary_size=200, hidden_size=32)
        student.tokenizer, student.config.hidden_size
        ```
    """
    if not isinstance(teacher, MaskedLM):
        raise KerasBertError(
            f"expected a kb.MaskedLM as the teacher of a small vocabulary, received {type(teacher).__name__}; load the folder as one"
        )
    config = teacher.config
    hidden_size = config.hidden_size // 2 if hidden_size is None else hidden_size
    layers = config.num_hidden_layers if layers is None else layers
    check_whole_number(hidden_size, "hidden_size", most=config.hidden_size)
    check_whole_number(layers, "layers", most=config.num_hidden_layers)
    tokenizer = small_vocabulary(teacher.tokenizer, texts, vocabulary_size)
    sizes = {
        "vocab_size": tokenizer.vocabulary_size,
        "pad_token_id": tokenizer.pad_id,
        "hidden_size": hidden_size,
        "num_hidden_layers": layers,
    }
    student = type(teacher.encoder)(_resized(config, sizes), None, pooler=teacher.encoder.pools)
    settings: dict[str, Any] = teacher.head_config()
    return MaskedLM(student, tokenizer, **settings)


def small_vocabulary(tokenizer: Any, texts: Sequence[str], size: int) -> WordPiece:
    """Learn a smaller WordPiece vocabulary for the words of a tokenizer.

    Args:
        tokenizer: A WordPiece tokenizer.
        texts: The texts.
        size: The maximum number of tokens.

    Returns:
        A tokenizer with the same special tokens and rules for words.

    Raises:
        KerasBertError: When the tokenizer is of another kind, or the size is too small or not below its own.
    """
    if type(tokenizer) is not WordPiece:
        raise KerasBertError(
            f"expected a teacher with a WordPiece tokenizer, received {type(tokenizer).__name__}; choose another teacher"
        )
    if check_whole_number(size, "vocabulary_size") >= tokenizer.vocabulary_size:
        raise KerasBertError(
            f"expected a vocabulary_size below the teacher's {tokenizer.vocabulary_size:,} tokens, received {size:,}; lower it"
        )
    rules: Any = {name: getattr(tokenizer, name) for name in WordPiece.flags.values()}
    untrained, corpus = WordPiece(SPECIAL_TOKENS, **rules), Corpus(texts)
    words = counted_words(untrained._engine, corpus.pieces(untrained._word_ends))
    corpus.check_words(words)
    learned = learn_wordpiece(words, size, min_frequency=2)
    if all(len(token.removeprefix("##")) == 1 for token in learned[len(SPECIAL_TOKENS) :]):
        raise KerasBertError(
            f"expected texts in which words repeat, received {corpus.count:,}, of which only characters were learned as tokens; give more "
            "texts, or a larger vocabulary_size"
        )
    names = [getattr(tokenizer, role) for role in _ROLES]
    return WordPiece(
        [*names, *(token for token in learned[len(names) :] if token not in names)],
        **rules,
        **dict(zip(_ROLES, names, strict=True)),
    )


def _resized(config: Any, sizes: dict[str, int]) -> Any:
    """Return a config with other sizes; those that depend on the hidden size follow it."""
    hidden, before = sizes["hidden_size"], config.hidden_size
    changes: dict[str, Any] = dict(sizes)
    if hidden != before and not hasattr(config, "intra_bottleneck_size"):
        changes["intermediate_size"] = max(1, config.intermediate_size * hidden // before)
        width = before / config.num_attention_heads
        divisors = [heads for heads in range(1, hidden + 1) if hidden % heads == 0]
        changes["num_attention_heads"] = min(divisors, key=lambda heads: abs(hidden / heads - width))
    if hasattr(config, "embedding_size"):
        changes["embedding_size"] = hidden if config.embedding_size == before else min(config.embedding_size, hidden)
    return dataclasses.replace(config, **changes)
