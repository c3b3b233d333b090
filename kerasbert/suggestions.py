"""Did-you-mean suggestions for options, settings and columns."""

import difflib
from collections.abc import Iterable

# Names in other libraries -> ours for the same thing, the likeliest first.
_ALIASES = {
    "lr": ("learning_rate",), "rate": ("learning_rate",), "bs": ("batch_size",), "batch": ("batch_size",),
    "train_batch_size": ("batch_size",), "per_device_train_batch_size": ("batch_size",), "wd": ("weight_decay",),
    "num_epochs": ("epochs",), "num_train_epochs": ("epochs",), "max_epochs": ("epochs",), "warmup_ratio": ("warmup",),
    "lr_scheduler_type": ("schedule",), "scheduler": ("schedule",), "max_grad_norm": ("clip_norm",),
    "max_seq_length": ("sequence_length", "length"), "max_length": ("sequence_length", "length"),
    "seq_length": ("sequence_length", "length"), "max_len": ("sequence_length", "length"),
    "model_max_length": ("sequence_length",), "num_labels": ("labels",), "num_classes": ("labels",), "n_classes": ("labels",),
    "id2label": ("labels",), "label2id": ("labels",), "classes": ("labels",), "label_names": ("labels",),
    "problem_type": ("problem",), "ignore_mismatched_sizes": ("new_head",),
    "output": ("out",), "output_dir": ("out",), "save_to": ("out",), "o": ("out",), "overwrite_output_dir": ("overwrite",),
    "force": ("overwrite",), "model_dir": ("model", "teacher"), "model_name": ("model", "teacher"),
    "model_name_or_path": ("model", "teacher"), "checkpoint": ("model", "teacher"), "pretrained": ("model", "teacher"),
    "train_file": ("train",), "train_data": ("train",), "training_data": ("train",), "dataset": ("train", "data", "file"),
    "data": ("train", "data", "file"), "input": ("file", "data", "train"), "test": ("data", "dev"), "validation_file": ("dev",),
    "validation_data": ("dev",), "validation_split": ("dev",), "validation": ("dev",), "val": ("dev",), "eval": ("dev",), "valid": ("dev",),
    "test_size": ("dev",), "limit": ("max_rows", "rows"), "max_train_samples": ("max_rows", "rows"), "num_rows": ("max_rows", "rows"),
    "sep": ("delimiter",), "separator": ("delimiter",), "quantization": ("recipe",), "format": ("recipe",),
    "device": ("target", "on"), "backend": ("on", "target"), "layerwise_lr_decay": ("layer_decay",), "xla": ("jit",),
    "smoothing": ("label_smoothing",), "patience": ("early_stopping",), "random_state": ("seed",), "num_threads": ("threads",),
    "continue": ("resume",), "resume_from_checkpoint": ("resume",), "loss": ("pair_loss",), "tb": ("tensorboard",),
}  # fmt: skip


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is closest to an unknown one, or None.

    An alias from another library, such as `lr`, comes before a similar spelling.
    """
    known_by_normalized = {_normalize(candidate): candidate for candidate in known}
    normalized = _normalize(name)
    for alias in (normalized, *_ALIASES.get(normalized, ())):
        if alias in known_by_normalized:
            return known_by_normalized[alias]
    matches = difflib.get_close_matches(normalized, known_by_normalized, 1, 0.7)
    return known_by_normalized[matches[0]] if matches else None


def _normalize(name: str) -> str:
    return name.strip().lstrip("-").replace("-", "_").casefold()
