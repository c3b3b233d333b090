"""Builds `small-en`, the BERT that ships with this package, by distillation from a sentence encoder.

    python -m kerasbert.zoo.build_small --teacher all-MiniLM-L6-v2 --books books.txt.gz --texts wikitext.txt.gz \
        --cache cache/ --out zoo/small-en

The teacher's sentence embeddings are projected onto their principal components, to the student's width. The student has two outputs
with these targets: the mean of its token vectors, for use as a sentence encoder, and its pooler's output, for classifiers. Sentence
embeddings as targets: Reimers & Gurevych 2020, arXiv:2004.09813. Data augmentation by word replacement: Jiao et al. 2020 (TinyBERT),
arXiv:1909.10351.
"""

import argparse
import gzip
import hashlib
import json
import random
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kerasbert.data import assistant
from kerasbert.files.atomic import atomic_file
from kerasbert.text import WordPiece

if TYPE_CHECKING:
    from kerasbert.tasks import SentenceEncoder

HIDDEN_SIZE, LAYERS, HEADS = 128, 3, 4
MAX_LENGTH = 128  # position embeddings of the student
TRAINING_LENGTH = 32  # tokens of a text during distillation; longer texts are truncated
VOCABULARY = 8000
POOLED_SCALE = 0.4  # root mean square of the pooler's targets, inside the linear range of tanh
SHARD = 2048  # texts in a file of the cache
SEED = 20

_SENTENCE = re.compile(r"[^.!?]+[.!?]+")
_SPEECH = re.compile(r"[\"\u201c]([^\"\u201c\u201d]{6,})[\"\u201d]")
_UNCLEAN = re.compile(r"<unk>|@|[\[\]{}|_*#=]")


def main(arguments: list[str] | None = None) -> None:
    """Run the command; see the module's docstring."""
    options = _options(arguments)
    generator = random.Random(SEED)
    books = list(_lines(options.books))
    others = [line for path in options.texts for line in _lines(path)]
    requests = list(assistant.load("train").texts)
    tokenizer = WordPiece.train([*books, *others, *requests * 20], VOCABULARY, min_frequency=3)
    tokenizer = WordPiece(tokenizer.vocabulary, model_max_length=MAX_LENGTH)
    words = [token for token in tokenizer.vocabulary if token.isalpha()]
    texts = _unique(
        requests,
        words,
        _sample(_speech(books), options.speech, generator),
        _sample(_sentences(books), options.narration, generator),
        _sample(_sentences(others), options.other, generator),
        _variants(requests, words, options.variants, generator),
    )
    print(f"{len(texts)} texts, {tokenizer.vocabulary_size} tokens in the vocabulary", flush=True)
    vectors = teacher_vectors(options.teacher, texts, options.cache)
    directions = principal_directions(vectors, HIDDEN_SIZE)
    projected = vectors @ directions
    lengths = np.linalg.norm(projected, axis=1, keepdims=True)
    print(f"{lengths.mean():.3f} of a teacher vector's length is kept", flush=True)
    targets = (projected / lengths).astype(np.float32)
    student = distil(tokenizer, texts, targets, options.epochs)
    save(student, options.out)


def teacher_vectors(teacher: Path, texts: list[str], cache: Path) -> np.ndarray:
    """Compute the teacher's sentence embeddings, or read those that an earlier run cached.

    Args:
        teacher: folder of a sentence encoder.
        texts: the texts to encode.
        cache: folder of the cache, with one file for each `SHARD` texts.

    Returns:
        Unit vectors `(texts, hidden)`, float32.
    """
    import kerasbert as kb

    encoder, shards, start = None, [], time.monotonic()
    cache.mkdir(parents=True, exist_ok=True)
    for first in range(0, len(texts), SHARD):
        shard = texts[first : first + SHARD]
        path = cache / f"{hashlib.sha256(json.dumps([teacher.name, *shard]).encode()).hexdigest()[:24]}.npy"
        if not path.exists():
            encoder = encoder or kb.SentenceEncoder.from_pretrained(teacher, sequence_length=TRAINING_LENGTH)
            with atomic_file(path) as partial, open(partial, "wb") as file:
                np.save(file, encoder.predict(shard, batch_size=32).astype(np.float16))
            print(f"teacher: {first + len(shard)} of {len(texts)} texts, {time.monotonic() - start:.0f} s", flush=True)
        shards.append(np.load(path).astype(np.float32))
    return np.concatenate(shards)


