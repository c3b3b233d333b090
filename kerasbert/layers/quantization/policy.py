"""Quantization policies: the activations and weights of a model that are quantized, and how. A policy is saved with the model."""

import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from kerasbert.files.record import Record, setting

BLOCKS = (32, 64, 128, 256)
KINDS = ("static", "dynamic", "float")


@dataclass(frozen=True)
class QuantizationPolicy(Record):
    """The tensors that are quantized while training, so that the exported file computes what was trained.

    Attributes:
        recipe: The export recipe that this policy prepares for.
        kernels: Whether Dense kernels are in int8, symmetric, one scale per output channel.
        tables: Whether the token embeddings are in int8, symmetric, one scale; see `table_bits`.
        activations: `(pattern, kind)` rules over the paths of activations, with shell wildcards; the first match wins. A kind is `static`
            (one trained range per tensor), `dynamic` (one range per token, at run time) or `float`, which is also the default.
        equalized: Patterns of activations whose outlier channels are scaled down, while the kernels that read them are scaled up
            (SmoothQuant, Xiao et al. 2022). An identity in float.
        integer_only: Whether there is no float operator between ids and outputs: softmax, norms and sums are quantized too.
        kernel_bits: Bits of kernels, 8 or 4.
        kernel_rules: `(pattern, bits)` rules over the paths of kernels, such as `("layers.0.*", 8)`; the first match wins. A kernel that
            none matches has `kernel_bits`. None: no rules. Dynamic recipes only.
        kernel_block: Inputs of a channel that share a scale in kernels of 4 bits, 32, 64, 128 or 256; a kernel whose inputs it does not
            divide has one scale per channel. None: all inputs of a channel share one. `dynamic_wi4_afp32` only.
        table_bits: 4 for token embeddings of 4 bits, with one scale for each token; not in integer-only policies. None: 8 bits.
        activation_bits: Bits of static activations, 8 or 16; 16 bits are symmetric.
        learned_ranges: Whether static ranges are trained by gradients instead of following the data; of 8 bits only, since 16 bits clip
            nothing.

    Raises:
        KerasBertError: When the bits or a kind are not supported, or a value has another type.

    Example:
        ```python
        from kerasbert.compression import QuantizationPolicy, quantize
        policy = QuantizationPolicy("dynamic_wi8_afp32", activations=(("*", "dynamic"),))
        int8 = quantize(task, policy)
        ```
    """

    recipe: str
    kernels: bool = True
    tables: bool = True
    activations: tuple[tuple[str, str], ...] = ()
    equalized: tuple[str, ...] = ()
    integer_only: bool = False
    kernel_bits: int = setting(8, choices=(4, 8))
    activation_bits: int = setting(8, choices=(8, 16))
    learned_ranges: bool = False
    kernel_rules: tuple[tuple[str, int], ...] | None = setting(None, omitted_if_none=True)
    kernel_block: int | None = setting(None, choices=BLOCKS, omitted_if_none=True)
    table_bits: int | None = setting(None, choices=(4,), omitted_if_none=True)

    def check(self) -> None:
        self.expect(not self.learned_ranges or self.activation_bits == 8, "activation_bits", "as 8 for learned ranges")
        self.expect(self.table_bits is None or self.tables, "table_bits", "as None for tables in float")
        for _, kind in self.activations:
            self.expect(kind in KINDS, "activations", f"with kinds of {', '.join(KINDS)}")
        for _, bits in self.kernel_rules or ():
            self.expect(bits in (4, 8), "kernel_rules", "with 4 or 8 bits")

    def bits(self, path: str) -> int:
        """Return the bits of the kernel at a path.

        Args:
            path: The path of a kernel, such as `layers.0.attention.query.kernel`.
        """
        rules = self.kernel_rules or ()
        return next((bits for pattern, bits in rules if fnmatch.fnmatchcase(path, pattern)), self.kernel_bits)

    def kind(self, path: str) -> str:
        """Return the kind of the activation at a path.

        Args:
            path: The path of an activation.
        """
        return next((kind for pattern, kind in self.activations if fnmatch.fnmatchcase(path, pattern)), "float")

    def equalizes(self, path: str) -> bool:
        """Tell whether the outlier channels of the activation at a path are scaled down.

        Args:
            path: The path of an activation.

        Returns:
            True if the channels are scaled.
        """
        return any(fnmatch.fnmatchcase(path, pattern) for pattern in self.equalized)

    def in_float(self) -> "QuantizationPolicy":
        """Return the policy of the same graph without quantization: exported before the file is quantized."""
        return replace(self, kernels=False, tables=False, activations=(), table_bits=None)

    def get_config(self) -> dict[str, Any]:
        """Return a JSON object for `from_config`."""
        return self.to_dict()

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> "QuantizationPolicy":
        """Read the JSON object of `get_config`.

        Args:
            config: The JSON object.

        Returns:
            The policy.

        Raises:
            KerasBertError: When it is not one of a policy.
        """
        return cls.from_dict(config, "the quantization policy")


def integer_part(policy: QuantizationPolicy | None) -> QuantizationPolicy | None:
    """Return an integer-only policy as it is, and None for another one: for activations that stay in float otherwise."""
    return policy if policy is not None and policy.integer_only else None
