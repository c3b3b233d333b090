"""Recipes: the number formats of a file, under ai-edge-quantizer's names."""

from dataclasses import dataclass
from typing import Literal

from kerasbert.arguments import check_choice
from kerasbert.errors import KerasBertError

INTEGER_RECIPE = "static_wi8_ai8"  # the recipe of integer-only files


@dataclass(frozen=True)
class Recipe:
    """The number format of a file.

    Attributes:
        name: The recipe's name.
        kernel_bits: Bits of a kernel's value. Integer kernels have one scale per output channel, and embedding tables are int8 then.
        dense: The arithmetic of Dense layers: `float`; `dynamic`, with int8 inputs whose range is found at run time; or `static`, with
            inputs and outputs in integers of `activation_bits` and ranges from training or calibration.
        activation_bits: Bits of an activation's value.
    """

    name: str
    kernel_bits: int = 32
    dense: Literal["float", "dynamic", "static"] = "float"
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
    """Return the recipe of that name.

    Raises:
        KerasBertError: when there is none; it lists the names.
    """
    return RECIPES[check_choice(name, "a recipe of", RECIPES)]


def check_integer_recipe(recipe: Recipe) -> None:
    """Check that a recipe has integer-only files.

    Raises:
        KerasBertError: when it has none.
    """
    if recipe.name != INTEGER_RECIPE:
        raise KerasBertError(
            f"expected the recipe {INTEGER_RECIPE!r} for an integer-only file, received {recipe.name!r}; leave one of both out"
        )
