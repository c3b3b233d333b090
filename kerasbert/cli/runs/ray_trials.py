"""Commands as trials of Ray Tune: on the machines of a cluster, which share the folder that the commands write to."""

import contextlib
import io
import logging
import os
import re
import signal
import socket
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from kerasbert import __version__
from kerasbert.cli.runs.command_steps import run_commands
from kerasbert.console.progress import Progress
from kerasbert.errors import KerasBertError
from kerasbert.files.cleanup import cleanup_on_exit, temporary_folder
from kerasbert.optional import import_optional, require_package
from kerasbert.selection.candidate import Step

LOCAL, AUTO = "local", "auto"
_HOST = re.compile(r"[^\s/:]+:[0-9]{1,5}|\[[0-9A-Fa-f:.]+\]:[0-9]{1,5}", re.ASCII)
# Ctrl-C is handled as without Ray, and a search keeps its results itself.
_SETTINGS = {"TUNE_DISABLE_SIGINT_HANDLER": "1", "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1"}
_SIGNALS = ("SIGINT", "SIGTERM", "SIGUSR1")  # for which Ray sets handlers of its own
_RETRIES = 2  # of a trial whose machine is gone; a command that fails is not repeated
_STORE_BYTES = (
    100_000_000  # of a local Ray for objects, which are lists of commands here; by default a third of the memory
)
_LONGEST_FOLDER = 40  # in bytes: the system limits the paths of Ray's sockets to 107
_MOST_CHARACTERS = 500  # of Ray's own message


@dataclass(frozen=True)
class Place:
    """What a machine must see to run commands.

    Attributes:
        folder: The working folder of the commands.
        marker: A file that this search made where the results are written.
        files: Files and folders that the commands read.
        version: The version of kerasbert.
    """

    folder: Path
    marker: Path
    files: tuple[str, ...]
    version: str

    def fault(self) -> str | None:
        """Return a message about what this machine lacks; None where commands can run."""
        machine = socket.gethostname()
        if self.version != __version__:
            return f"expected kerasbert {self.version} on every machine of Ray, received {__version__} on {machine}; install it there"
        for path in (self.folder, self.marker.parent, self.marker, *(self.folder / each for each in self.files)):
            if not path.exists():
                return (
                    f"expected {str(path)!r} on every machine of Ray, received none on {machine}; run the command in a folder on a "
                    "disk that all machines share, and name --work and the data there"
                )
        return None


@dataclass(frozen=True)
class RayTrials:
    """Ray Tune on this machine or on a cluster.

    Attributes:
        address: `LOCAL` for a Ray that is started on this machine, `AUTO` or `HOST:PORT` for a running one.
        cpus: Processor cores of a trial.
    """

    address: str
    cpus: int

    @classmethod
    def parse(cls, address: str, cpus: int) -> Self:
        """Check an address as text.

        Args:
            address: The address.
            cpus: Processor cores of a trial.

        Raises:
            KerasBertError: When it is none, or Ray is not installed.
        """
        if address not in (LOCAL, AUTO) and not _HOST.fullmatch(address):
            raise KerasBertError(
                f"expected --ray as {LOCAL}, {AUTO} or HOST:PORT, received {address!r}; {LOCAL} starts Ray on this machine, {AUTO} finds "
                "one that runs on it"
            )
        require_package("ray", "--ray")
        return cls(address, cpus)

    def check(self) -> None:
        """Start Ray or connect to it once, so that what cannot work fails before anything is trained.

        Raises:
            KerasBertError: When Ray does not answer, or none of its machines has as many cores as a trial takes.
        """
        with temporary_folder("ray") as folder, self._running(folder):
            pass

    def run(
        self, jobs: Sequence[Sequence[Step]], work: Path, stage: str, progress: Progress
    ) -> dict[Path, KerasBertError]:
        """Run lists of commands as trials, as many at once as there are cores for. Ray has ended when this returns.

        Args:
            jobs: The commands of each trial, which run one after another. No two trials write the same results.
            work: The folder of all results.
            stage: What is shown while they run.
            progress: Receives the progress.

        Returns:
            The errors of those that failed, by the result of their last command.

        Raises:
            KerasBertError: When a machine does not see the folder, or Ray fails.
        """
        progress.begin(stage, len(jobs), "candidates")
        progress.advance(0)
        with temporary_folder("ray") as folder, self._running(folder), _marker(work) as marker:
            tune = import_optional("ray.tune", "--ray")
            trainable = tune.with_parameters(_trial, jobs=jobs, place=_place(jobs, marker))
            tuner = tune.Tuner(
                tune.with_resources(trainable, {"cpu": self.cpus}),
                param_space={"number": tune.grid_search(list(range(len(jobs))))},
                run_config=tune.RunConfig(
                    name="trials",
                    storage_path=str(folder),
                    verbose=0,
                    callbacks=[_counter(tune, progress)],
                    failure_config=tune.FailureConfig(max_failures=_RETRIES),
                ),
            )
            with contextlib.redirect_stdout(io.StringIO()):  # Tune's tables
                results = list(tuner.fit())
        faults: dict[Path, KerasBertError] = {}
        for result in results:
            if result.error is not None or "number" not in (result.metrics or {}):
                raise _failure("trials that end", result.error or "none")
            found = result.metrics
            if found["place"] is not None:
                raise KerasBertError(found["place"])
            if found["fault"] is not None:
                faults[jobs[found["number"]][-1].out] = KerasBertError(found["fault"])
        return faults

    @contextlib.contextmanager
    def _running(self, folder: Path) -> Iterator[None]:
        """Start Ray or connect to it for the block.

        Args:
            folder: Receives the files of a Ray that is started here.
        """
        ray = import_optional("ray", "--ray")
        import_optional("ray.tune", "--ray")
        settings: dict[str, Any] = {"logging_level": logging.CRITICAL, "log_to_driver": False}
        if self.address == LOCAL:
            settings |= {"include_dashboard": False, "object_store_memory": _STORE_BYTES}
            if len(os.fsencode(folder)) <= _LONGEST_FOLDER:
                settings["_temp_dir"] = str(folder)
        with _settings_of_tune(), _own_handlers() as restore, cleanup_on_exit(ray.shutdown):
            try:
                try:
                    ray.init(self.address, **settings)
                except Exception as error:
                    raise _failure(f"Ray at --ray {self.address}", error) from error
                restore()
                most = max((node["Resources"].get("CPU", 0) for node in ray.nodes() if node["Alive"]), default=0)
                if most < self.cpus:
                    raise KerasBertError(
                        f"expected --ray-cpus of at most {most:g}, the cores of Ray's largest machine, received {self.cpus}; take fewer"
                    )
                yield
            finally:
                ray.shutdown()


