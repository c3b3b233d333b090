"""Which points of a model are held in 8 bits, and how: a value that is saved with the model."""

import fnmatch
from dataclasses import asdict, dataclass, replace

KINDS = ("static", "dynamic", "float")


@dataclass(frozen=True)
class QuantizationPolicy:
    """What is held in 8 bits while training, so that the exported file computes what was trained.

    recipe: the export recipe that this policy prepares for.
    kernels: dense kernels in int8, symmetric, one scale per output channel.
    tables: the word table in int8, symmetric, one scale in all.
    activations: `(pattern, kind)` rules over point paths (shell-style wildcards), first match wins; kind is `static` (one trained
        range per tensor), `dynamic` (one range per token, found at run time) or `float`. No match means `float`.
    equalized: patterns of points whose outlier channels are scaled down, and the rows of the kernels that read them scaled up: in float
        an identity, in 8 bits the other channels get the range that the outliers took (Xiao et al. 2022, SmoothQuant).
    kernel_bits, activation_bits: of kernels 8 or 4, of static activations 8 or 16 (around zero).
    integer_only: nothing between the ids and the outputs is computed in float: softmax, norms, activations and sums have points too.
    learned_ranges: while training gradients move the ranges of static points, and not the data that they see. Of 8 bits only: with 16
        nothing needs to be clipped.
    """

    recipe: str
    kernels: bool = True
    tables: bool = True
    activations: tuple[tuple[str, str], ...] = ()
    equalized: tuple[str, ...] = ()
    integer_only: bool = False
    kernel_bits: int = 8
    activation_bits: int = 8
    learned_ranges: bool = False

    def __post_init__(self):
        if self.kernel_bits not in (4, 8) or self.activation_bits not in (8, 16):
            raise ValueError(
                f"expected kernels of 4 or 8 bits and activations of 8 or 16, received {self.kernel_bits} and {self.activation_bits}"
            )
        if self.learned_ranges and self.activation_bits != 8:
            raise ValueError(f"expected activations of 8 bits for learned ranges, received {self.activation_bits}")
        for pattern, kind in self.activations:
            if kind not in KINDS:
                raise ValueError(f"expected a quantization kind of {KINDS} for points {pattern!r}, received {kind!r}")

    def kind(self, path: str) -> str:
        """The kind of the activation point at `path`."""
        return next((kind for pattern, kind in self.activations if fnmatch.fnmatchcase(path, pattern)), "float")

    def equalizes(self, path: str) -> bool:
        """Whether the outlier channels of the point at `path` are scaled down."""
        return any(fnmatch.fnmatchcase(path, pattern) for pattern in self.equalized)

    def in_float(self) -> "QuantizationPolicy":
        """The same graph with nothing in 8 bits: what is exported before the file is quantized."""
        return replace(self, kernels=False, tables=False, activations=())

    def get_config(self) -> dict:
        return asdict(self)

    @classmethod
    def from_config(cls, config: dict) -> "QuantizationPolicy":
        rules = tuple((pattern, kind) for pattern, kind in config.get("activations", ()))
        return cls(**{**config, "activations": rules, "equalized": tuple(config.get("equalized", ()))})


def integer_part(policy: QuantizationPolicy | None) -> QuantizationPolicy | None:
    """The policy, for points that only a model without any float has; None under another one."""
    return policy if policy is not None and policy.integer_only else None
