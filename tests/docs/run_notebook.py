"""Runs a notebook in a folder, with the interpreter that runs this file, and stores its outputs in the notebook.

    python tests/docs/run_notebook.py docs/notebooks/own-data.ipynb FOLDER

`--check` stores nothing. Messages on stderr (progress, logs of TensorFlow) and times of execution are never stored. The kernel needs no
installation, and Jupyter writes nothing to the home folder.
"""

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import nbformat
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient

SECONDS = 600  # for one cell


@contextlib.contextmanager
def _kernel_manager() -> Iterator[tuple[AsyncKernelManager, dict[str, str]]]:
    """Yield a manager of ipykernel in this interpreter, and the environment variables of its kernel."""
    with tempfile.TemporaryDirectory() as folder:
        specs = KernelSpecManager(kernel_dirs=[], ensure_native_kernel=True)
        manager = AsyncKernelManager(
            kernel_spec_manager=specs, transport="ipc", connection_file=f"{folder}/kernel.json"
        )
        names = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
        yield manager, {name: f"{folder}/{name.lower()}" for name in names}


def run(path: Path, folder: Path) -> nbformat.NotebookNode:
    """Run all cells of a notebook in a folder, and return it with the outputs.

    Raises:
        CellExecutionError: When a cell fails.
    """
    notebook = nbformat.read(path, as_version=4)
    with _kernel_manager() as (manager, variables):
        resources = {"metadata": {"path": str(folder)}}
        client = NotebookClient(notebook, km=manager, timeout=SECONDS, coalesce_streams=True, resources=resources)
        client.execute(cleanup_kc=True, env={**os.environ, **variables})
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    notebook.metadata.language_info = {"name": "python"}
    return notebook


if __name__ == "__main__":
    path = Path(sys.argv[1])
    notebook = run(path, Path(sys.argv[2]))
    if "--check" not in sys.argv[3:]:
        nbformat.write(notebook, path)
