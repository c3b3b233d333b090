"""Distillation from the original model while it is compressed: two settings that quantization and pruning share."""

from dataclasses import dataclass

from kerasbert.files.record import Options, setting

LABEL_WEIGHT_HELP = "Weight of the loss on the labels, beside --objectives. Default: 0.5."


@dataclass(frozen=True)
class ObjectiveConfig(Options):
    """The objectives of a training beside the labels; see `kerasbert.training.distillation`."""

    objectives: str | None = setting(
        None,
        "Distillation losses against the original model, such as soft-labels=1,hidden=1; see `kerasbert distill`.",
        "NAME=WEIGHT,...",
    )
    label_weight: float | None = setting(None, LABEL_WEIGHT_HELP, "X", at_least=0)
