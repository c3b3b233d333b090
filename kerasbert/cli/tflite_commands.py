"""The commands around a `.tflite` file: convert, inspect, validate, benchmark. Registered by `kerasbert.cli`."""

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
CalibrationRows = Annotated[int, Option(metavar="N", min=1, help="Use so many of these texts, spread evenly.")]
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
Against = Annotated[
    str, Option(metavar="MODEL", help="What it came from: a folder, another .tflite file or an .npz archive.")
]
Data = Annotated[
    Path | None,
    Option(metavar="FILE", help="Examples in a file as the task reads it, such as .tsv; an archive brings its own."),
]
On = Annotated[
    list[str],
    Option(
        metavar="BACKEND",
        help="Where to run it: cpu, gpu, gpu-classic, edge-tpu, web, legacy, arm64, mediapipe, task-library or all; again for "
        "another, or with commas.",
    ),
]
Targets = Annotated[bool, Option("--targets", help="Tell operator by operator who runs it.")]
Report = Annotated[Path | None, Option(metavar="FILE", help="Write a report as well, .html or .json.")]
Rows = Annotated[int | None, Option(metavar="N", min=1, help="Use so many rows, spread evenly; by default all.")]
ReferenceRows = Annotated[
    int | None,
    Option(metavar="N", min=1, help="Rows for slow kernels and devices; by default those of --rows, or 64."),
]
MaxError = Annotated[
    float | None, Option(metavar="X", min=0.0, help="Largest absolute error allowed, in place of the recipe's limits.")
]
Lengths = Annotated[
    list[int] | None, Option("--length", metavar="N", min=1, help="Sequence length; again for another.")
]
ThreadCounts = Annotated[list[int], Option(metavar="N", min=1, help="CPU threads; again for another count.")]
Runs = Annotated[int, Option(metavar="N", min=1, help="Timed runs.")]
Versus = Annotated[
    Path | None, Option(metavar="FILE", help="A second .tflite file, or an .onnx file, run in turn with the first.")
]
TimedTexts = Annotated[
    Path | None, Option(metavar="FILE", help="Texts to run, each at the length it needs, instead of one made-up row.")
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
        from kerasbert.export.conversion import INTEGER_RECIPE, check_integer_only

        recipe = recipe or INTEGER_RECIPE
        check_integer_only(recipe_named(recipe))
    with progress("loading TensorFlow and the model"):
        from kerasbert.tasks.auto import load_task

        task = load_task(model)
    from kerasbert.export.conversion import convert as run
    from kerasbert.export.conversion import trained_for

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


def inspect(
    model: options.Model, targets: Targets = False, json: options.Json = False, debug: options.Debug = False
) -> Result:
    """What is inside: operators, sizes by part, parameters, quantized share, minimum runtime; or a folder's settings.

    Example: kerasbert inspect model.tflite --targets
    """
    from kerasbert.cli.common.models import is_tflite
    from kerasbert.errors import KerasBertError

    if is_tflite(model):
        from kerasbert.export.inspection import inspect as run

        found = run(model)
        if not targets:
            return Result(found.as_dict(), found.blocks())
        from kerasbert.export.backends.rules.coverage import placement

        placed = placement(model)
        return Result({**found.as_dict(), "targets": placed.as_dict()["operators"]}, placed.blocks())
    if targets:
        raise KerasBertError(f"expected a .tflite file for --targets, received {model}, which is none")
    from kerasbert.cli.common.describe_folder import describe_folder
    from kerasbert.console.tables import Facts

    facts = describe_folder(model)
    shown = [
        (name.replace("_", " "), ", ".join(map(str, v)) if isinstance(v, list | tuple) else str(v))
        for name, v in facts.items()
    ]
    return Result(facts, Facts(shown))


def validate(
    model: options.TFLite,
    against: Against,
    data: Data = None,
    on: On = ["cpu"],  # noqa: B006 (typer copies it)
    report: Report = None,
    rows: Rows = None,
    reference_rows: ReferenceRows = None,
    max_error: MaxError = None,
    text_column: options.TextColumn = None,
    pair_column: options.PairColumn = None,
    label_column: options.LabelColumn = None,
    delimiter: options.Delimiter = None,
    skip_bad_rows: options.SkipBadRows = False,
    threads: options.Threads = 1,
    json: options.Json = False,
    debug: options.Debug = False,
) -> Result:
    """Prove that a .tflite file still does what the model it came from does. Exit code 0 only if every check passed.

    Checks pass or fail with 95 % confidence; where rows are too few they are not judged. Without --data bundled sentences run, and only
    outputs are judged.

    Example: kerasbert validate model.tflite --against runs/mine --data dev.tsv --on cpu --report report.html
    """
    given = dict(locals())
    from kerasbert.cli.common.destinations import check_out_file
    from kerasbert.cli.common.progress import progress
    from kerasbert.export.reporting.report import check_report_path
    from kerasbert.export.validation.validator import validate as run
    from kerasbert.files.own_files import REPORT

    if report is not None:
        check_report_path(report)
        check_out_file(report, "--report", REPORT)
    table = _labelled(model, data, given) if data else None
    backends = [name for each in on for name in each.split(",")]
    with progress("loading the models") as bar:
        found = run(
            model, against=against, data=table, on=backends, rows=rows, reference_rows=reference_rows, tolerance=max_error, threads=threads,
            progress=lambda what, done, total: bar.update(done, total, what=f"running {what}", unit="rows"), report=report, isolated=True,
        )  # fmt: skip
    written = [f"report: {report}"] if report else []
    return Result({**found.as_dict(), "report": report}, [*found.blocks(), *written], exit_code=0 if found.ok else 1)


def benchmark(
    model: options.Model,
    length: Lengths = None,
    threads: ThreadCounts = [1],  # noqa: B006 (typer copies it)
    runs: Runs = 50,
    against: Versus = None,
    data: TimedTexts = None,
    rows: Rows = None,
    report: Report = None,
    text_column: options.TextColumn = None,
    pair_column: options.PairColumn = None,
    delimiter: options.Delimiter = None,
    skip_bad_rows: options.SkipBadRows = False,
    json: options.Json = False,
    debug: options.Debug = False,
) -> Result:
    """Latency, load time and memory on this machine, one row at a time; of a folder, those of the Keras model.

    Example: kerasbert benchmark model.tflite --data dev.tsv --against other.onnx --report latency.html
    """
    given = dict(locals())
    from kerasbert.cli.common.destinations import check_out_file
    from kerasbert.cli.common.models import is_tflite
    from kerasbert.cli.common.progress import progress
    from kerasbert.errors import KerasBertError
    from kerasbert.export.validation.checks import check_report_path
    from kerasbert.files.own_files import REPORT

    if report is not None:
        check_report_path(report)
        check_out_file(report, "--report", REPORT)
    if not is_tflite(model):
        from kerasbert.cli.common.describe_folder import benchmark_folder

        if against is not None or data is not None:
            raise KerasBertError("expected a .tflite file for --against and --data, received a folder")
        with progress("measuring"):
            found = benchmark_folder(model, length, threads, runs)
    else:
        from kerasbert.export.benchmarking import benchmark as run

        texts = None if data is None else _labelled(model, data, given)
        with progress("measuring"):
            found = run(
                model, lengths=length or None, threads=threads, runs=runs, against=against, data=texts, rows=rows
            )
    if report is not None:
        from kerasbert.export.reporting.benchmark_report import write_benchmark

        write_benchmark(report, found)
    written = [f"report: {report}"] if report else []
    return Result({**found.as_dict(), "report": report}, [*found.blocks(), *written])


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
    from kerasbert.cli.common.training_data import saved_problem

    problem = saved_problem(model)
    examples = problem.examples(read_described(type(problem), path, file_options(given)).x)
    return examples[:: -(-len(examples) // rows)]


def _labelled(model: Path, path: Path, given: dict):
    """The table that the file's problem asks for, described in a line to the user."""
    from kerasbert.cli.common.data_files import check_known, file_options, read_described
    from kerasbert.cli.common.saved_model import problem_of
    from kerasbert.processors import problem_named

    problem = problem_of(model)
    table = read_described(type(problem or problem_named("single_label")), path, file_options(given))
    if problem is not None and table.y is not None and problem.name != "embedding":
        check_known(problem, table)
    return table
