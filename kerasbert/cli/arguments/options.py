"""Options and arguments that more than one command has."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from kerasbert.cli.arguments.zoo_names import file_or_name, file_path
from kerasbert.training.config import HEAD_HELP, SEED_HELP

# Options of several commands that the application itself reads: the annotation and the default by name.
SHARED = {
    "folder_task": (
        Annotated[
            str | None,
            Option(
                "--task",
                metavar="NAME",
                help="Task of a folder whose files name none, or several: a name of `kerasbert train --task`, such as masked-lm.",
            ),
        ],
        None,
    ),
    "head": (Annotated[str | None, Option("--head", metavar="FILE.py:NAME", help=HEAD_HELP)], None),
    "strict": (
        Annotated[
            bool,
            Option("--strict", help="Make settings, columns and tensors that are not known errors instead of notes."),
        ],
        False,
    ),
    "json": (
        Annotated[bool, Option("--json", help="Print the result as JSON on stdout; all messages go to stderr.")],
        False,
    ),
    "debug": (Annotated[bool, Option("--debug", help="Show tracebacks and the log of TensorFlow.")], False),
}

Folder = Annotated[
    str, Argument(metavar="FOLDER", help="A saved folder, an encoder of the zoo, or a hub name such as org/name.")
]
Model = Annotated[
    str,
    Argument(
        metavar="MODEL",
        help="A .tflite file, a saved folder, a model of the zoo, or a hub name such as org/name.",
        callback=file_or_name,
    ),
]
TFLite = Annotated[Path, Argument(metavar="MODEL", help="A .tflite file, or one of the zoo.", callback=file_path)]

Overwrite = Annotated[
    bool,
    Option(
        "--overwrite",
        help="Replace the model, or the interrupted training, in --out. Other files in the folder are kept.",
    ),
]
Resume = Annotated[bool, Option("--resume", help="Resume the training that was interrupted in --out.")]

Seed = Annotated[int, Option(metavar="N", min=0, help=SEED_HELP)]
Recipe = Annotated[
    str | None, Option(metavar="NAME", help="Number format of weights and activations, such as static_wi8_ai8.")
]
Threads = Annotated[int, Option(metavar="N", min=1, help="Number of CPU threads.")]
Report = Annotated[Path | None, Option(metavar="FILE", help="Also write a report, .html or .json.")]
Rows = Annotated[
    int | None, Option(metavar="N", min=1, help="Number of rows to use, sampled evenly. Default: all rows.")
]

# Fields of TrainConfig that apply to a new model of a checkpoint, and not to a saved model with its head.
NOT_FOR_SAVED_MODELS = (
    "model", "task", "labels", "label_smoothing", "class_weights", "pair_loss", "freeze", "top_layers", "unfreeze", "layer_decay",
    "rates", "adapters", "layer_mix", "exits", "new_head", "distribute", "cased",
    "fallback", "fallback_below", "no_answer", "no_answer_threshold", "stride", "max_answer_length", "answers", "unit",
)  # fmt: skip
