"""Text to the inputs of an encoder: tokenizers, and packing of one or two texts into a sequence."""

from kerasbert.text.auto import has_tokenizer, tokenizer_from_config, tokenizer_from_folder
from kerasbert.text.byte_bpe import ByteLevelBPE
from kerasbert.text.client_wordpiece import ClientWordPiece
from kerasbert.text.encoded import Encoded
from kerasbert.text.japanese import JapaneseTokenizer
from kerasbert.text.learning import learn_tokenizer
from kerasbert.text.packing import pack
from kerasbert.text.sentence_piece import SentencePiece
from kerasbert.text.tokenizer import Tokenizer
from kerasbert.text.wordpiece import WordPiece
from kerasbert.text.xlm_roberta import XlmRobertaTokenizer

__all__ = [
    "ByteLevelBPE",
    "ClientWordPiece",
    "Encoded",
    "JapaneseTokenizer",
    "SentencePiece",
    "Tokenizer",
    "WordPiece",
    "XlmRobertaTokenizer",
    "has_tokenizer",
    "learn_tokenizer",
    "pack",
    "tokenizer_from_config",
    "tokenizer_from_folder",
]
