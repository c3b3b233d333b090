"""Making models small: quantization-aware training."""

from kerasbert.compression.quantization import POLICIES, calibrate, quantize
from kerasbert.layers.points import QuantizationPolicy

__all__ = ["POLICIES", "QuantizationPolicy", "calibrate", "quantize"]
