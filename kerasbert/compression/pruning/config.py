"""The settings of pruning as values, which the options of `kerasbert prune` declare."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kerasbert.checkpoints.layer_counts import parse_layers
from kerasbert.errors import KerasBertError
from kerasbert.files.record import Options, flag, setting
from kerasbert.training.objective_config import ObjectiveConfig

if TYPE_CHECKING:
    from kerasbert.compression.pruning.magnitude import Sparsity


@dataclass(frozen=True)
class MagnitudeConfig(ObjectiveConfig):
    """The weights that become 0, and the schedule.

    Raises:
        KerasBertError: When a value is out of range, or an option needs another one.

    Example:
        ```python
        from kerasbert.compression import MagnitudeConfig, MagnitudePruning
        pruning = MagnitudePruning(MagnitudeConfig(pattern="2:4").schedule())
        ```
    """

    sparsity: float | None = setting(
        None, "Fraction of the weights of each kernel that become 0. Default: 0.5 for --pattern 2:4.", "FRACTION"
    )
    pattern: str = setting(
        "unstructured",
        "Sparsity pattern: unstructured, blocks such as 4x1 (inputs x outputs), or 2:4.",
        "NAME",
    )
    part: dict[str, float] = setting(
        dict,
        "Another sparsity for Dense layers by path, such as layers.*.feed_forward.*=0.9. Repeatable.",
        "PATH=FRACTION",
    )
    keep_zeros: bool = setting(
        False, "Keep the zeros of a pruned model. Without --sparsity, training continues with them."
    )
    prune_from: float = setting(
        0.0, "Fraction of the steps at which pruning starts.", "FRACTION", at_least=0, at_most=1
    )
    prune_until: float = setting(0.5, "Fraction of the steps at which pruning ends.", "FRACTION", at_least=0, at_most=1)
    updates: int = setting(20, "Number of mask updates.", at_least=1)

    def check(self) -> None:
        super().check()
        if self.target is None and (self.part or self.pattern != "unstructured"):
            raise KerasBertError("expected --sparsity with --part and --pattern, received none; add it")

    @property
    def target(self) -> float | None:
        """The fraction of zeros, or None if the model only keeps its zeros."""
        return 0.5 if self.sparsity is None and self.pattern == "2:4" else self.sparsity

    def schedule(self) -> "Sparsity | None":
        """Return the pruning schedule, or None if the model only keeps its zeros.

        Raises:
            KerasBertError: When pattern, fractions and steps do not fit together.
        """
        from kerasbert.compression.pruning.magnitude import Sparsity

        if self.target is None:
            return None
        return Sparsity(self.target, self.pattern, self.part, self.prune_from, self.prune_until, self.updates)


_RANKS = ("rank", "embedding_rank", "rank_part")


def _as_rank(number: float) -> int | float:
    """Return a rank from 1 on as a whole number; below it is a fraction of the full rank."""
    return int(number) if number >= 1 and number == int(number) else number


@dataclass(frozen=True)
class StructuredConfig(Options):
    """The parts to remove, and the ranks of factors.

    Raises:
        KerasBertError: When a fraction is out of range, or an option needs another one.

    Example:
        ```python
        from kerasbert.compression import StructuredConfig
        config = StructuredConfig(layers="0,1")
        config.kept_layers  # [0, 1]
        ```
    """

    layers: str | None = setting(None, "Number of layers to keep, or their indices from 0.", "N|N,N,...")
    strategy: str | None = setting(
        None,
        "Layers to remove when --layers is a count: top, bottom, alternate, alternate-top, symmetric or contribution. search tries "
        "choices on --data and keeps the layers whose outputs are closest to the model's. Default: search with --data or --dev, else top.",
        "NAME",
    )
    share_layers: int | None = setting(
        None,
        "Groups of consecutive layers that share one set of weights each, as in an ALBERT; a group runs it once for each of its layers.",
        "GROUPS",
        at_least=1,
    )
    shared_weights: str | None = setting(
        None,
        "Weights of a group with --share-layers: mean, or those of its first, middle or last layer. search takes the layers that, run "
        "repeatedly, give the outputs on --data that are closest to the model's. Default: search with --data or --dev, else mean.",
        "NAME",
    )
    heads: float | None = setting(None, "Fraction of the attention heads to remove.", "FRACTION", above=0, below=1)
    heads_per_layer: bool = setting(False, "Remove the same number of heads from every layer.")
    feed_forward: float | None = setting(
        None, "Fraction of the feed-forward neurons to remove.", "FRACTION", above=0, below=1
    )
    hidden: str | None = setting(
        None,
        "Fraction of the hidden dimensions to remove, such as 0.25, or as a whole number the hidden size to keep.",
        "N|FRACTION",
    )
    vocabulary: str | None = setting(
        None, "Keep only the tokens of these texts: a .txt file of lines, or a data file of the task.", "FILE"
    )
    characters: bool = setting(
        True, "With --vocabulary, also keep all single-character tokens, for unseen words (default)."
    )
    vocabulary_size: int | None = setting(
        None,
        "With --vocabulary, keep at most N tokens: the most frequent ones of the texts. Others are spelled by smaller ones.",
        "N",
        at_least=1,
    )
    vocabulary_of: str | None = setting(
        None,
        "Take the vocabulary of another model, such as the student of a distillation: a saved folder, a zoo model or a hub name. The model "
        "must have its tokens; forms with capital letters are added.",
        "FOLDER|HUB",
    )
    dimensions: int | None = setting(
        None, "Numbers in a vector of a sentence encoder: their main directions on --data are kept.", "N", at_least=1
    )
    rank: float | None = setting(
        None,
        "Store the kernels of the encoder's Dense layers as two factors of this rank, or of this fraction of the full rank, such as 0.25. "
        "With --data, what layers read there decides which directions are kept.",
        "N|FRACTION",
        above=0,
    )
    embedding_rank: float | None = setting(
        None,
        "The same for the token embeddings; with --data, tokens count as often as they occur.",
        "N|FRACTION",
        above=0,
    )
    rank_part: dict[str, float] = setting(
        dict,
        "Another rank for layers by path, such as layers.*.attention.*=0.4 or embeddings.word=64. Repeatable.",
        "PATH=N",
        above=0,
    )
    data: str | None = setting(
        None,
        "Data for measuring: a data file of the task, labelled for --heads, --feed-forward and --hidden, of which a few hundred rows are "
        "enough; or, without labels, a .txt file of lines. --dimensions needs thousands of texts.",
        "FILE",
    )

    def check(self) -> None:
        for name, needed, given in (
            (f"--strategy {self.strategy}", "layers", self.strategy is not None),
            (f"--shared-weights {self.shared_weights}", "share_layers", self.shared_weights is not None),
            ("--heads-per-layer", "heads", self.heads_per_layer),
            ("--no-characters", "vocabulary", not self.characters),
            ("--vocabulary-size", "vocabulary", self.vocabulary_size is not None),
        ):
            if given and getattr(self, needed) is None:
                raise KerasBertError(f"expected {flag(needed)} with {name}, received none; add it, or leave out {name}")
        if isinstance(self.kept_layers, list) and self.strategy is not None:
            raise KerasBertError(
                f"expected --layers as a number with --strategy {self.strategy}, received {self.layers}; leave --strategy out"
            )
        if self.vocabulary is not None and self.vocabulary_of is not None:
            raise KerasBertError("expected either --vocabulary or --vocabulary-of, received both; leave one out")
        if self.hidden is not None:
            _ = self.hidden_size  # checked before anything is read
        measured = [
            flag(name) for name in ("heads", "feed_forward", "hidden", "dimensions") if getattr(self, name) is not None
        ]
        measured += [f"--strategy {self.strategy}"] if self.strategy in ("contribution", "search") else []
        measured += ["--shared-weights search"] if self.shared_weights == "search" else []
        if measured and self.data is None:
            advice = "add a labelled file" if self.needs_labels else "add a file of texts"
            raise KerasBertError(f"expected --data for {measured[0]}, which is measured on it, received none; {advice}")

    @property
    def kept_layers(self) -> int | list[int] | None:
        """The number of layers to keep, or their indices.

        Raises:
            KerasBertError: When the option is neither.
        """
        return None if self.layers is None else parse_layers(self.layers)

    @property
    def removes(self) -> list[str]:
        """The given options that remove parts."""
        vocabulary = ("vocabulary", "vocabulary_of")
        names = ("layers", "share_layers", "heads", "feed_forward", "hidden", *vocabulary, "dimensions", *_RANKS)
        return [flag(name) for name in names if getattr(self, name) not in (None, {})]

    @property
    def ranks(self) -> dict[str, Any]:
        """The arguments of `factorize` for ranks; none where nothing is factorized."""
        given = {"rank": self.rank, "embedding_rank": self.embedding_rank, "parts": self.rank_part}
        return {
            name: {path: _as_rank(each) for path, each in value.items()} if isinstance(value, dict) else _as_rank(value)
            for name, value in given.items()
            if value not in (None, {})
        }

    @property
    def needs_labels(self) -> bool:
        """True if importance is measured with the loss."""
        return any(part is not None for part in (self.heads, self.feed_forward, self.hidden))

    @property
    def hidden_size(self) -> dict[str, int | float]:
        """The argument of `prune_hidden`: the fraction to remove as `share`, or the size to keep as `size`.

        Raises:
            KerasBertError: When the option is neither.
        """
        text = self.hidden or ""
        if text.isascii() and text.isdecimal() and int(text):
            return {"size": int(text)}
        try:
            share = float(text)
        except ValueError:
            share = 0.0
        if not 0 < share < 1:
            raise KerasBertError(
                f"expected --hidden as a fraction above 0 and below 1 or a whole number of at least 1, received {self.hidden}; 0.25 and "
                "192 are examples"
            )
        return {"share": share}
