"""What the numbers in a file are, under ai-edge-quantizer's names."""

from dataclasses import dataclass

from kerasbert.errors import KerasBertError


@dataclass(frozen=True)
class Recipe:
    """tables, kernels: how they are stored. activations: how a dense takes its input and gives its output.

    trained: the file needs ranges that training or calibration put into the model.
    """

    name: str
    tables: str
    kernels: str
    activations: str
    trained: bool = False


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
        ),
        Recipe(
            "static_wi8_ai8", tables="int8", kernels="int8 per channel", activations="int8, trained range", trained=True
        ),
    )
}


def recipe_named(name: str) -> Recipe:
    """The recipe of that name. Raises KerasBertError, listing what there is."""
    if name not in RECIPES:
        raise KerasBertError(f"expected a recipe of {', '.join(RECIPES)}, received {name!r}")
    return RECIPES[name]
