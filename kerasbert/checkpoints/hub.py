"""Checkpoints from the Hugging Face hub, through huggingface-hub and its cache."""

import contextlib
import logging
from pathlib import Path

from kerasbert.checkpoints.messages import mismatch, one_line
from kerasbert.errors import KerasBertError

# What kerasbert reads of a checkpoint, and nothing else: many repositories keep the same weights in five formats.
READ_PATTERNS = (
    "config.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "spiece.model",
    "tokenizer*.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "modules.json",
    "1_Pooling/config.json",
    "kerasbert.json",
)
# Weights, the first format that a repository has; in these patterns `*` crosses folders.
WEIGHT_PATTERNS = (
    ("*.safetensors", "*.safetensors.index.json"),
    ("pytorch_model*.bin", "pytorch_model.bin.index.json"),
)
_NOT_READ = ("*/*.safetensors", "*/*.safetensors.index.json", "*/*.bin")
_REQUEST_SECONDS = 5
_INSTEAD = "or download the folder elsewhere and pass its path"


def download(repo_id: str, revision: str | None = None) -> Path:
    """The folder of a model on the hub, in huggingface-hub's cache; only files that kerasbert reads.

    When the hub does not answer within seconds, or `HF_HUB_OFFLINE` is set, what the cache has is used.
    Raises KerasBertError when that is nothing, and for a model that does not exist, is gated, or has no weights that are read here.
    """
    for weights in WEIGHT_PATTERNS:
        with _quiet_logging():
            folder = _snapshot(repo_id, revision, weights)
        if any(folder.glob(weights[0])):
            return folder
    advice = "convert its weights to safetensors and pass the folder's path"
    raise mismatch(f"hub model {repo_id!r}", "a .safetensors or pytorch_model.bin file", "none", advice)


def _snapshot(repo_id: str, revision: str | None, weights: tuple[str, ...]) -> Path:
    import huggingface_hub

    patterns = [*READ_PATTERNS, *weights]
    wanted = {"revision": revision, "allow_patterns": patterns, "ignore_patterns": list(_NOT_READ)}
    # Any exception counts: those of the HTTP library below differ between versions of huggingface-hub.
    try:
        # snapshot_download asks the same question, but without a time limit, and would wait for a silent hub for ever.
        huggingface_hub.HfApi().model_info(repo_id, revision=revision, timeout=_REQUEST_SECONDS)
    except Exception as error:
        try:
            return Path(huggingface_hub.snapshot_download(repo_id, local_files_only=True, **wanted))
        except (OSError, ValueError):
            raise _explained(repo_id, revision, error) from error
    try:
        return Path(huggingface_hub.snapshot_download(repo_id, **wanted))
    except Exception as error:
        raise _explained(repo_id, revision, error) from error


def _explained(repo_id: str, revision: str | None, error: Exception) -> KerasBertError:
    """One line: what was asked for, why it failed, what to do instead."""
    asked = f"hub model {repo_id!r}" + (f" at revision {revision!r}" if revision else "")
    return KerasBertError(f"there is no folder {repo_id!r} here, and of the {asked}: {_cause(error)}, {_INSTEAD}")


def _cause(error: Exception) -> str:
    from huggingface_hub import errors

    known = {  # a class before its base classes
        errors.GatedRepoError: "it is gated; ask for access on its page and log in with `hf auth login`",
        errors.RepositoryNotFoundError: "it does not exist or is private; check the name, log in with `hf auth login`",
        errors.RevisionNotFoundError: "it has no such revision; check the branch, tag or commit",
        errors.DisabledRepoError: "its owner or the hub disabled it; take another model",
        errors.HFValidationError: "that is not a hub name; expected 'org/name' or 'name'",
        errors.OfflineModeIsEnabled: "it is not in the cache and HF_HUB_OFFLINE is set; unset that",
    }
    for kind, cause in known.items():
        if isinstance(error, kind):
            return cause
    response = getattr(error, "response", None)
    if response is not None:
        return f"the hub answered with HTTP status {response.status_code}; try again later"
    if isinstance(error, OSError) and error.errno:
        return f"its files cannot be stored here ({one_line(error)}); check the disk"
    return f"the hub cannot be reached ({one_line(error)}); check the network"


@contextlib.contextmanager
def _quiet_logging():
    """huggingface-hub logs warnings about retries and missing logins; the error's one line says what matters."""
    logger = logging.getLogger("huggingface_hub")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
