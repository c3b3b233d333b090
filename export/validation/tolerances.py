"""The limits of each recipe: how far a file's outputs and metric may be from the reference's."""

from dataclasses import replace

from kerasbert.arguments import argument
from kerasbert.errors import KerasBertError
from kerasbert.export.tflite.arithmetic import graph_recipe
from kerasbert.export.tflite.graph_reader import has_schema
from kerasbert.export.tflite.metadata import Metadata
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.export.validation.judgements import Tolerance
from kerasbert.export.validation.reference import Reference
from kerasbert.values import is_real

# Against the model whose weights the file holds.
TOLERANCES = {
    "float32": Tolerance(max_error=1e-4, score_shift=1e-3, calibration=0.01),
    "float16": Tolerance(max_error=1e-2, score_shift=5e-3, calibration=0.01),
    **dict.fromkeys(
        ("dynamic_wi8_afp32", "weight_only_wi8", "static_wi8_ai16"),
        Tolerance(
            agreement=0.98, cosine=0.99, metric_share=0.99, score_shift=0.03, largest_score_shift=0.5, calibration=0.03
        ),
    ),
    "static_wi8_ai8": Tolerance(
        agreement=0.97, cosine=0.97, metric_share=0.985, score_shift=0.05, largest_score_shift=0.6, calibration=0.05
    ),
    "dynamic_wi4_afp32": Tolerance(
        agreement=0.9, cosine=0.9, metric_share=0.97, score_shift=0.15, largest_score_shift=0.9, calibration=0.1
    ),
}
# A model that was trained further, such as a quantization-aware one, is another model. It may decide otherwise on doubtful rows and be as
# good, so the task's metric judges it. Equal outputs are only required as far as a broken file must not pass.
TRAINED_FURTHER = Tolerance(agreement=0.9, cosine=0.9, score_shift=0.2, by_metric=True)


def recipe_of(file: ModelFile, tolerance: Tolerance | float | None) -> tuple[str, list[str]]:
    """Return the recipe by which a file is judged, and notes about it. Operators and tensors decide, not the word of the metadata.

    Args:
        file: The file.
        tolerance: The user's limits, with which an unknown recipe is accepted.

    Raises:
        KerasBertError: When the recipe is not known and there are no limits.
    """
    if not has_schema() and file.metadata is not None:
        return file.metadata.recipe, []
    recipe = "unknown" if not has_schema() and tolerance is not None else graph_recipe(file)
    if file.metadata is not None:
        return recipe, []
    return recipe, [f"note: the file carries no kerasbert metadata; judged by its tensors, its recipe is {recipe}"]


def choose_tolerance(
    tolerance: Tolerance | float | None, recipe: str, metadata: Metadata | None, reference: Reference
) -> tuple[Tolerance, list[str]]:
    """Choose the limits of a validation.

    Args:
        tolerance: The user's limits; None for those of the recipe.
        recipe: The file's recipe.
        metadata: The file's metadata.
        reference: The model that it is compared with. A recipe has other limits where its weights differ.

    Returns:
        The limits, and notes about them.

    Raises:
        KerasBertError: When a recipe has no limits.
    """
    limits = tolerance_of(tolerance, recipe)
    weights = metadata.weights if metadata else ""
    if tolerance is not None or not weights or not reference.weights or weights == reference.weights:
        return limits, []
    note = (
        f"note: {reference.name} has other weights than the model that was converted, so the task's metric is judged, and agreement only "
        f"against {TRAINED_FURTHER.agreement:g}. For a check of the conversion itself, validate against the folder that was converted"
    )
    return replace(TRAINED_FURTHER, metric_share=limits.metric_share), [note]


def tolerance_of(tolerance: Tolerance | float | None, recipe: str) -> Tolerance:
    """Return the limits of the user, or else of the recipe.

    Raises:
        KerasBertError: When a recipe has no limits.
    """
    if isinstance(tolerance, Tolerance):
        return tolerance
    if is_real(tolerance):
        return Tolerance(max_error=float(tolerance))
    if tolerance is not None:
        raise KerasBertError(
            f"expected tolerance as a number or a Tolerance, received {tolerance!r}; give the largest absolute error, such as 1e-3"
        )
    if recipe not in TOLERANCES:
        raise KerasBertError(
            f"expected a recipe among {', '.join(TOLERANCES)}, received {recipe!r}; give {argument('tolerance')} to validate "
            "it anyway"
        )
    return TOLERANCES[recipe]
