"""Readers from files to labelled examples, label encoding, batching by length, and the bundled data set."""

from kerasbert.data.choices import read_choices
from kerasbert.data.conll import read_conll
from kerasbert.data.dataset import Dataset
from kerasbert.data.duplicates import Duplicates, find_duplicates
from kerasbert.data.glue import read_glue
from kerasbert.data.labels import LabelSet
from kerasbert.data.plain_text import pairs_from_text, read_text
from kerasbert.data.reading import read_batches
from kerasbert.data.squad import read_squad
from kerasbert.data.tables import read_table

Table = TextTable = Dataset  # names of its earlier forms

__all__ = [
    "Dataset",
    "Duplicates",
    "LabelSet",
    "Table",
    "TextTable",
    "find_duplicates",
    "pairs_from_text",
    "read_batches",
    "read_choices",
    "read_conll",
    "read_glue",
    "read_squad",
    "read_table",
    "read_text",
]
