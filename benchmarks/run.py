r"""Runs every measurement whose inputs are given; names the missing inputs of the others.

    python -m benchmarks.run --checkpoint DIR --train sst2-train.tsv.gz --dev sst2-dev.tsv.gz --task-folder runs/sst2 \
        --int8-folder runs/sst2-int8 --tflite dynamic.tflite --tflite-b static.tflite --peer-python peers/bin/python

Inputs may also be environment variables: KERASBERT_BENCH_CHECKPOINT, KERASBERT_BENCH_PEER_PYTHON, and so on. `--only` selects measurements.
Results go to `--results`, one file per measurement. Absolute times need an otherwise idle machine.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Measurement:
    """A script and its arguments.

    Attributes:
        module: Below `benchmarks`.
        arguments: Separated by spaces; `{name}` is the value of an input, which the measurement needs.
        optional: Groups of arguments that are added if their inputs are given.
        on_peer: Whether it runs on the Python of the peers' environment.
        result: The name of the result file; by default the script's.
    """

    module: str
    arguments: str = ""
    optional: tuple[str, ...] = ()
    on_peer: bool = False
    result: str = ""

    @property
    def name(self) -> str:
        """The name of the measurement and of its result file."""
        return self.result or self.module.rpartition(".")[2]

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs that it needs."""
        return tuple(dict.fromkeys([*_inputs_of(self.arguments), *(["peer_python"] if self.on_peer else [])]))

    def command(self, inputs: dict[str, str | None], results: Path) -> list[str]:
        """Build the command line.

        Args:
            inputs: Values by name; None for those that are not given.
            results: The folder of the result file.
        """
        values = {name: value for name, value in inputs.items() if value is not None}
        optional = [group for group in self.optional if all(name in values for name in _inputs_of(group))]
        words = " ".join([self.arguments, *optional]).split()
        python = values["peer_python"] if self.on_peer else sys.executable
        output = ["--json", str(results / f"{self.name}.json")]
        return [python, "-m", f"benchmarks.{self.module}", *(word.format(**values) for word in words), *output]


def _demo_predictions(client: str) -> Measurement:
    few = " --rows 200" if client == "chromium-webgpu" else ""  # a software adapter takes half a second a row
    name = f"{client.replace('-', '_')}_predictions"
    arguments = f"--client {client} --data {{data}}{few}"
    return Measurement("parity.demo_predictions", arguments, ("--answers {client_answerer}",), result=name)


def _demo_search(client: str) -> Measurement:
    return Measurement("parity.demo_search", f"--client {client} --texts {{sentences}}", result=f"{client}_search")


