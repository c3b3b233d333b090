from kerasbert import (
    compression as compression,
    data as data,
    encoders as encoders,
    export as export,
    plots as plots,
    text as text,
    training as training,
    zoo as zoo,
)
from kerasbert.console.strictness import strict as strict
from kerasbert.errors import KerasBertError as KerasBertError
from kerasbert.export.runtime.opening import open as open
from kerasbert.few_shot.classifier import FewShotClassifier as FewShotClassifier
from kerasbert.heads.registry import register_head as register_head
from kerasbert.memory import keep_memory as keep_memory
from kerasbert.retrieval.chunks import chunks as chunks
from kerasbert.retrieval.text_index import Added as Added, TextIndex as TextIndex
from kerasbert.tasks import (
    MaskedLM as MaskedLM,
    MultipleChoice as MultipleChoice,
    MultiTask as MultiTask,
    NextSentencePredictor as NextSentencePredictor,
    Pretrainer as Pretrainer,
    QuestionAnswerer as QuestionAnswerer,
    ReplacedTokenDetector as ReplacedTokenDetector,
    SentenceEncoder as SentenceEncoder,
    TextClassifier as TextClassifier,
    TokenTagger as TokenTagger,
)
from kerasbert.tasks.adapters import (
    load_adapters as load_adapters,
    save_adapters as save_adapters,
    train_adapters as train_adapters,
)
from kerasbert.tasks.auto import load_task as load_task
from kerasbert.tasks.layer_vectors import TokenVectors as TokenVectors, layer_vectors as layer_vectors
from kerasbert.tasks.pretrained import load_encoder as load_encoder
from kerasbert.training import adamw as adamw

__version__: str
