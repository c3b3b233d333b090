"""The variables of encoders and tasks under their names in a checkpoint."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import tensorflow as tf

from kerasbert.checkpoints.name_map import NameMap
from kerasbert.checkpoints.name_tables import PRETRAINING, build_name_map
from kerasbert.encoders.base import Encoder
from kerasbert.encoders.extensions import added_variables

if TYPE_CHECKING:
    from kerasbert.tasks.base import Task


OWN_HEAD = "head."  # the start of the paths of the weights of a user's head


def name_map_of(
    encoder: Encoder,
    heads: Sequence[str] = (),
    unread: Mapping[str, str] | None = None,
    own_head: Sequence[str] = (),
) -> NameMap:
    """Return the map from a checkpoint's names to the variables of an encoder and of a task's heads, some of which are not read."""
    additions = [*variables_of_options(encoder, encoder.options), *own_head]
    pooler = encoder.pooler is not None
    return build_name_map(encoder.config, pooler=pooler, heads=heads, additions=additions, unread=unread)


def variables_of_options(encoder: Encoder, options: Collection[str]) -> list[str]:
    """Return the paths of the variables that some of the encoder's options added."""
    return [path for option, paths in added_variables(encoder).items() if option in options for path in paths]


def own_head_variables(task: "Task") -> list[str]:
    """Return the paths of the weights of a user's head, and of heads that no checkpoint of transformers has."""
    return [path for path in task.variables_by_path() if path.startswith((OWN_HEAD, f"{PRETRAINING}."))]


def checkpoint_variables(task: "Task") -> dict[str, tf.Variable]:
    """Return a task's variables under the paths of the name map: the encoder's own ones, and the heads'."""
    return {path.removeprefix("encoder."): variable for path, variable in task.variables_by_path().items()}
