"""Making models small: quantization-aware training and what it costs where, pruning.

Names are looked up when first used: policies need no TensorFlow.
"""

import importlib

_HOMES = {
    "INTEGER_ONLY": "kerasbert.compression.quantization.policies",
    "PreserveSparsity": "kerasbert.compression.pruning.masks",
    "MagnitudePruning": "kerasbert.compression.pruning.masks",
    "OutputEffect": "kerasbert.compression.quantization.output_effects",
    "OutputEffects": "kerasbert.compression.quantization.output_effects",
    "POLICIES": "kerasbert.compression.quantization.policies",
    "PointLoss": "kerasbert.compression.quantization.diagnosis",
    "QuantizationSchedule": "kerasbert.compression.quantization.schedule",
    "QuantizationPolicy": "kerasbert.layers.quantization.policy",
    "Sparsity": "kerasbert.compression.pruning.magnitude",
    "SparsityReport": "kerasbert.compression.pruning.sparsity_report",
    "calibrate": "kerasbert.compression.quantization.calibration",
    "diagnose": "kerasbert.compression.quantization.diagnosis",
    "gzip_size": "kerasbert.compression.pruning.sparsity_report",
    "measure_effects": "kerasbert.compression.quantization.output_effects",
    "policy_named": "kerasbert.compression.quantization.policies",
    "quantize": "kerasbert.compression.quantization.qat",
    "range_method": "kerasbert.compression.quantization.range_estimation",
    "sparsity_report": "kerasbert.compression.pruning.sparsity_report",
    "zeros_of": "kerasbert.compression.pruning.sparsity_report",
}

__all__ = list(_HOMES)


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'kerasbert.compression' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
