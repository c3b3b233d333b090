"""Measurements, in groups by what they measure. Run one as a module from the repository root: `python -m benchmarks.GROUP.SCRIPT`."""
