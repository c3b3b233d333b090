"""Control over freed memory in glibc: keep it for the next training step, or return it to the system."""

import ctypes
import gc
import os

# Parameter numbers of glibc's <malloc.h>; their values are explained in mallopt(3).
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX, _ARENA_MAX = -1, -2, -4, -8
_SETTINGS = {_TRIM_THRESHOLD: -1, _TOP_PAD: 64 * 2**20, _MMAP_MAX: 0, _ARENA_MAX: 1}


def keep_memory() -> bool:
    """Make this process keep the memory that it frees, for the rest of its life.

    A training step frees hundreds of megabytes and allocates them again in the next one. glibc returns large blocks to Linux in
    between. Getting them back, zeroed and page by page, can take a third of a step on a CPU. Call this before TensorFlow starts:
    threads that have already allocated memory keep their settings. The process then holds its peak memory until `release`.

    Nothing changes where the C library is not glibc, or where the environment sets `MALLOC_...` or `glibc.malloc` tunables: these
    settings take precedence.

    Returns:
        True if the settings are in effect.

    Example:
        ```python
        import kerasbert as kb
        kb.keep_memory()  # before the first use of TensorFlow
        ```
    """
    if not _is_glibc() or _is_tuned_by_environment():
        return False
    mallopt = ctypes.CDLL(None).mallopt
    return all([mallopt(name, value) == 1 for name, value in _SETTINGS.items()])


def release() -> None:
    """Collect garbage and return freed memory to the system; without glibc, only collect garbage."""
    gc.collect()
    if _is_glibc():
        ctypes.CDLL(None).malloc_trim(0)


def _is_glibc() -> bool:
    """Other C libraries have functions of the same names with other parameter numbers."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") is not None
    except (AttributeError, ValueError, OSError):  # Windows; macOS; musl knows the name and has no value
        return False


def _is_tuned_by_environment() -> bool:
    tunables = os.environ.get("GLIBC_TUNABLES", "")
    return "glibc.malloc." in tunables or any(name.startswith("MALLOC_") for name in os.environ)
