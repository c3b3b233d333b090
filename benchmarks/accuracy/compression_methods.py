"""Dev score, size and latency of every compression method on several tasks, each from the same teacher with as much training.

    python -m benchmarks.accuracy.compression_methods --teacher mrpc=runs/mrpc sst2=runs/sst2 --train mrpc=train.tsv sst2=sst2.tsv \
        --dev mrpc=dev.tsv sst2=sst2-dev.tsv --rows 2000 --epochs 2 --work compression

Measured: the score of the int8 file on the dev rows, its bytes with and without gzip, and the processor time of a row on one thread. The
file takes turns with the teacher's dynamic int8 file, so the ratio holds on a busy machine. No dev row is seen before: trainings keep
their last epoch, and early exits choose it and their threshold on a tenth of the training rows. Students of the kinds of distillation
have the same two layers of the teacher.

Finished steps in `--work`, and runs in the result file, are not repeated, so a stopped measurement goes on. Runs of one task and method
should have the same `--rows` and `--epochs`; each run states its own. A method that a task refuses is named at the end.
"""

import argparse
import gzip
import json
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.common import record
from benchmarks.common.commands import kerasbert, score
from benchmarks.common.over_seeds import over_seeds

if TYPE_CHECKING:
    from kerasbert.data.dataset import Dataset

RECIPE = "dynamic_wi8_afp32"
PACKAGES = ("tensorflow", "tf-keras", "ai-edge-litert", "ai-edge-quantizer", "numpy")
WARMUP, RUNS, TEXTS = 20, 200, 200  # of the comparison of latencies
LONGEST = 512  # tokens of a row
METRICS = {"single_label": "accuracy", "tagging": "entity F1"}
_CUT = "prune {teacher} --data {train} --max-rows 512"
_LEARNT = "--train {train} {training}"
_RECOVERED = f"distill --teacher {{teacher}} --student {{before}} --objectives soft-labels=1,hidden=1 {_LEARNT}"
_STUDENT = f"distill --teacher {{teacher}} --layers 2 {_LEARNT}"


@dataclass(frozen=True)
class Method:
    """A method as commands of kerasbert, one folder each.

    Attributes:
        title: As the table names it.
        steps: Commands without their output. `{before}` is the folder of the step before.
        recipe: Of the file; empty for the one that the last folder was quantized for.
        unlabelled: Whether it needs `--unlabelled`.
        tags: Whether it can train a tagger.
        texts: Whether latency depends on the text, so that it is measured on dev rows.
        seeded: Whether another seed gives another file.
    """

    title: str
    steps: tuple[str, ...] = ()
    recipe: str = RECIPE
    unlabelled: bool = False
    tags: bool = True
    texts: bool = False
    seeded: bool = True


