"""`kerasbert convert`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from kerasbert.cli.arguments import options
from kerasbert.cli.arguments.option_groups import OptionGroup, with_options
from kerasbert.cli.outputs.results import Result
from kerasbert.compression.quantization.calibration_rows import CALIBRATION_ROWS
from kerasbert.data.file_options import FileOptions
from kerasbert.training.answer_options import AnswerConfig, answer_settings

if TYPE_CHECKING:
    from kerasbert.export.tflite.metadata import Metadata

OutFile = Annotated[
    Path,
    Option("--out", "-o", metavar="FILE", help="Output file, .tflite. Its metadata is also written to FILE.json."),
]
Target = Annotated[str, Option(metavar="NAME", help="Deployment target, such as cpu, gpu, web or edge-tpu.")]
Length = Annotated[
    str | None,
    Option(
        metavar="N|N,N,...|resizable",
        help="Sequence length in tokens; several make one signature each. Default: the model's own.",
    ),
]
Calibration = Annotated[
    Path | None,
    Option(metavar="FILE", help="Calibration examples for a model without quantization-aware training."),
]
CalibrationRows = Annotated[int, Option(metavar="N", min=1, help="Number of calibration examples, sampled evenly.")]
IntegerOnly = Annotated[
    bool,
    Option(
        "--integer-only",
        help="Integer operators only, for processors without float. Needs --calibration for a model quantized otherwise.",
    ),
]
MinRuntime = Annotated[
    str | None, Option(metavar="VERSION", help="Oldest runtime version that must load the file, such as 2.9.")
]
SplitK = Annotated[
    bool,
    Option(
        "--split-k",
        help="For --target gpu: split-K matrix products. Closer to float32 in fp16, but 1.4 to 2.2 times slower.",
    ),
]
TableBits = Annotated[
    int | None,
    Option(
        metavar="4",
        help="Bits of the token embeddings of a float model: 4 makes a small file about a fifth smaller, for cpu and web. Default: 8.",
    ),
]
Inputs = Annotated[
    str,
    Option(
        metavar="ids|text",
        help="Inputs of the file: token ids, or text with a tokenizer in the file (needs tensorflow-text).",
    ),
]


_READING = OptionGroup(FileOptions, without=("label_column", "label_separator", "max_rows"))


@with_options("folder_task", "head", "strict", answering=OptionGroup(AnswerConfig), reading=_READING)
def convert(
    model: options.Folder,
    out: OutFile,
    answering: AnswerConfig,
    reading: FileOptions,
    recipe: options.Recipe = None,
    target: Target = "cpu",
    length: Length = None,
    calibration: Calibration = None,
    calibration_rows: CalibrationRows = CALIBRATION_ROWS,
    integer_only: IntegerOnly = False,
    min_runtime: MinRuntime = None,
    inputs: Inputs = "ids",
    split_k: SplitK = False,
    table_bits: TableBits = None,
) -> Result:
    """Convert a saved model to a .tflite file that contains its vocabulary and labels.

    Recipes: float32, float16, dynamic_wi8_afp32, dynamic_wi4_afp32, weight_only_wi8, static_wi8_ai8 and static_wi8_ai16. The default is
    the recipe that the model was quantized for.

    Example: kerasbert convert runs/mine-int8 --recipe static_wi8_ai8 --target cpu -o model.tflite
    """
    from kerasbert.cli.process.progress import note, progress
    from kerasbert.data.sampling import sample_evenly
    from kerasbert.export.backends.client_tools.conversion_note import client_note
    from kerasbert.export.lowering.targets import target_named
    from kerasbert.export.runtime.padding import length_note

    recipe, integer_only = _check_options(out, recipe, target, integer_only, split_k, table_bits)
    lengths = _parse_length(length)
    examples = None if calibration is None else _calibration_examples(model, calibration, reading)
    with progress("loading TensorFlow and the model"):
        from kerasbert.cli.inputs.models import change_answers
        from kerasbert.tasks.auto import load_task

        task = change_answers(load_task(model), answer_settings(answering))
    from kerasbert.export.conversion import convert as run
    from kerasbert.export.conversion_options import trained_for

    recipe = recipe or trained_for(task) or target_named(target).default_recipe
    with progress(f"converting to {recipe}"):
        converted = run(
            task, recipe=recipe, target=target, length=lengths, calibration=examples, integer_only=integer_only, min_runtime=min_runtime,
            inputs=inputs, split_k=split_k, calibration_rows=calibration_rows, table_bits=table_bits,
        )  # fmt: skip
    converted.save(out)
    metadata = converted.require_metadata("to describe it")
    if line := client_note(metadata, examples and sample_evenly(examples, calibration_rows)):
        note(line)
    if length is None and (line := length_note(metadata)):
        note(line)
    return _result(metadata, out, recipe, target)


def _check_options(
    out: Path, recipe: str | None, target: str, integer_only: bool, split_k: bool, table_bits: int | None
) -> tuple[str | None, bool]:
    """Check the options before TensorFlow is loaded; return the recipe, if it is known, and whether the file is integer only."""
    from kerasbert.cli.outputs.destinations import check_companions, check_out_file
    from kerasbert.export.lowering.targets import target_named
    from kerasbert.export.passes.recipes import INTEGER_RECIPE, check_integer_recipe, recipe_named
    from kerasbert.export.tflite.model_parts import written_files
    from kerasbert.files.own_files import MODEL

    split = target_named(target).split
    check_out_file(out, "--out", MODEL, ending=".tflite")
    check_companions(written_files(out, split)[1:])
    integer_only = integer_only or split
    if recipe is not None:
        target_named(target).check_recipe(recipe_named(recipe).name)
    target_named(target).check_split_k(split_k)
    target_named(target).check_table_bits(table_bits)
    if integer_only:
        recipe = recipe or INTEGER_RECIPE
        check_integer_recipe(recipe_named(recipe))
    return recipe, integer_only


def _result(metadata: "Metadata", out: Path, recipe: str, target: str) -> Result:
    from kerasbert.console.numbers import format_bytes
    from kerasbert.export.lowering.targets import target_named
    from kerasbert.export.measurement.model_size import model_size
    from kerasbert.export.tflite.model_parts import host_path

    host = host_path(out) if target_named(target).split else None
    size = model_size(out, metadata)
    data = {
        "file": out, "bytes": size.bytes, "recipe": recipe, "target": target, "sequence_length": metadata.sequence_length,
        "parameters": size.parameters, "bytes_per_parameter": size.bytes_per_parameter, "integer_only": metadata.integer_only,
        **({"host_file": host} if host else {}),
    }  # fmt: skip
    kind = f"{recipe}, integer only," if metadata.integer_only else recipe
    files = out if host is None else f"{host} and {out}"
    return Result(
        data,
        f"wrote {files}: {format_bytes(size.bytes)}, {size.bytes_per_parameter:.3f} bytes per parameter, {kind} for {target}",
    )


def _parse_length(text: str | None) -> int | str | list[int] | None:
    from kerasbert.errors import KerasBertError

    if text is None or text == "resizable":
        return text
    words = text.split(",")
    if not all(word.strip().isdecimal() for word in words):
        raise KerasBertError(
            f"expected --length as a number of tokens, several separated by commas, or 'resizable', received {text!r}"
        )
    numbers = [int(word) for word in words]
    return numbers if len(numbers) > 1 else numbers[0]


def _calibration_examples(model: str, path: Path, reading: FileOptions) -> list:
    """Return the examples of a file."""
    from kerasbert.cli.inputs.data_files import read_described
    from kerasbert.cli.inputs.training_data import load_processor

    processor = load_processor(model)
    return processor.examples(read_described(type(processor), path, reading).x)