def principal_directions(vectors: np.ndarray, size: int) -> np.ndarray:
    """Return the projection that preserves most of the vectors' squared length (Eckart & Young 1936).

    Args:
        vectors: `(texts, hidden)`.
        size: dimensions after the projection.

    Returns:
        Orthonormal directions `(hidden, size)`.
    """
    _, directions = np.linalg.eigh(vectors.T @ vectors)  # ascending
    return directions[:, ::-1][:, :size]


def distil(tokenizer: WordPiece, texts: list[str], targets: np.ndarray, epochs: int) -> "SentenceEncoder":
    """Train a sentence encoder whose mean vector and pooler's output approximate the targets.

    Args:
        tokenizer: the student's tokenizer.
        texts: the training texts.
        targets: unit vectors `(texts, HIDDEN_SIZE)`.
        epochs: number of epochs.
    """
    import tensorflow as tf
    import tf_keras as keras

    import kerasbert as kb
    from kerasbert.encoders import BertConfig, BertEncoder
    from kerasbert.encoders.pooling import pool

    class Student(kb.SentenceEncoder):
        """A sentence encoder with both vectors as its output, `(batch, 2, hidden)`."""

        def call(self, inputs: dict[str, tf.Tensor], training: bool | None = None, **options: Any) -> tf.Tensor:
            output = self.encoder(inputs, training=training, **options)
            mean = tf.math.l2_normalize(pool(output.sequence, inputs["attention_mask"], "mean"), axis=-1)
            return tf.stack([mean, output.pooled], axis=1)

    def distillation_loss(target: tf.Tensor, output: tf.Tensor) -> tf.Tensor:
        mean, pooled = output[:, 0], output[:, 1]
        scale = POOLED_SCALE * HIDDEN_SIZE**0.5
        cosine = tf.reduce_sum(mean * target, axis=-1)
        error = tf.reduce_sum(tf.square(pooled / scale - target), axis=-1)
        return 1.0 - cosine + error

    def cosine(target: tf.Tensor, output: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(output[:, 0] * target, axis=-1)

    def pooled_cosine(target: tf.Tensor, output: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(tf.math.l2_normalize(output[:, 1], axis=-1) * target, axis=-1)

    keras.utils.set_random_seed(SEED)
    config = BertConfig(
        vocab_size=tokenizer.vocabulary_size,
        hidden_size=HIDDEN_SIZE,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=4 * HIDDEN_SIZE,
        max_position_embeddings=MAX_LENGTH,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    student: kb.SentenceEncoder = Student(BertEncoder(config), tokenizer, sequence_length=TRAINING_LENGTH)
    _initialize_token_embeddings(student, texts, targets)
    batch = 128
    optimizer = kb.adamw(2e-3, warmup=0.05, steps=epochs * -(-len(texts) // batch))
    student.compile(optimizer, loss=distillation_loss, metrics=[cosine, pooled_cosine], jit_compile=True)
    student.fit(texts, targets, batch_size=batch, epochs=epochs, seed=SEED, verbose=2)
    return student


def _initialize_token_embeddings(student, texts: list[str], targets: np.ndarray) -> None:
    """Initialize tokens that are texts by themselves from the teacher's embedding."""
    table = student.encoder.embeddings.word.table
    target_of = dict(zip(texts, targets, strict=True))
    values = table.numpy()
    for row, token in enumerate(student.tokenizer.vocabulary):
        if token in target_of:
            values[row] = target_of[token] * 0.05 * HIDDEN_SIZE**0.5
    table.assign(values)


def save(student: "SentenceEncoder", folder: Path) -> None:
    """Write config.json, model.safetensors (float16), vocab.txt and tokenizer_config.json; other files in the folder stay."""
    from safetensors.numpy import save_file

    from kerasbert.checkpoints.name_tables import build_name_map

    config = replace(student.config, hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1)
    tensors = build_name_map(config, pooler=True).export(student.encoder.variables_by_path())
    float16_tensors = {name: np.ascontiguousarray(tensor, dtype=np.float16) for name, tensor in tensors.items()}
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_file(folder / "model.safetensors") as partial:
        save_file(float16_tensors, str(partial), metadata={"format": "pt"})
    with atomic_file(folder / "config.json") as partial:
        content = {**config.to_dict(), "architectures": ["BertModel"], "torch_dtype": "float16"}
        partial.write_text(json.dumps(content, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    student.tokenizer.save(folder)
    print(f"{sum(tensor.size for tensor in float16_tensors.values()):,} parameters in {folder}")


def _lines(path: Path) -> Iterator[str]:
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path, encoding="utf-8")
    with opened as file:
        yield from (line.strip() for line in file if line.strip())


def _speech(paragraphs: Iterable[str]) -> Iterator[str]:
    """Sentences inside quotation marks: dialogue is the text of a novel that resembles requests most."""
    for paragraph in paragraphs:
        yield from _sentences(_SPEECH.findall(paragraph), most_words=14)


def _sentences(paragraphs: Iterable[str], most_words: int = 20) -> Iterator[str]:
    for paragraph in paragraphs:
        for sentence in _SENTENCE.findall(paragraph):
            sentence = " ".join(sentence.split()).strip(" \"\u201c\u201d'-")
            if 3 <= len(sentence.split()) <= most_words and not _UNCLEAN.search(sentence):
                yield sentence


def _variants(texts: list[str], words: list[str], count: int, generator: random.Random) -> list[str]:
    """Augmented texts, in turn: halves of two texts, one word replaced, two words replaced, one word removed."""
    variants = []
    for number in range(count):
        first, second = (generator.choice(texts).split() for _ in range(2))
        kind, position = number % 4, generator.randrange(len(first))
        if kind == 0:
            variants.append([*first[: position + 1], *second[generator.randrange(len(second)) :]])
        elif kind == 3:
            variants.append([*first[:position], *first[position + 1 :]])
        else:
            for index in generator.sample(range(len(first)), min(kind, len(first))):
                first[index] = generator.choice(words)
            variants.append(first)
    return [" ".join(variant) for variant in variants if variant]


def _sample(texts: Iterable[str], count: int, generator: random.Random) -> list[str]:
    texts = list(dict.fromkeys(texts))
    return generator.sample(texts, min(count, len(texts)))


def _unique(*groups: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(text for group in groups for text in group))


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Distils a sentence encoder into the small BERT that ships here.")
    parser.add_argument(
        "--teacher", type=Path, required=True, help="folder of a sentence encoder such as all-MiniLM-L6-v2"
    )
    parser.add_argument("--books", type=Path, required=True, help="text, one paragraph a line; .gz is unpacked")
    parser.add_argument("--texts", type=Path, nargs="*", default=[], help="further texts of the same form")
    parser.add_argument("--cache", type=Path, required=True, help="where the teacher's vectors are kept between runs")
    parser.add_argument("--out", type=Path, required=True, help="the folder to write")
    parser.add_argument("--epochs", type=int, default=5)
    for name, count in (("speech", 48_000), ("narration", 10_000), ("other", 6_000), ("variants", 80_000)):
        parser.add_argument(f"--{name}", type=int, default=count, help=f"texts of this kind (default {count})")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
