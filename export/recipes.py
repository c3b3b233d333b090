"""What the numbers in a file are, under ai-edge-quantizer's names."""

from dataclasses import dataclass

from kerasbert.errors import KerasBertError


@dataclass(frozen=True)
class Recipe:
    """kernel_bits: how dense kernels are stored, per channel where they are integers; tables are int8 then.

    dense: how one is computed: in `float`, `dynamic` (its input in int8, range found at run time) or `static` (input and output integers of
    `activation_bits`, with ranges that training or calibration put into the model).
    """

    name: str
    kernel_bits: int = 32
    dense: str = "float"
    activation_bits: int = 32

    @property
    def integer(self) -> bool:
        """Whether kernels are stored as integers."""
        return self.kernel_bits <= 8

    @property
    def trained(self) -> bool:
        """Whether the file needs ranges from the model."""
        return self.dense == "static"


RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe("float32"),
        Recipe("float16", kernel_bits=16),
        Recipe("dynamic_wi8_afp32", kernel_bits=8, dense="dynamic"),
        Recipe("dynamic_wi4_afp32", kernel_bits=4, dense="dynamic"),
        Recipe("weight_only_wi8", kernel_bits=8),
        Recipe("static_wi8_ai8", kernel_bits=8, dense="static", activation_bits=8),
        Recipe("static_wi8_ai16", kernel_bits=8, dense="static", activation_bits=16),
    )
}


def recipe_named(name: str) -> Recipe:
    """The recipe of that name. Raises KerasBertError, listing what there is."""
    if name not in RECIPES:
        raise KerasBertError(f"expected a recipe of {', '.join(RECIPES)}, received {name!r}")
    return RECIPES[name]
