"""Making models small: quantization-aware training and what it costs where, pruning.

Names are looked up when first used: policies need no TensorFlow.
"""

import importlib

_HOMES = {
    "INTEGER_ONLY": "kerasbert.compression.policies",
    "KeepZeros": "kerasbert.compression.sparsity_masks",
    "MagnitudePruning": "kerasbert.compression.sparsity_masks",
    "OutputEffect": "kerasbert.compression.output_effects",
    "OutputEffects": "kerasbert.compression.output_effects",
    "POLICIES": "kerasbert.compression.policies",
    "PointLoss": "kerasbert.compression.diagnosis",
    "QuantizationPhases": "kerasbert.compression.phases",
    "QuantizationPolicy": "kerasbert.layers.policy",
    "Sparsity": "kerasbert.compression.sparsity",
    "SparsityReport": "kerasbert.compression.zeros",
    "calibrate": "kerasbert.compression.calibration",
    "diagnose": "kerasbert.compression.diagnosis",
    "gzip_size": "kerasbert.compression.zeros",
    "measure_effects": "kerasbert.compression.output_effects",
    "policy_named": "kerasbert.compression.policies",
    "quantize": "kerasbert.compression.quantization",
    "range_method": "kerasbert.compression.ranges",
    "sparsity_report": "kerasbert.compression.zeros",
    "zeros_of": "kerasbert.compression.zeros",
}

__all__ = list(_HOMES)


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'kerasbert.compression' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
