"""An explicit table between a checkpoint's tensor names and a model's variables, in which nothing is lost silently."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kerasbert.checkpoints.messages import counted, first_three, mismatch, named


@dataclass(frozen=True)
class Entry:
    """One tensor under both its names.

    transpose: the checkpoint keeps a (out, in) matrix where the model's kernel is (in, out).
    optional: a checkpoint may leave it out, and the variable then keeps its initial value.
    """

    checkpoint: str
    model: str
    transpose: bool = False
    optional: bool = False


@dataclass(frozen=True)
class Ignored:
    """Checkpoint names that are knowingly unused: a regular expression over the whole name without prefix, and why."""

    pattern: str
    reason: str


@dataclass(frozen=True)
class WrongShape:
    """A tensor that does not fit its variable; both shapes in the checkpoint's layout."""

    name: str
    expected: tuple[int, ...]
    received: tuple[int, ...]


@dataclass(frozen=True)
class LoadReport:
    """What became of every tensor of a checkpoint and of every variable of a model.

    loaded, unused: names as they are in the checkpoint. ignored: (name, reason) pairs.
    missing: the checkpoint names that variables would have had; a variable's own path where the map has none.
    """

    loaded: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    ignored: tuple[tuple[str, str], ...] = ()
    wrong_shape: tuple[WrongShape, ...] = ()

    def summary(self) -> str:
        """One line: "103 tensors loaded, 2 initialised anew (classifier.weight, ...), 1 ignored (position_ids)"."""
        parts = [f"{counted(self.loaded, 'tensor')} loaded"]
        if self.missing:
            parts.append(f"{len(self.missing)} initialised anew ({first_three(self.missing)})")
        if self.unused:
            parts.append(f"{len(self.unused)} unused ({first_three(self.unused)})")
        if self.ignored:
            reasons = dict.fromkeys(reason for _, reason in self.ignored)
            parts.append(f"{len(self.ignored)} ignored ({', '.join(reasons)})")
        if self.wrong_shape:
            wrong = first_three(w.name for w in self.wrong_shape)
            parts.append(f"{len(self.wrong_shape)} of the wrong shape ({wrong})")
        return ", ".join(parts)


