"""Every option and argument that more than one command has, declared once."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

Json = Annotated[bool, Option("--json", help="Print the result as JSON on stdout; everything else goes to stderr.")]
Debug = Annotated[bool, Option("--debug", help="Show tracebacks, and what TensorFlow logs.")]

Folder = Annotated[str, Argument(metavar="FOLDER", help="A saved folder or a hub name such as org/name.")]
Model = Annotated[str, Argument(metavar="MODEL", help="A .tflite file, a saved folder or a hub name such as org/name.")]
TFLite = Annotated[Path, Argument(metavar="MODEL", help="A .tflite file.")]

Train = Annotated[Path, Option(metavar="FILE", help="Training data: .tsv, .csv or .jsonl, also with .gz.")]
Dev = Annotated[
    Path | None,
    Option(
        metavar="FILE|SHARE",
        help="Development data, or the share of the training rows that become it, such as 0.1; the epoch that is best on it is kept.",
    ),
]
Overwrite = Annotated[
    bool,
    Option("--overwrite", help="Replace the model, or the interrupted training, in --out; your own files there stay."),
]
OutFolder = Annotated[Path, Option(metavar="FOLDER", help="Where to save the model: a new or empty folder.")]

TextColumn = Annotated[str | None, Option(metavar="NAME|N", help="Column of the text, by name or number from 0 on.")]
PairColumn = Annotated[str | None, Option(metavar="NAME|N", help="Column of the second text, if there is one.")]
LabelColumn = Annotated[str | None, Option(metavar="NAME|N", help="Column of the label.")]
Delimiter = Annotated[
    str | None,
    Option(
        metavar="X",
        help="Column separator: a character, or comma, semicolon, tab, pipe; by default detected.",
    ),
]
SkipBadRows = Annotated[
    bool, Option("--skip-bad-rows", help="Leave out rows that cannot be read, count them and show the first three.")
]
MaxRows = Annotated[int | None, Option(metavar="N", min=1, help="Largest number of rows to read from each file.")]

Epochs = Annotated[int, Option(metavar="N", min=1, help="Passes over the training data.")]
LearningRate = Annotated[float, Option(metavar="RATE", min=0.0, help="Peak learning rate of AdamW.")]
BatchSize = Annotated[int, Option(metavar="N", min=1, help="Rows in a batch.")]
Warmup = Annotated[float, Option(metavar="SHARE", min=0.0, max=1.0, help="Fraction of steps for linear warmup.")]
WeightDecay = Annotated[float, Option(metavar="X", min=0.0, help="Weight decay, not on biases and norms.")]
Dropout = Annotated[
    float | None,
    Option(metavar="RATE", min=0.0, max=0.99, help="Dropout while training, everywhere; the model's own if left out."),
]
Seed = Annotated[int, Option(metavar="N", min=0, help="Random seed for head initialization and shuffling.")]
Jit = Annotated[bool, Option("--jit/--no-jit", help="Compile the training step with XLA.")]

Resume = Annotated[bool, Option("--resume", help="Go on with this training where it was interrupted in --out.")]

OBJECTIVES_HELP = "Distil from the model as it was too, as `kerasbert distill` does: soft-labels=1,hidden=1."
LABEL_WEIGHT_HELP = "Weight of the labels beside --objectives."
# Fields of TrainConfig that make a new model of a checkpoint, and mean nothing for one that is saved with its head.
NOT_FOR_SAVED_MODELS = (
    "model", "task", "labels", "label_smoothing", "class_weights", "pair_loss", "freeze", "top_layers", "unfreeze", "layer_decay",
    "rates", "adapters", "layer_mix", "distribute",
)  # fmt: skip

Recipe = Annotated[str | None, Option(metavar="NAME", help="How numbers are stored, such as static_wi8_ai8.")]
Threads = Annotated[int, Option(metavar="N", min=1, help="CPU threads.")]
