"""Which layer of the teacher each layer of the student learns from."""

from collections.abc import Mapping

from kerasbert.errors import KerasBertError

RULES = ("uniform", "skip", "last")
LayerMap = str | Mapping[int, int]


def layer_map(layers: LayerMap, student: int, teacher: int) -> dict[int, int]:
    """{student layer: teacher layer}, both from 0 on, for models with so many layers.

    layers: a map as it is (negative numbers count from the top), or a rule by which every layer of the student gets one:
      uniform: as evenly as can be, the student's last from the teacher's last (Jiao et al. 2020: m -> m M / L).
      skip: every k-th from the bottom, k the whole number of times that the student's layers fit (Sun et al. 2019, PKD-Skip).
      last: the teacher's last ones (ibid., PKD-Last).

    Raises KerasBertError for another rule, a layer that there is not, and a teacher with fewer layers than the student.
    """
    if isinstance(layers, Mapping):
        return _checked(layers, student, teacher)
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


def _checked(layers: Mapping[int, int], student: int, teacher: int) -> dict[int, int]:
    if not layers:
        raise KerasBertError("expected at least one layer of the student in layers, received an empty map")
    found = {}
    for mine, theirs in layers.items():
        mine, theirs = _number(mine, student, "student"), _number(theirs, teacher, "teacher")
        if mine in found:
            raise KerasBertError(f"expected each layer of the student once in layers, received layer {mine} twice")
        found[mine] = theirs
    return dict(sorted(found.items()))


def _number(layer, count: int, whose: str) -> int:
    if not isinstance(layer, int) or isinstance(layer, bool) or not -count <= layer < count:
        raise KerasBertError(f"expected layers from 0 to {count - 1} of the {whose} in layers, received {layer!r}")
    return layer % count
