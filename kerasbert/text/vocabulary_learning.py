"""Deterministic training of vocabularies."""

import io
from collections import Counter
from typing import TYPE_CHECKING

from kerasbert.errors import KerasBertError

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Engine

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ALBERT_CONTROLS = ("[CLS]", "[SEP]", "[MASK]")
_MAX_ALPHABET = 1000  # rarer characters become [UNK], as in Hugging Face's BertWordPieceTokenizer


def learn_vocabulary(engine: "Engine", texts: list[str], vocabulary_size: int, min_frequency: int) -> list[str]:
    """Learn a WordPiece vocabulary: special tokens, characters, then merges, the most frequent first.

    Args:
        engine: A `tokenizers.Tokenizer` with a normalizer and a pre-tokenizer. Its model is replaced.
        texts: The training texts.
        vocabulary_size: The maximum number of tokens.
        min_frequency: The minimum number of occurrences of a token.

    Returns:
        The tokens in the order of their ids.

    Raises:
        KerasBertError: When the texts contain no word, or `vocabulary_size` is below the number of special tokens and characters.
    """
    from tokenizers import trainers

    # All characters are passed as special tokens. Otherwise the trainer numbers them in the order of a hash table. That number breaks
    # ties between equally frequent merges, so each run would learn another vocabulary.
    first = [*SPECIAL_TOKENS, *_alphabet(engine, texts)]
    if len(first) == len(SPECIAL_TOKENS):
        raise KerasBertError(f"expected texts to learn a vocabulary from, received {len(texts)} texts without any word")
    if len(first) > vocabulary_size:
        raise KerasBertError(
            f"expected vocabulary_size of at least {len(first)}, the special tokens and the characters of these texts, "
            f"received {vocabulary_size}"
        )
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocabulary_size,
        min_frequency=min_frequency,
        special_tokens=first,
        limit_alphabet=0,
        continuing_subword_prefix="##",
        show_progress=False,
    )
    engine.train_from_iterator(texts, trainer)
    ids = engine.get_vocab()
    return sorted(ids, key=lambda token: ids[token])


def learn_sentencepiece(texts: list[str], vocabulary_size: int) -> bytes:
    """Learn a SentencePiece unigram model with ALBERT's special pieces: `<pad>`, `<unk>`, `[CLS]`, `[SEP]`, `[MASK]` as ids 0 to 4.

    Args:
        texts: The training texts, already normalized.
        vocabulary_size: The maximum number of pieces.

    Returns:
        The content of the model file.

    Raises:
        KerasBertError: When the texts contain no word, or `vocabulary_size` is below the number of special pieces and characters.
    """
    from sentencepiece import SentencePieceTrainer

    if not any(map(str.strip, texts)):
        raise KerasBertError(f"expected texts to learn a vocabulary from, received {len(texts)} texts without any word")
    model = io.BytesIO()
    try:
        SentencePieceTrainer.train(
            sentence_iterator=iter(texts),
            model_writer=model,
            model_type="unigram",
            vocab_size=vocabulary_size,
            hard_vocab_limit=False,  # fewer pieces than requested are no error
            pad_id=0,
            unk_id=1,
            bos_id=-1,
            eos_id=-1,
            control_symbols=list(ALBERT_CONTROLS),
            max_sentence_length=max(len(text.encode("utf-8")) for text in texts)
            + 1,  # the default would skip longer ones
            num_threads=1,  # fixes the order of float sums
            minloglevel=2,
        )
    except (RuntimeError, OSError) as error:
        reason = str(error).replace("\n", " ").strip()
        raise KerasBertError(
            f"expected a vocabulary_size that holds the special pieces and the characters of these texts, "
            f"received {vocabulary_size} ({reason})"
        ) from None
    return model.getvalue()


def _alphabet(engine: "Engine", texts: list[str]) -> list[str]:
    """Return all characters, and as continuations those that occur inside a word."""
    everywhere: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    for text in texts:
        for word, _ in engine.pre_tokenizer.pre_tokenize_str(engine.normalizer.normalize_str(text)):
            everywhere.update(word)
            inside.update(word[1:])
    alphabet = sorted(sorted(everywhere, key=lambda character: (-everywhere[character], character))[:_MAX_ALPHABET])
    return alphabet + [f"##{character}" for character in alphabet if character in inside]
