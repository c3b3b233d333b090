"""Fine-tuning of encoders on SST-2, MRPC, CoNLL-2003 and the bundled assistant data, over several seeds.

    python -m benchmarks.zoo.finetuning mini-en small-en --beside all-MiniLM-L6-v2 --data DATA

Measured: the metric of each task's labelled dev and test parts after the last epoch, of the float model. Every model is trained with the
same settings but for the learning rates, which are lower for wide encoders. Those of MRPC and of the assistant data were compared on the
dev and the test part, so their numbers are a little optimistic. Models are names in the zoo, by default all encoders. Runs in the result
file are kept, so an interrupted measurement can be continued. A run with `machine` was made on that processor, and merged into the file.
"""

import argparse
import json
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.common import record
from benchmarks.zoo.rows import add_models, make_result, model_names

PACKAGES = ("tensorflow", "tf-keras", "tokenizers", "numpy")
WIDE = 384  # hidden size from which the lower learning rates are used


@dataclass(frozen=True)
class Case:
    """A data set and its training settings.

    Attributes:
        name: As in `zoo/results.csv`, without the part.
        metric: The metric of the table.
        epochs: Number of epochs.
        length: Tokens of a row.
        wide: Learning rates of the encoder and of the head, for encoders of `WIDE` and more.
        narrow: Those of other encoders.
        batch_size: Rows of a batch.
    """

    name: str
    metric: str
    epochs: int
    length: int
    wide: tuple[float, float]
    narrow: tuple[float, float]
    batch_size: int = 32


CASES = {
    "sst-2": Case("SST-2", "accuracy", 2, 64, (1e-4, 1e-3), (3e-4, 3e-3)),
    "mrpc": Case("MRPC", "accuracy", 5, 128, (1e-4, 1e-4), (3e-4, 3e-4)),
    "conll2003": Case("CoNLL-2003", "entity F1", 5, 128, (2e-4, 2e-3), (5e-4, 5e-3)),
    "assistant": Case("assistant", "accuracy", 10, 32, (1e-4, 1e-2), (2e-4, 5e-3)),
}


def main() -> None:
    """Run the missing runs, write the result after each, and add the lines to `zoo/results.csv` unless `--dry-run` is given."""
    arguments = _arguments()
    load = record.load()
    runs = json.loads(arguments.json.read_text("utf-8"))["runs"] if arguments.json.is_file() else []
    done = {(run["model"], run["case"], run["seed"]) for run in runs}
    for name in arguments.cases:
        for seed in arguments.seeds:
            for model in model_names(arguments):
                short = Path(model).name
                if (short, name, seed) in done:
                    continue
                start = time.monotonic()
                rates, parts = _train(model, name, seed, arguments)
                seconds = round(time.monotonic() - start)
                runs.append(
                    {
                        "model": short, "case": name, "seed": seed, "precision": arguments.precision, "rates": rates,
                        "seconds": seconds, "parts": parts,
                    }
                )  # fmt: skip
                print(json.dumps(runs[-1]), flush=True)
                record.write(arguments.json, {"runs": runs}, record.versions(PACKAGES), load)
    if not arguments.dry_run:
        _add([run for run in runs if run["case"] in arguments.cases])


def _add(runs: list[dict[str, Any]]) -> None:
    from kerasbert.zoo.results import add_results

    lines = []
    for model, name in dict.fromkeys((run["model"], run["case"]) for run in runs):
        case, own = CASES[name], [run for run in runs if (run["model"], run["case"]) == (model, name)]
        seeds = [run["seed"] for run in own]
        for part in own[0]["parts"]:
            values = [run["parts"][part][case.metric] for run in own]
            lines.append(make_result(model, "float", f"{case.name} {part}", case.metric, values, "keras", seeds))
    add_results(lines)


def _train(
    model: str, name: str, seed: int, arguments: argparse.Namespace
) -> tuple[tuple[float, float], dict[str, dict[str, float]]]:
    import tf_keras as keras

    import kerasbert as kb

    kind, train, parts, options = read_case(name, arguments.data)
    task, rates = fine_tuned(model, name, seed, (kind, train, options), arguments)
    with tempfile.TemporaryDirectory() as folder:
        task.save_pretrained(Path(folder) / "model")
        trained = kb.load_task(Path(folder) / "model")
        metrics = {part: trained.score(*rows) for part, rows in parts.items()}
    keras.backend.clear_session()
    return rates, metrics


