"""Tasks: an encoder with a head and a tokenizer, under Keras' fit and predict."""

from kerasbert.tasks.sentence_encoder import SentenceEncoder
from kerasbert.tasks.text_classifier import TextClassifier

TASKS = {"TextClassifier": TextClassifier, "SentenceEncoder": SentenceEncoder}

__all__ = ["TASKS", "SentenceEncoder", "TextClassifier"]
