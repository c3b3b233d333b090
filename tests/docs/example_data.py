"""Small data with the names that the documents use, so that their commands run as they are written.

`write(folder)` makes tables, tagged sentences, questions, plain texts and a checkpoint, trains `runs/mine`, quantizes it as
`runs/mine-int8`, and converts it to `mine.tflite`.
"""

import json
import random
import shutil
from pathlib import Path

import kerasbert as kb
from kerasbert.cli import main

SUBJECTS = ("the film", "this phone", "the hotel", "her new book", "the service", "that game", "the soup", "this song")
GOOD = ("a joy from start to end", "really lovely", "better than I hoped", "worth every cent", "simply great")
BAD = ("a waste of time", "really awful", "worse than I feared", "not worth a cent", "simply dull")
PEOPLE, PLACES = ("Ada", "Grace Hopper", "Alan Turing", "Mary"), ("Nairobi", "New York", "Berlin", "Lima")


def write(folder: Path) -> None:
    """Fill a folder with everything that examples may use."""
    _write_tables(folder)
    _write_tagged(folder)
    _write_questions(folder)
    source = kb.zoo.small_model()
    shutil.copytree(source, folder / "my-bert")
    for name in ("kerasbert.json", "modules.json", "1_Pooling", "README.md", "recipe.toml", "golden.json"):
        path = folder / "my-bert" / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    data = ["--train", str(folder / "train.tsv"), "--dev", str(folder / "dev.tsv")]
    runs, file = folder / "runs", str(folder / "mine.tflite")
    train = [
        "train",
        "--task",
        "classification",
        "--model",
        "small-en",
        *data,
        "--epochs",
        "3",
        "--learning-rate",
        "5e-4",
    ]
    _run(*train, "--sequence-length", "32", "--out", str(runs / "mine"))
    _run("quantize", str(runs / "mine"), *data, "--epochs", "0", "--out", str(runs / "mine-int8"))
    _run("convert", str(runs / "mine-int8"), "-o", file)


def _run(*arguments: str) -> None:
    if main(list(arguments)) != 0:
        raise RuntimeError(f"kerasbert {' '.join(arguments)} failed")


def _reviews(rows: int, seed: int) -> list[tuple[str, str]]:
    draw = random.Random(seed)
    found = []
    for _ in range(rows):
        good = draw.random() < 0.5
        found.append(
            (f"{draw.choice(SUBJECTS)} was {draw.choice(GOOD if good else BAD)}", "positive" if good else "negative")
        )
    return found


def _write_tables(folder: Path) -> None:
    for name, rows in (("train", 96), ("dev", 32), ("test", 240)):
        lines = [f"{text}\t{label}" for text, label in _reviews(rows, len(name) + rows)]
        (folder / f"{name}.tsv").write_text("\n".join(["text\tlabel", *lines]) + "\n", "utf-8")
    for name, seed in (("reviews", 7), ("reviews-test", 9)):
        lines = [f'"{text}, they said",{label}' for text, label in _reviews(240, seed)]
        (folder / f"{name}.csv").write_text("\n".join(["review,rating", *lines]) + "\n", "utf-8")
    texts = [text for text, _ in _reviews(200, 8)]
    (folder / "texts.txt").write_text("\n".join(texts) + "\n", "utf-8")
    pairs = [
        (a, b, "same" if la == lb else "other")
        for (a, la), (b, lb) in zip(_reviews(64, 1), _reviews(64, 2), strict=True)
    ]
    (folder / "pairs.tsv").write_text(
        "\n".join(["text\tpair\tlabel", *("\t".join(row) for row in pairs)]) + "\n", "utf-8"
    )
    scored = [f"{a}\t{b}\t{5 if label == 'same' else 1}" for a, b, label in pairs]
    (folder / "scored.tsv").write_text("\n".join(["text\tpair\tscore", *scored]) + "\n", "utf-8")
    topics = [f"{text}\t{label},{'short' if len(text) < 35 else 'long'}" for text, label in _reviews(64, 3)]
    (folder / "topics.tsv").write_text("\n".join(["text\tlabels", *topics]) + "\n", "utf-8")
    choices = [
        {"question": "How was it?", "choices": [text, "It was blue."], "label": 0} for text, _ in _reviews(48, 4)
    ]
    (folder / "choices.jsonl").write_text("\n".join(map(json.dumps, choices)) + "\n", "utf-8")


def _write_tagged(folder: Path) -> None:
    draw = random.Random(5)
    for name, rows in (("train", 64), ("dev", 24)):
        sentences = []
        for _ in range(rows):
            person, place = draw.choice(PEOPLE).split(), draw.choice(PLACES).split()
            words = [*person, "moved", "to", *place, "."]
            tags = [*_iob2("person", person), "O", "O", *_iob2("location", place), "O"]
            sentences.append("\n".join(f"{word} {tag}" for word, tag in zip(words, tags, strict=True)))
        (folder / f"{name}.conll").write_text("\n\n".join(sentences) + "\n", "utf-8")


def _iob2(kind: str, words: list[str]) -> list[str]:
    return [f"{'I' if index else 'B'}-{kind}" for index in range(len(words))]


def _write_questions(folder: Path) -> None:
    draw = random.Random(6)
    for name, rows in (("questions", 32), ("questions-dev", 12)):
        paragraphs = []
        for number in range(rows):
            person, place = draw.choice(PEOPLE), draw.choice(PLACES)
            context = f"{person} was born in the north. Years later {person} moved to {place} and stayed."
            answer = {"text": place, "answer_start": context.index(place)}
            asked = {"id": f"{name}-{number}", "question": f"Where did {person} move?", "answers": [answer]}
            paragraphs.append({"context": context, "qas": [asked]})
        (folder / f"{name}.json").write_text(json.dumps({"data": [{"title": name, "paragraphs": paragraphs}]}), "utf-8")
