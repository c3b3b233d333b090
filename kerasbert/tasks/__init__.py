"""Tasks: an encoder with a head and a tokenizer, with Keras' fit and predict."""

from kerasbert.tasks.masked_lm import MaskedLM
from kerasbert.tasks.multi_task import MultiTask
from kerasbert.tasks.multiple_choice import MultipleChoice
from kerasbert.tasks.next_sentence import NextSentencePredictor
from kerasbert.tasks.pretrainer import Pretrainer
from kerasbert.tasks.question_answerer import QuestionAnswerer
from kerasbert.tasks.replaced_token_detector import ReplacedTokenDetector
from kerasbert.tasks.sentence_encoder import SentenceEncoder
from kerasbert.tasks.text_classifier import TextClassifier
from kerasbert.tasks.token_tagger import TokenTagger

TASKS = {name: each for name, each in list(globals().items()) if isinstance(each, type)}

__all__ = [
    "MaskedLM",
    "MultiTask",
    "MultipleChoice",
    "NextSentencePredictor",
    "Pretrainer",
    "QuestionAnswerer",
    "ReplacedTokenDetector",
    "SentenceEncoder",
    "TASKS",
    "TextClassifier",
    "TokenTagger",
]
