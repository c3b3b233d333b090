"""Human-readable sizes, numbers and times."""


def format_bytes(size: float) -> str:
    """Format a size in decimal units, such as 23.1 MB."""
    if abs(size) < 1000:
        return f"{size:.0f} B"
    for unit in ("kB", "MB"):
        size /= 1000
        if abs(size) < 1000:
            return f"{size:.1f} {unit}"
    return f"{size / 1000:.1f} GB"


def format_number(value: float | None, digits: int = 4) -> str:
    """Format a number with fixed digits, or scientific where all of them would be zero; None becomes `-`."""
    if value is None:
        return "-"
    if value != 0 and abs(value) < 10 ** -(digits - 1):
        return f"{value:.1e}"
    return f"{value:.{digits}f}"


def format_seconds(seconds: float | None) -> str:
    """Format a time in a fitting unit, such as 2.1 µs, 4.37 ms or 1.2 s; None becomes `-`."""
    if seconds is None:
        return "-"
    for factor, unit, limit in ((1e6, "µs", 100), (1e3, "ms", 1000)):
        if seconds * factor < limit:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"
