"""The bundled data set: short English assistant utterances with an intent and BIO slot tags.

How it was made, what the labels mean and what a bag-of-words baseline scores: README.md in this folder.
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
"""Every tag that may occur, outside first: the label list of a token tagger."""

SOURCES = ("template", "written", "paraphrase")
"""Made from a template; written by hand like it; written by hand for the test split, unlike every template."""


@dataclass(frozen=True)
class AssistantSplit:
    """One split; the five tuples run in parallel, one entry an utterance.

    `tokens[i]` are the words and punctuation marks of `texts[i]` in order, `tags[i]` one BIO tag for each of them.
    """

    texts: tuple[str, ...]
    intents: tuple[str, ...]
    tokens: tuple[tuple[str, ...], ...]
    tags: tuple[tuple[str, ...], ...]
    sources: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.texts)

    def with_source(self, source: str) -> "AssistantSplit":
        """The utterances of one of `SOURCES`, such as the hand-written paraphrases of the test split.

        Raises:
          KerasBertError: `source` is not in `SOURCES`.
        """
        if source not in SOURCES:
            raise KerasBertError(f"expected a source out of {', '.join(SOURCES)}, received {source!r}")
        keep = [i for i, own in enumerate(self.sources) if own == source]
        columns = (self.texts, self.intents, self.tokens, self.tags, self.sources)
        return AssistantSplit(*(tuple(column[i] for i in keep) for column in columns))


def path(split: str) -> Path:
    """The JSON-lines file of a split, for commands that take a file name.

    Raises:
      KerasBertError: `split` is not in `SPLITS`.
    """
    if split not in SPLITS:
        raise KerasBertError(f"expected a split out of {', '.join(SPLITS)}, received {split!r}")
    return Path(str(resources.files(__name__) / f"{split}.jsonl"))


def load(split: str) -> AssistantSplit:
    """Reads a split in its fixed, shuffled order.

    Raises:
      KerasBertError: `split` is not in `SPLITS`.
    """
    rows = read_json_lines(path(split))
    return AssistantSplit(
        texts=tuple(row["text"] for row in rows),
        intents=tuple(row["intent"] for row in rows),
        tokens=tuple(tuple(row["tokens"]) for row in rows),
        tags=tuple(tuple(row["tags"]) for row in rows),
        sources=tuple(row["source"] for row in rows),
    )
