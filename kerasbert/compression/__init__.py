"""Model compression: quantization-aware training and its diagnosis, pruning.

Names are imported on first use: policies need no TensorFlow.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kerasbert.compression.pruning.magnitude import Sparsity
    from kerasbert.compression.pruning.masks import MagnitudePruning, PreserveSparsity
    from kerasbert.compression.pruning.sparsity_report import SparsityReport, gzip_size, pruned_kernels, sparsity_report
    from kerasbert.compression.quantization.calibration import calibrate
    from kerasbert.compression.quantization.diagnosis import PointLoss, diagnose
    from kerasbert.compression.quantization.output_effects import OutputEffect, OutputEffects, measure_effects
    from kerasbert.compression.quantization.policies import INTEGER_ONLY, POLICIES, policy_named
    from kerasbert.compression.quantization.qat import quantize
    from kerasbert.compression.quantization.range_estimation import range_estimator
    from kerasbert.compression.quantization.schedule import QuantizationSchedule
    from kerasbert.layers.quantization.policy import QuantizationPolicy

_MODULES = {
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

__all__ = [
    "INTEGER_ONLY",
    "MagnitudePruning",
    "OutputEffect",
    "OutputEffects",
    "POLICIES",
    "PointLoss",
    "PreserveSparsity",
    "QuantizationPolicy",
    "QuantizationSchedule",
    "Sparsity",
    "SparsityReport",
    "calibrate",
    "diagnose",
    "gzip_size",
    "measure_effects",
    "policy_named",
    "pruned_kernels",
    "quantize",
    "range_estimator",
    "sparsity_report",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(importlib.import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'kerasbert.compression' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