MEASUREMENTS = (
    Measurement(
        "latency.onnxruntime_latency", "{checkpoint} --tflite {tflite}", ("--tflite-b {tflite_b}",), on_peer=True
    ),
    Measurement("latency.real_lengths", "{task_folder} --tflite {task_tflite} --data {dev}", on_peer=True),
    Measurement("latency.early_exit", "{exits_folder} --data {dev}"),
    Measurement("latency.early_exit_web", "{exits_folder} --data {dev}"),
    Measurement("latency.conversion", "{task_folder} --recipes float32 float16 dynamic_wi8_afp32"),
    Measurement("latency.conversion", "{int8_folder} --recipes static_wi8_ai8", result="conversion_static_int8"),
    Measurement("latency.tokenization", "--data {train} --vocabulary {vocabulary}"),
    Measurement("latency.jvm_tokenization", "--data {train} --column sentence --vocabulary {vocabulary}"),
    Measurement("latency.web_demo"),
    Measurement(
        "latency.web_tokenization",
        "--data {train} --column sentence --vocabulary {vocabulary}",
        ("--packages {node_packages}",),
    ),
    Measurement("latency.integer_products"),
    Measurement("latency.protection", "{tflite}", ("{tflite_b}",)),
    Measurement("latency.architectures"),
    Measurement("training.training_throughput", "{checkpoint} --train {train} --peer-python {peer_python}"),
    Measurement("training.finetuning", "{checkpoint} --data {data} --peer-python {peer_python}"),
    Measurement("training.sentence_pairs", "{checkpoint} --data {data}"),
    Measurement("training.japanese_headlines", "--headlines {headlines} --vocabulary {japanese_vocabulary}"),
    Measurement("training.pretraining_masks", "--text english={corpus}"),
    Measurement("training.pretraining_losses", "--text {corpus} --peer-python {peer_python}"),
    Measurement("training.pretraining_throughput", "--text {corpus} --peer-python {peer_python}"),
    Measurement("training.pretraining_steps", "--text {corpus} --peer-python {peer_python}"),
    Measurement("training.pretraining_curves", "--text {corpus} --dev {pretraining_dev} --work curves"),
    Measurement("training.continued_pretraining", "--train {training_questions} --dev {questions} --work continued"),
    Measurement("training.japanese_pretraining", "--articles {articles} --work japanese"),
    Measurement("training.quantized_steps", "{task_folder} --train {train}"),
    Measurement("accuracy.classification", "{task_folder} {int8_folder} --dev {dev}"),
    Measurement("accuracy.sentence_similarity", "{checkpoint} --test {sts_test}"),
    Measurement("accuracy.few_examples", "--data intents {intents_train} {intents_test} intent"),
    Measurement("accuracy.retrieval", "--questions {questions}"),
    Measurement("accuracy.vector_dimensions", "{checkpoint} --data {data} --test {sts_test}"),
    Measurement("accuracy.table_bits", "--encoders mini-en --pairs {sts_test} --questions {questions}"),
    Measurement("accuracy.layer_search", "{checkpoint} --data {data} --test {sts_test}"),
    Measurement("accuracy.quantizer_ablation", "{task_folder} --calibration {train} --dev {dev}"),
    Measurement("accuracy.quantized_tasks", "{models} --data {data}"),
    Measurement("accuracy.diagnose_ranks"),
    Measurement("accuracy.sparse_models", "{task_folder} --train {train} --dev {dev}"),
    Measurement("accuracy.small_students", "{task_folder} --train {train} --dev {dev}"),
    Measurement("accuracy.cut_models", "{task_folder} --train {train} --dev {dev}"),
    Measurement(
        "accuracy.compression_methods",
        "--teacher sst2={task_folder} --train sst2={train} --dev sst2={dev} --work compression",
    ),
    Measurement("parity.tokenizer_parity", "--vocabularies {vocabularies} --data {data}", on_peer=True),
    Measurement("parity.in_graph_parity", "--vocabularies {vocabularies} --data {data}"),
    Measurement("parity.client_tokenization", "--vocabulary {vocabulary}"),
    Measurement(
        "parity.clients",
        "--classifier {client_classifier} --texts {dev}",
        ("--embedder {client_embedder}", "--answerer {client_answerer} --questions {questions}"),
    ),
    *(_demo_predictions(client) for client in ("jvm", "node", "chromium", "chromium-webgpu")),
    *(_demo_search(client) for client in ("jvm", "node", "chromium")),
    Measurement("parity.published_forms", "--python {peer_python}"),
    Measurement("parity.model_files", "{kept_files} --client jvm"),
    Measurement("parity.model_files", "{kept_files} --client node", result="node_model_files"),
    Measurement("parity.golden_comparison", "{golden}", ("--packages {node_packages}",)),
    Measurement(
        "backends.targets", "--texts {dev} --vocabulary {vocabulary}", ("--trained {task_folder} {dev} {train}",)
    ),
    Measurement("backends.split_k", "--model {task_folder} {dev}"),
    Measurement("backends.half_range_norms", "mini-en small-en --texts {sentences}"),
    Measurement("backends.int8_backend_divergence", "--model {task_folder} {dev} {train}"),
    Measurement("backends.integer_agreement"),
    Measurement("backends.edge_tpu_forecast", "--texts {dev} --vocabulary {vocabulary}"),
    Measurement("zoo.vectors", "--beside {checkpoint} --data {data} --calibration {calibration}", result="zoo_vectors"),
    Measurement("zoo.finetuning", "--beside {checkpoint} --data {data}", result="zoo_finetuning"),
    Measurement("zoo.latency", "--beside {checkpoint} --calibration {calibration}", result="zoo_latency"),
    Measurement("zoo.rerank", "rerank --questions {questions}", result="zoo_rerank"),
    Measurement("zoo.search", "search --float {search_float} --texts {sentences}", result="zoo_search"),
    Measurement("zoo.rebuild", result="zoo_rebuild"),
    Measurement("robustness.fuzz_readers"),
    Measurement("robustness.fuzz_tflite", "{tflite}", ("{tflite_b}",)),
    Measurement("robustness.kills"),
    Measurement("robustness.pretraining_runs", "--text {corpus} --dev {pretraining_dev}"),
    Measurement("robustness.threads"),
    Measurement("robustness.power_cuts"),
    Measurement("robustness.validate_mutations"),
    Measurement("code.structure"),
    Measurement("code.walk"),
    Measurement("code.converted_files", "--against {digests}"),
)

