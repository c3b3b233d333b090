"""Downloads from the Hugging Face hub, through huggingface-hub and its cache."""

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path

from kerasbert.checkpoints.messages import mismatch, one_line
from kerasbert.errors import KerasBertError

# Only files that kerasbert reads: many repositories hold the same weights in five formats.
READ_PATTERNS = (
    "config.json",
    "adapter_config.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "spiece.model",
    "tokenizer*.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "kerasbert.json",
    # sentence-transformers: folders of modules are named 1_Pooling, 2_Dense, ...; that of an old encoder is 0_Transformer.
    "modules.json",
    "sentence_*_config.json",
    "config_sentence_transformers.json",
    "*/config.json",
    "[1-9]_Dense/*",
    "0_Transformer/*",
)
# Weight formats by preference; in these patterns `*` also matches "/".
WEIGHT_PATTERNS = (
    ("*.safetensors", "*.safetensors.index.json"),
    ("pytorch_model*.bin", "pytorch_model.bin.index.json"),
)
_IGNORE_PATTERNS = (
    "[!0-9]*/*.safetensors",
    "[!0-9]*/*.safetensors.index.json",
    "[!0-9]*/*.bin",
    "onnx/*",
    "openvino/*",
)
_REQUEST_SECONDS = 5
_ALTERNATIVE = "or download the folder elsewhere and pass its path"


def download(repo_id: str, revision: str | None = None) -> Path:
    """Download a model from the hub into huggingface-hub's cache; only the files that kerasbert reads.

    The cached files are used when the hub does not answer within seconds, or `HF_HUB_OFFLINE` is set.

    Args:
        repo_id: the model's name, "org/name" or "name".
        revision: a branch, tag or commit; the default branch if None.

    Returns:
        The model's folder in the cache.

    Raises:
        KerasBertError: when the model does not exist, is gated, has no weights in a supported format, or is neither reachable nor cached.
    """
    for weights in WEIGHT_PATTERNS:
        with _quiet_logging():
            folder = _snapshot(repo_id, revision, weights)
        if any(folder.glob(weights[0])) or any(folder.glob(f"0_Transformer/{weights[0]}")):
            return folder
    advice = "convert its weights to safetensors and pass the folder's path"
    raise mismatch(f"hub model {repo_id!r}", "a .safetensors or pytorch_model.bin file", "none", advice)


def _snapshot(repo_id: str, revision: str | None, weights: tuple[str, ...]) -> Path:
    import huggingface_hub

    patterns = [*READ_PATTERNS, *weights]
    selection = {"revision": revision, "allow_patterns": patterns, "ignore_patterns": list(_IGNORE_PATTERNS)}
    # Exception, because the classes of the HTTP library differ between versions of huggingface-hub.
    try:
        # snapshot_download sends the same request without a timeout, and would wait for a silent hub for ever.
        huggingface_hub.HfApi().model_info(repo_id, revision=revision, timeout=_REQUEST_SECONDS)
    except Exception as error:
        try:
            return Path(huggingface_hub.snapshot_download(repo_id, local_files_only=True, **selection))
        except (OSError, ValueError):
            raise _download_error(repo_id, revision, error) from error
    try:
        return Path(huggingface_hub.snapshot_download(repo_id, **selection))
    except Exception as error:
        raise _download_error(repo_id, revision, error) from error


def _download_error(repo_id: str, revision: str | None, error: Exception) -> KerasBertError:
    received = repr(repo_id) + (f" at revision {revision!r}" if revision else "")
    cause, advice = _explain(error)
    return KerasBertError(
        f"expected a checkpoint folder or a hub model, received {received}: there is no such folder here, and {cause}; "
        f"{advice}, {_ALTERNATIVE}"
    )


def _explain(error: Exception) -> tuple[str, str]:
    """The cause of a failed download, and advice."""
    from huggingface_hub import errors

    explanations = {  # subclasses come before their base classes
        errors.GatedRepoError: ("the hub model is gated", "ask for access on its page and log in with `hf auth login`"),
        errors.RepositoryNotFoundError: (
            "the hub model does not exist or is private",
            "check the name, log in with `hf auth login`",
        ),
        errors.RevisionNotFoundError: ("the hub model has no such revision", "check the branch, tag or commit"),
        errors.DisabledRepoError: ("the hub model is disabled", "take another model"),
        errors.HFValidationError: ("that is not a hub name", "pass 'org/name' or 'name'"),
        errors.OfflineModeIsEnabled: ("the model is not in the cache while HF_HUB_OFFLINE is set", "unset that"),
    }
    for kind, explanation in explanations.items():
        if isinstance(error, kind):
            return explanation
    response = getattr(error, "response", None)
    if response is not None:
        return f"the hub answered with HTTP status {response.status_code}", "try again later"
    if isinstance(error, OSError) and error.errno:
        return f"the model's files cannot be stored ({one_line(error)})", "check the disk"
    return f"the hub cannot be reached ({one_line(error)})", "check the network"


@contextlib.contextmanager
def _quiet_logging() -> Iterator[None]:
    """Hide huggingface-hub's warnings about retries and missing logins: our error holds the cause."""
    logger = logging.getLogger("huggingface_hub")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
