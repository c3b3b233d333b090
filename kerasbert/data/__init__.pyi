from kerasbert.data.choices import read_choices as read_choices
from kerasbert.data.conll import read_conll as read_conll
from kerasbert.data.dataset import Dataset as Dataset, Table as Table, TextTable as TextTable
from kerasbert.data.duplicates import Duplicates as Duplicates, find_duplicates as find_duplicates
from kerasbert.data.glue import read_glue as read_glue, write_glue as write_glue
from kerasbert.data.labels import LabelSet as LabelSet
from kerasbert.data.plain_text import pairs_from_text as pairs_from_text, read_text as read_text
from kerasbert.data.reading import read_batches as read_batches
from kerasbert.data.squad import read_squad as read_squad
from kerasbert.data.tables import read_table as read_table
from kerasbert.data.text_stream import TextStream as TextStream
from kerasbert.data.unlabelled import with_unlabelled as with_unlabelled