# Scripts that run.py does not run, with the reason.
HELPERS = {
    "run": "runs the measurements",
    "training.defaults": "trains for many hours, and continues its result file",
    "training.finetuning_ways": "trains for over an hour, and continues its result file",
    "accuracy.budget": "trains for hours, and continues its result file",
    "accuracy.multilingual": "needs a multilingual checkpoint, and continues its result file",
    "accuracy.few_examples_trained": "trains for hours with a peer, and continues its result file",
    "accuracy.setfit_peer": "a child process of accuracy.few_examples_trained",
    "training.finetuning_pytorch": "a child process of training.finetuning",
    "training.pretraining_keras": "a child process of training.pretraining_throughput and pretraining_steps",
    "training.pretraining_pytorch": "a child process of training.pretraining_throughput and pretraining_steps",
    "training.pretraining_losses_peer": "a child process of training.pretraining_losses",
    "training.training_keras": "a child process of training.training_throughput",
    "training.training_pytorch": "a child process of training.training_throughput",
    "latency.commits": "needs another checkout of the project",
    "latency.tokenization_engine": "a child process of latency.tokenization",
    "backends.small_models": "trains models for backends.targets and backends.int8_backend_divergence",
    "zoo.files": "measures one file, whose float model and data differ from those of the others",
    "zoo.task_peers": "trains for an hour with a peer, and continues its result file",
    "zoo.torch_peer": "a child process of zoo.task_peers",
    "zoo.distilled_tags": "trains for over an hour, and keeps its models in a folder",
    "zoo.sentiment_reviews": "measures one file on reviews and texts of several kinds",
    "training.masked_words": "measures masked language models that kerasbert pretrain has made",
    "zoo.squad_articles": "splits questions into the parts that training.finetuning reads",
    "zoo.entity_sentences": "samples sentences of plain texts for the distillation of entities",
    "zoo.entity_texts": "joins data sets of entities into the training data of a file",
    "zoo.request_rows": "turns requests with slots into the training data of a file",
    "zoo.rerank_pairs": "makes the training data of a file from data sets of questions",
    "zoo.answer_texts": "joins data sets of questions into the training data of a file",
    "parity.export_index": "writes golden indexes for the clients in other languages",
    "parity.export_layers": "writes golden layers for the clients in other languages",
    "parity.export_golden": "writes vectors for the tests of android_demo and web_demo",
    "parity.demo_tables": "writes the tables that android_demo/core and web_demo/core share with Python",
    "code.traced_command": "a child process of code.walk",
    "code.draw_packages": "writes the drawing of docs/contribute/architecture.md",
    "parity.published_forms_writer": "a child process of parity.published_forms, in an environment with PyTorch",
    "reports.results_pages": "writes the tables and plots of docs/results/ from results",
}

