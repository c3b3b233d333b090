"""`kerasbert prune`."""

from dataclasses import replace

from kerasbert.cli.arguments import options
from kerasbert.cli.arguments.option_groups import OptionGroup, with_options
from kerasbert.cli.outputs.results import Result
from kerasbert.cli.runs.magnitude_pruning import prune_weights
from kerasbert.cli.runs.structured_pruning import prune_structures
from kerasbert.cli.runs.training_run import TrainingRun, command_options
from kerasbert.compression.pruning.config import MagnitudeConfig, StructuredConfig
from kerasbert.errors import KerasBertError
from kerasbert.training.config import PRUNING_SHARE, RATE_SHARE_HELP, TrainConfig

_TRAINING = OptionGroup(
    TrainConfig,
    without=(*options.NOT_FOR_SAVED_MODELS, "sequence_length", "tokenize_as", "early_stopping", "precision"),
    required=("out",),
    defaults={"epochs": 3},
    help={
        "learning_rate": RATE_SHARE_HELP.format(share=PRUNING_SHARE),
        "train": "Training data for --sparsity and --keep-zeros: .tsv, .csv or .jsonl, optionally compressed (.gz).",
        "dev": "Development data: a file, or a fraction of the training rows such as 0.1. Evaluated before and after.",
    },
)


@with_options(
    "folder_task",
    "strict",
    magnitude=OptionGroup(MagnitudeConfig),
    structured=OptionGroup(StructuredConfig),
    training=_TRAINING,
)
def prune(
    model: options.Folder,
    magnitude: MagnitudeConfig,
    structured: StructuredConfig,
    training: TrainConfig,
    resume: options.Resume = False,
    overwrite: options.Overwrite = False,
) -> Result:
    """Prune a saved model's smallest weights, layers, heads, neurons, hidden size or tokens, or factorize its matrices.

    --sparsity sets weights to 0 during further training. The model of the last epoch is saved, because earlier ones are not fully pruned.
    --layers, --share-layers, --heads, --feed-forward, --hidden, --vocabulary or --vocabulary-of, and --dimensions remove parts, in
    this order, without training. Then --rank and --embedding-rank store matrices as two narrow factors. Continue with `kerasbert train` or
    `kerasbert distill`.

    Example: kerasbert prune runs/mine --sparsity 0.8 --train train.tsv --dev dev.tsv --out runs/mine-sparse

    Example: kerasbert prune runs/encoder --layers 3 --strategy search --dimensions 128 --data texts.txt --out runs/encoder-small

    Example: kerasbert prune runs/mine --layers 6 --heads 0.25 --feed-forward 0.4 --data train.tsv --dev dev.tsv --out runs/mine-small

    Example: kerasbert prune org/name --vocabulary-of runs/student --out runs/teacher

    Example: kerasbert prune runs/mine --rank 0.25 --embedding-rank 64 --data train.tsv --dev dev.tsv --out runs/mine-factors
    """
    from kerasbert.cli.outputs.destinations import check_out_folder

    weights = magnitude.target is not None or magnitude.keep_zeros
    if not weights and not structured.removes:
        raise KerasBertError(
            "expected --sparsity, --keep-zeros, --layers, --share-layers, --heads, --feed-forward, --hidden, --vocabulary, "
            "--vocabulary-of, --dimensions or --rank, received none; choose what to prune"
        )
    if weights and structured.removes:
        raise KerasBertError(
            f"expected either --sparsity or parts to remove, received both with {structured.removes[0]}; run the command twice"
        )
    if structured.removes and (resume or training.train):
        raise KerasBertError(
            f"expected no training for {structured.removes[0]}, received {'--resume' if resume else '--train'}; train the "
            "pruned model with `kerasbert train`"
        )
    check_out_folder(training.require("out"), model, resume=resume, overwrite=overwrite)
    if structured.removes:
        return prune_structures(model, structured, training)
    if training.train is None:
        raise KerasBertError("expected --train for --sparsity and --keep-zeros, received none; add a training file")
    training = replace(training, model=model)
    options_given = command_options(training=training, magnitude=magnitude)
    run = TrainingRun(training, resume, options_given, rate_share=PRUNING_SHARE)
    return prune_weights(model, magnitude, run)
