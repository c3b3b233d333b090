"""The sequence length that suits some data: that of its longest example, within the limits of the task and the encoder."""

from dataclasses import dataclass

from kerasbert.arguments import check_whole_number, shown
from kerasbert.data.dataset import Dataset
from kerasbert.errors import KerasBertError
from kerasbert.processors import Processor
from kerasbert.text import Tokenizer

_STEP = 16  # tokens


@dataclass(frozen=True)
class SequenceLength:
    """A sequence length, and why it was chosen.

    Attributes:
        tokens: The length.
        reason: What the data has, such as "the longest of 192 training texts has 15 tokens".

    Example:
        ```python
        from kerasbert.training import SequenceLength
        SequenceLength(16, "the longest of 192 training texts has 15 tokens").tokens  # 16
        ```
    """

    tokens: int
    reason: str


def choose_length(
    data: Dataset, processor: Processor, tokenizer: Tokenizer, length: int | None = None, limit: int | None = None
) -> SequenceLength:
    """Choose the sequence length for some training data, as `kerasbert train` does.

    It is that of the longest example, rounded up to a multiple of 16, and at most the processor's default.

    Args:
        data: The training data.
        processor: The task's processor.
        tokenizer: The tokenizer.
        length: A length that is given; the reason then tells what it means for the data.
        limit: The number of positions of the encoder; None for no limit.

    Returns:
        The length and the reason.

    Raises:
        KerasBertError: When an argument has another type, or the length is out of range.

    Example:
        ```python
        data = kb.data.read_table("train.tsv")
        chosen = kb.training.choose_length(data, task.processor, task.tokenizer)
        chosen.tokens, chosen.reason
        ```
    """
    for value, kind in ((data, Dataset), (processor, Processor), (tokenizer, Tokenizer)):
        if not isinstance(value, kind):
            raise KerasBertError(
                f"expected a kerasbert {kind.__name__} to choose a length, received {shown(value)}; pass the data, and the task's "
                "processor and tokenizer"
            )
    limit = None if limit is None else check_whole_number(limit, "limit", least=2)
    length = None if length is None else check_whole_number(length, "length", least=2, most=limit)
    most = length or min(processor.default_length, limit or processor.default_length)
    features = data.features(processor, tokenizer, most)[1]
    longest = int(features.lengths.max())
    reason = f"the longest of {len(data):,} training texts has {longest} tokens"
    if features.truncated:
        reason = f"{features.truncated:,} of {len(data):,} training texts are longer and were truncated"
    elif len(features) > len(data):
        reason = f"{len(data):,} training texts were split into {len(features):,} windows"
    return SequenceLength(length or min(-(-longest // _STEP) * _STEP, most), reason)
