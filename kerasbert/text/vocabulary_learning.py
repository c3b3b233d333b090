"""Vocabularies learned from texts, the same ones for the same texts on every run."""

import io
from collections import Counter

from kerasbert.errors import KerasBertError

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ALBERT_CONTROLS = ("[CLS]", "[SEP]", "[MASK]")
_LARGEST_ALPHABET = 1000  # rarer characters become [UNK]; that of Hugging Face's BertWordPieceTokenizer


def learn_vocabulary(engine, texts: list[str], vocabulary_size: int, min_frequency: int) -> list[str]:
    """The tokens of a WordPiece vocabulary: the special ones, the characters, then merges, the most frequent first.

    Args:
      engine: a `tokenizers.Tokenizer` that holds the text normalization and word splitting; its model is replaced.
      texts: what to learn from.
      vocabulary_size: the most tokens to return.
      min_frequency: how often a piece must occur to become a token.

    Raises:
      KerasBertError: texts without a word, or fewer tokens asked for than the special ones and the characters.
    """
    from tokenizers import trainers

    # Named one by one: left to itself the trainer numbers characters in the order of a hash table, and that number
    # decides between equally frequent merges, so every run would learn another vocabulary.
    first = [*SPECIAL_TOKENS, *_alphabet(engine, texts)]
    if len(first) == len(SPECIAL_TOKENS):
        raise KerasBertError(f"expected texts to learn a vocabulary from, received {len(texts)} rows without a word")
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
    return sorted(ids, key=ids.get)


def learn_sentencepiece(texts: list[str], vocabulary_size: int) -> bytes:
    """The file of a SentencePiece unigram model with ALBERT's special pieces: `<pad>`, `<unk>`, `[CLS]`, `[SEP]`,
    `[MASK]` are the ids 0 to 4.

    Args:
      texts: what to learn from, lowered and so on already.
      vocabulary_size: the most pieces to end with.

    Raises:
      KerasBertError: texts without a word, or fewer pieces asked for than the special ones and the characters.
    """
    from sentencepiece import SentencePieceTrainer

    if not any(map(str.strip, texts)):
        raise KerasBertError(f"expected texts to learn a vocabulary from, received {len(texts)} rows without a word")
    model = io.BytesIO()
    try:
        SentencePieceTrainer.train(
            sentence_iterator=iter(texts),
            model_writer=model,
            model_type="unigram",
            vocab_size=vocabulary_size,
            hard_vocab_limit=False,  # fewer pieces than asked for are no error
            pad_id=0,
            unk_id=1,
            bos_id=-1,
            eos_id=-1,
            control_symbols=list(ALBERT_CONTROLS),
            max_sentence_length=max(len(text.encode("utf-8")) for text in texts) + 1,  # longer ones would be left out
            num_threads=1,  # sums of floats in one order
            minloglevel=2,
        )
    except (RuntimeError, OSError) as error:
        reason = str(error).replace("\n", " ").strip()
        raise KerasBertError(
            f"expected a vocabulary_size that holds the special pieces and the characters of these texts, "
            f"received {vocabulary_size} ({reason})"
        ) from None
    return model.getvalue()


def _alphabet(engine, texts: list[str]) -> list[str]:
    """Every character, alone and, if it occurs there, as the continuation of a word."""
    everywhere, inside = Counter(), Counter()
    for text in texts:
        for word, _ in engine.pre_tokenizer.pre_tokenize_str(engine.normalizer.normalize_str(text)):
            everywhere.update(word)
            inside.update(word[1:])
    kept = sorted(sorted(everywhere, key=lambda character: (-everywhere[character], character))[:_LARGEST_ALPHABET])
    return kept + [f"##{character}" for character in kept if character in inside]
