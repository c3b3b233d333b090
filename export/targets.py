"""Who will run a file, and what that asks of its graph."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from kerasbert.errors import KerasBertError
from kerasbert.export.recipes import RECIPES
from kerasbert.layers.lowering.options import GraphLayout


@dataclass(frozen=True)
class Target:
    """fixed, resizable: how the layers lay out their graph for a file of one length and for one whose length the caller sets; None where
    such a file cannot run.

    default_recipe: what to use when a user names none. single_tables: whether tables stay in float32 in a file of 16 bits.
    sums_in_parts: whether denses with kernels in floats add up in parts (`half_sums`).
    squares_by_itself: whether an operator may read one tensor twice, as the norms of integer-only files do.
    refused_recipes: recipes of which the backend runs no file, with the reason.
    split: whether ids become vectors in a file of their own, and the other one computes with integers only (`split_file`).
    """

    name: str
    fixed: GraphLayout
    resizable: GraphLayout | None
    default_recipe: str
    single_tables: bool = False
    sums_in_parts: bool = False
    split: bool = False
    squares_by_itself: bool = True
    refused_recipes: Mapping[str, str] = field(default_factory=dict)

    def layout(self, length: int | None) -> GraphLayout:
        """The graph's layout for a file of `length` tokens, or, for None, of a length that the caller sets.

        Raises KerasBertError where the backend cannot run a file of the latter kind.
        """
        found = self.fixed if length else self.resizable
        if found is None:
            raise KerasBertError(
                f"expected a number of tokens, or several, for the target {self.name!r}, received a resizable length"
            )
        return found

    def with_whole_sums(self) -> "Target":
        """The target without sums in parts. Raises KerasBertError for one that has none."""
        if not self.sums_in_parts:
            names = [each.name for each in TARGETS.values() if each.sums_in_parts]
            raise KerasBertError(
                f"expected the target {' or '.join(names)} for whole sums, received {self.name!r}: its sums are whole in any case"
            )
        return replace(self, sums_in_parts=False)

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
            fixed=GraphLayout(positions="slice", scaled_query=True),
            resizable=GraphLayout(positions="gather", scaled_query=True),
            default_recipe="dynamic_wi8_afp32",
        ),
        Target(
            "gpu",
            fixed=GraphLayout(flat_ids=True, scaled_query=True),
            resizable=None,
            default_recipe="float16",
            single_tables=True,
            sums_in_parts=True,
            squares_by_itself=False,
            refused_recipes={
                "weight_only_wi8": "its accelerator does not start on a dense whose 8-bit kernel is widened first",
                "static_wi8_ai16": "its accelerator has no 16-bit integers",
            },
        ),
        Target(
            "web",
            fixed=GraphLayout(positions="slice", scaled_query=True),
            resizable=None,  # LiteRT.js takes tensors of the shapes that the file has
            default_recipe="dynamic_wi8_afp32",
        ),
        Target(
            "edge-tpu",
            fixed=GraphLayout(positions="slice", scaled_query=True, sums=True),
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
