"""Heads of a checkpoint: those of the class that its config.json names, and those whose tensors it has."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kerasbert.checkpoints.hugging_face import CONFIG_FILE
from kerasbert.checkpoints.messages import mismatch, short_repr
from kerasbert.checkpoints.name_tables import ARCHITECTURES, head_entries
from kerasbert.processors.registry import TASK_NAMES

# The end of a class's name in transformers 4 and 5, after that of the model type -> its heads.
_CLASS_HEADS = {
    "LMHeadModel": ("masked_lm",),
    "ForCausalLM": ("masked_lm",),
    **{task.architecture: task.heads for task in TASK_NAMES.values() if task.of_transformers},
}


@dataclass(frozen=True)
class NamedClass:
    """The class of transformers that a config.json names in `architectures`.

    Attributes:
        name: Its name, such as `BertForMaskedLM`; None where config.json names no class.
        ending: The part after the model type, such as `ForMaskedLM`; None for no class, or one of another model type.
        heads: Its heads by the names of our attributes; None for a class that is not known here.
    """

    name: str | None = None
    ending: str | None = None
    heads: tuple[str, ...] | None = ()


def named_class(config: Mapping[str, Any]) -> NamedClass:
    """Return the class that a config.json names.

    The whole name is compared: `BertLSTMCRFForTokenClassification` has layers that `BertForTokenClassification` does not have.

    Raises:
        KerasBertError: When `architectures` is not a list with the name of one class.
    """
    names = config.get("architectures")
    if names is None or names == []:
        return NamedClass()
    if not isinstance(names, list) or len(names) != 1 or not isinstance(names[0], str):
        raise mismatch(
            CONFIG_FILE, "architectures as a list with the name of one class", short_repr(names), "correct the config"
        )
    family = str(config.get("model_type", "")).replace("-", "").replace("_", "")
    if not names[0].lower().startswith(family.lower()):
        return NamedClass(names[0], None, None)
    ending = names[0][len(family) :]
    heads = _CLASS_HEADS.get(ending)
    if ending == "ForPreTraining" and config["model_type"] == "electra":
        heads = TASK_NAMES["ReplacedTokenDetector"].heads
    return NamedClass(names[0], ending, heads)


@dataclass(frozen=True)
class HeadPlan:
    """What becomes of a task's heads when it is loaded.

    Attributes:
        trained: Heads that the checkpoint must have.
        new: Heads that keep their initial values.
        other: Tensors under the names of new heads that belong to another head of the checkpoint.
    """

    trained: tuple[str, ...]
    new: tuple[str, ...]
    other: Mapping[str, str]


def plan_heads(
    heads: Sequence[str], found: NamedClass, names: Collection[str], model_type: str, new_head: bool = False
) -> HeadPlan:
    """Decide which heads of a task are those of the checkpoint.

    A head is the checkpoint's if the class has it. It is also the checkpoint's if its tensors are there, and are not those of another head
    of the class: several heads have the name `classifier`.

    Args:
        heads: The task's heads.
        found: The class that the checkpoint names.
        names: Names of the checkpoint's tensors.
        model_type: The model type.
        new_head: Whether all heads are new.
    """
    claimed = found.heads or ()
    claimed_names = {name for head in claimed for name in _names(model_type, head)}
    trained = []
    for head in heads:
        own = _names(model_type, head)
        present = not own.isdisjoint(names) and own.isdisjoint(claimed_names)
        if not new_head and (head in claimed or present):
            trained.append(head)
    new = tuple(head for head in heads if head not in trained)
    source = f" of {found.name}" if found.name else ""
    other = {name: f"head{source}" for head in new for name in sorted(_names(model_type, head)) if name in names}
    return HeadPlan(tuple(trained), new, other)


def label_rows(model_type: str, head: str) -> tuple[str, ...]:
    """Return the checkpoint's names of the tensors of a head whose rows are labels: kernel and bias of its one Dense layer."""
    return tuple(entry.checkpoint for entry in head_entries(model_type, head))


def has_pooler(names: Iterable[str], model_type: str) -> bool:
    """Return True if a checkpoint with these tensor names has the encoder's pooler."""
    architecture = ARCHITECTURES[model_type]
    kernel = f"{architecture.pooler}.weight"
    return any(name.removeprefix(architecture.prefix) == kernel for name in names)


def _names(model_type: str, head: str) -> set[str]:
    return {entry.checkpoint for entry in head_entries(model_type, head)}
