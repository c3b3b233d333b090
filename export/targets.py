"""Deployment targets: the lowering options and the passes that each requires."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kerasbert.errors import KerasBertError
from kerasbert.export.passes.check_integer_only import check_integer_only
from kerasbert.export.passes.context import Pass
from kerasbert.export.passes.dynamic_range_versions import set_dynamic_range_versions
from kerasbert.export.passes.keep_embeddings_fp32 import keep_embeddings_fp32
from kerasbert.export.passes.quantize import quantize
from kerasbert.export.passes.split_k import split_k_fully_connected
from kerasbert.export.passes.tie_embeddings import tie_embeddings
from kerasbert.export.recipes import RECIPES
from kerasbert.layers.lowering.options import LoweringOptions

QUANTIZE = (quantize, tie_embeddings, set_dynamic_range_versions)
INTEGER_ONLY: tuple[Pass, ...] = (tie_embeddings, check_integer_only)


@dataclass(frozen=True)
class Target:
    """A kind of runtime and hardware.

    Attributes:
        fixed, resizable: lowering options for a file of one length, and for one whose length the caller sets; None where such a file
            cannot run.
        default_recipe: the recipe where a user names none.
        passes: run over every traced model that is not integer-only, in this order.
        can_split_k: whether `--split-k` applies.
        squares_by_itself: whether an operator may read one tensor twice, as the norms of integer-only files do.
        refused_recipes: recipes of which the backend runs no file, with the reason.
        split: whether ids become vectors in a file of their own, and the other one computes with integers only (`partition`).
    """

    name: str
    fixed: LoweringOptions
    resizable: LoweringOptions | None
    default_recipe: str
    passes: tuple[Pass, ...] = QUANTIZE
    can_split_k: bool = False
    split: bool = False
    squares_by_itself: bool = True
    refused_recipes: Mapping[str, str] = field(default_factory=dict)

    def layout(self, length: int | None) -> LoweringOptions:
        """The graph's layout for a file of `length` tokens, or, for None, of a length that the caller sets.

        Raises KerasBertError where the backend cannot run a file of the latter kind.
        """
        found = self.fixed if length else self.resizable
        if found is None:
            raise KerasBertError(
                f"expected a number of tokens, or several, for the target {self.name!r}, received a resizable length"
            )
        return found

    def check_split_k(self, split_k: bool) -> None:
        """Raises KerasBertError where split-K accumulation is asked of a target that has none."""
        if split_k and not self.can_split_k:
            names = " or ".join(each.name for each in TARGETS.values() if each.can_split_k)
            raise KerasBertError(
                f"expected --target {names} for --split-k, received {self.name!r}; leave --split-k out"
            )

    def check_recipe(self, name: str) -> None:
        """Raises KerasBertError for a recipe of which the backend runs no file."""
        if name in self.refused_recipes:
            others = ", ".join(recipe for recipe in RECIPES if recipe not in self.refused_recipes)
            raise KerasBertError(
                f"expected a recipe that the target {self.name!r} can run ({others}), received {name!r}: {self.refused_recipes[name]}"
            )


TARGETS = {
    target.name: target
    for target in (
        Target(
            "cpu",
            fixed=LoweringOptions(positions="slice", scaled_query=True),
            resizable=LoweringOptions(positions="gather", scaled_query=True),
            default_recipe="dynamic_wi8_afp32",
        ),
        Target(
            "gpu",
            fixed=LoweringOptions(flat_ids=True, scaled_query=True),
            resizable=None,
            default_recipe="float16",
            passes=(*QUANTIZE, keep_embeddings_fp32, split_k_fully_connected),
            can_split_k=True,
            squares_by_itself=False,
            refused_recipes={
                "weight_only_wi8": "its accelerator does not start on a dense whose 8-bit kernel is widened first",
                "static_wi8_ai16": "its accelerator has no 16-bit integers",
            },
        ),
        Target(
            "web",
            fixed=LoweringOptions(positions="slice", scaled_query=True),
            resizable=None,  # LiteRT.js takes tensors of the shapes that the file has
            default_recipe="dynamic_wi8_afp32",
        ),
        Target(
            "edge-tpu",
            fixed=LoweringOptions(positions="slice", scaled_query=True, sums=True),
            resizable=None,
            default_recipe="static_wi8_ai8",
            split=True,
        ),
    )
}


def target_named(name: str) -> Target:
    """The target of that name. Raises KerasBertError, listing what there is."""
    if name not in TARGETS:
        raise KerasBertError(f"expected a target of {', '.join(TARGETS)}, received {name!r}")
    return TARGETS[name]
