"""The mean and the sample deviation of a score over several runs."""

from collections.abc import Sequence
from typing import Any

import numpy as np


def over_seeds(values: Sequence[float]) -> dict[str, Any]:
    """Return the mean, the sample standard deviation (None for one run) and the number of runs."""
    return {
        "mean": float(np.mean(values)),
        "deviation": float(np.std(values, ddof=1)) if len(values) > 1 else None,
        "seeds": len(values),
    }