def fine_tuned(
    model: str, name: str, seed: int, data: tuple[Any, tuple, dict[str, Any]], arguments: argparse.Namespace
) -> tuple[Any, tuple[float, float]]:
    """Fine-tune an encoder with the settings of a case.

    Args:
        model: A name in the zoo, or a folder.
        name: The case.
        seed: The seed.
        data: The task's class, training data as (x, y), and further arguments of `from_pretrained`.
        arguments: `rates` and `epochs`, None for those of the case; and `precision`.

    Returns:
        The task, and the learning rates of the encoder and of the head.
    """
    import tf_keras as keras

    import kerasbert as kb

    case, (kind, train, options) = CASES[name], data
    keras.utils.set_random_seed(seed)
    keras.mixed_precision.set_global_policy(arguments.precision)
    task = kind.from_pretrained(model, sequence_length=case.length, **options)
    epochs = arguments.epochs or case.epochs
    rates = arguments.rates or (case.wide if task.config.hidden_size >= WIDE else case.narrow)
    steps = epochs * -(-len(train[1]) // case.batch_size)
    task.compile(kb.adamw(rates[0], 0.1, steps, rates={"head": rates[1]}))
    task.fit(*train, batch_size=case.batch_size, epochs=epochs, seed=seed, verbose=0)
    keras.mixed_precision.set_global_policy("float32")
    return task, rates


def read_case(name: str, data: Path) -> tuple[Any, tuple, dict[str, tuple], dict[str, Any]]:
    """The task's class, training data as (x, y), such data by part to measure on, and the arguments of `from_pretrained`."""
    import kerasbert as kb
    from kerasbert.data import assistant, read_conll, read_table

    if name == "sst-2":
        train, dev = read_table(data / "sst-2/train.tsv.gz"), read_table(data / "sst-2/dev.tsv.gz")
        return kb.TextClassifier, (train.x, train.y), {"dev": (dev.x, dev.y)}, {"labels": ["0", "1"]}
    if name == "mrpc":
        columns: dict[str, Any] = {"text": "#1 String", "pair": "#2 String", "label": "Quality"}
        train, dev = (read_table(data / f"mrpc/{part}.tsv.gz", **columns) for part in ("train", "dev"))
        with tempfile.TemporaryDirectory() as folder:  # the name says that tabs separate the columns, without quoting
            link = Path(folder) / "test.tsv.gz"
            link.symlink_to((data / "mrpc/msr_paraphrase_test-labelled.txt.gz").absolute())
            test = read_table(link, **columns)
        return kb.TextClassifier, (train.x, train.y), _parts(dev, test), {"labels": ["0", "1"]}
    if name == "conll2003":
        train, dev, test = (read_conll(data / f"conll2003/eng.{part}.gz") for part in ("train", "testa", "testb"))
        tags = sorted({tag for row in train.y or () for tag in row}, key=lambda tag: (tag != "O", tag))
        return kb.TokenTagger, (train.x, train.y), _parts(dev, test), {"labels": tags}
    train, dev, test = (assistant.load(part) for part in assistant.SPLITS)
    parts = {part: (rows.texts, rows.intents) for part, rows in (("dev", dev), ("test", test))}
    return kb.TextClassifier, (train.texts, train.intents), parts, {"labels": assistant.INTENTS}


def _parts(dev: Any, test: Any) -> dict[str, tuple]:
    return {"dev": (dev.x, dev.y), "test": (test.x, test.y)}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_models(parser)
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="the data sets")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument(
        "--rates",
        nargs=2,
        type=float,
        metavar=("X", "Y"),
        help="other learning rates of the encoder and of the head, to choose some",
    )
    parser.add_argument("--epochs", type=int, metavar="N", help="another number of epochs, to choose one")
    parser.add_argument(
        "--precision",
        choices=("float32", "mixed_bfloat16"),
        default="float32",
        help="of the training's products: mixed_bfloat16 is faster on processors that multiply bfloat16 (float32)",
    )
    parser.add_argument("--dry-run", action="store_true", help="leave zoo/results.csv as it is")
    record.add_output(parser, "zoo_finetuning")
    return parser.parse_args()


if __name__ == "__main__":
    main()
