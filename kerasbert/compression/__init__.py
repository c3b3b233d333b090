"""Making models small: quantization-aware training and what it costs where, pruning."""

from kerasbert.compression.calibration import calibrate
from kerasbert.compression.diagnosis import PointLoss, diagnose
from kerasbert.compression.output_effects import OutputEffect, OutputEffects, measure_effects
from kerasbert.compression.phases import QuantizationPhases
from kerasbert.compression.quantization import INTEGER_ONLY, POLICIES, policy_named, quantize
from kerasbert.compression.ranges import range_method
from kerasbert.compression.sparsity import Sparsity
from kerasbert.compression.sparsity_masks import KeepZeros, MagnitudePruning
from kerasbert.compression.sparsity_report import SparsityReport, gzip_size, sparsity_report, zeros_of
from kerasbert.layers.policy import QuantizationPolicy

__all__ = [
    "INTEGER_ONLY",
    "POLICIES",
    "KeepZeros",
    "MagnitudePruning",
    "OutputEffect",
    "OutputEffects",
    "PointLoss",
    "QuantizationPhases",
    "QuantizationPolicy",
    "Sparsity",
    "SparsityReport",
    "calibrate",
    "diagnose",
    "gzip_size",
    "measure_effects",
    "policy_named",
    "quantize",
    "range_method",
    "sparsity_report",
    "zeros_of",
]
