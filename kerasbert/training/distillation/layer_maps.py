"""Maps from student layers to the teacher layers that they learn from."""

from collections.abc import Mapping
from typing import Any

from kerasbert.errors import KerasBertError
from kerasbert.values import is_whole_number

RULES = ("uniform", "skip", "last")
LayerMap = str | Mapping[int, int]


def layer_map(layers: LayerMap, student: int, teacher: int) -> dict[int, int]:
    """Return a map from student layers to teacher layers, both counted from 0.

    Args:
        layers: A map, in which negative numbers count from the top; or a rule that maps every student layer. `uniform` spreads them evenly,
            the last one from the teacher's last: m -> m M / L (Jiao et al. 2020). `skip` maps every k-th from the bottom, for the largest k
            that fits (PKD-Skip, Sun et al. 2019). `last` maps the teacher's last ones (PKD-Last, ibid.).
        student: Number of student layers.
        teacher: Number of teacher layers.

    Returns:
        The map; layers that it lacks are not compared.

    Raises:
        KerasBertError: When the rule is unknown, a layer does not exist, or a rule finds fewer teacher layers than student layers.

    Example:
        ```python
        from kerasbert.training.distillation import layer_map
        layer_map("uniform", student=4, teacher=12)  # {0: 2, 1: 5, 2: 8, 3: 11}
        layer_map({0: 3, 1: -1}, student=2, teacher=12)  # {0: 3, 1: 11}
        ```
    """
    if isinstance(layers, Mapping):
        return _check_map(layers, student, teacher)
    if layers not in RULES:
        raise KerasBertError(
            f"expected layers of {', '.join(RULES)} or a map {{student: teacher}}, received {layers!r}"
        )
    if teacher < student:
        raise KerasBertError(
            f"expected a teacher with at least the student's {student} layers for layers={layers!r}, received {teacher}; "
            "name them as {student: teacher}"
        )
    if layers == "uniform":
        return {i: -(-(i + 1) * teacher // student) - 1 for i in range(student)}
    if layers == "skip":
        step = teacher // student
        return {i: (i + 1) * step - 1 for i in range(student)}
    return {i: teacher - student + i for i in range(student)}


def _check_map(layers: Mapping[int, int], student: int, teacher: int) -> dict[int, int]:
    """The map with layers counted from 0, sorted."""
    if not layers:
        raise KerasBertError("expected at least one layer of the student in layers, received an empty map")
    pairs: dict[int, int] = {}
    for student_layer, teacher_layer in layers.items():
        student_layer = _check_layer(student_layer, student, "student")
        teacher_layer = _check_layer(teacher_layer, teacher, "teacher")
        if student_layer in pairs:
            raise KerasBertError(
                f"expected each layer of the student once in layers, received layer {student_layer} twice"
            )
        pairs[student_layer] = teacher_layer
    return dict(sorted(pairs.items()))


def _check_layer(layer: Any, count: int, model: str) -> int:
    if not is_whole_number(layer, -count, count - 1):
        raise KerasBertError(f"expected layers from 0 to {count - 1} of the {model} in layers, received {layer!r}")
    return layer % count
