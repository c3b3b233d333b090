"""Deployment targets: the lowering options and the passes that each requires."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kerasbert.arguments import argument, check_choice
from kerasbert.errors import KerasBertError
from kerasbert.export.passes.check_integer_only import check_integer_only
from kerasbert.export.passes.context import Pass
from kerasbert.export.passes.conv1x1 import fold_reshapes, fully_connected_to_conv1x1
from kerasbert.export.passes.dynamic_range_versions import set_dynamic_range_versions
from kerasbert.export.passes.eliminate_dead_code import eliminate_dead_code
from kerasbert.export.passes.keep_embeddings_fp32 import keep_embeddings_fp32
from kerasbert.export.passes.look_up_tables import look_up_tables
from kerasbert.export.passes.quantize import quantize
from kerasbert.export.passes.recipes import RECIPES
from kerasbert.export.passes.remove_float_ends import remove_float_ends
from kerasbert.export.passes.split_k import split_k_fully_connected
from kerasbert.export.passes.tie_embeddings import tie_embeddings
from kerasbert.layers.lowering.options import LoweringOptions

QUANTIZE = (look_up_tables, quantize, tie_embeddings, set_dynamic_range_versions)
_INTEGER_ENDS = (remove_float_ends, check_integer_only)


@dataclass(frozen=True)
class Target:
    """A kind of runtime and hardware.

    Attributes:
        name: The target's name.
        fixed: Lowering options for a file of one length.
        resizable: Lowering options for a file of a resizable length; None if the target cannot run such a file.
        default_recipe: The recipe that applies if a user names none.
        passes: The passes over every traced model that is not integer-only, in this order.
        integer_passes: The passes over an integer-only model.
        host_passes: The passes over the host model of a partitioned model, see `split`; none for a model in one file.
        can_split_k: Whether `--split-k` applies.
        squares_by_itself: Whether an operator may read one tensor twice, as the norms of integer-only files do.
        takes_texts: Whether a file may tokenize texts itself, by operators of tensorflow-text.
        runs_loops: Whether it runs graphs with loops, as those of a BiLSTM.
        runs_exits: Whether a file may have a signature for each exit of a task with early exits.
        runs_lookups: Whether it runs EMBEDDING_LOOKUP, which reads tables of 4 bits.
        has_clients: Whether MediaPipe Tasks and the Task Library run its files.
        refused_recipes: Recipes that the target cannot run, with the reason.
    """

    name: str
    fixed: LoweringOptions
    resizable: LoweringOptions | None
    default_recipe: str
    passes: tuple[Pass, ...] = QUANTIZE
    integer_passes: tuple[Pass, ...] = (tie_embeddings, check_integer_only)
    host_passes: tuple[Pass, ...] = ()
    can_split_k: bool = False
    squares_by_itself: bool = True
    takes_texts: bool = False
    runs_loops: bool = False
    runs_exits: bool = False
    runs_lookups: bool = False
    has_clients: bool = False
    refused_recipes: Mapping[str, str] = field(default_factory=dict)

    @property
    def split(self) -> bool:
        """Whether a model is partitioned: a host model with the embeddings, and an accelerator model in integers only."""
        return bool(self.host_passes)

    def lowering(self, length: int | None) -> LoweringOptions:
        """Return the lowering options for a file of `length` tokens; None means a resizable length.

        Raises:
            KerasBertError: when the target cannot run a resizable file.
        """
        options = self.fixed if length else self.resizable
        if options is None:
            raise KerasBertError(
                f"expected a number of tokens, or several, for the target {self.name!r}, received a resizable length; name a length"
            )
        return options

    def check_split_k(self, split_k: bool) -> None:
        """Check that the target supports split-K accumulation, if it is asked for.

        Raises:
            KerasBertError: when it does not.
        """
        if split_k and not self.can_split_k:
            names = " or ".join(each.name for each in TARGETS.values() if each.can_split_k)
            raise KerasBertError(
                f"expected --target {names} for --split-k, received {self.name!r}; leave --split-k out"
            )

    def check_loops(self, architecture: str) -> None:
        """Check that the target can run the file of an architecture with a loop.

        Raises:
            KerasBertError: when it cannot.
        """
        if not self.runs_loops:
            names = " or ".join(repr(each.name) for each in TARGETS.values() if each.runs_loops)
            raise KerasBertError(
                f"expected the target {names} for a {architecture}, whose graph has a loop, received {self.name!r}; convert for {names}"
            )

    def check_table_bits(self, bits: int | None) -> None:
        """Check that the target can read the tables of a quantized model.

        Args:
            bits: Bits of their values; None for 8.

        Raises:
            KerasBertError: when it cannot.
        """
        if bits is not None and not self.runs_lookups:
            names = " or ".join(repr(each.name) for each in TARGETS.values() if each.runs_lookups)
            raise KerasBertError(
                f"expected the target {names} for token embeddings of {bits} bits, received {self.name!r}, which cannot read them; convert "
                f"for {names}, or quantize without {argument('table_bits')}"
            )

    def check_recipe(self, name: str) -> None:
        """Check that the target can run files of a recipe.

        Raises:
            KerasBertError: when it cannot.
        """
        if name in self.refused_recipes:
            others = ", ".join(recipe for recipe in RECIPES if recipe not in self.refused_recipes)
            raise KerasBertError(
                f"expected a recipe that the target {self.name!r} can run ({others}), received {name!r}: {self.refused_recipes[name]}; "
                "name another recipe"
            )


TARGETS = {
    target.name: target
    for target in (
        Target(
            "cpu",
            # Files for a CPU reach GPUs that compute in fp16; the scaling takes 0.5 to 1.3 % of the time.
            fixed=LoweringOptions(positions="slice", scaled_query=True, half_range=True),
            resizable=LoweringOptions(positions="gather", scaled_query=True, half_range=True),
            default_recipe="dynamic_wi8_afp32",
            takes_texts=True,
            runs_loops=True,
            runs_exits=True,
            runs_lookups=True,
            has_clients=True,
        ),
        Target(
            "gpu",
            fixed=LoweringOptions(rank1_ids=True, scaled_query=True, half_range=True),
            resizable=None,
            default_recipe="float16",
            passes=(*QUANTIZE, keep_embeddings_fp32, split_k_fully_connected),
            can_split_k=True,
            squares_by_itself=False,
            has_clients=True,
            refused_recipes={
                "weight_only_wi8": "its accelerator refuses a Dense layer whose 8-bit kernel is dequantized first",
                "static_wi8_ai16": "its accelerator has no 16-bit integers",
            },
        ),
        Target(
            "web",
            fixed=LoweringOptions(
                positions="slice", scaled_query=True, half_range=True
            ),  # WebGPU may compute in 16 bits
            resizable=None,  # LiteRT.js takes tensors of the file's shapes only
            default_recipe="dynamic_wi8_afp32",
            runs_exits=True,
            runs_lookups=True,
        ),
        Target(
            "edge-tpu",
            fixed=LoweringOptions(positions="slice", scaled_query=True, decomposed_attention=True),
            resizable=None,
            default_recipe="static_wi8_ai8",
            integer_passes=(*_INTEGER_ENDS, fully_connected_to_conv1x1, fold_reshapes, eliminate_dead_code),
            host_passes=(*_INTEGER_ENDS, eliminate_dead_code),
        ),
    )
}


def target_of_file(name: str) -> Target | None:
    """Return the target that a file's metadata names; None for one that this version does not know."""
    return TARGETS.get(name)


def is_partitioned(name: str) -> bool:
    """Tell whether the target of that name has a host model beside the file."""
    target = target_of_file(name)
    return target is not None and target.split


def target_named(name: str) -> Target:
    """Return the target of that name.

    Raises:
        KerasBertError: when there is none; it lists the names.
    """
    return TARGETS[check_choice(name, "a target of", TARGETS)]
