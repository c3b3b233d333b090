"""Cased tokens: an encoder of lower-case text that learns to tell capital letters.

A capital letter tells a name from a word, but an uncased tokenizer drops it. Here the vocabulary gets forms with capitals. The embedding of
a form is that of its token plus a vector that all forms of its kind share. So what training learns of capitals holds for words that the
training data lack. Clients need nothing new: the tokenizer is a cased WordPiece.
"""

from collections.abc import Iterable

from kerasbert.compression.pruning.structured.matched_vocabulary import match_vocabulary
from kerasbert.compression.pruning.structured.model_surgery import check_float
from kerasbert.tasks.base import Task
from kerasbert.text.cased_forms import cased_tokenizer, strings_of


def add_cased_tokens(task: Task, texts: Iterable[str] = ()) -> Task:
    """Return a copy of a task that tells capital letters, from one with an uncased WordPiece vocabulary.

    Each token that begins a word gets a form with a first capital. A form in capitals is added if the texts have it. Ids of the present
    tokens stay. Texts without capitals are tokenized as before, with the same outputs. Others are not, so train the copy.

    Args:
        task: The task, in float.
        texts: Texts with capitals, such as those of the training data; lists of words and pairs too.

    Returns:
        The copy. Its tokenizer is cased.

    Raises:
        KerasBertError: When the task is quantized, has no WordPiece tokenizer, or has one that keeps capitals already.

    Example:
        ```python
        from kerasbert.compression.pruning.structured import add_cased_tokens
        cased = add_cased_tokens(task, ["Maria flew to LONDON"])
        cased.tokenizer.lowercase  # False
        ```
    """
    check_float(task)
    return match_vocabulary(task, cased_tokenizer(task.tokenizer, strings_of(texts)))
