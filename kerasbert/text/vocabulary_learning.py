"""Deterministic training of vocabularies from counted words, sampled sentences and streamed texts."""

import io
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import parse_json

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Engine

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ALBERT_CONTROLS = ("[CLS]", "[SEP]", "[MASK]")
ROBERTA_TOKENS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")  # ids 0 to 3 are those of the published checkpoints
# Rarer characters become [UNK]: those behind the most frequent 1,000, as in Hugging Face's BertWordPieceTokenizer. Chinese and Japanese
# have more, and keep those that make up this share of the text, as SentencePiece's `character_coverage` does.
_ALPHABET, _COVERAGE = 1000, 0.9995
_REPEATED = 10_000  # words of one text for the trainer


def counted_words(engine: "Engine", texts: Iterable[str]) -> Counter[str]:
    """Count the words that a tokenizer looks up.

    Args:
        engine: A `tokenizers.Tokenizer` with a normalizer and a pre-tokenizer that splits at white space.
        texts: The texts. None is kept.
    """
    chunks: Counter[str] = Counter()
    for text in texts:
        chunks.update(engine.normalizer.normalize_str(text).split())
    words: Counter[str] = Counter()
    for chunk, count in chunks.items():
        for word, _ in engine.pre_tokenizer.pre_tokenize_str(chunk):
            words[word] += count
    return words


def learn_wordpiece(words: Counter[str], vocabulary_size: int, min_frequency: int) -> list[str]:
    """Learn a WordPiece vocabulary: special tokens, characters, then merges, the most frequent first.

    Args:
        words: The number of occurrences of each word. None contains white space.
        vocabulary_size: The maximum number of tokens.
        min_frequency: The minimum number of occurrences of a token.

    Returns:
        The tokens in the order of their ids.

    Raises:
        KerasBertError: When `vocabulary_size` is below the number of special tokens and characters.
    """
    import tokenizers
    from tokenizers import models, pre_tokenizers, trainers

    # All characters are passed as special tokens. Otherwise the trainer numbers them in the order of a hash table. That number breaks
    # ties between equally frequent merges, so each run would learn another vocabulary.
    alphabet, inside = frequent_characters(words), {character for word in words for character in word[1:]}
    first = [*SPECIAL_TOKENS, *alphabet, *(f"##{character}" for character in alphabet if character in inside)]
    check_size(vocabulary_size, len(first))
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocabulary_size,
        min_frequency=min_frequency,
        special_tokens=first,
        limit_alphabet=0,
        continuing_subword_prefix="##",
        show_progress=False,
    )
    engine = tokenizers.Tokenizer(models.WordPiece(unk_token=SPECIAL_TOKENS[1]))
    engine.pre_tokenizer = pre_tokenizers.CharDelimiterSplit(" ")
    engine.train_from_iterator(_repeated(words), trainer)
    ids = engine.get_vocab()
    return sorted(ids, key=lambda token: ids[token])


def learn_characters(words: Counter[str], vocabulary_size: int) -> list[str]:
    """Return a vocabulary of special tokens and characters.

    Args:
        words: The number of occurrences of each word.
        vocabulary_size: The maximum number of tokens.

    Raises:
        KerasBertError: When `vocabulary_size` is below the number of special tokens and characters.
    """
    vocabulary = [*SPECIAL_TOKENS, *frequent_characters(words)]
    check_size(vocabulary_size, len(vocabulary))
    return vocabulary


def frequent_characters(words: Counter[str]) -> list[str]:
    """Return the most frequent characters of words: 1,000, or the more that make up 99.95 % of the text; sorted.

    Args:
        words: The number of occurrences of each word.
    """
    counts: Counter[str] = Counter()
    for word, count in words.items():
        for character in word:
            counts[character] += count
    left, total = counts.total(), counts.total()
    kept = []
    for character in sorted(counts, key=lambda character: (-counts[character], character)):
        if len(kept) >= _ALPHABET and left <= (1 - _COVERAGE) * total:
            break
        kept.append(character)
        left -= counts[character]
    return sorted(kept)


def check_size(vocabulary_size: int, least: int) -> None:
    """Check the size of a vocabulary.

    Raises:
        KerasBertError: When it is below the number of special tokens and characters.
    """
    if least > vocabulary_size:
        raise KerasBertError(
            f"expected vocabulary_size of at least {least}, the special tokens and the characters of these texts, "
            f"received {vocabulary_size}"
        )


def learn_byte_pairs(
    engine: "Engine", texts: Iterable[str], vocabulary_size: int, min_frequency: int
) -> tuple[list[str], list[str]]:
    """Learn byte-level pairs with RoBERTa's special tokens: `<s>`, `<pad>`, `</s>`, `<unk>`, `<mask>` as ids 0 to 4, then the bytes.

    Args:
        engine: A `tokenizers.Tokenizer` with the pre-tokenizer. Its model is replaced.
        texts: The texts. None is kept: the trainer counts words.
        vocabulary_size: The maximum number of tokens.
        min_frequency: The minimum number of occurrences of a pair.

    Returns:
        The tokens in the order of their ids, and the merges in the order of their ranks, "left right" each.

    Raises:
        KerasBertError: When `vocabulary_size` is below the number of special tokens and bytes.
    """
    from tokenizers import pre_tokenizers, trainers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    check_size(vocabulary_size, len(ROBERTA_TOKENS) + len(alphabet))
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary_size,
        min_frequency=min_frequency,
        special_tokens=list(ROBERTA_TOKENS),
        initial_alphabet=alphabet,
        show_progress=False,
    )
    engine.train_from_iterator(texts, trainer)
    model = parse_json(engine.to_str(), "the learned tokenizer")["model"]
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]]
    return sorted(model["vocab"], key=model["vocab"].__getitem__), merges


def learn_sentencepiece(texts: list[str], vocabulary_size: int) -> bytes:
    """Learn a SentencePiece unigram model with ALBERT's special pieces: `<pad>`, `<unk>`, `[CLS]`, `[SEP]`, `[MASK]` as ids 0 to 4.

    Args:
        texts: The training texts, already normalized, one of them with a word.
        vocabulary_size: The maximum number of pieces.

    Returns:
        The content of the model file.

    Raises:
        KerasBertError: When `vocabulary_size` is below the number of special pieces and characters.
    """
    from sentencepiece import SentencePieceTrainer

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


def _repeated(words: Counter[str]) -> Iterator[str]:
    """Yield texts in which each word occurs as often as it was counted: the trainer takes no counts."""
    for word, count in words.items():
        for start in range(0, count, _REPEATED):
            yield f"{word} " * min(_REPEATED, count - start)
