"""Fine-tuning of encoders on SST-2, MRPC, CoNLL-2003 and the bundled assistant data, over several seeds.

    python -m benchmarks.zoo.finetuning mini-en small-en --beside all-MiniLM-L6-v2 --data DATA

Measured: the metric of each task's test part (SST-2: dev, which has labels) after the last epoch, in float. Every model is trained with the
same settings but for the learning rate, which is lower for wide encoders. Models are names in the zoo, by default all encoders. Runs in
the result file are kept, so an interrupted measurement can be continued.
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
        name: As in `zoo/results.csv`.
        metric: The metric of the table.
        epochs: Number of epochs.
        length: Tokens of a row.
        rates: Learning rates of wide and of narrow encoders; see `WIDE`.
        batch_size: Rows of a batch.
    """

    name: str
    metric: str
    epochs: int
    length: int
    rates: tuple[float, float]
    batch_size: int = 32


CASES = {
    "sst-2": Case("SST-2 dev", "accuracy", 3, 64, (1e-4, 3e-4)),
    "mrpc": Case("MRPC test", "accuracy", 5, 128, (1e-4, 3e-4)),
    "conll2003": Case("CoNLL-2003 test", "entity F1", 5, 128, (2e-4, 5e-4)),
    "assistant": Case("assistant test", "accuracy", 10, 32, (3e-4, 5e-4)),
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
                metrics, rate = _train(model, name, seed, arguments)
                seconds = round(time.monotonic() - start)
                runs.append({"model": short, "case": name, "seed": seed, "rate": rate, "seconds": seconds, **metrics})
                print(json.dumps(runs[-1]), flush=True)
                record.write(arguments.json, {"runs": runs}, record.versions(PACKAGES), load)
    if not arguments.dry_run:
        _add(runs)


def _add(runs: list[dict[str, Any]]) -> None:
    from kerasbert.zoo.results import add_results

    lines = []
    for model, name in dict.fromkeys((run["model"], run["case"]) for run in runs):
        case, own = CASES[name], [run for run in runs if (run["model"], run["case"]) == (model, name)]
        seeds = [run["seed"] for run in own]
        lines.append(
            make_result(model, "float", case.name, case.metric, [run[case.metric] for run in own], "keras", seeds)
        )
    add_results(lines)


def _train(model: str, name: str, seed: int, arguments: argparse.Namespace) -> tuple[dict[str, float], float]:
    import tf_keras as keras

    import kerasbert as kb

    case, (kind, train, test, options) = CASES[name], _data(name, arguments.data)
    keras.utils.set_random_seed(seed)
    keras.mixed_precision.set_global_policy(arguments.precision)
    task = kind.from_pretrained(model, sequence_length=case.length, **options)
    rate = arguments.rate or case.rates[task.config.hidden_size < WIDE]
    steps = case.epochs * -(-len(train[1]) // case.batch_size)
    task.compile(kb.adamw(rate, 0.1, steps))
    task.fit(*train, batch_size=case.batch_size, epochs=case.epochs, seed=seed, verbose=0)
    keras.mixed_precision.set_global_policy("float32")
    with tempfile.TemporaryDirectory() as folder:
        task.save_pretrained(Path(folder) / "model")
        metrics = kb.load_task(Path(folder) / "model").score(*test)
    keras.backend.clear_session()
    return metrics, rate


def _data(name: str, data: Path) -> tuple[Any, tuple, tuple, dict[str, Any]]:
    """The task's class, training and test data as (x, y), and the arguments of `from_pretrained`."""
    import kerasbert as kb
    from kerasbert.data import assistant, read_conll, read_table

    if name == "sst-2":
        train, test = read_table(data / "sst-2/train.tsv.gz"), read_table(data / "sst-2/dev.tsv.gz")
        return kb.TextClassifier, (train.x, train.y), (test.x, test.y), {"labels": ["0", "1"]}
    if name == "mrpc":
        columns = {"text": "#1 String", "pair": "#2 String", "label": "Quality"}
        train = read_table(data / "mrpc/train.tsv.gz", **columns)
        with tempfile.TemporaryDirectory() as folder:  # the name says that tabs separate the columns, without quoting
            link = Path(folder) / "test.tsv.gz"
            link.symlink_to((data / "mrpc/msr_paraphrase_test-labelled.txt.gz").absolute())
            test = read_table(link, **columns)
        return kb.TextClassifier, (train.x, train.y), (test.x, test.y), {"labels": ["0", "1"]}
    if name == "conll2003":
        train, test = read_conll(data / "conll2003/eng.train.gz"), read_conll(data / "conll2003/eng.testb.gz")
        tags = sorted({tag for row in train.y or () for tag in row}, key=lambda tag: (tag != "O", tag))
        return kb.TokenTagger, (train.x, train.y), (test.x, test.y), {"labels": tags}
    train, test = assistant.load("train"), assistant.load("test")
    return kb.TextClassifier, (train.texts, train.intents), (test.texts, test.intents), {"labels": assistant.INTENTS}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_models(parser)
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="the data sets")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--rate", type=float, metavar="X", help="another learning rate, to choose one on other data")
    parser.add_argument("--precision", choices=("float32", "mixed_bfloat16"), default="float32")
    parser.add_argument("--dry-run", action="store_true", help="leave zoo/results.csv as it is")
    record.add_output(parser, "zoo_finetuning")
    return parser.parse_args()


if __name__ == "__main__":
    main()
