"""Every reader of files, with small valid inputs to damage. The inputs are generated; nothing is downloaded."""

from benchmarks.robustness.fuzz_targets import (
    checkpoints,
    data_files,
    model_folders,
    reference_outputs,
    search_indexes,
    tflite_metadata,
    tokenizer_files,
    training_runs,
    training_settings,
)
from benchmarks.robustness.fuzz_targets.target import Target, files_of

__all__ = ["Target", "files_of", "targets"]

_KINDS = (
    data_files, training_settings, tokenizer_files, checkpoints, reference_outputs, model_folders, training_runs, tflite_metadata,
    search_indexes,
)  # fmt: skip


def targets() -> list[Target]:
    """List all readers."""
    return [target for kind in _KINDS for target in kind.TARGETS]
