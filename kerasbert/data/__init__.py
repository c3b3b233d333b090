"""Files to examples with labels, labels to numbers, batches of like length, and the bundled data set."""

from kerasbert.data.choices import read_choices
from kerasbert.data.conll import read_conll
from kerasbert.data.glue import read_glue
from kerasbert.data.labels import LabelSet
from kerasbert.data.plain_text import pairs_from_text, read_text
from kerasbert.data.squad import read_squad
from kerasbert.data.table import Table
from kerasbert.data.tables import TextTable, read_table

__all__ = [
    "LabelSet",
    "Table",
    "TextTable",
    "pairs_from_text",
    "read_choices",
    "read_conll",
    "read_glue",
    "read_squad",
    "read_table",
    "read_text",
]
