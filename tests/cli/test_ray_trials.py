"""`kerasbert fit --ray`: candidates as trials of Ray Tune, with the outcome of a search without it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kerasbert.cli.runs import ray_trials
from kerasbert.cli.runs.fitting import Commands
from kerasbert.cli.runs.ray_trials import Place, RayTrials
from kerasbert.console.progress import Progress
from kerasbert.errors import KerasBertError
from kerasbert.selection.candidate import Candidate, Data, Step
from kerasbert.zoo.building.file_recipe import FileStep


@pytest.mark.parametrize("address", ["", "here", "host", "host:", "host:port", "ray://host:10001", "a b:1", "LOCAL"])
def test_what_is_no_address_is_refused(address, run, place, tmp_path):
    done = run("fit", place.train, "--dev", place.dev, "--budget", "1 s", "-o", tmp_path / "a.tflite", "--ray", address)
    assert done.code == 2 and f"expected --ray as local, auto or HOST:PORT, received {address!r}" in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("address", ["local", "auto", "10.0.0.1:6379", "head.example:6379", "[::1]:6379"])
def test_addresses_of_ray(address, monkeypatch):
    monkeypatch.setattr(ray_trials, "require_package", lambda *_: None)
    assert RayTrials.parse(address, 2) == RayTrials(address, 2)


def test_cores_of_trials_need_ray(run, place, tmp_path):
    command = ["fit", place.train, "--dev", place.dev, "--budget", "1 s", "-o", tmp_path / "a.tflite"]
    done = run(*command, "--ray-cpus", "2")
    assert done.code == 2 and "expected --ray with --ray-cpus, received --ray-cpus 2 alone" in done.err


def test_without_ray_one_line_names_the_extra(run, place, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    command = ["fit", place.train, "--dev", place.dev, "--budget", "1 s", "-o", tmp_path / "a.tflite"]
    done = run(*command, "--ray", "local")
    message = "expected the package ray for --ray, received none; install it: pip install 'kerasbert[ray]'"
    assert (done.code, done.err) == (2, f"error: {message}\n") and list(tmp_path.iterdir()) == []


@pytest.fixture
def shared(tmp_path):
    """A place that this machine sees whole."""
    marker = tmp_path / "work/.ray-marker"
    marker.parent.mkdir()
    for path in (marker, tmp_path / "train.csv"):
        path.touch()
    return Place(tmp_path, marker, ("train.csv",), ray_trials.__version__)


@pytest.mark.parametrize("missing", ["work/.ray-marker", "train.csv", "work", "."])
def test_a_machine_that_does_not_see_the_folder_is_named(missing, shared, monkeypatch):
    assert shared.fault() is None
    path = shared.folder / missing
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    ran = []
    monkeypatch.setattr(ray_trials, "run_commands", ran.append)
    found = ray_trials._trial({"number": 0}, [[]], shared)
    assert (
        f"expected {str(path)!r} on every machine of Ray, received none on {os.uname().nodename};" in found["place"]
        and ran == []
    )


def test_a_machine_with_another_version_is_named(shared):
    other = Place(shared.folder, shared.marker, (), "0.0.1")
    assert "expected kerasbert 0.0.1 on every machine of Ray" in other.fault()


def test_a_command_that_fails_is_a_result_of_its_trial(shared, monkeypatch):
    def fail(commands):
        raise KerasBertError(f"expected exit code 0, received 2 in {os.getcwd()}")

    monkeypatch.chdir("/")
    monkeypatch.setattr(ray_trials, "run_commands", fail)
    found = ray_trials._trial({"number": 1}, [[], []], shared)
    assert found == {"number": 1, "place": None, "fault": f"expected exit code 0, received 2 in {shared.folder}"}


class Trials:
    """Stands for Ray: keeps the jobs, and fails those whose result is named."""

    def __init__(self, failing=""):
        self.jobs, self.failing = [], failing

    def run(self, jobs, work, stage, progress):
        self.jobs += jobs
        outs = [job[-1].out for job in jobs]
        return {out: KerasBertError(f"expected {out}") for out in outs if self.failing and self.failing in str(out)}


def test_candidates_that_share_a_training_are_one_trial(tmp_path, monkeypatch):
    monkeypatch.setattr("kerasbert.cli.runs.fitting.run_commands", lambda commands: {"dev": {"accuracy": 0.5, "F1": 0}})
    trials, data = Trials("rate-2"), Data("train.csv", tmp_path / "texts.txt", {}, {}, {}, (16,))
    commands = Commands(data, None, tmp_path, 1, Progress(), trials)
    candidates = [Candidate("small-en", recipe=each) for each in ("dynamic_wi8_afp32", "dynamic_wi4_afp32")]
    candidates.append(Candidate("small-en", rate=2.0))
    (one, score), (other, same), (failed, fault) = commands.scores(candidates, 300)
    assert [one, other, failed] == candidates and (score, same) == (0.5, 0.5) and isinstance(fault, KerasBertError)
    outs = [job[-1].out for job in trials.jobs]
    assert len(outs) == 2 and len(set(outs)) == 2  # two trials must not write the same folder


def _job(work, name, finished):
    """A command that has finished, or one that fails at once."""
    step = Step(FileStep("train", {"train": "none.csv"}), "none", work / name / "trained")
    if finished:
        step.out.mkdir(parents=True)
        record = {"arguments": step.arguments(), "result": {"dev": {"accuracy": 0.5}}}
        step.out.with_name("trained.done").write_text(json.dumps(record))
    return [step]


@pytest.mark.long
def test_trials_run_on_ray_which_leaves_the_process_as_it_was(tmp_path, told, monkeypatch):
    ray = pytest.importorskip("ray")
    monkeypatch.setenv("HOME", str(tmp_path))  # where Ray keeps its token
    monkeypatch.chdir(tmp_path)
    work = Path("work")
    work.mkdir()
    jobs = [_job(work, name, finished=name != "second") for name in ("first", "second", "third")]
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)}
    settings, folders = dict(os.environ), _folders_of_ray()
    faults = RayTrials("local", 1).run(jobs, work, "training", told)
    assert faults.keys() == {jobs[1][0].out}
    assert "expected `kerasbert train` to end with exit code 0, received 2" in str(faults[jobs[1][0].out])
    assert [done for stage, done, total, _ in told.steps if (stage, total) == ("training", 3)] == [0, 1, 2, 3]
    assert handlers == {number: signal.getsignal(number) for number in handlers}
    assert not ray.is_initialized() and _folders_of_ray() == folders
    assert {name: os.environ.get(name) for name in ray_trials._SETTINGS} == {
        name: settings.get(name) for name in ray_trials._SETTINGS
    }
    elsewhere = Place(tmp_path, tmp_path / "other/.ray-marker", (), ray_trials.__version__)
    monkeypatch.setattr(ray_trials, "_place", lambda *_: elsewhere)
    with pytest.raises(KerasBertError, match=f"expected '{tmp_path}/other' on every machine"):
        RayTrials("local", 1).run(jobs, work, "training", told)
    assert not ray.is_initialized() and [each.name for each in work.glob(".*")] == []


def _folders_of_ray():
    return {each for each in os.listdir("/tmp") if each.startswith("kerasbert-ray-")}


@pytest.fixture(scope="module")
def searched(place, tmp_path_factory):
    """The folder of a search without Ray, and what it printed."""
    pytest.importorskip("ray")
    folder = tmp_path_factory.mktemp("searched")
    return folder, json.loads(_finish(_start(place, folder)))


@pytest.fixture
def begun(searched, tmp_path):
    """A folder with the probes of `searched` alone: whose commands have the same arguments, as all paths are relative."""
    work = tmp_path / "best.tflite.build"
    shutil.copytree(searched[0] / work.name, work, ignore=lambda _, names: [each for each in names if "rate-" in each])
    return tmp_path


def _start(place, folder, *options):
    """Start a search in a folder. Ray keeps its token in the home folder, which is that folder here."""
    command = [sys.executable, "-m", "kerasbert", "fit", place.train, "--dev", place.dev, "--budget", "1 s, 1 MB"]
    command += ["--model", place.checkpoint, "-o", "best.tflite", "--epochs", "2", "--trials", "3", "--json", *options]
    path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    settings = {**os.environ, "PYTHONPATH": path, "HOME": str(folder)}
    with open(folder / "messages.txt", "w") as messages:
        return subprocess.Popen(command, cwd=folder, env=settings, stdout=subprocess.PIPE, stderr=messages, text=True)


def _finish(process):
    out, _ = process.communicate(timeout=1200)
    assert process.returncode == 0
    return out


def _known(found):
    """What does not depend on the times of a machine."""
    return {each["name"]: (each["scores"], each["file_score"], each["commands"]) for each in found["trials"]}


def _weights(folder):
    files = sorted(folder.glob("best.tflite.build/**/rate-*/trained/model.safetensors"))
    return {str(each.relative_to(folder)): each.read_bytes() for each in files}


@pytest.mark.long
def test_the_outcome_is_that_of_a_search_without_ray_and_what_fails_is_left_out(searched, begun, place):
    folder, without = searched
    (work,) = begun.glob("best.tflite.build/*/")
    other = work / "rate-2/trained"
    other.mkdir(parents=True)
    (other / "notes.txt").write_text("hers")  # a folder that `train` does not write to
    first = json.loads(_finish(_start(place, begun, "--ray", "local")))
    name = f"{place.checkpoint}, 2 x rate"
    assert f"{name}: left out: expected `kerasbert train` to end" in (begun / "messages.txt").read_text()
    assert _known(first).keys() == _known(without).keys() - {name}
    times = {path: (begun / path).stat().st_mtime_ns for path in _weights(begun)}
    shutil.rmtree(other)
    again = json.loads(_finish(_start(place, begun, "--ray", "local")))
    assert _known(again) == _known(without) and again["reason"] == without["reason"]
    assert _weights(begun) == _weights(folder) and len(times) == 2
    assert {path: (begun / path).stat().st_mtime_ns for path in times} == times  # nothing is trained twice
    assert (begun / "best.html").is_file() and not list(begun.glob("best.tflite.build/.ray-*"))


@pytest.mark.long
def test_an_interrupted_search_leaves_nothing_that_runs_and_goes_on(searched, begun, place):
    process = _start(place, begun, "--ray", "local")
    while process.poll() is None and not list(begun.glob("best.tflite.build/*/rate-*/trained.log")):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130 and "interrupted" in (begun / "messages.txt").read_text()
    deadline = time.monotonic() + 10
    while (running := _commands_in(begun)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert running == [] and not list(begun.glob("best.tflite.build/.ray-*")) and not (begun / "best.tflite").exists()
    assert _known(json.loads(_finish(_start(place, begun, "--ray", "local")))) == _known(searched[1])
    assert _weights(begun) == _weights(searched[0])


def _commands_in(folder):
    """The processes that work in a folder."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(each / "cwd") == str(folder):
                found.append((each / "cmdline").read_text())
        except OSError:
            continue
    return found


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--ray", "local", "--ray-cpus", "9999"], "expected --ray-cpus of at most"),
        (["--ray", "127.0.0.1:1"], "expected Ray at --ray 127.0.0.1:1, received"),
    ],
)
def test_a_ray_that_cannot_run_the_trials_is_refused_before_any_training(options, message, begun, place):
    process = _start(place, begun, *options)
    process.communicate(timeout=300)
    said = (begun / "messages.txt").read_text()
    assert process.returncode == 2 and message in said.splitlines()[-1]
    assert not list(begun.glob("best.tflite.build/*/rate-*"))
