"""LiteRT.js in headless Chromium: XNNPACK in WebAssembly, and the GPU accelerator over WebGPU on a software adapter."""

import json
import os
import shutil
from pathlib import Path

import numpy as np

from kerasbert.cleanup import temporary_folder
from kerasbert.export.backends.context import ValidationContext
from kerasbert.export.backends.environments.known import WEB
from kerasbert.export.backends.gpu import half_limits
from kerasbert.export.backends.subprocesses.gpu_log import GpuLog
from kerasbert.export.backends.subprocesses.process import Ended, run_child
from kerasbert.export.validation.checks import FAILED, NOT_RUN, Check
from kerasbert.export.validation.examples import Kept
from kerasbert.files.json_text import parse_json

CHILD = Path(__file__).parent / "web_page" / "run.mjs"
BROWSER_VARIABLE = "KERASBERT_CHROMIUM"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
SECONDS = 600.0
_ACCELERATORS = {"web-wasm": "wasm", "web-webgpu": "webgpu"}
_RESULT = "RESULT "


def checks(job: ValidationContext) -> tuple[list[Check], list[Kept]]:
    """Runs some rows in the browser, in WebAssembly and over WebGPU."""
    reason = _missing()
    if reason:
        return [Check(name, NOT_RUN, reason) for name in _ACCELERATORS], []
    rows = job.some_rows
    found, outputs = [], []
    with temporary_folder("web") as folder:
        given = folder / "rows.json"
        given.write_text(json.dumps({"inputs": job.inputs(rows), "length": job.examples.length}), "utf-8")
        for done, (name, accelerator) in enumerate(_ACCELERATORS.items(), start=1):
            check, kept = _check(job, name, rows, run_page(job.model_path, given, accelerator))
            found.append(check)
            outputs.append(kept)
            job.progress(name, done, len(_ACCELERATORS))
    return found, outputs[0] if len(outputs[0]) == len(job.examples) else []


def _missing() -> str:
    """What is not there to run a page."""
    if shutil.which("node") is None:
        return "no node on the PATH: install Node 20 or newer"
    if not WEB.ready:
        return WEB.missing
    if _browser() is None:
        return f"no Chromium on the PATH: install Debian's chromium, or name one in ${BROWSER_VARIABLE}"
    return ""


def _browser() -> str | None:
    named = os.environ.get(BROWSER_VARIABLE)
    return named or next(filter(None, map(shutil.which, BROWSERS)), None)


def run_page(model_path: str | os.PathLike, rows: Path, accelerator: str) -> Ended:
    """Runs a file in the browser, by `wasm` or `webgpu`; rows: as `web_page/run.mjs` takes them."""
    asked = {
        "modules": str(WEB.folder), "chromium": _browser(), "model": os.path.abspath(model_path), "rows": str(rows),
        "accelerator": accelerator,
    }  # fmt: skip
    return run_child(["node", CHILD, json.dumps(asked)], SECONDS)


def said_by(ended: Ended) -> dict | None:
    """What the page answered; None where it did not."""
    line = next((line for line in ended.log.splitlines() if line.startswith(_RESULT)), None)
    return None if line is None else parse_json(line.removeprefix(_RESULT), "the page", memory=1 << 40)


def outputs_of(said: dict) -> dict[str, np.ndarray]:
    """The outputs in an answer, arrays (rows, ...) by name."""
    return {
        key: np.asarray(port["rows"], np.float32).reshape(-1, *port["shape"][1:])
        for key, port in said["outputs"].items()
    }


def _check(job: ValidationContext, name: str, rows: np.ndarray, ended: Ended) -> tuple[Check, list[Kept]]:
    said = said_by(ended)
    if said is None:
        return Check(name, FAILED, ended.failure_reason), []
    if "missing" in said:
        return Check(name, NOT_RUN, said["missing"], device=said.get("browser", "")), []
    device = ", ".join(filter(None, (said.get("browser"), said.get("adapter"))))
    if "error" in said:
        return Check(name, FAILED, said["error"], device=device), []
    kept, remarks, limits, ops = job.keep(outputs_of(said), rows), [job.where(rows)], job.tolerance, {}
    if name == "web-webgpu":
        log, whole = GpuLog.of(said["log"]), said["accelerated"]
        if reason := log.unproven(whole):
            return Check(name, NOT_RUN, reason, device=device), []
        limits, ops = half_limits(limits, said["adapter"]), log.ops(whole, job.operators)
        remarks.append(log.remark)
    remark = "; ".join(filter(None, remarks))
    seconds = said["seconds"][1:] if len(said["seconds"]) > 1 else said["seconds"]
    return job.judged(name, rows, kept, seconds, limits=limits, remark=remark, device=device, ops=ops), kept
