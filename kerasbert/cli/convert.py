"""`kerasbert convert`."""

from pathlib import Path
from typing import Annotated

from typer import Option

from kerasbert.cli.common import options
from kerasbert.cli.common.results import Result

OutFile = Annotated[
    Path,
    Option("--out", "-o", metavar="FILE", help="The .tflite file to write; its metadata goes beside it, as FILE.json."),
]
Target = Annotated[str, Option(metavar="NAME", help="What will run the file: cpu, gpu, web or edge-tpu.")]
Length = Annotated[
    str | None,
    Option(
        metavar="N|N,N,...|resizable",
        help="Tokens in the file's inputs; by default the model's own. Several make a signature of each.",
    ),
]
Calibration = Annotated[
    Path | None,
    Option(metavar="FILE", help="Examples that give a model without quantization-aware training its ranges."),
]
CalibrationRows = Annotated[int, Option(metavar="N", min=1, help="Number of calibration examples, sampled evenly.")]
IntegerOnly = Annotated[
    bool,
    Option(
        "--integer-only",
        help="Compute nothing in float, for processors that cannot; a model that was not quantized so needs --calibration.",
    ),
]
MinRuntime = Annotated[
    str | None, Option(metavar="VERSION", help="The oldest runtime that is to load the file, such as 2.9.")
]
SplitK = Annotated[
    bool,
    Option(
        "--split-k",
        help="Target gpu: accumulate matrix products in parts. Nearer to float32 in fp16, 1.4 to 2.2 times slower.",
    ),
]
Inputs = Annotated[
    str,
    Option(metavar="ids|text", help="What the file takes; text puts the tokenizer into it (needs tensorflow-text)."),
]


def convert(
    model: options.Folder,
    out: OutFile,
    recipe: options.Recipe = None,
    target: Target = "cpu",
    length: Length = None,
    calibration: Calibration = None,
    calibration_rows: CalibrationRows = 512,
    integer_only: IntegerOnly = False,
    min_runtime: MinRuntime = None,
    inputs: Inputs = "ids",
    split_k: SplitK = False,
    text_column: options.TextColumn = None,
    pair_column: options.PairColumn = None,
    delimiter: options.Delimiter = None,
    skip_bad_rows: options.SkipBadRows = False,
    json: options.Json = False,
    debug: options.Debug = False,
) -> Result:
    """Convert a saved model to one .tflite file with vocabulary and labels inside.

    Recipes: float32, float16, dynamic_wi8_afp32, dynamic_wi4_afp32, weight_only_wi8, static_wi8_ai8, static_wi8_ai16; by default the one
    the model was quantized for.

    Example: kerasbert convert runs/mine-int8 --recipe static_wi8_ai8 --target cpu -o model.tflite
    """
    given = dict(locals())
    from kerasbert.cli.common.destinations import check_companions, check_out_file
    from kerasbert.cli.common.progress import note, progress
    from kerasbert.console.numbers import format_bytes
    from kerasbert.export.backends.client_tools.conversion_note import client_note
    from kerasbert.export.recipes import recipe_named
    from kerasbert.export.runtime.padding import length_note
    from kerasbert.export.runtime.partitioned_model import host_path, written_files
    from kerasbert.export.targets import target_named
    from kerasbert.export.tflite.model_size import model_size
    from kerasbert.files.own_files import MODEL

    split = target_named(target).split
    check_out_file(out, "--out", MODEL, ending=".tflite")
    check_companions(written_files(out, split)[1:])
    integer_only = integer_only or split
    if recipe is not None:
        target_named(target).check_recipe(recipe_named(recipe).name)
    target_named(target).check_split_k(split_k)
    wanted = _length(length)
    examples = None if calibration is None else _calibration_examples(model, calibration, calibration_rows, given)
    if integer_only:
        from kerasbert.export.recipes import INTEGER_RECIPE, check_integer_recipe

        recipe = recipe or INTEGER_RECIPE
        check_integer_recipe(recipe_named(recipe))
    with progress("loading TensorFlow and the model"):
        from kerasbert.tasks.auto import load_task

        task = load_task(model)
    from kerasbert.export.conversion import convert as run
    from kerasbert.export.conversion_options import trained_for

    recipe = recipe or trained_for(task) or target_named(target).default_recipe
    with progress(f"converting to {recipe}"):
        made = run(
            task, recipe=recipe, target=target, length=wanted, calibration=examples, integer_only=integer_only, min_runtime=min_runtime,
            inputs=inputs, split_k=split_k,
        )  # fmt: skip
    made.save(out)
    if line := client_note(made.metadata, examples):
        note(line)
    if length is None and (line := length_note(made.metadata)):
        note(line)
    host = None if made.host is None else host_path(out)
    size = model_size(out, made.metadata)
    data = {
        "file": out, "bytes": size.bytes, "recipe": recipe, "target": target, "sequence_length": made.metadata.sequence_length,
        "parameters": size.parameters, "bytes_per_parameter": size.bytes_per_parameter, "integer_only": made.metadata.integer_only,
        **({"host_file": host} if host else {}),
    }  # fmt: skip
    kind = f"{recipe}, integers only," if made.metadata.integer_only else recipe
    written = out if host is None else f"{host} and {out}"
    return Result(
        data,
        f"wrote {written}: {format_bytes(size.bytes)}, {size.bytes_per_parameter:.3f} bytes a parameter, {kind} for {target}",
    )


def _length(text: str | None) -> int | str | list[int] | None:
    from kerasbert.errors import KerasBertError

    if text is None or text == "resizable":
        return text
    words = text.split(",")
    if not all(word.strip().isdecimal() for word in words):
        raise KerasBertError(
            f"expected a number of tokens, several with commas, or 'resizable' as --length, received {text!r}"
        )
    numbers = [int(word) for word in words]
    return numbers if len(numbers) > 1 else numbers[0]


def _calibration_examples(model: str, path: Path, rows: int, given: dict) -> list:
    """So many of a file's examples, spread evenly."""
    from kerasbert.cli.common.data_files import file_options, read_described
    from kerasbert.cli.common.training_data import saved_processor

    processor = saved_processor(model)
    examples = processor.examples(read_described(type(processor), path, file_options(given)).x)
    return examples[:: -(-len(examples) // rows)]
