"""Explicit maps between a checkpoint's tensor names and a model's variables, in which no tensor is lost silently."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kerasbert.checkpoints.messages import display_name, first_three, mismatch, pluralize
from kerasbert.console.strictness import unknown


@dataclass(frozen=True)
class Entry:
    """One tensor under both its names.

    Attributes:
        checkpoint: its name in the checkpoint. `Wqkv.weight#0/3` is the first of three blocks of rows of a tensor that holds several.
        model: the path of its variable in the model.
        transpose: True if the checkpoint's matrix is (out, in) and the model's kernel (in, out).
        optional: True if a model may lack its variable.
    """

    checkpoint: str
    model: str
    transpose: bool = False
    optional: bool = False


@dataclass(frozen=True)
class Ignored:
    """Checkpoint tensors that are deliberately unused.

    Attributes:
        pattern: a regular expression that matches the whole name without prefix.
        reason: the reason, for the report.
        redundant: True for a constant, or a copy of another tensor: nothing is lost without it.
    """

    pattern: str
    reason: str
    redundant: bool = False


@dataclass(frozen=True)
class WrongShape:
    """A tensor whose shape differs from its variable's.

    Attributes:
        name: its name in the checkpoint.
        expected: the variable's shape in the checkpoint's layout.
        received: the tensor's shape.
    """

    name: str
    expected: tuple[int, ...]
    received: tuple[int, ...]


@dataclass(frozen=True)
class LoadReport:
    """The outcome for every tensor of a checkpoint and every variable of a model.

    Attributes:
        loaded: names of loaded tensors, as in the checkpoint.
        missing: expected checkpoint names of variables without tensor; the variable's path where the map has no name.
        unused: names of tensors without variable, as in the checkpoint.
        ignored: (name, reason) of deliberately unused tensors.
        wrong_shape: tensors that do not fit their variables.
        redundant: names of those ignored tensors without which nothing is lost.
    """

    loaded: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    ignored: tuple[tuple[str, str], ...] = ()
    wrong_shape: tuple[WrongShape, ...] = ()
    redundant: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        """True if every variable has a tensor, and every known tensor with information of its own a variable."""
        return not self.missing and len(self.ignored) == len(self.redundant)

    def summary(self) -> str:
        """Format the report as one line: "103 tensors loaded, 2 initialized anew (classifier.weight, ...), 1 ignored (position_ids)"."""
        parts = [f"{pluralize(self.loaded, 'tensor')} loaded"]
        if self.missing:
            parts.append(f"{len(self.missing)} initialized anew ({first_three(self.missing)})")
        if self.unused:
            parts.append(f"{len(self.unused)} unused ({first_three(self.unused)})")
        if self.ignored:
            reasons = dict.fromkeys(reason for _, reason in self.ignored)
            parts.append(f"{len(self.ignored)} ignored ({', '.join(reasons)})")
        if self.wrong_shape:
            wrong = first_three(tensor.name for tensor in self.wrong_shape)
            parts.append(f"{len(self.wrong_shape)} of the wrong shape ({wrong})")
        return ", ".join(parts)


@dataclass(frozen=True)
class NameMap:
    """The map for one model, for loading and for export.

    Attributes:
        entries: all tensors; `export` writes these checkpoint names.
        ignored: tensors that are deliberately unused.
        prefixes: optional prefixes of a checkpoint's names; the first that matches is removed before names are compared.
        aliases: (old, current) suffixes of names, such as (".gamma", ".weight").
        inner: first parts of the encoder's names without prefix, such as `embeddings`. A tensor that begins with one of them, or with a
            prefix, is part of the encoder.
        unread: names of entries without prefix that are never loaded, with the reason: a new head takes their place.
    """

    entries: tuple[Entry, ...]
    ignored: tuple[Ignored, ...] = ()
    prefixes: tuple[str, ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()
    inner: frozenset[str] = frozenset()
    unread: Mapping[str, str] = field(default_factory=dict)

    def apply(
        self, tensors: Mapping[str, np.ndarray], variables: Mapping[str, Any], *, may_initialize: Collection[str] = (),
        may_drop: bool = False, where: object = "checkpoint",
    ) -> LoadReport:  # fmt: skip
        """Assign the tensors to the variables: either to all of them, or to none on an error.

        Every tensor is used, is ignored for a reason, or is an error.

        Args:
            tensors: the checkpoint's arrays by name.
            variables: TensorFlow variables or NumPy arrays by path.
            may_initialize: variables that may keep their initial values, such as a new head's: paths, or their prefixes up to a dot.
            may_drop: whether unknown tensors behind the encoder stay unused, as those of a head that a new one replaces. Unknown tensors
                inside of the encoder are errors in any case.
            where: the checkpoint, for messages.

        Raises:
            KerasBertError: when any other variable has no tensor, a tensor is unknown, a shape differs, or a tensor holds anything but
                finite floats.
        """
        tensors = self._separated(tensors)
        report = self.compare(tensors, variables)
        self._require_no_inner(report, where)
        self._require_shapes(report, where)
        self._require_tensors(report, variables, may_initialize, where)
        if report.unused:
            expected = f"{len(report.loaded)} tensors of this model alone"
            received = f"{pluralize(report.unused, 'other tensor')} ({first_three(report.unused)})"
            if not may_drop:
                advice = "this is another model; new_head=True (--new-head) trains a new head on its encoder"
                raise mismatch(where, expected, f"also {received}", advice)
            unknown(where, expected, received, "left out")
        actual_names = self._index_by_canonical_name(tensors)
        values = {}
        for entry in self.entries:
            name = self._source(entry, actual_names)
            if entry.model in variables and name is not None:
                values[entry.model] = _check_values(name, tensors[name], entry.transpose)
        for path, value in values.items():
            _assign(variables[path], value)
        return report

    def compare(self, tensors: Mapping[str, np.ndarray], variables: Mapping[str, Any]) -> LoadReport:
        """Report the outcome of `apply` without its checks and without a change of any variable."""
        tensors = self._separated(tensors)
        remaining = self._index_by_canonical_name(tensors)
        loaded, missing, wrong = [], [], []
        for entry in self._expected_entries(variables):
            name = self._source(entry, remaining)
            if name is None:
                missing.append(entry.checkpoint)
                continue
            del remaining[self._canonical_name(entry.checkpoint)]
            expected, received = _checkpoint_shape(variables[entry.model], entry.transpose), np.shape(tensors[name])
            if expected == received:
                loaded.append(name)
            else:
                wrong.append(WrongShape(name, expected, received))
        reasons = {name: self._reason_to_ignore(canonical) for canonical, name in remaining.items()}
        return LoadReport(
            loaded=tuple(loaded),
            missing=tuple(missing),
            unused=tuple(name for name, found in reasons.items() if found is None),
            ignored=tuple((name, found.reason) for name, found in reasons.items() if found is not None),
            wrong_shape=tuple(wrong),
            redundant=tuple(name for name, found in reasons.items() if found is not None and found.redundant),
        )

    def export(self, variables: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Convert variables to float32 arrays under the checkpoint's names and in its layout.

        Args:
            variables: TensorFlow variables or NumPy arrays by path.

        Raises:
            KerasBertError: when a variable has no entry, or an entry that is not optional has no variable.
        """
        unmapped = sorted(variables.keys() - {entry.model for entry in self.entries})
        if unmapped:
            raise mismatch(
                "model",
                "a checkpoint name for each variable",
                f"none for {first_three(unmapped)}",
                "add entries to the name map",
            )
        absent = [entry.model for entry in self.entries if entry.model not in variables and not entry.optional]
        if absent:
            raise mismatch(
                "model",
                "a variable for each checkpoint name",
                f"none at {first_three(absent)}",
                "build the model before export",
            )
        present = [entry for entry in self.entries if entry.model in variables]
        arrays: dict[str, list[np.ndarray]] = {}
        for entry in present:
            name = entry.checkpoint.partition("#")[0]
            arrays.setdefault(name, []).append(_to_checkpoint_layout(variables[entry.model], entry.transpose))
        return {name: parts[0] if len(parts) == 1 else np.concatenate(parts) for name, parts in arrays.items()}

    def _separated(self, tensors: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
        """The tensors with those that hold several divided into blocks of rows, as `name#0/3`."""
        fused = dict(entry.checkpoint.split("#") for entry in self.entries if "#" in entry.checkpoint)
        counts = {self._canonical_name(name): int(part.partition("/")[2]) for name, part in fused.items()}
        if not counts:
            return tensors
        separated: dict[str, np.ndarray] = {}
        for name, tensor in tensors.items():
            count = counts.get(self._canonical_name(name), 0)
            parts = np.array_split(tensor, count) if count else []
            separated |= {f"{name}#{i}/{count}": part for i, part in enumerate(parts)} if parts else {name: tensor}
        return separated

    def _expected_entries(self, variables: Mapping[str, Any]) -> list[Entry]:
        """The entries of the variables, then one for each unmapped variable, which no checkpoint can fill."""
        mapped = {entry.model for entry in self.entries}
        unmapped = [Entry(path, path) for path in variables if path not in mapped]
        return [entry for entry in self.entries if entry.model in variables] + unmapped

    def _source(self, entry: Entry, actual_names: Mapping[str, str]) -> str | None:
        """The name of the entry's tensor in the checkpoint, or None if it has none, or is not read."""
        canonical = self._canonical_name(entry.checkpoint)
        return None if canonical in self.unread else actual_names.get(canonical)

    def _require_no_inner(self, report: LoadReport, where: object) -> None:
        inner = [name for name in report.unused if name.startswith(self.prefixes) or self._is_inner(name)]
        if inner:
            received = f"{pluralize(inner, 'other tensor')} in it ({first_three(inner)})"
            advice = "does config.json have fewer layers than the weights, or has the encoder further layers?"
            raise mismatch(where, "an encoder of the layers that config.json names", received, advice)

    def _require_shapes(self, report: LoadReport, where: object) -> None:
        if not report.wrong_shape:
            return
        first, *others = report.wrong_shape
        more = f" (wrong too: {first_three(tensor.name for tensor in others)})" if others else ""
        advice = "the configuration and the weights disagree"
        if self.inner and not self._is_inner(first.name):
            advice += "; new_head=True (--new-head) makes a new head"
        raise mismatch(
            f"{where} tensor {display_name(first.name)}", f"shape {first.expected}", f"{first.received}{more}", advice
        )

    def _require_tensors(
        self, report: LoadReport, variables: Mapping[str, Any], may_initialize: Collection[str], where: object
    ) -> None:
        missing = set(report.missing)
        required = [
            entry.checkpoint
            for entry in self._expected_entries(variables)
            if entry.checkpoint in missing and not any(_covers(prefix, entry.model) for prefix in may_initialize)
        ]
        if required:
            received = f"{len(report.loaded)} of them; missing: {first_three(required)}"
            advice = f"it has {first_three(report.unused)} instead" if report.unused else "is the download complete?"
            if self.inner and not any(map(self._is_inner, required)):
                advice += "; new_head=True (--new-head) makes a new head, which has to be trained"
            raise mismatch(where, f"{len(report.loaded) + len(required)} tensors", received, advice)

    def _is_inner(self, name: str) -> bool:
        """True for a tensor of the embeddings and layers of the encoder."""
        return self._canonical_name(name).partition(".")[0] in self.inner

    def _index_by_canonical_name(self, names: Iterable[str]) -> dict[str, str]:
        actual_names: dict[str, str] = {}
        for name in names:
            canonical = self._canonical_name(name)
            if canonical in actual_names:
                received = f"{display_name(actual_names[canonical])} and {display_name(name)}"
                raise mismatch("checkpoint", "each tensor once", received, "remove one of them")
            actual_names[canonical] = name
        return actual_names

    def _canonical_name(self, name: str) -> str:
        """The name without prefix and with current suffixes."""
        name = name.removeprefix(next((prefix for prefix in self.prefixes if name.startswith(prefix)), ""))
        for old, new in self.aliases:
            if name.endswith(old):
                return name.removesuffix(old) + new
        return name

    def _reason_to_ignore(self, name: str) -> Ignored | None:
        if name in self.unread:
            return Ignored(re.escape(name), self.unread[name])
        return next((item for item in self.ignored if re.fullmatch(item.pattern, name)), None)


def _covers(prefix: str, path: str) -> bool:
    return path == prefix or path.startswith(prefix.rstrip(".") + ".")


def _checkpoint_shape(variable: Any, transpose: bool) -> tuple[int, ...]:
    shape = tuple(variable.shape)
    return shape[::-1] if transpose else shape


def _check_values(name: str, tensor: np.ndarray, transpose: bool) -> np.ndarray:
    """The tensor in the model's layout, checked to be finite floats."""
    where = f"checkpoint tensor {display_name(name)}"
    if tensor.dtype.kind != "f":
        raise mismatch(where, "floating-point weights", str(tensor.dtype), "quantized checkpoints are not read")
    num_invalid = tensor.size - int(np.isfinite(tensor).sum())
    if num_invalid:
        raise mismatch(
            where, "finite weights", f"{num_invalid} of {tensor.size} infinite or NaN", "the checkpoint is damaged"
        )
    return tensor.T if transpose else tensor


def _assign(variable: Any, value: np.ndarray) -> None:
    if isinstance(variable, np.ndarray):
        variable[...] = value
    else:
        variable.assign(value)


def _to_checkpoint_layout(variable: Any, transpose: bool) -> np.ndarray:
    # Copied, because the array may share the variable's memory, and an export must not change with further training.
    value = np.array(variable.numpy() if hasattr(variable, "numpy") else variable, dtype=np.float32)
    return np.ascontiguousarray(value.T) if transpose else value
