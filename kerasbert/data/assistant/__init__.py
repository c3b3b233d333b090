"""The bundled data set: short English assistant utterances with an intent and BIO slot tags.

README.md in this folder describes its construction, its labels and a bag-of-words baseline.
"""

from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import read_json_lines

SPLITS = ("train", "dev", "test")

INTENTS = (
    "call_contact",
    "change_volume",
    "control_lights",
    "create_reminder",
    "get_directions",
    "get_weather",
    "play_music",
    "send_message",
    "set_alarm",
    "set_timer",
)

SLOTS = (
    "artist",
    "city",
    "color",
    "contact",
    "date",
    "device",
    "duration",
    "genre",
    "level",
    "message",
    "place",
    "room",
    "song",
    "task",
    "time",
)

TAGS = ("O", *(f"{prefix}-{slot}" for slot in SLOTS for prefix in "BI"))
"""All tags, `O` first: the label list of a token classifier."""

SOURCES = ("template", "written", "paraphrase")
"""Generated from a template; written by hand in its style; written by hand for the test split, unlike any template."""


@dataclass(frozen=True)
class AssistantSplit:
    """One split as parallel tuples with one entry for each utterance.

    Attributes:
        texts: The utterances.
        intents: The intent of each utterance, one of `INTENTS`.
        tokens: The words and punctuation marks of each utterance in order.
        tags: One BIO tag for each token.
        sources: The origin of each utterance, one of `SOURCES`.

    Example:
        ```python
        from kerasbert.data import assistant
        test = assistant.load("test")
        test.texts[0], test.intents[0], test.tokens[0], test.tags[0]
        ```
    """

    texts: tuple[str, ...]
    intents: tuple[str, ...]
    tokens: tuple[tuple[str, ...], ...]
    tags: tuple[tuple[str, ...], ...]
    sources: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.texts)

    def with_source(self, source: str) -> "AssistantSplit":
        """Return the utterances of one source, such as the hand-written paraphrases of the test split.

        Args:
            source: One of `SOURCES`.

        Raises:
            KerasBertError: When `source` is not in `SOURCES`.
        """
        if source not in SOURCES:
            raise KerasBertError(f"expected a source out of {', '.join(SOURCES)}, received {source!r}")
        indices = [i for i, candidate in enumerate(self.sources) if candidate == source]
        return AssistantSplit(
            texts=tuple(self.texts[i] for i in indices),
            intents=tuple(self.intents[i] for i in indices),
            tokens=tuple(self.tokens[i] for i in indices),
            tags=tuple(self.tags[i] for i in indices),
            sources=tuple(self.sources[i] for i in indices),
        )


def path(split: str) -> Path:
    """Return the JSON Lines file of a split, for commands that take a file name.

    Args:
        split: `train`, `dev` or `test`.

    Returns:
        The path.

    Raises:
        KerasBertError: When `split` is not in `SPLITS`.

    Example:
        ```python
        from kerasbert.data import assistant
        data = kb.data.read_table(assistant.path("dev"), label="intent")
        ```
    """
    if split not in SPLITS:
        raise KerasBertError(f"expected a split out of {', '.join(SPLITS)}, received {split!r}")
    return Path(str(resources.files(__name__) / f"{split}.jsonl"))


def load(split: str) -> AssistantSplit:
    """Read a split in its fixed, shuffled order.

    Args:
        split: `train`, `dev` or `test`.

    Returns:
        The utterances of the split.

    Raises:
        KerasBertError: When `split` is not in `SPLITS`.

    Example:
        ```python
        from kerasbert.data import assistant
        train = assistant.load("train")
        len(train), sorted(set(train.intents))
        ```
    """
    rows = read_json_lines(path(split))
    return AssistantSplit(
        texts=tuple(row["text"] for row in rows),
        intents=tuple(row["intent"] for row in rows),
        tokens=tuple(tuple(row["tokens"]) for row in rows),
        tags=tuple(tuple(row["tags"]) for row in rows),
        sources=tuple(row["source"] for row in rows),
    )
