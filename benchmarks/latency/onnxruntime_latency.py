"""Latency of `.tflite` files on LiteRT with XNNPACK against ONNX Runtime, same checkpoint, interleaved in one run.

    python -m benchmarks.latency.onnxruntime_latency CHECKPOINT --tflite dynamic.tflite --tflite-b static.tflite --length 128

Measured: milliseconds per text by clock and by processor time, ratios between the runtimes, and the cosine of sentence vectors. Needs the
environment of requirements-peers.txt.

PyTorch exports the checkpoint's encoder to ONNX with eager attention and batch size 1, by both of its exporters.
onnxruntime.quantization.quantize_dynamic makes int8 weights, per tensor and per channel; the fastest of the four files counts. Texts are
padded to the length; in every round the models take turns, each with all texts. On a busy machine use the ratio of processor times, which
excludes waiting.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.common import record
from kerasbert.data.tables import read_table
from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.interpreters import open_model
from kerasbert.text import pack, tokenizer_from_folder

INPUT_NAMES = ("input_ids", "attention_mask", "token_type_ids")
PACKAGES = ("onnxruntime", "onnx", "onnxscript", "torch", "transformers", "ai-edge-litert", "numpy")
EXPORTERS = {"dynamo": (True, 18), "torchscript": (False, 17)}  # torch.onnx.export(dynamo=..., opset_version=...)
REFERENCE = "onnxruntime-float32-dynamo"
WARM_UP = 5
TEXTS = (
    "a gripping film",
    "Where can I change the address that my parcels are sent to?",
    "The committee will meet again on Thursday, when the results of both trials are expected to be known, and decide then.",
    "It rained.",
    "My brother bought the small red car although the dealer had told him twice that its engine would not last another winter.",
    "set an alarm for a quarter past six tomorrow morning",
    "Prices rose by 3.5 % in the third quarter, which is less than most analysts had predicted.",
    "The second half drags, yet the two leads are so good that nobody in the audience seemed to mind; I certainly did not.",
)


def main() -> None:
    """Export, measure and write the result."""
    arguments = _arguments()
    load = record.load()
    texts = list(TEXTS) if arguments.texts is None else read_table(arguments.texts, max_rows=64).texts
    packed = _pack(arguments, texts)
    files = [arguments.tflite, *arguments.tflite_b]
    with tempfile.TemporaryDirectory() as folder:
        models, paths = _onnx_models(arguments, Path(folder))
        for path in files:
            if Path(path).stem in models:
                raise KerasBertError(f"expected files of different names, received {Path(path).name} twice; rename one")
            models[Path(path).stem], paths[Path(path).stem] = _LiteRT(path, arguments), path
        facts = {name: record.file_facts(path) for name, path in paths.items()}
        vectors = {name: _vectors(model, packed) for name, model in models.items()}
        clock, processor = _take_turns(models, packed, arguments.rounds)
    result = _summary(clock, processor, vectors, facts, [Path(path).stem for path in files])
    for name, model in models.items():
        if isinstance(model, _LiteRT):
            result["models"][name]["partitions"] = model.partitions
    settings = {name: getattr(arguments, name) for name in ("length", "threads", "rounds")}
    settings |= {"checkpoint": Path(arguments.checkpoint).name, "onnx_exporters": EXPORTERS}
    settings["tokens_a_text"] = [int(count) for count in packed["attention_mask"].sum(1)]
    record.write(arguments.json, {**settings, **result}, record.versions(PACKAGES), load)


class _OnnxRuntime:
    """An ONNX Runtime session with named inputs."""

    def __init__(self, path: Path, threads: int) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self._types = {port.name: np.int64 if "int64" in port.type else np.int32 for port in self._session.get_inputs()}

    def fill(self, row: dict[str, np.ndarray]) -> None:
        self._row = {name: row[name].astype(kind) for name, kind in self._types.items()}

    def invoke(self) -> None:
        self._outputs = self._session.run(None, self._row)

    def fetch(self) -> np.ndarray:
        return self._outputs[0]


class _LiteRT:
    """A `.tflite` file on XNNPACK."""

    def __init__(self, path: str, arguments: argparse.Namespace) -> None:
        try:
            self._model = open_model(path, threads=arguments.threads)
        except KerasBertError as error:
            if "resizable" not in str(error):
                raise
            self._model = open_model(path, threads=arguments.threads, length=arguments.length)
        if self._model.length != arguments.length:
            raise KerasBertError(
                f"expected length {arguments.length}, received {Path(path).name} of length {self._model.length}; "
                f"convert it with --length {arguments.length}"
            )
        self.partitions = self._model.partitions

    def fill(self, row: dict[str, np.ndarray]) -> None:
        self._row = {name: row[name].astype(port.dtype) for name, port in self._model.inputs.items()}

    def invoke(self) -> None:
        self._outputs = self._model.compute(self._row)

    def fetch(self) -> np.ndarray:
        return next(iter(self._outputs.values()))


def _onnx_models(arguments: argparse.Namespace, folder: Path) -> tuple[dict, dict]:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    paths = {}
    for exporter, (dynamo, opset) in EXPORTERS.items():
        float32 = paths[f"onnxruntime-float32-{exporter}"] = folder / f"{exporter}.onnx"
        _export(arguments, float32, dynamo, opset)
        for name, per_channel in (("int8", False), ("int8-per-channel", True)):
            path = paths[f"onnxruntime-{name}-{exporter}"] = folder / f"{name}-{exporter}.onnx"
            quantize_dynamic(float32, path, weight_type=QuantType.QInt8, per_channel=per_channel)
    return {name: _OnnxRuntime(path, arguments.threads) for name, path in paths.items()}, paths


def _export(arguments: argparse.Namespace, path: Path, dynamo: bool, opset: int) -> None:
    """Export the encoder with the output `last_hidden_state`, (1, length, hidden)."""
    import torch
    import transformers

    class Encoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = transformers.AutoModel.from_pretrained(
                arguments.checkpoint, attn_implementation="eager", dtype=torch.float32, add_pooling_layer=False
            ).eval()

        def forward(self, input_ids, attention_mask, token_type_ids):
            return self.model(
                input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
            ).last_hidden_state

    example = torch.ones((1, arguments.length), dtype=torch.int64)
    # With half of the example masked, tracing cannot specialize on inputs without padding.
    mask = example.clone()
    mask[:, arguments.length // 2 :] = 0
    options = {
        "input_names": list(INPUT_NAMES),
        "output_names": ["last_hidden_state"],
        "opset_version": opset,
    }
    if dynamo:
        options["external_data"] = False
    with torch.no_grad():
        torch.onnx.export(
            Encoder().eval(), (example, mask, torch.zeros_like(example)), str(path), dynamo=dynamo, **options
        )


def _pack(arguments: argparse.Namespace, texts: list[str]) -> dict[str, np.ndarray]:
    tokenizer = tokenizer_from_folder(arguments.checkpoint)
    encoded = tokenizer.encode(texts, None, max_length=arguments.length)
    return pack(encoded, length=arguments.length, pad_id=tokenizer.pad_id)


def _rows(packed: dict[str, np.ndarray]) -> list[dict[str, np.ndarray]]:
    return [{name: packed[name][i : i + 1] for name in INPUT_NAMES} for i in range(len(packed["input_ids"]))]


def _vectors(model, packed: dict[str, np.ndarray]) -> np.ndarray:
    """Compute normalized vectors, (texts, hidden); token outputs (1, length, hidden) are averaged over the text."""
    vectors = []
    for row in _rows(packed):
        model.fill(row)
        model.invoke()
        output = np.asarray(model.fetch(), np.float64)
        if output.ndim == 3:
            mask = row["attention_mask"][..., None]
            output = (output * mask).sum(1) / mask.sum(1)
        vectors.append(output[0] / max(np.linalg.norm(output[0]), 1e-12))
    return np.array(vectors)


def _take_turns(models: dict, packed: dict[str, np.ndarray], rounds: int) -> tuple[dict, dict]:
    """Measure seconds per text in each round, by clock and by processor; every other round has the reverse order."""
    rows = _rows(packed)
    clock, processor = {name: [] for name in models}, {name: [] for name in models}
    for turn in range(WARM_UP + rounds):
        for name in list(models)[:: 1 if turn % 2 else -1]:
            seconds, processor_seconds = _run_all(models[name], rows)
            if turn >= WARM_UP:
                clock[name].append(seconds / len(rows))
                processor[name].append(processor_seconds / len(rows))
    return clock, processor


def _run_all(model, rows: list) -> tuple[float, float]:
    seconds = processor_seconds = 0.0
    for row in rows:
        model.fill(row)
        start, processor_start = time.perf_counter(), time.process_time()
        model.invoke()
        processor_seconds += time.process_time() - processor_start
        seconds += time.perf_counter() - start
    return seconds, processor_seconds


def _summary(clock: dict, processor: dict, vectors: dict[str, np.ndarray], facts: dict, files: list[str]) -> dict:
    fastest = min(
        (name for name in clock if name.startswith("onnxruntime-int8")), key=lambda name: np.median(clock[name])
    )
    reference = vectors[REFERENCE]
    models = {}
    for name in clock:
        comparable = vectors[name].shape == reference.shape
        cosine = (vectors[name] * reference).sum(1) if comparable else None
        models[name] = {
            **facts[name],
            "milliseconds": _milliseconds(clock[name]),
            "processor_milliseconds": _milliseconds(processor[name]),
            "cosine_to_onnxruntime_float32": None
            if cosine is None
            else {"mean": float(cosine.mean()), "min": float(cosine.min())},
        }
    speedups = {name: _ratios(fastest, name, clock, processor) for name in files}
    relative = {name: _ratios(name, files[0], clock, processor) for name in files[1:]}
    _print(
        models,
        {f"{fastest} / {n}": v for n, v in speedups.items()} | {f"{n} / {files[0]}": v for n, v in relative.items()},
    )
    return {
        "fastest_onnxruntime_int8": fastest,
        "speedup_over_onnxruntime_int8": speedups,
        f"time_relative_to_{files[0]}": relative,
        "models": models,
    }


def _ratios(numerator: str, denominator: str, clock: dict, processor: dict) -> dict:
    return {
        "clock": record.ratio(clock[numerator], clock[denominator]),
        "processor": record.ratio(processor[numerator], processor[denominator]),
    }


def _milliseconds(seconds: list[float]) -> dict[str, float]:
    return {key: value if key == "count" else value * 1e3 for key, value in record.spread(seconds).items()}


def _print(models: dict, ratios: dict) -> None:
    for name, facts in models.items():
        cosine = facts["cosine_to_onnxruntime_float32"]
        similarity = "other output" if cosine is None else f"cosine {cosine['mean']:.4f} (min {cosine['min']:.4f})"
        times = (
            f"{facts['milliseconds']['median']:7.2f} ms, processor {facts['processor_milliseconds']['median']:7.2f} ms"
        )
        print(f"{name:40s} {times}  {facts['bytes'] / 1e6:6.1f} MB  {similarity}")
    for pair, value in ratios.items():
        clock, processor = value["clock"], value["processor"]
        quartiles = f"quartiles of the rounds {clock['round_q1']:.2f} to {clock['round_q3']:.2f}"
        print(f"{pair}: {clock['of_medians']:.3f} ({quartiles}), processor time {processor['of_medians']:.3f}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", help="a Hugging Face folder with a BERT")
    parser.add_argument("--tflite", required=True, help="the dynamic int8 file of the same checkpoint")
    parser.add_argument(
        "--tflite-b",
        nargs="+",
        default=[],
        metavar="TFLITE",
        help="more files, such as static int8",
    )
    parser.add_argument("--texts", metavar="TSV", help="texts to run, at most 64; by default sentences of this script")
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=40)
    record.add_output(parser, "onnxruntime_latency")
    return parser.parse_args()


if __name__ == "__main__":
    main()
