"""Named entities of a small encoder that is distilled, beside its plain fine-tuning: CoNLL-2003.

    python -m benchmarks.zoo.distilled_tags mini-en --teacher all-MiniLM-L6-v2 --data DATA --texts news.txt.gz wiki.txt.gz --out runs/tags

The teacher gets the small encoder's vocabulary, since soft labels are compared token by token, and is fine-tuned with the settings of
`benchmarks.zoo.finetuning`. With `--cased`, both have forms with capital letters of the training sentences. The teacher then tags
sentences of the texts. The encoder learns from CoNLL-2003's training sentences and from these, with the teacher's soft labels. Measured:
entity F1 on both test parts of the teacher and of the distilled model. What the teacher loses against `zoo_finetuning.json` is the cost of
the vocabulary. `--out` keeps both models; one that is there is used again.
"""

import argparse
import gzip
import json
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import record
from benchmarks.zoo.finetuning import CASES, fine_tuned, read_case

PACKAGES = ("tensorflow", "tf-keras", "tokenizers", "numpy")
CASE = "conll2003"
_WORD = re.compile(r"\w+(?:[-.']\w+)*|[^\w\s]")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")


def main() -> None:
    """Fine-tune the teacher, tag sentences, distil, and write the result."""
    arguments = _arguments()
    import kerasbert as kb

    _check_same_run(arguments)
    load = record.load()
    kind, train, parts, options = read_case(CASE, arguments.data)
    folder = arguments.out / "teacher"
    if not folder.exists():
        _prepare(arguments, train[0])
        made, _ = fine_tuned(str(arguments.out / "start"), CASE, arguments.seed, (kind, train, options), arguments)
        made.save_pretrained(folder)
    teacher = kb.load_task(folder)
    folder = arguments.out / "distilled"
    if not folder.exists():
        sentences = _sentences(arguments.texts, arguments.sentences)
        tags = [prediction["tags"] for prediction in teacher.predictions(sentences, batch_size=64)]
        rows = [*train[0], *sentences], [*train[1], *tags]
        _distil(arguments, teacher, rows, (kind, options)).save_pretrained(folder)
    student = kb.load_task(folder)
    result = {
        "model": arguments.model, "teacher": Path(arguments.teacher).name, "sentences": arguments.sentences, "seed": arguments.seed,
        "cased": arguments.cased,
        "scores": {
            name: {part: task.score(*rows) for part, rows in parts.items()}
            for name, task in (("teacher", teacher), ("distilled", student))
        },
    }  # fmt: skip
    print(result["scores"])
    record.write(arguments.json, result, record.versions(PACKAGES), load)


def _check_same_run(arguments: argparse.Namespace) -> None:
    """Keep what the models of the folder are made with: models of other settings are not used again."""
    names = ("model", "teacher", "cased", "sentences", "distillation_epochs", "epochs", "seed", "precision")
    settings, kept = {name: getattr(arguments, name) for name in names}, arguments.out / "settings.json"
    if kept.exists() and (found := json.loads(kept.read_text("utf-8"))) != settings:
        raise SystemExit(f"expected the settings of {arguments.out}, {found}, received {settings}; name another --out")
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(settings), "utf-8")


def _prepare(arguments: argparse.Namespace, sentences: Sequence[Any]) -> None:
    """Save what both trainings begin with: the small encoder, and the larger one with its vocabulary."""
    import kerasbert as kb
    from kerasbert.compression.pruning.structured import add_cased_tokens, match_vocabulary
    from kerasbert.text.cased_forms import strings_of

    student = kb.SentenceEncoder.from_pretrained(arguments.model)
    if arguments.cased:
        student = add_cased_tokens(student, strings_of(sentences))
    student.save_pretrained(arguments.out / "student")
    teacher = match_vocabulary(kb.SentenceEncoder.from_pretrained(arguments.teacher), student.tokenizer)
    teacher.save_pretrained(arguments.out / "start")


def _distil(arguments: argparse.Namespace, teacher: Any, train: tuple, data: tuple[Any, dict[str, Any]]) -> Any:
    import tf_keras as keras

    import kerasbert as kb
    from kerasbert.training.distillation import Distiller, SoftLabels

    case, (kind, options) = CASES[CASE], data
    keras.utils.set_random_seed(arguments.seed)
    student = kind.from_pretrained(arguments.out / "student", sequence_length=case.length, **options)
    epochs = arguments.distillation_epochs
    distiller = Distiller(
        student, teacher, [SoftLabels(temperature=2.0)], label_weight=0.5, cache=arguments.out / "cache"
    )
    distiller.compile(kb.adamw(2e-4, 0.06, epochs * -(-len(train[0]) // case.batch_size)))
    distiller.fit(*train, batch_size=case.batch_size, epochs=epochs, seed=arguments.seed, verbose=2)
    return student


def _sentences(paths: list[Path], count: int) -> list[list[str]]:
    """Words of sentences of 4 to 45 words: as many of each file, in random order."""
    found: list[list[str]] = []
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            lines = [_WORD.findall(part) for line in file for part in _SENTENCE_END.split(line)]
        lines = [words for words in lines if 4 <= len(words) <= 45]
        random.Random(1).shuffle(lines)
        found += lines[: count // len(paths)]
    return found


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", metavar="MODEL", help="a name in the zoo, or a folder")
    parser.add_argument("--teacher", required=True, metavar="FOLDER", help="the larger encoder")
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="the data sets")
    parser.add_argument("--texts", type=Path, nargs="+", required=True, metavar="FILE", help="texts, .txt.gz")
    parser.add_argument("--cased", action="store_true", help="give both models tokens with capital letters")
    parser.add_argument("--sentences", type=int, default=16_000, metavar="N", help="sentences of the texts (16,000)")
    parser.add_argument("--distillation-epochs", type=int, default=6, metavar="N", help="epochs of the small model (6)")
    parser.add_argument("--epochs", type=int, metavar="N", help="epochs of the teacher (those of the case)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--precision", choices=("float32", "mixed_bfloat16"), default="float32")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="a folder for the models")
    record.add_output(parser, "zoo_distilled_tags")
    return parser.parse_args(namespace=argparse.Namespace(rates=None))


if __name__ == "__main__":
    main()
