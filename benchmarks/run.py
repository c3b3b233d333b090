r"""Runs every measurement whose inputs are given, one after the other; says of the others what they need.

    python benchmarks/run.py --checkpoint DIR --train sst2-train.tsv.gz --dev sst2-dev.tsv.gz --task-folder runs/sst2 \
        --int8-folder runs/sst2-int8 --tflite dynamic.tflite --tflite-b static.tflite --peer-python peers/bin/python

Arguments may stand in environment variables: KERASBERT_BENCH_CHECKPOINT, KERASBERT_BENCH_PEER_PYTHON, and so on.
Nothing else should run on the machine meanwhile; results lie under `--results`.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent


def measurements(given: argparse.Namespace) -> dict[str, tuple[tuple[str, ...], list]]:
    """Name -> (the arguments it needs, its command line; paths that were not given are None there)."""
    python, peer = sys.executable, given.peer_python
    further = ["--tflite-b", given.tflite_b] if given.tflite_b else []
    return {
        "onnxruntime_latency": (
            ("checkpoint", "tflite", "peer_python"),
            [peer, HERE / "onnxruntime_latency.py", given.checkpoint, "--tflite", given.tflite, *further],
        ),
        "training_throughput": (
            ("checkpoint", "train", "peer_python"),
            [python, HERE / "training_throughput.py", given.checkpoint, "--train", given.train, "--peer-python", peer],
        ),
        "conversion": (
            ("task_folder",),
            [python, HERE / "conversion.py", given.task_folder, "--recipes", "float32", "float16", "dynamic_wi8_afp32"],
        ),
        "conversion_static_int8": (
            ("int8_folder",),
            [python, HERE / "conversion.py", given.int8_folder, "--recipes", "static_wi8_ai8"],
        ),
        "classification": (
            ("task_folder", "int8_folder", "dev"),
            [python, HERE / "classification.py", given.task_folder, given.int8_folder, "--dev", given.dev],
        ),
        "quantization_points": (
            ("task_folder", "train", "dev"),
            [python, HERE / "quantization_points.py", given.task_folder, "--calibration", given.train, "--dev", given.dev],
        ),
        "sentence_similarity": (
            ("checkpoint", "sts_test"),
            [python, HERE / "sentence_similarity.py", given.checkpoint, "--test", given.sts_test],
        ),
        "finetuning": (
            ("checkpoint", "data", "peer_python"),
            [python, HERE / "finetuning.py", given.checkpoint, "--data", given.data, "--peer-python", peer],
        ),
        "sentence_pairs": (
            ("checkpoint", "data"),
            [python, HERE / "sentence_pairs.py", given.checkpoint, "--data", given.data],
        ),
        "quantized_tasks": (
            ("models", "data"),
            [python, HERE / "quantized_tasks.py", given.models, "--data", given.data],
        ),
        "quantized_steps": (
            ("task_folder", "train"),
            [python, HERE / "quantized_steps.py", given.task_folder, "--train", given.train],
        ),
        "split_k": (
            ("task_folder", "dev"),
            [python, HERE / "split_k.py", "--model", given.task_folder, given.dev],
        ),
        "steps_apart": (
            ("task_folder", "train", "dev"),
            [python, HERE / "steps_apart.py", "--model", given.task_folder, given.dev, given.train],
        ),
        "diagnose_ranks": ((), [python, HERE / "diagnose_ranks.py"]),
        "structure": ((), [python, HERE / "structure.py"]),
        "integer_products": ((), [python, HERE / "integer_products.py"]),
        "sparse_models": (
            ("task_folder", "train", "dev"),
            [python, HERE / "sparse_models.py", given.task_folder, "--train", given.train, "--dev", given.dev],
        ),
        "small_students": (
            ("task_folder", "train", "dev"),
            [python, HERE / "small_students.py", given.task_folder, "--train", given.train, "--dev", given.dev],
        ),
        "cut_models": (
            ("task_folder", "train", "dev"),
            [python, HERE / "cut_models.py", given.task_folder, "--train", given.train, "--dev", given.dev],
        ),
        "japanese_headlines": (
            ("headlines", "japanese_vocabulary"),
            [
                python, HERE / "japanese_headlines.py",
                "--headlines", given.headlines, "--vocabulary", given.japanese_vocabulary,
            ],
        ),
        "architectures": ((), [python, HERE / "architectures.py"]),
        "tokenization": (
            ("train", "vocabulary"),
            [python, HERE / "tokenization.py", "--data", given.train, "--vocabulary", given.vocabulary],
        ),
        "tokenizer_parity": (
            ("vocabularies", "data", "peer_python"),
            [peer, HERE / "tokenizer_parity.py", "--vocabularies", given.vocabularies, "--data", given.data],
        ),
        "fuzz_readers": ((), [python, HERE / "fuzz_readers.py"]),
        "fuzz_tflite": (("tflite",), [python, HERE / "fuzz_tflite.py", given.tflite, *further[1:]]),
        "protection": (("tflite",), [python, HERE / "protection.py", given.tflite, *further[1:]]),
        "kills": ((), [python, HERE / "kills.py"]),
        "in_graph_parity": (
            ("vocabularies", "data"),
            [python, HERE / "in_graph_parity.py", "--vocabularies", given.vocabularies, "--data", given.data],
        ),
    }  # fmt: skip


def main() -> None:
    given = _arguments()
    failed = []
    for name, (needs, command) in measurements(given).items():
        if given.only and name not in given.only:
            continue
        if missing := [f"--{need.replace('_', '-')}" for need in needs if getattr(given, need) is None]:
            print(f"{name}: not run, needs {', '.join(missing)}")
            continue
        print(f"{name}: {' '.join(str(part) for part in command)}", flush=True)
        start = time.perf_counter()
        done = subprocess.run([*map(str, command), "--json", str(given.results / f"{name}.json")], check=False)
        ended = "done" if done.returncode == 0 else f"failed ({done.returncode})"
        print(f"{name}: {ended} in {time.perf_counter() - start:.0f} s", flush=True)
        failed += [name] * (done.returncode != 0)
    if failed:
        raise SystemExit(f"expected every measurement to end well, received failures of {', '.join(failed)}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, help_text in (
        ("checkpoint", "a Hugging Face folder with a BERT"),
        ("train", "labelled texts with labels 0 and 1, as SST-2's train.tsv"),
        ("dev", "labelled rows of the same kind to measure on"),
        ("sts-test", "STS-B's labelled test part"),
        ("task-folder", "a trained float task"),
        ("int8-folder", "the same after quantization-aware training"),
        ("tflite", "dynamic int8 file of the checkpoint, length 128"),
        ("tflite-b", "static int8 file of the checkpoint, length 128"),
        ("vocabulary", "an uncased vocab.txt, plain or gzip"),
        ("vocabularies", "a folder with a folder for each vocabulary"),
        ("data", "a folder of data sets: GLUE, CoNLL, SQuAD's form, text files in several languages"),
        ("models", "float models that finetuning.py kept, as CASE-SEED"),
        ("headlines", "Japanese headlines with a category each"),
        ("japanese-vocabulary", "a Japanese vocab.txt, plain or gzip"),
        ("peer-python", "Python of an environment with requirements-peers.txt"),
    ):
        variable = f"KERASBERT_BENCH_{name.replace('-', '_').upper()}"
        parser.add_argument(
            f"--{name}", default=os.environ.get(variable) or None, metavar="PATH", help=f"{help_text} (or ${variable})"
        )
    parser.add_argument("--results", type=Path, default=HERE / "results", metavar="FOLDER")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="run these only")
    return parser.parse_args()


if __name__ == "__main__":
    main()
