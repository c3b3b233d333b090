from kerasbert.compression.pruning.config import (
    MagnitudeConfig as MagnitudeConfig,
    StructuredConfig as StructuredConfig,
)
from kerasbert.compression.pruning.magnitude import Sparsity as Sparsity
from kerasbert.compression.pruning.masks import (
    MagnitudePruning as MagnitudePruning,
    PreserveSparsity as PreserveSparsity,
)
from kerasbert.compression.pruning.sparsity_report import (
    SparsityReport as SparsityReport,
    gzip_size as gzip_size,
    pruned_kernels as pruned_kernels,
    sparsity_report as sparsity_report,
)
from kerasbert.compression.quantization.bit_choice import (
    BitChoice as BitChoice,
    KernelSensitivity as KernelSensitivity,
    choose_bits as choose_bits,
)
from kerasbert.compression.quantization.calibration import calibrate as calibrate
from kerasbert.compression.quantization.config import QuantizeConfig as QuantizeConfig
from kerasbert.compression.quantization.diagnosis import (
    PointLoss as PointLoss,
    diagnose as diagnose,
)
from kerasbert.compression.quantization.output_effects import (
    OutputEffect as OutputEffect,
    OutputEffects as OutputEffects,
    measure_effects as measure_effects,
)
from kerasbert.compression.quantization.policies import (
    INTEGER_ONLY as INTEGER_ONLY,
    POLICIES as POLICIES,
    policy_named as policy_named,
)
from kerasbert.compression.quantization.qat import quantize as quantize
from kerasbert.compression.quantization.range_estimation import range_estimator as range_estimator
from kerasbert.compression.quantization.schedule import QuantizationSchedule as QuantizationSchedule
from kerasbert.layers.quantization.policy import QuantizationPolicy as QuantizationPolicy
