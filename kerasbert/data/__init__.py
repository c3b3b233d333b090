"""Rows of text from files, labels to numbers, batches of like length, and the bundled data set."""

from kerasbert.data.labels import LabelSet
from kerasbert.data.tables import TextTable, read_table

__all__ = ["LabelSet", "TextTable", "read_table"]
