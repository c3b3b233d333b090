"""Prefixes that wrappers of PyTorch models put before every name of a checkpoint."""

from collections.abc import Mapping
from typing import TypeVar

from kerasbert.checkpoints.messages import display_name, mismatch

T = TypeVar("T")
# torch.compile, DataParallel and DistributedDataParallel; `model.` is what training loops call the model they hold.
_PREFIXES = ("_orig_mod.", "module.", "model.")


def without_wrappers(tensors: Mapping[str, T], where: object) -> dict[str, T]:
    """Return tensors under the names that the wrapped model gives them.

    Args:
        tensors: Anything by the name of a tensor.
        where: The checkpoint, for messages.

    Raises:
        KerasBertError: When two tensors have the same name behind their prefixes.
    """
    plain: dict[str, T] = {}
    sources: dict[str, str] = {}
    for source, tensor in tensors.items():
        name = _plain_name(source)
        if name in plain:
            received = f"{display_name(sources[name])} and {display_name(source)}"
            raise mismatch(where, "each tensor once", received, "remove one of them")
        plain[name], sources[name] = tensor, source
    return plain


def _plain_name(name: str) -> str:
    while (prefix := next(filter(name.startswith, _PREFIXES), None)) is not None:
        name = name.removeprefix(prefix)
    return name
