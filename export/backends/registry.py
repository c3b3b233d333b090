"""The backends of `validate`, one value each: everything that other modules ask about a backend by its name.

To add one, write its module in this folder and add its line to `BACKENDS`. If it needs packages of its own, declare them in
`environments/known.py`. This module imports neither NumPy nor a backend before one runs, so that `--help` stays fast.
"""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kerasbert.errors import KerasBertError

if TYPE_CHECKING:
    from kerasbert.export.backends.environments.environment import Environment
    from kerasbert.export.backends.rules.operator_rules import OperatorVerdict
    from kerasbert.export.tflite.model_file import ModelFile
    from kerasbert.export.validation.context import BackendResult, ValidationContext

ALL = "all"


@dataclass(frozen=True)
class Backend:
    """A place where `validate` runs a file, or tells what it would take of it.

    Attributes:
        name: The name that `--on` takes.
        description: In a few words, for help.
        module: The module of its function, imported on first use.
        function: Takes a `ValidationContext` and returns a `BackendResult`.
        environment: The environment that it cannot run without, see `environments.known`; empty for none.
        check_names: The checks that do not run without the environment; by default one, named as the backend.
        in_all: Whether `all` includes it.
        runs_partitioned: Whether it runs a file in two parts.
        runs_every_row: Whether it runs all rows. A sample is then enough for the other backends.
        rules: A module with a function `forecast(file)`, which judges every operator of a file by rules; empty for none.
        rules_basis: `rules` of a specification, or a `forecast` of a closed implementation.
    """

    name: str
    description: str
    module: str
    function: str = "run_checks"
    environment: str = ""
    check_names: tuple[str, ...] = ()
    in_all: bool = True
    runs_partitioned: bool = False
    runs_every_row: bool = False
    rules: str = ""
    rules_basis: str = "forecast"

    def run(self, context: "ValidationContext") -> "BackendResult":
        """Run its checks. They are not run where it cannot take the file, or its environment is missing. An exception is a failed check."""
        from kerasbert.export.runtime.interpreter_session import one_line
        from kerasbert.export.validation.checks import FAILED, Check
        from kerasbert.export.validation.context import BackendResult

        if context.takes_text and self.runs_every_row:  # its only way is that of `check_pipeline`, on the CPU
            return BackendResult([])
        if context.takes_text:
            return BackendResult.not_run((self.name,), "the file takes texts, which this backend cannot feed")
        if context.model.partitioned and not self.runs_partitioned:
            reason = "the file is one of two parts, made for an Edge TPU and its host"
            return BackendResult.not_run((self.name,), reason)
        if context.file.metadata is not None and context.file.metadata.exits and not self.runs_every_row:
            reason = "the file has a signature for each exit, and only the CPU runs them in turn here"
            return BackendResult.not_run((self.name,), reason)
        try:
            environment = self.required_environment
            if environment is not None and not environment.ready:
                return BackendResult.not_run(self.check_names or (self.name,), environment.missing)
            result = getattr(importlib.import_module(self.module), self.function)(context)
            return result if len(result.outputs) == len(context.examples) else replace(result, outputs=())
        except Exception as error:  # whatever it is, the other backends still run
            return BackendResult([Check(self.name, FAILED, f"{type(error).__name__}: {one_line(error)}")])

    def forecast(self, file: "ModelFile") -> "Sequence[OperatorVerdict]":
        """Judge every operator of a file by the backend's rules; for a backend that has some."""
        return importlib.import_module(self.rules).forecast(file)

    @property
    def required_environment(self) -> "Environment | None":
        """The environment that it cannot run without."""
        from kerasbert.export.backends.environments.known import ENVIRONMENTS

        return ENVIRONMENTS[self.environment] if self.environment else None


BACKENDS = {
    backend.name: backend
    for backend in (
        Backend(
            "cpu", "XNNPACK and the reference kernels", "kerasbert.export.backends.cpu",
            runs_partitioned=True, runs_every_row=True,
        ),
        Backend(
            "gpu", "LiteRT's GPU accelerator", "kerasbert.export.backends.gpu", rules="kerasbert.export.backends.rules.gpu",
        ),
        Backend(
            "gpu-opencl", "rules of the OpenCL delegate", "kerasbert.export.backends.gpu_opencl",
            rules="kerasbert.export.backends.rules.gpu_opencl", rules_basis="rules",
        ),
        Backend(
            "edge-tpu", "forecast, body, compiler and device", "kerasbert.export.backends.edge_tpu", runs_partitioned=True,
            rules="kerasbert.export.backends.edge_tpu",
        ),
        Backend(
            "web", "LiteRT.js in Chromium", "kerasbert.export.backends.web",
            environment="web", check_names=("web-wasm", "web-webgpu"),
        ),
        Backend(
            "tflite-2.14", "the last tflite-runtime", "kerasbert.export.backends.tflite_2_14", environment="tflite-2.14"
        ),
        Backend(
            "arm64", "the kernels of phones under QEMU", "kerasbert.export.backends.arm64", environment="arm64",
            check_names=("arm64 cortex-a53", "arm64 cortex-a76", "arm64 max,sme=off", "arm64 operators"),
        ),
        Backend(
            "mediapipe", "MediaPipe Tasks", "kerasbert.export.backends.clients", "run_mediapipe", environment="mediapipe"
        ),
        Backend(
            "task-library", "TFLite's Task Library", "kerasbert.export.backends.clients", "run_task_library",
            environment="task-library",
        ),
    )
}  # fmt: skip


def select_backends(names: str | Sequence[str]) -> tuple[Backend, ...]:
    """Return the backends of these names; `all` stands for every one that is part of it.

    Raises:
        KerasBertError: When there is no backend of a name, or no name.
    """
    names = (names,) if isinstance(names, str) else tuple(names)
    unknown = [name for name in names if name not in BACKENDS and name != ALL]
    if unknown or not names:
        received = repr(unknown[0]) if unknown else "none"
        raise KerasBertError(
            f"expected backends among {', '.join([*BACKENDS, ALL])}, received {received}; name one or more of these"
        )
    if ALL in names:
        return tuple(backend for backend in BACKENDS.values() if backend.in_all or backend.name in names)
    return tuple(BACKENDS[name] for name in dict.fromkeys(names))


def list_backends() -> str:
    """List every name with its description, for help."""
    return ", ".join(f"{backend.name} ({backend.description})" for backend in BACKENDS.values())
