"""What a file may cost, by its recipe."""

from kerasbert.errors import KerasBertError
from kerasbert.export.tflite import metadata as packed
from kerasbert.export.validation.verdict import Tolerance

# What each recipe may cost against the model whose weights it holds.
TOLERANCES = {
    "float32": Tolerance(max_error=1e-4),
    "float16": Tolerance(max_error=1e-2),
    "dynamic_wi8_afp32": Tolerance(agreement=0.98, cosine=0.99, metric_share=0.99),
    "dynamic_wi4_afp32": Tolerance(agreement=0.9, cosine=0.9, metric_share=0.97),
    "weight_only_wi8": Tolerance(agreement=0.98, cosine=0.99, metric_share=0.99),
    "static_wi8_ai16": Tolerance(agreement=0.98, cosine=0.99, metric_share=0.99),
    "static_wi8_ai8": Tolerance(agreement=0.97, cosine=0.97, metric_share=0.985),
}
# A model that was trained further (quantization-aware, say) is another model: on doubtful rows it may decide otherwise and be as good, so
# the task's metric judges it, and equal outputs are asked for only so far that a broken file does not pass.
TRAINED_FURTHER = {"max_error": None, "agreement": 0.9, "cosine": 0.9, "by_metric": True}


def recipe_of(model_path, card: packed.Metadata | None, tolerance) -> tuple[str, list[str]]:
    """The recipe by which a file is judged, and what to note about it."""
    if card is not None:
        return card.recipe, []
    try:
        from kerasbert.export.inspection import inspect

        recipe = inspect(model_path).recipe
    except KerasBertError:
        if tolerance is None:
            raise
        recipe = "unknown"
    return recipe, [f"note: the file carries no kerasbert metadata; judged by its tensors, its recipe is {recipe}"]


def tolerance_of(tolerance: Tolerance | float | None, recipe: str) -> Tolerance:
    """The limits that a user gives, or else the recipe's. Raises KerasBertError for a recipe without."""
    if isinstance(tolerance, Tolerance):
        return tolerance
    if isinstance(tolerance, int | float) and not isinstance(tolerance, bool):
        return Tolerance(max_error=float(tolerance))
    if tolerance is not None:
        raise KerasBertError(f"expected tolerance as a number or a Tolerance, received {tolerance!r}")
    if recipe not in TOLERANCES:
        raise KerasBertError(
            f"expected a recipe among {', '.join(TOLERANCES)}, received {recipe!r}; give `tolerance=` to validate "
            "it anyway"
        )
    return TOLERANCES[recipe]
