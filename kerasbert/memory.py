"""What the C library does with freed memory: kept for the next training step, or given back before a step that needs much."""

import ctypes
import gc
import os

# <malloc.h> of glibc, and what mallopt(3) says of these values.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX, _ARENA_MAX = -1, -2, -4, -8
_KEEPING = {_TRIM_THRESHOLD: -1, _TOP_PAD: 64 * 2**20, _MMAP_MAX: 0, _ARENA_MAX: 1}


def keep_memory() -> bool:
    """Lets this process keep the memory it frees, for as long as it lives; gives whether it does so now.

    A training step frees hundreds of megabytes and asks for them again in the next one. glibc returns large blocks to Linux in between, and
    getting them back, page by page and zeroed, can take a third of the time of a step on a CPU. Call it before TensorFlow starts:
    threads that have allocated already keep their ways. The process holds the most memory that it ever used; `release` still returns it.

    Does nothing where the C library is not glibc, and where the environment sets `MALLOC_...` or `glibc.malloc` tunables: whoever did
    so knows better.
    """
    if not _glibc() or _set_by_environment():
        return False
    mallopt = ctypes.CDLL(None).mallopt
    return all([mallopt(name, value) == 1 for name, value in _KEEPING.items()])


def release() -> None:
    """Collects what nothing refers to, and asks glibc, where there is one, to return what it keeps of freed memory."""
    gc.collect()
    if _glibc():
        ctypes.CDLL(None).malloc_trim(0)


def _glibc() -> bool:
    """Others have functions of these names too, which take other numbers."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") is not None
    except (AttributeError, ValueError, OSError):  # Windows; macOS; musl, which knows the name and has no answer
        return False


def _set_by_environment() -> bool:
    tunables = os.environ.get("GLIBC_TUNABLES", "")
    return "glibc.malloc." in tunables or any(name.startswith("MALLOC_") for name in os.environ)
