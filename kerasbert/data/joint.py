"""Texts with the labels of several heads from JSON Lines: an object for each text."""

from pathlib import Path

from kerasbert.arguments import argument
from kerasbert.console.strictness import unknown
from kerasbert.data.bad_rows import BadRows
from kerasbert.data.dataset import Dataset
from kerasbert.data.file_options import FileOptions
from kerasbert.data.limits import check_max_rows
from kerasbert.data.records import data_suffix, read_objects
from kerasbert.errors import KerasBertError

_TEXTS = ("text", "words", "tokens")  # keys of the text or its words, in the order of preference
_NUMBERS_OF_ROWS = ("guid", "id", "idx", "index")  # keys that are no labels unless they are named


def read_joint(path: Path, options: FileOptions) -> Dataset:
    """Read texts, or lists of words, with the labels of each head: a name, or a list of tags.

    Args:
        path: A file `.jsonl`, also compressed as `.gz`.
        options: `text_column` and `label_column` name keys; by default `text` or `words`, and all other keys of the first row but numbers
            of rows. A note names keys that are not read.

    Returns:
        A dataset whose labels are a dict for each text.

    Raises:
        KerasBertError: When the file is of another kind, has no row, or a row lacks a key.
    """
    path = Path(path)
    if data_suffix(path) not in (".jsonl", ".json"):
        raise KerasBertError(
            f"{path}: expected JSON Lines for several heads, received a file of another kind; write one object a line, such as "
            '{"text": "fly to Lima", "intent": "travel", "slots": ["O", "O", "B-place"]}'
        )
    for name, value in (
        ("pair", options.pair_column),
        ("delimiter", options.delimiter),
        ("label_separator", options.label_separator),
    ):
        if value is not None:
            raise KerasBertError(
                f"{path}: expected keys of a text and its labels only, received {value!r}; leave out {argument(name)}"
            )
    check_max_rows(options.max_rows)
    unread: dict[str, None] = {}
    bad, x, y, lines = BadRows(path, options.skip_bad_rows), [], [], []
    names = options.label_column
    heads = names.split(",") if isinstance(names, str) else None
    text = options.text_column
    for number, record in read_objects(path, bad, options.encoding):
        text = text or next((key for key in _TEXTS if key in record), _TEXTS[0])
        heads = heads or [key for key in record if key != text and key.lower() not in _NUMBERS_OF_ROWS]
        unread |= dict.fromkeys(key for key in record if key not in (text, *heads))
        if missing := [key for key in (text, *heads) if key not in record]:
            bad.refuse(number, f"expected an object with {missing[0]!r}, received {', '.join(map(str, record))[:60]}")
            continue
        x.append(record[text])
        y.append({name: record[name] for name in heads})
        lines.append(number)
        if options.max_rows is not None and len(x) == options.max_rows:
            break
    if not x:
        raise KerasBertError(f"{path}: expected rows, received none")
    if unread and options.label_column is None:
        names = ", ".join(repr(key) for key in list(unread)[:3]) + (
            f" and {len(unread) - 3} more" if len(unread) > 3 else ""
        )
        unknown(
            path, f"keys of {text} and {', '.join(heads or ())}", f"{names} (read with {argument('label')})", "left out"
        )
    return Dataset(path, x, y if heads else None, lines=lines, bad=bad)
