"""What the numbers in a file are, under ai-edge-quantizer's names."""

from dataclasses import dataclass

from kerasbert.errors import KerasBertError

WEIGHT_ONLY = "weight_only_wi8"


@dataclass(frozen=True)
class Recipe:
    """tables, kernels: how they are stored. activations: how a dense takes its input and gives its output.

    trained: the file needs ranges that training or calibration put into the model. kernel_bits, activation_bits: of what is stored and of
    what a static dense reads and writes, where they are integers.
    """

    name: str
    tables: str
    kernels: str
    activations: str
    trained: bool = False
    kernel_bits: int = 32
    activation_bits: int = 32

    @property
    def integer(self) -> bool:
        """Whether kernels are stored as integers."""
        return self.kernel_bits <= 8


RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe("float32", tables="float32", kernels="float32", activations="float32"),
        Recipe("float16", tables="float16", kernels="float16", activations="float32"),
        Recipe(
            "dynamic_wi8_afp32",
            tables="int8",
            kernels="int8 per channel",
            activations="int8 in the dense, range at run time",
            kernel_bits=8,
        ),
        Recipe(
            "dynamic_wi4_afp32",
            tables="int8",
            kernels="int4 per channel",
            activations="int8 in the dense, range at run time",
            kernel_bits=4,
        ),
        Recipe("weight_only_wi8", tables="int8", kernels="int8 per channel", activations="float32", kernel_bits=8),
        Recipe(
            "static_wi8_ai8",
            tables="int8",
            kernels="int8 per channel",
            activations="int8, trained range",
            trained=True,
            kernel_bits=8,
            activation_bits=8,
        ),  # fmt: skip
        Recipe(
            "static_wi8_ai16",
            tables="int8",
            kernels="int8 per channel",
            activations="int16, trained range",
            trained=True,
            kernel_bits=8,
            activation_bits=16,
        ),  # fmt: skip
    )
}


def recipe_named(name: str) -> Recipe:
    """The recipe of that name. Raises KerasBertError, listing what there is."""
    if name not in RECIPES:
        raise KerasBertError(f"expected a recipe of {', '.join(RECIPES)}, received {name!r}")
    return RECIPES[name]
