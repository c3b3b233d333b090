"""Numbers as people read them. Tables of them: `kerasbert.console.tables`."""


def format_bytes(size: float) -> str:
    """Decimal units, as download pages use: 23.1 MB."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(size) < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    raise AssertionError("unreachable")


def format_number(value: float | None, digits: int = 4) -> str:
    """Fixed digits, scientific where they would all be zero, `-` for nothing."""
    if value is None:
        return "-"
    if value != 0 and abs(value) < 10 ** -(digits - 1):
        return f"{value:.1e}"
    return f"{value:.{digits}f}"


def format_seconds(seconds: float | None) -> str:
    """In the unit that reads best: 2.1 µs, 4.37 ms, 1.2 s; `-` for nothing."""
    if seconds is None:
        return "-"
    for factor, unit, below in ((1e6, "µs", 100), (1e3, "ms", 1000)):
        if seconds * factor < below:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"
