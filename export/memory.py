"""Giving back memory before a step that needs much of it."""

import ctypes
import gc


def release() -> None:
    """Collects what nothing refers to, and asks glibc, where there is one, to return what it keeps of freed memory."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):  # another C library
        return
