"""Model compression: quantization-aware training and its diagnosis, pruning.

Names are imported on first use: policies need no TensorFlow.
"""

import importlib
from typing import Any

_HOMES = {
    "INTEGER_ONLY": "kerasbert.compression.quantization.policies",
    "MagnitudePruning": "kerasbert.compression.pruning.masks",
    "OutputEffect": "kerasbert.compression.quantization.output_effects",
    "OutputEffects": "kerasbert.compression.quantization.output_effects",
    "POLICIES": "kerasbert.compression.quantization.policies",
    "PointLoss": "kerasbert.compression.quantization.diagnosis",
    "PreserveSparsity": "kerasbert.compression.pruning.masks",
    "QuantizationPolicy": "kerasbert.layers.quantization.policy",
    "QuantizationSchedule": "kerasbert.compression.quantization.schedule",
    "Sparsity": "kerasbert.compression.pruning.magnitude",
    "SparsityReport": "kerasbert.compression.pruning.sparsity_report",
    "calibrate": "kerasbert.compression.quantization.calibration",
    "diagnose": "kerasbert.compression.quantization.diagnosis",
    "gzip_size": "kerasbert.compression.pruning.sparsity_report",
    "measure_effects": "kerasbert.compression.quantization.output_effects",
    "policy_named": "kerasbert.compression.quantization.policies",
    "pruned_kernels": "kerasbert.compression.pruning.sparsity_report",
    "quantize": "kerasbert.compression.quantization.qat",
    "range_estimator": "kerasbert.compression.quantization.range_estimation",
    "sparsity_report": "kerasbert.compression.pruning.sparsity_report",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'kerasbert.compression' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
