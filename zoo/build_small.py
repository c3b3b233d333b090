"""Builds `small-en`, the BERT that ships with this package, by distilling a sentence encoder into it.

    python -m kerasbert.zoo.build_small --teacher all-MiniLM-L6-v2 --books books.txt.gz --texts wikitext.txt.gz \
        --cache cache/ --out zoo/small-en

The teacher's vectors of all texts are brought down to the student's width by their own principal directions. The
student learns to give them twice: as the mean of its token vectors (so that it works as a sentence encoder) and as its
pooler's output (so that a classifier starts from something useful). Sentence embeddings as targets: Reimers & Gurevych
2020, arXiv:2004.09813; texts made by replacing words: Jiao et al. 2020 (TinyBERT), arXiv:1909.10351.
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

import numpy as np

from kerasbert.data import assistant
from kerasbert.files.atomic import atomic_file
from kerasbert.text import WordPiece

HIDDEN_SIZE, LAYERS, HEADS = 128, 3, 4
LONGEST = 128  # tokens the student has positions for
TRAINED_LENGTH = 32  # tokens a text is cut to while distilling
VOCABULARY = 8000
POOLED_SCALE = 0.4  # root mean square of the pooler's targets: well inside tanh's straight part
SHARD = 2048  # texts a file of the cache
SEED = 20

_SENTENCE = re.compile(r"[^.!?]+[.!?]+")
_SPEECH = re.compile(r"[\"\u201c]([^\"\u201c\u201d]{6,})[\"\u201d]")
_UNCLEAN = re.compile(r"<unk>|@|[\[\]{}|_*#=]")


def main(arguments: list[str] | None = None) -> None:
    """The command; see the module's docstring."""
    options = _options(arguments)
    random_numbers = random.Random(SEED)
    books = list(_lines(options.books))
    others = [line for path in options.texts for line in _lines(path)]
    own = list(assistant.load("train").texts)
    tokenizer = WordPiece.train([*books, *others, *own * 20], VOCABULARY, min_frequency=3)
    tokenizer = WordPiece(tokenizer.vocabulary, model_max_length=LONGEST)
    words = [token for token in tokenizer.vocabulary if token.isalpha()]
    texts = _unique(
        own,
        words,
        _sample(_speech(books), options.speech, random_numbers),
        _sample(_sentences(books), options.narration, random_numbers),
        _sample(_sentences(others), options.other, random_numbers),
        _variants(own, words, options.variants, random_numbers),
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
    """(rows, H) float32 vectors of length 1. What an earlier run wrote to `cache` for the same texts is read there."""
    import kerasbert as kb

    encoder, shards, start = None, [], time.monotonic()
    cache.mkdir(parents=True, exist_ok=True)
    for first in range(0, len(texts), SHARD):
        shard = texts[first : first + SHARD]
        path = cache / f"{hashlib.sha256(json.dumps([teacher.name, *shard]).encode()).hexdigest()[:24]}.npy"
        if not path.exists():
            encoder = encoder or kb.SentenceEncoder.from_pretrained(teacher, sequence_length=TRAINED_LENGTH)
            with atomic_file(path) as partial, open(partial, "wb") as file:
                np.save(file, encoder.predict(shard, batch_size=32).astype(np.float16))
            print(f"teacher: {first + len(shard)} of {len(texts)} texts, {time.monotonic() - start:.0f} s", flush=True)
        shards.append(np.load(path).astype(np.float32))
    return np.concatenate(shards)


def principal_directions(vectors: np.ndarray, size: int) -> np.ndarray:
    """(H, size) orthonormal: the projection that keeps most of the vectors' squared length (Eckart & Young 1936)."""
    _, directions = np.linalg.eigh(vectors.T @ vectors)  # ascending
    return directions[:, ::-1][:, :size]


def distil(tokenizer: WordPiece, texts: list[str], targets: np.ndarray, epochs: int):
    """A sentence encoder whose mean vector and pooler follow `targets` (rows, HIDDEN_SIZE) of length 1."""
    import tensorflow as tf
    import tf_keras as keras

    import kerasbert as kb
    from kerasbert.encoders import BertConfig, BertEncoder
    from kerasbert.encoders.pooling import pool

    class Student(kb.SentenceEncoder):
        """Gives both vectors, (B, 2, H)."""

        def call(self, inputs, training=None, **options):
            output = self.encoder(inputs, training=training, **options)
            mean = tf.math.l2_normalize(pool(output.sequence, inputs["attention_mask"], "mean"), axis=-1)
            return tf.stack([mean, output.pooled], axis=1)

    def imitation(target, output):
        mean, pooled = output[:, 0], output[:, 1]
        scale = POOLED_SCALE * HIDDEN_SIZE**0.5
        cosine = tf.reduce_sum(mean * target, axis=-1)
        error = tf.reduce_sum(tf.square(pooled / scale - target), axis=-1)
        return 1.0 - cosine + error

    def cosine(target, output):
        return tf.reduce_sum(output[:, 0] * target, axis=-1)

    def pooled_cosine(target, output):
        return tf.reduce_sum(tf.math.l2_normalize(output[:, 1], axis=-1) * target, axis=-1)

    keras.utils.set_random_seed(SEED)
    config = BertConfig(
        vocab_size=tokenizer.vocabulary_size,
        hidden_size=HIDDEN_SIZE,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=4 * HIDDEN_SIZE,
        max_position_embeddings=LONGEST,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    student = Student(BertEncoder(config), tokenizer, sequence_length=TRAINED_LENGTH)
    _start_word_table(student, texts, targets)
    batch = 128
    optimizer = kb.adamw(2e-3, warmup=0.05, steps=epochs * -(-len(texts) // batch))
    student.compile(optimizer, loss=imitation, metrics=[cosine, pooled_cosine], jit_compile=True)
    student.fit(texts, targets, batch_size=batch, epochs=epochs, seed=SEED, verbose=2)
    return student


def _start_word_table(student, texts: list[str], targets: np.ndarray) -> None:
    """Tokens that are texts of their own start from what the teacher says of them."""
    table = student.encoder.embeddings.word.table
    known = dict(zip(texts, targets, strict=True))
    values = table.numpy()
    for row, token in enumerate(student.tokenizer.vocabulary):
        if token in known:
            values[row] = known[token] * 0.05 * HIDDEN_SIZE**0.5
    table.assign(values)


def save(student, folder: Path) -> None:
    """Writes config.json, model.safetensors (float16), vocab.txt, tokenizer_config.json; other files there stay."""
    from safetensors.numpy import save_file

    from kerasbert.checkpoints.name_tables import name_map

    config = replace(student.config, hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1)
    tensors = name_map(config, pooler=True).export(student.encoder.variables_by_path())
    halves = {name: np.ascontiguousarray(tensor, dtype=np.float16) for name, tensor in tensors.items()}
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_file(folder / "model.safetensors") as partial:
        save_file(halves, str(partial), metadata={"format": "pt"})
    with atomic_file(folder / "config.json") as partial:
        content = {**config.to_dict(), "architectures": ["BertModel"], "torch_dtype": "float16"}
        partial.write_text(json.dumps(content, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    student.tokenizer.save(folder)
    print(f"{sum(tensor.size for tensor in halves.values()):,} parameters in {folder}")


def _lines(path: Path) -> Iterator[str]:
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path, encoding="utf-8")
    with opened as file:
        yield from (line.strip() for line in file if line.strip())


def _speech(paragraphs: Iterable[str]) -> Iterator[str]:
    """Sentences inside quotation marks: what people say to each other is the nearest a novel has to a request."""
    for paragraph in paragraphs:
        yield from _sentences(_SPEECH.findall(paragraph), most_words=14)


def _sentences(paragraphs: Iterable[str], most_words: int = 20) -> Iterator[str]:
    for paragraph in paragraphs:
        for sentence in _SENTENCE.findall(paragraph):
            sentence = " ".join(sentence.split()).strip(" \"\u201c\u201d'-")
            if 3 <= len(sentence.split()) <= most_words and not _UNCLEAN.search(sentence):
                yield sentence


def _variants(texts: list[str], words: list[str], count: int, random_numbers: random.Random) -> list[str]:
    """In turn: halves of two texts, a text with one word replaced, one with two replaced, one with a word left out."""
    made = []
    for number in range(count):
        first, second = (random_numbers.choice(texts).split() for _ in range(2))
        kind, at = number % 4, random_numbers.randrange(len(first))
        if kind == 0:
            made.append([*first[: at + 1], *second[random_numbers.randrange(len(second)) :]])
        elif kind == 3:
            made.append([*first[:at], *first[at + 1 :]])
        else:
            for place in random_numbers.sample(range(len(first)), min(kind, len(first))):
                first[place] = random_numbers.choice(words)
            made.append(first)
    return [" ".join(row) for row in made if row]


def _sample(texts: Iterable[str], count: int, random_numbers: random.Random) -> list[str]:
    texts = list(dict.fromkeys(texts))
    return random_numbers.sample(texts, min(count, len(texts)))


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
