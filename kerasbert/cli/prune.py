"""`kerasbert prune`."""

from dataclasses import replace

from kerasbert.cli.common import options
from kerasbert.cli.common.magnitude_pruning import MagnitudeConfig, prune_weights
from kerasbert.cli.common.option_groups import OptionGroup, with_options
from kerasbert.cli.common.results import Result
from kerasbert.cli.common.structured_pruning import StructuredConfig, prune_structures
from kerasbert.cli.common.training_run import TrainingRun, command_options
from kerasbert.errors import KerasBertError
from kerasbert.training.config import TrainConfig

_TRAINING = OptionGroup(
    TrainConfig,
    without=(*options.NOT_FOR_SAVED_MODELS, "sequence_length", "tokenize_as", "early_stopping"),
    required=("out",),
    defaults={"epochs": 3, "learning_rate": 3e-5},
    help={
        "train": "Training data: .tsv, .csv or .jsonl, also with .gz; for --sparsity and --keep-zeros.",
        "dev": "Development data, or a share of the training rows such as 0.1; scored before and after.",
    },
)


@with_options(magnitude=OptionGroup(MagnitudeConfig), structured=OptionGroup(StructuredConfig), training=_TRAINING)
def prune(
    model: options.Folder,
    magnitude: MagnitudeConfig,
    structured: StructuredConfig,
    training: TrainConfig,
    resume: options.Resume = False,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
    debug: options.Debug = False,
) -> Result:
    """Prune a saved model: its smallest weights, or whole layers, heads, feed-forward neurons and words.

    --sparsity sets weights to 0 while the model is trained on. The last epoch's model is saved: an earlier one may be better because less
    of it is pruned. --layers, --heads, --feed-forward and --vocabulary take parts out, in this order, without training; `kerasbert train`
    or `kerasbert distill` goes on with what is left.

    Example: kerasbert prune runs/mine --sparsity 0.8 --train train.tsv --dev dev.tsv --out runs/mine-sparse

    Example: kerasbert prune runs/mine --layers 6 --heads 0.25 --feed-forward 0.4 --data train.tsv --dev dev.tsv --out runs/mine-small
    """
    from kerasbert.cli.common.destinations import check_out_folder

    weights = magnitude.target is not None or magnitude.keep_zeros
    if not weights and not structured.removes:
        raise KerasBertError(
            "expected something to prune: --sparsity, such as 0.8, --keep-zeros, --layers, --heads, --feed-forward or --vocabulary, "
            "received none"
        )
    if weights and structured.removes:
        raise KerasBertError(
            f"expected either --sparsity or parts to take out, received {structured.removes[0]} with it; prune twice"
        )
    if structured.removes and (resume or training.train):
        raise KerasBertError(
            f"expected no training for {structured.removes[0]}, received {'--resume' if resume else '--train'}; `kerasbert train` goes "
            "on with the pruned model"
        )
    check_out_folder(training.out, model, resume=resume, overwrite=overwrite)
    if structured.removes:
        return prune_structures(model, structured, training)
    if training.train is None:
        raise KerasBertError("expected --train for --sparsity and --keep-zeros, received none")
    training = replace(training, model=model)
    run = TrainingRun(training, resume, command_options(training=training, magnitude=magnitude))
    return prune_weights(model, magnitude, run)
