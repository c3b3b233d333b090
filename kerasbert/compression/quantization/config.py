"""The settings of a quantization as one value, which the options of `kerasbert quantize` declare."""

from dataclasses import dataclass

from kerasbert.compression.quantization.calibration_rows import CALIBRATION_ROWS
from kerasbert.errors import KerasBertError
from kerasbert.files.record import flag, setting
from kerasbert.layers.quantization.policy import BLOCKS
from kerasbert.training.objective_config import ObjectiveConfig


@dataclass(frozen=True)
class QuantizeConfig(ObjectiveConfig):
    """The settings of a quantization, beside those of its training. `kerasbert quantize --help` lists them.

    Raises:
        KerasBertError: When a value is out of range, or an option needs training and there is none.

    Example:
        ```python
        from kerasbert.compression import QuantizeConfig
        config = QuantizeConfig(calibration_method="percentile")
        int8 = kb.compression.quantize(task, config.recipe, calibration=texts, ranges=config.calibration_method)
        ```
    """

    recipe: str = setting(
        "static_wi8_ai8",
        "Number format: static_wi8_ai8, static_wi8_ai16, dynamic_wi8_afp32, dynamic_wi4_afp32 or weight_only_wi8.",
        "NAME",
    )
    epochs: int = setting(1, "Number of training epochs; 0 only calibrates.", at_least=0)
    integer_only: bool = setting(False, "Quantize every activation, for processors without float.")
    calibration_rows: int = setting(CALIBRATION_ROWS, "Number of calibration examples, sampled evenly.", at_least=1)
    calibration_method: str = setting(
        "min-max", "Range estimation for calibration: min-max, percentile, percentile:99.9 or mse.", "NAME"
    )
    learned_ranges: bool = setting(False, "Learn the ranges by gradient descent, instead of moving averages.")
    average_bits: float | None = setting(
        None,
        "With --recipe dynamic_wi4_afp32: give the kernels to which the loss is most sensitive 8 bits, and the others 4, with this mean. "
        "Sensitivity is found on the training rows, which need labels.",
        "N",
        at_least=4,
        at_most=8,
    )
    hessian: str = setting(
        "trace",
        "With --average-bits, the measure of sensitivity: trace of the loss's Hessian by kernel, or eigenvalue, its largest one by layer.",
        "NAME",
        choices=("trace", "eigenvalue"),
    )
    kernel_block: int | None = setting(
        None,
        "With --recipe dynamic_wi4_afp32: number of inputs of a channel that share a scale in 4-bit kernels, 32, 64, 128 or 256. "
        "Default: all.",
        choices=BLOCKS,
    )
    table_bits: int | None = setting(
        None,
        "Bits of the token embeddings: 4, with one scale for each token, for a file about a fifth smaller. Default: 8. For the targets cpu "
        "and web.",
        choices=(4,),
    )
    quant_delay: float = setting(
        0.0, "Fraction of the steps before activations are quantized.", "FRACTION", at_least=0, at_most=1
    )
    freeze_ranges: float = setting(
        1.0, "Fraction of the steps after which the ranges are frozen.", "FRACTION", at_least=0, at_most=1
    )

    def check(self) -> None:
        super().check()
        needs_training = {
            "--learned-ranges": self.learned_ranges, "--objectives": self.objectives, "--quant-delay": self.quant_delay > 0,
            "--freeze-ranges": self.freeze_ranges < 1,
        }  # fmt: skip
        for name, given in needs_training.items():
            if given and not self.epochs:
                raise KerasBertError(
                    f"expected --epochs of at least 1 with {name}, received 0; leave {name} out to calibrate only"
                )
        for name in ("average_bits", "kernel_block"):
            if getattr(self, name) is not None and self.recipe != "dynamic_wi4_afp32":
                raise KerasBertError(
                    f"expected --recipe dynamic_wi4_afp32 with {flag(name)}, received {self.recipe}; change it, or leave {flag(name)} out"
                )
        if self.table_bits is not None and self.integer_only:
            raise KerasBertError(
                "expected float arithmetic between embeddings and Dense layers with --table-bits 4, received --integer-only; leave one of "
                "both out"
            )
        if self.average_bits is None and self.hessian != "trace":
            raise KerasBertError(
                f"expected --average-bits with --hessian {self.hessian}, received none; add it, or leave out --hessian"
            )
        if self.quant_delay >= self.freeze_ranges:
            raise KerasBertError(
                f"expected --freeze-ranges above --quant-delay, received --quant-delay {self.quant_delay} and "
                f"--freeze-ranges {self.freeze_ranges}; ranges are frozen after activations are quantized"
            )