INPUTS = {
    "checkpoint": "a Hugging Face folder with a BERT",
    "corpus": "running English text, a line each, with blank lines between documents",
    "pretraining_dev": "other text of that kind",
    "train": "labelled texts with labels 0 and 1, such as SST-2's train.tsv",
    "dev": "labelled rows of the same kind to measure on",
    "sts_test": "STS-B's labelled test part",
    "task_folder": "a trained float task",
    "int8_folder": "the same after quantization-aware training",
    "exits_folder": "the float task with exits, as train --exits makes it",
    "tflite": "dynamic int8 file of the checkpoint, length 128",
    "tflite_b": "static int8 file of the checkpoint, length 128",
    "task_tflite": "dynamic int8 file of the float task, of several lengths",
    "vocabulary": "an uncased vocab.txt",
    "vocabularies": "a folder with one folder per vocabulary",
    "data": "a folder of data sets: GLUE, CoNLL, SQuAD's format, text files in several languages",
    "models": "float models that training.finetuning kept, as CASE-SEED",
    "calibration": "texts for int8 ranges, one a line",
    "sentences": "22,000 sentences to search in, one a line",
    "search_float": "the float encoder that the zoo's search was made from",
    "headlines": "Japanese headlines with a category each",
    "articles": "Japanese articles of three parts, with a category and a title each, in JSON lines",
    "japanese_vocabulary": "a Japanese vocab.txt, plain or gzip",
    "client_classifier": "a classifier's file for MediaPipe Tasks and the Task Library",
    "client_embedder": "a sentence encoder's file for them",
    "client_answerer": "a question answerer's file for them",
    "intents_train": "texts with an intent each, in the columns text and intent",
    "intents_test": "others of that kind",
    "questions": "questions in SQuAD's format",
    "training_questions": "others to train on",
    "kept_files": "a folder of .tflite files, as parity.keep_files keeps them",
    "golden": "a folder of golden vectors of parity.export_golden",
    "node_packages": "a folder that has node_modules with @huggingface/tokenizers",
    "digests": "an earlier result of code.converted_files",
    "peer_python": "Python of an environment with requirements-peers.txt",
}


def main() -> None:
    """Run the selected measurements, one after the other."""
    arguments = _arguments()
    inputs = {name: getattr(arguments, name) for name in INPUTS}
    failed = []
    for measurement in MEASUREMENTS:
        name = measurement.name
        if arguments.only and name not in arguments.only:
            continue
        if missing := [_option(needed) for needed in measurement.inputs if inputs[needed] is None]:
            print(f"{name}: not run, needs {', '.join(missing)}")
            continue
        if not _run(name, measurement.command(inputs, arguments.results)):
            failed.append(name)
    if failed:
        raise SystemExit(f"expected exit code 0 of every measurement, received failures of {', '.join(failed)}")


def _run(name: str, command: list[str]) -> bool:
    print(f"{name}: {' '.join(command)}", flush=True)
    start = time.perf_counter()
    exit_code = subprocess.run(command, check=False).returncode
    outcome = "done" if exit_code == 0 else f"failed ({exit_code})"
    print(f"{name}: {outcome} in {time.perf_counter() - start:.0f} s", flush=True)
    return exit_code == 0


def _inputs_of(arguments: str) -> list[str]:
    return re.findall(r"{(\w+)}", arguments)


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, help_text in INPUTS.items():
        variable = f"KERASBERT_BENCH_{name.upper()}"
        default = os.environ.get(variable) or None
        parser.add_argument(_option(name), default=default, metavar="PATH", help=f"{help_text} (or ${variable})")
    results = Path(__file__).parent / "results"
    parser.add_argument("--results", type=Path, default=results, metavar="FOLDER", help="where result files go")
    names = [measurement.name for measurement in MEASUREMENTS]
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help="run only these measurements")
    return parser.parse_args()


if __name__ == "__main__":
    main()