METHODS = {
    "dynamic_int8": Method("nothing but dynamic int8", seeded=False),
    "trained_on": Method(
        "nothing, trained on (control)", (f"train --task {{task}} --model {{teacher}} {_LEARNT} --sequence-length {{length}}",)
    ),
    "static_int8": Method("static int8, trained", (f"quantize {{teacher}} --recipe static_wi8_ai8 {_LEARNT}",), ""),
    "dynamic_int4": Method("int4 kernels, untrained", recipe="dynamic_wi4_afp32", seeded=False),
    "mixed_bits": Method(
        "Q-BERT: 4 and 8 bits, 6 on average, blocks of 32",
        (f"quantize {{teacher}} --recipe dynamic_wi4_afp32 --average-bits 6 --kernel-block 32 {_LEARNT}",),
        "",
    ),
    "layers": Method("2 of 4 layers, search", (f"{_CUT} --layers 2", _RECOVERED)),
    "heads_and_feed_forward": Method(
        "half of the heads, 40 % of the neurons", (f"{_CUT} --heads 0.5 --heads-per-layer --feed-forward 0.4", _RECOVERED)
    ),
    "hidden": Method("a quarter of the hidden size", (f"{_CUT} --hidden 0.25", _RECOVERED)),
    "low_rank": Method("low rank: 0.25, embeddings 64", (f"{_CUT} --rank 0.25 --embedding-rank 64", _RECOVERED)),
    "shared_layers": Method("2 groups of shared layers", (f"{_CUT} --share-layers 2", _RECOVERED)),
    "sparsity": Method("50 % zeros", (f"prune {{teacher}} --sparsity 0.5 --objectives soft-labels=1,hidden=1 {_LEARNT}",)),
    "vocabulary": Method(
        "tokens of the training texts, untrained", ("prune {teacher} --vocabulary {train} {limit}",), seeded=False
    ),
    "early_exit": Method(
        "early exits behind layers 1 to 3",
        (f"train --task {{task}} --model {{teacher}} --exits 1,2,3 --dev 0.1 {_LEARNT} --sequence-length {{length}}",),
        texts=True,
    ),
    "labels": Method(
        "no distillation (control)",
        ("prune {teacher} --layers 0,2", f"train --task {{task}} --model {{before}} {_LEARNT} --sequence-length {{length}}"),
    ),
    "soft_labels": Method("soft labels (Hinton)", (f"{_STUDENT} --objectives soft-labels=1",)),
    "logits": Method("logits", (f"{_STUDENT} --objectives logits=1",)),
    "patient": Method("PKD", (f"{_STUDENT} --objectives soft-labels=1,patient=10 --layer-map skip",)),
    "relations": Method("MiniLM relations, soft labels", (f"{_STUDENT} --objectives soft-labels=1,relations=1",)),
    "tinybert": Method(
        "TinyBERT: as many epochs again for the inner layers",
        (f"{_STUDENT} --method tinybert --intermediate-epochs {{epochs}}",),
    ),
    "theseus": Method("BERT-of-Theseus", (f"{_STUDENT} --method theseus --fine-tune-epochs 1",)),
    "unlabelled": Method(
        "PD: texts without labels", (f"{_STUDENT} --objectives soft-labels=1 --unlabelled {{unlabelled}}",), unlabelled=True
    ),
    "no_norm": Method("no layer norms", (f"{_STUDENT} --no-norm --objectives soft-labels=1,hidden=1",)),
    "bilstm": Method(
        "BiLSTM",
        (f"distill --teacher {{teacher}} --student bilstm --objectives logits=1 --learning-rate 3e-3 {_LEARNT}",),
    ),
    "dual_vocabulary": Method(
        "dual vocabulary: 2,000 tokens, half the hidden size",
        (
            "distill --method dual-vocabulary --teacher {encoder} --train {texts} --vocabulary-size 2000 --epochs {epochs} --seed {seed}",
            f"distill --teacher {{teacher}} --student {{before}} --objectives soft-labels=1 {_LEARNT}",
        ),
        tags=False,
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Task:
    """A trained teacher and its data.

    Attributes:
        name: As on the command line.
        teacher: The folder.
        train: Rows to train on.
        dev: Rows to measure on.
        unlabelled: More rows, whose labels are not used.
        processor: The kind of its examples.
        length: Tokens of a row.
    """

    name: str
    teacher: Path
    train: Path
    dev: Path
    unlabelled: Path | None
    processor: str
    length: int


def main() -> None:
    """Measure what the result file lacks and write it after each run."""
    arguments = _arguments()
    load = record.load()
    before = json.loads(arguments.json.read_text("utf-8")) if arguments.json.is_file() else {"tasks": {}, "runs": []}
    teachers, runs = before["tasks"], before["runs"]
    refused = []
    tasks = [_open(arguments, name) for name in arguments.teacher]
    for seed in arguments.seeds:
        for task in tasks:
            if task.name not in teachers:
                teachers[task.name] = _measure_teacher(arguments, task)
            for name in arguments.methods:
                method = METHODS[name]
                done = {(run["task"], run["method"], run["seed"] if method.seeded else seed) for run in runs}
                if (task.name, name, seed) in done or not _applies(method, task):
                    continue
                try:
                    run = _run(arguments, task, name, seed)
                except SystemExit as error:  # the message of the command is on stderr already
                    refused.append(f"{task.name} {name} {seed}: {error}")
                    continue
                runs.append({"task": task.name, "method": name, "seed": seed, **run})
                metric = teachers[task.name]["metric"]
                print(
                    task.name,
                    name,
                    seed,
                    f"{metric} {run['dev'][metric]:.4f}, latency x{run['latency_ratio']:.3f}",
                    flush=True,
                )
                record.write(arguments.json, summarize(teachers, runs), record.versions(PACKAGES), load)
    if refused:
        raise SystemExit("expected every command to succeed, received failures:\n" + "\n".join(refused))


def _open(arguments: argparse.Namespace, name: str) -> Task:
    settings = json.loads((arguments.teacher[name] / "kerasbert.json").read_text("utf-8"))["settings"]
    processor = settings.get("problem", "tagging")
    if processor not in METRICS:
        raise SystemExit(f"expected a teacher for {' or '.join(METRICS)}, received {processor} of {name}; leave it out")
    if missing := [option for option in ("train", "dev") if name not in getattr(arguments, option)]:
        raise SystemExit(f"expected data of {name}, received none; add --{missing[0]} {name}=FILE")
    more = arguments.unlabelled.get(name)
    paths = (arguments.teacher[name], arguments.train[name], arguments.dev[name])
    return Task(name, *paths, more, processor, settings["sequence_length"])


def _applies(method: Method, task: Task) -> bool:
    return (method.tags or task.processor != "tagging") and (task.unlabelled is not None or not method.unlabelled)


def _measure_teacher(arguments: argparse.Namespace, task: Task) -> dict:
    """Measure the float folder, and convert it to the file that every other file takes turns with."""
    metrics = kerasbert("evaluate", task.teacher, "--data", task.dev)["metrics"]
    file = _reference(arguments, task)
    kerasbert("convert", task.teacher, "--recipe", RECIPE, "-o", file)
    return {
        "teacher": task.teacher.name, "metric": METRICS[task.processor], "float": metrics, "bytes": file.stat().st_size,
        "length": task.length, "train": task.train.name, "dev": task.dev.name, "dev_rows": len(_rows(task, task.dev)),
    }  # fmt: skip


def _reference(arguments: argparse.Namespace, task: Task) -> Path:
    folder = arguments.work / task.name
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "teacher.tflite"


def _run(arguments: argparse.Namespace, task: Task, name: str, seed: int) -> dict:
    """Run the steps of a method that `--work` lacks, convert the last folder, and measure the file."""
    method, folder = METHODS[name], arguments.work / task.name / f"{name}-{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    model = task.teacher
    texts = folder / "texts.txt"
    if any("{texts}" in step for step in method.steps):
        _write_texts(arguments, task, texts)
    commands = [command_words(arguments, task, step, seed, texts) for step in method.steps]
    for number, words in enumerate(commands, 1):
        out = folder / str(number)
        if not out.exists():
            unfinished = folder / f"{number}.partial"
            shutil.rmtree(unfinished, ignore_errors=True)
            kerasbert(*(str(model) if word == "{before}" else word for word in words), "--out", unfinished)
            unfinished.rename(out)
        model = out
    file = folder / "model.tflite"
    if not file.exists():
        kerasbert("convert", model, *(("--recipe", method.recipe) if method.recipe else ()), "-o", file)
    sample = sampled(_rows(task, task.dev)) if method.texts else None
    latency = _latency_ratio(file, _reference(arguments, task), sample)
    return {
        "rows": len(_rows(task, task.train, arguments.rows)) if method.steps else 0,
        "epochs": arguments.epochs if any("{training}" in step for step in method.steps) else 0,
        "commands": [" ".join(map(record.shorten_path, words)) for words in commands],
        "dev": score(file, task.dev), "bytes": file.stat().st_size, "gzip_bytes": len(gzip.compress(file.read_bytes(), mtime=0)),
        "latency_ratio": latency["of_medians"], "latency": latency,
    }  # fmt: skip


def _latency_ratio(file: Path, reference: Path, texts: Sequence[Any] | None) -> dict[str, float]:
    """Compare the processor time of two files, which take turns: of a full row, or of texts with their tokenization.

    Args:
        file: The measured file.
        reference: The file of the teacher.
        texts: Real texts, for a file whose time depends on them. None runs one full row many times.
    """
    first, second = (_calls(path, texts) for path in (file, reference))
    seconds: list[list[float]] = [[], []]
    for number, pair in enumerate(zip(first, second, strict=True)):
        for turn in (0, 1) if number % 2 else (1, 0):
            start = time.process_time()
            pair[turn]()
            if number >= WARMUP:
                seconds[turn].append(time.process_time() - start)
    if texts is not None:  # the mean counts, since easy texts end early
        seconds = [[float(np.mean(each))] for each in seconds]
    return record.ratio(seconds[0], seconds[1])


def _calls(path: Path, texts: Sequence[Any] | None) -> list[Callable[[], object]]:
    from kerasbert.export.runtime.interpreters import open_model
    from kerasbert.export.runtime.opening import open_pipeline

    if texts is not None:
        pipeline = open_pipeline(path)
        return [partial(pipeline.predictions, [text]) for text in (*texts[:WARMUP], *texts)]
    model = open_model(str(path), 1, verified=True)
    row = {
        "input_ids": np.arange(LONGEST) * 7919 % 1000,
        "attention_mask": np.ones(LONGEST),
        "token_type_ids": np.zeros(LONGEST),
    }
    inputs = {
        name: row[name][: port.shape[-1]].astype(port.dtype).reshape(port.shape) for name, port in model.inputs.items()
    }
    return [partial(model.timed, inputs)] * (WARMUP + RUNS)


def command_words(arguments: argparse.Namespace, task: Task, step: str, seed: int, texts: Path) -> list[str]:
    """Fill in a step; `{before}` stays, since it is a folder of the run.

    Args:
        arguments: `rows`, None for all of them; `epochs`, and the `encoder` of a dual vocabulary.
        task: The task.
        step: A step of a method.
        seed: The seed.
        texts: The file of `{texts}`.
    """
    limit = ["--max-rows", str(arguments.rows)] if arguments.rows else []
    groups = {"{limit}": limit, "{training}": ["--epochs", str(arguments.epochs), "--seed", str(seed), *limit]}
    values = {
        "task": "tagging" if task.processor == "tagging" else "classification", "teacher": task.teacher, "train": task.train,
        "unlabelled": task.unlabelled, "encoder": arguments.encoder, "epochs": arguments.epochs, "seed": seed,
        "length": task.length, "before": "{before}", "texts": texts,
    }  # fmt: skip
    words: list[str] = []
    for word in step.split():
        words += groups[word] if word in groups else [word.format(**values)]
    return words


def _write_texts(arguments: argparse.Namespace, task: Task, path: Path) -> None:
    """Write the texts of the training rows and of the rows without labels, one a line."""
    lines: list[str] = []
    for file in (task.train, task.unlabelled):
        if file is not None:
            data = _rows(task, file, arguments.rows)
            lines += [*data.texts, *(data.pairs or ())]
    path.write_text("\n".join(lines) + "\n", "utf-8")


def sampled(data: "Dataset") -> list[Any]:
    """Choose up to `TEXTS` texts or pairs of texts evenly.

    Args:
        data: The rows.
    """
    places = np.linspace(0, len(data) - 1, min(TEXTS, len(data))).astype(int)
    examples = data.x if data.pairs is None else list(zip(data.texts, data.pairs, strict=True))
    return [examples[place] for place in places]


def _rows(task: Task, file: Path, limit: int | None = None) -> "Dataset":
    from kerasbert.processors import read_for

    return read_for(task.processor, file, max_rows=limit)


def summarize(teachers: dict, runs: list[dict]) -> dict:
    """Make the result of the runs: titles of methods, teachers, and mean scores by task and method.

    Args:
        teachers: Facts about the teacher and the data of each task.
        runs: Each with its task, method, seed and numbers.
    """
    summary = {}
    for task, facts in teachers.items():
        metric, summary[task] = facts["metric"], {}
        for method in dict.fromkeys(run["method"] for run in runs if run["task"] == task):
            own = [run for run in runs if (run["task"], run["method"]) == (task, method)]
            scores = [run["dev"][metric] for run in own]
            summary[task][method] = {
                "score": over_seeds(scores), "share": float(np.mean(scores)) / facts["float"][metric],
                "seeds": [run["seed"] for run in own],
                "rows": sorted({run["rows"] for run in own}), "epochs": sorted({run["epochs"] for run in own}),
                **{name: float(np.median([run[name] for run in own])) for name in ("bytes", "gzip_bytes", "latency_ratio")},
            }  # fmt: skip
    titles = {name: method.title for name, method in METHODS.items()}
    return {"methods": titles, "tasks": teachers, "summary": summary, "runs": runs}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option, value, text in (
        ("teacher", "FOLDER", "trained classifiers and taggers"),
        ("train", "FILE", "rows to train on"),
        ("dev", "FILE", "rows to measure on"),
    ):
        parser.add_argument(
            f"--{option}", nargs="+", type=_pair, required=True, metavar=f"TASK={value}", help=f"{text}, of each task"
        )
    parser.add_argument(
        "--unlabelled",
        nargs="+",
        type=_pair,
        default=[],
        metavar="TASK=FILE",
        help="more rows, whose labels are not used",
    )
    parser.add_argument(
        "--encoder", default="small-en", metavar="FOLDER", help="teacher of a dual vocabulary (small-en)"
    )
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS), metavar="METHOD")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--rows", type=int, metavar="N", help="the first rows of each training file (all)")
    parser.add_argument("--epochs", type=int, default=2, metavar="N")
    parser.add_argument("--work", type=Path, required=True, metavar="FOLDER", help="keeps models and files")
    record.add_output(parser, "compression_methods")
    arguments = parser.parse_args()
    for option in ("teacher", "train", "dev", "unlabelled"):
        setattr(arguments, option, dict(getattr(arguments, option)))
    return arguments


def _pair(text: str) -> tuple[str, Path]:
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise argparse.ArgumentTypeError(f"expected TASK=PATH, received {text!r}")
    return name, Path(path)


if __name__ == "__main__":
    main()