def _trial(config: dict[str, Any], jobs: Sequence[Sequence[Step]], place: Place) -> dict[str, Any]:
    """Run the commands of a trial on the machine that Ray has chosen. A command that fails is a result too: Tune repeats what raises."""
    found: dict[str, Any] = {"number": config["number"], "place": place.fault(), "fault": None}
    if found["place"] is None:
        os.chdir(place.folder)
        try:
            run_commands(jobs[config["number"]])
        except KerasBertError as error:
            found["fault"] = str(error)
    return found


def _place(jobs: Sequence[Sequence[Step]], marker: Path) -> Place:
    words = dict.fromkeys(word for job in jobs for each in job for word in each.arguments())
    return Place(Path.cwd(), marker.absolute(), tuple(word for word in words if os.path.exists(word)), __version__)


@contextlib.contextmanager
def _marker(work: Path) -> Iterator[Path]:
    """Make a file by which a machine knows the folder: a folder of the same name on another disk does not have it."""
    descriptor, name = tempfile.mkstemp(prefix=".ray-", dir=work)
    os.close(descriptor)
    marker = Path(name)

    def remove() -> None:
        marker.unlink(missing_ok=True)

    with cleanup_on_exit(remove):
        try:
            yield marker
        finally:
            remove()


def _counter(tune: Any, progress: Progress) -> Any:
    """Return what tells the progress how many trials have ended."""

    class Counter(tune.Callback):
        def __init__(self) -> None:
            self.ended = 0

        def on_trial_complete(self, *_: Any, **__: Any) -> None:
            self.ended += 1
            progress.advance(self.ended)

        def __reduce__(self) -> Any:  # Tune saves its callbacks with the trials, which are not taken up again
            return tune.Callback, ()

    return Counter()


@contextlib.contextmanager
def _settings_of_tune() -> Iterator[None]:
    before = {name: os.environ.get(name) for name in _SETTINGS}
    os.environ.update(_SETTINGS)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


@contextlib.contextmanager
def _own_handlers() -> Iterator[Any]:
    """Keep the handlers of signals; yields a function that sets them again in the block."""
    main = threading.current_thread() is threading.main_thread()
    numbers = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)] if main else []
    before = {number: signal.getsignal(number) for number in numbers}

    def restore() -> None:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)

    try:
        yield restore
    finally:
        restore()


def _failure(expected: str, error: object) -> KerasBertError:
    """Return what Ray said in one line. The message of a trial is the end of a traceback, under colors of a terminal."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip()
    said = " ".join((text.splitlines() or ["nothing"])[-1].split())[:_MOST_CHARACTERS]
    return KerasBertError(
        f"expected {expected}, received {type(error).__name__} ({said}); see `ray status`, and run the same command again"
    )
