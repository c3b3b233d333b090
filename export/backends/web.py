"""LiteRT.js in headless Chromium: XNNPACK in WebAssembly, and the GPU accelerator over WebGPU on a software adapter."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kerasbert.export.backends.environments.known import WEB
from kerasbert.export.backends.gpu import float_format, half_limits
from kerasbert.export.backends.subprocesses.gpu_log import GpuLog
from kerasbert.export.runtime.process import ProcessResult, run_command
from kerasbert.export.tflite.arithmetic import FP32
from kerasbert.export.validation.checks import FAILED, NOT_RUN, Check
from kerasbert.export.validation.context import BackendResult, ValidationContext, measured
from kerasbert.export.validation.examples import RowOutputs
from kerasbert.files.cleanup import temporary_folder
from kerasbert.files.json_text import parse_json

WORKER = Path(__file__).parent / "web_page" / "run.mjs"
BROWSER_VARIABLE = "KERASBERT_CHROMIUM"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
SECONDS = 600.0
_ACCELERATORS = {"web-wasm": "wasm", "web-webgpu": "webgpu"}  # of each check
_RESULT = "RESULT "


def run_checks(context: ValidationContext) -> BackendResult:
    """Run a sample of the rows in the browser, in WebAssembly and over WebGPU."""
    if reason := _missing_program():
        return BackendResult.not_run(tuple(_ACCELERATORS), reason)
    rows = context.sample_rows
    checks, outputs = [], []
    context.progress.begin("running web", len(_ACCELERATORS), "checks")
    with temporary_folder("web") as folder:
        inputs = folder / "rows.json"
        inputs.write_text(json.dumps({"inputs": context.input_lists(rows), "length": context.examples.length}), "utf-8")
        for done, (name, accelerator) in enumerate(_ACCELERATORS.items(), start=1):
            check, check_outputs = _check(context, name, rows, run_page(context.model_path, inputs, accelerator))
            checks.append(check)
            outputs.append(check_outputs)
            context.progress.advance(done)
    return BackendResult(checks, outputs[0])


def missing_part() -> str:
    """Name the part that no page can be run in Chromium without, and how to get it; empty where all are there."""
    return _missing_program() or ("" if WEB.ready else WEB.missing)


def _missing_program() -> str:
    """Name the program that a page cannot run without; empty where all are there."""
    if shutil.which("node") is None:
        return "no node on the PATH: install Node 20 or newer"
    if find_browser() is None:
        return f"no Chromium on the PATH: install Debian's chromium, or name one in ${BROWSER_VARIABLE}"
    return ""


def find_browser() -> str | None:
    """Return the command of Chromium; None where there is none."""
    return os.environ.get(BROWSER_VARIABLE) or next(filter(None, map(shutil.which, BROWSERS)), None)


def run_page(model_path: str | os.PathLike, inputs: Path, accelerator: str) -> ProcessResult:
    """Run a file in the browser.

    Args:
        model_path: The file.
        inputs: The rows, as `web_page/run.mjs` takes them.
        accelerator: `wasm` or `webgpu`.
    """
    settings = {
        "modules": str(WEB.folder), "chromium": find_browser(), "model": os.path.abspath(model_path), "rows": str(inputs),
        "accelerator": accelerator,
    }  # fmt: skip
    return run_command(["node", WORKER, json.dumps(settings)], SECONDS)


def page_answer(result: ProcessResult) -> dict[str, Any] | None:
    """Return the answer of the page; None where there is none."""
    line = next((line for line in result.log.splitlines() if line.startswith(_RESULT)), None)
    return None if line is None else parse_json(line.removeprefix(_RESULT), "the page", memory=1 << 40)


def outputs_of(answer: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return the outputs in an answer of the page, arrays (rows, ...) by name."""
    return {
        key: np.asarray(port["rows"], np.float32).reshape(-1, *port["shape"][1:])
        for key, port in answer["outputs"].items()
    }


def _check(
    context: ValidationContext, name: str, rows: np.ndarray, result: ProcessResult
) -> tuple[Check, list[RowOutputs]]:
    answer = page_answer(result)
    if answer is None:
        return Check(name, FAILED, result.failure_reason), []
    if "missing" in answer:
        return Check(name, NOT_RUN, answer["missing"], device=answer.get("browser", "")), []
    device = ", ".join(filter(None, (answer.get("browser"), answer.get("adapter"))))
    if "error" in answer:
        return Check(name, FAILED, answer["error"], device=device), []
    outputs = context.extract(outputs_of(answer), rows)
    remarks, limits, ops, floats = [context.sample_remark(rows)], context.tolerance, {}, FP32
    if name == "web-webgpu":
        log, whole = GpuLog.of(answer["log"]), answer["accelerated"]
        if reason := log.unproven_reason(whole):
            return Check(name, NOT_RUN, reason, device=device), []
        floats = float_format(answer["adapter"])
        limits, ops = half_limits(limits, answer["adapter"]), log.operators_by_backend(whole, context.operator_count)
        remarks.append(log.remark)
    remark = "; ".join(filter(None, remarks))
    check = context.make_check(
        name, rows, outputs, measured(answer["seconds"]), limits=limits, remark=remark, device=device, ops=ops,
        arithmetic=context.arithmetic(floats),
    )  # fmt: skip
    return check, outputs