@dataclass(frozen=True)
class NameMap:
    """The table for one model, read in both directions.

    entries: checkpoint names as `export` writes them.
    prefixes: what a checkpoint's names may begin with or not; the first that fits is taken off before comparing.
    aliases: pairs of older endings of names and today's, such as (".gamma", ".weight").
    """

    entries: tuple[Entry, ...]
    ignored: tuple[Ignored, ...] = ()
    prefixes: tuple[str, ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()

    def apply(
        self, tensors: Mapping[str, np.ndarray], variables: Mapping[str, Any], *, may_initialize: Collection[str] = ()
    ) -> LoadReport:
        """Fills `variables` (by path; TensorFlow variables or NumPy arrays) from `tensors`: all of them, or none.

        may_initialize: variables that may keep their initial values, such as a new head: paths, or what paths begin
            with up to a dot.
        Raises KerasBertError when any other variable finds no tensor, a tensor has the wrong shape, or does not
        consist of finite floats.
        """
        report = self.compare(tensors, variables)
        self._require_shapes(report)
        self._require_tensors(report, variables, may_initialize)
        found = self._by_todays_name(tensors)
        names = {e: found.get(self._todays_name(e.checkpoint)) for e in self.entries if e.model in variables}
        values = {e.model: _checked(name, tensors[name], e.transpose) for e, name in names.items() if name is not None}
        for path, value in values.items():
            _assign(variables[path], value)
        return report

    def compare(self, tensors: Mapping[str, np.ndarray], variables: Mapping[str, Any]) -> LoadReport:
        """What `apply` would find, without its demands and without touching a variable."""
        found = self._by_todays_name(tensors)
        loaded, missing, wrong = [], [], []
        for entry in self._wanted(variables):
            name = found.pop(self._todays_name(entry.checkpoint), None)
            if name is None:
                missing.append(entry.checkpoint)
                continue
            expected, received = _checkpoint_shape(variables[entry.model], entry.transpose), np.shape(tensors[name])
            if expected == received:
                loaded.append(name)
            else:
                wrong.append(WrongShape(name, expected, received))
        reasons = {name: self._reason_to_ignore(today) for today, name in found.items()}
        return LoadReport(
            loaded=tuple(loaded),
            missing=tuple(missing),
            unused=tuple(name for name, reason in reasons.items() if reason is None),
            ignored=tuple((name, reason) for name, reason in reasons.items() if reason is not None),
            wrong_shape=tuple(wrong),
        )

    def export(self, variables: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """The reverse: float32 arrays under the checkpoint's names, in its layout.

        Raises KerasBertError when a variable has no entry, or an entry that is not optional has no variable.
        """
        nameless = sorted(variables.keys() - {entry.model for entry in self.entries})
        if nameless:
            raise mismatch("model", "a checkpoint name for each variable", f"none for {first_three(nameless)}")
        absent = [entry.model for entry in self.entries if entry.model not in variables and not entry.optional]
        if absent:
            raise mismatch("model", "a variable for each checkpoint name", f"none at {first_three(absent)}")
        present = [entry for entry in self.entries if entry.model in variables]
        return {entry.checkpoint: _exported(variables[entry.model], entry.transpose) for entry in present}

    def _wanted(self, variables: Mapping[str, Any]) -> list[Entry]:
        """The entries whose variables exist, then one for each variable without: no checkpoint can fill that."""
        mapped = {entry.model for entry in self.entries}
        nameless = [Entry(path, path) for path in variables if path not in mapped]
        return [entry for entry in self.entries if entry.model in variables] + nameless

    def _require_shapes(self, report: LoadReport) -> None:
        if not report.wrong_shape:
            return
        first, *others = report.wrong_shape
        more = f" (wrong too: {first_three(w.name for w in others)})" if others else ""
        where = f"checkpoint tensor {named(first.name)}"
        advice = "the configuration and the weights disagree"
        raise mismatch(where, f"shape {first.expected}", f"{first.received}{more}", advice)

    def _require_tensors(self, report: LoadReport, variables: Mapping, may_initialize: Collection[str]) -> None:
        missing = set(report.missing)
        required = [
            entry.checkpoint
            for entry in self._wanted(variables)
            if entry.checkpoint in missing
            and not entry.optional
            and not any(_covers(listed, entry.model) for listed in may_initialize)
        ]
        if required:
            received = f"{len(report.loaded)} of them; missing: {first_three(required)}"
            advice = f"it has {first_three(report.unused)} instead" if report.unused else "is it whole?"
            raise mismatch("checkpoint", f"{len(report.loaded) + len(required)} tensors", received, advice)

    def _by_todays_name(self, tensors: Iterable[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for name in tensors:
            today = self._todays_name(name)
            if today in found:
                raise mismatch("checkpoint", "each tensor once", f"{named(found[today])} and {named(name)}")
            found[today] = name
        return found

    def _todays_name(self, name: str) -> str:
        name = name.removeprefix(next((p for p in self.prefixes if name.startswith(p)), ""))
        for old, new in self.aliases:
            if name.endswith(old):
                return name.removesuffix(old) + new
        return name

    def _reason_to_ignore(self, name: str) -> str | None:
        return next((item.reason for item in self.ignored if re.fullmatch(item.pattern, name)), None)


def _covers(listed: str, path: str) -> bool:
    return path == listed or path.startswith(listed.rstrip(".") + ".")


def _checkpoint_shape(variable: Any, transpose: bool) -> tuple[int, ...]:
    shape = tuple(variable.shape)
    return shape[::-1] if transpose else shape


def _checked(name: str, tensor: np.ndarray, transpose: bool) -> np.ndarray:
    where = f"checkpoint tensor {named(name)}"
    if tensor.dtype.kind != "f":
        raise mismatch(where, "floating-point weights", str(tensor.dtype), "quantized checkpoints are not read")
    bad = tensor.size - int(np.isfinite(tensor).sum())
    if bad:
        raise mismatch(where, "finite weights", f"{bad} of {tensor.size} infinite or NaN", "the checkpoint is damaged")
    return tensor.T if transpose else tensor


def _assign(variable: Any, value: np.ndarray) -> None:
    if isinstance(variable, np.ndarray):
        variable[...] = value
    else:
        variable.assign(value)


def _exported(variable: Any, transpose: bool) -> np.ndarray:
    # A copy: a variable's array may be its own memory, and an export must not change with further training.
    value = np.array(variable.numpy() if hasattr(variable, "numpy") else variable, dtype=np.float32)
    return np.ascontiguousarray(value.T) if transpose else value
