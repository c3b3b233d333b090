"""Folders as other libraries write them: each loads with their outputs, or is refused with the reason.

    python -m benchmarks.parity.published_forms --python PYTHON [PYTHON ...]

PYTHON are interpreters of environments with PyTorch and transformers, and PEFT or sentence-transformers, in any versions. Each writes tiny
folders with random weights, and the outputs of its library (`published_forms_writer.py`). TensorFlow 1 checkpoints and keras-nlp presets
are written in this environment. Measured for each form: whether kerasbert refuses it, the largest difference of its outputs, and whether
its tokenizer gives the same ids.
"""

import argparse
import collections
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import record

WRITER = Path(__file__).with_name("published_forms_writer.py")
TOLERANCE = 1e-5
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def main() -> None:
    """Write all forms, load each and write the result."""
    arguments, load, forms = _arguments(), record.load(), []
    with tempfile.TemporaryDirectory() as base:
        for number, python in enumerate(arguments.python):
            folder = Path(base, str(number))
            subprocess.run([python, WRITER, folder], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            forms += [(folder, form) for form in json.loads((folder / "forms.json").read_text())]
        from benchmarks.parity.published_forms_here import write_forms

        written = Path(base, "0") if arguments.python else None
        forms += [(Path(base, "here"), form) for form in write_forms(Path(base, "here"), written)]
        results = [check(folder, form) for folder, form in forms]
    for result in results:
        if result["outcome"] not in ("equal", "refused"):
            print(result)
    counts = collections.Counter(result["outcome"] for result in results)
    print(dict(counts), len({(result["library"], result["form"]) for result in results}), "forms")
    content = {"tolerance": TOLERANCE, "outcomes": dict(counts), "forms": results}
    record.write(
        arguments.json,
        content,
        record.versions(["tensorflow", "tf-keras", "keras-nlp", "safetensors", "kerasbert"]),
        load,
    )


def check(base: Path, form: dict[str, Any]) -> dict[str, Any]:
    """Load a form and compare its outputs.

    Args:
        base: The folder of all forms of a library.
        form: The entry of `forms.json`.

    Returns:
        The form with its outcome: `equal`, `refused` (as it should be), `different`, `wrongly loaded` or `wrongly refused`.
    """
    from kerasbert.errors import KerasBertError

    facts = {"library": form["library"], "form": form["form"]}
    folder = base / form["folder"]
    try:
        found, tokenizer = _outputs(folder, form)
    except KerasBertError as error:
        reason = str(error).replace(str(folder), "FOLDER").replace(str(base), "BASE")
        may_refuse = form["refused"] or form["refusable"]
        return {**facts, "outcome": "refused" if may_refuse else "wrongly refused", "reason": reason}
    if form["refused"]:
        return {**facts, "outcome": "wrongly loaded"}
    expected = dict(np.load(base / f"{form['folder']}.npz"))
    mask = expected.get("in_attention_mask")
    largest = max(_difference(found[name], expected[name], mask) for name in found if name in expected)
    same_ids = tokenizer is None or "ids" not in form or _ids(tokenizer, form["texts"]) == form["ids"]
    compared = sorted(found.keys() & expected.keys())
    missing = sorted(name for name in expected if not name.startswith("in_") and name not in found)
    equal = largest <= TOLERANCE and same_ids and bool(compared) and not missing
    return {**facts, "outcome": "equal" if equal else "different", "largest_difference": largest, "same_ids": same_ids,
            "outputs": compared, **({"not_compared": missing} if missing else {})}  # fmt: skip


def _outputs(folder: Path, form: dict[str, Any]) -> tuple[dict[str, np.ndarray], Any]:
    """Load a form as a user would. Returns the outputs by the other library's names, and the tokenizer."""
    import kerasbert as kb

    call = form["call"]
    if call == "vectors":
        encoder = kb.SentenceEncoder.from_pretrained(folder)
        return {"vectors": np.asarray(encoder.predict(form["texts"]))}, encoder.tokenizer
    if call == "pairs":
        task = kb.TextClassifier.from_pretrained(folder)
        scores = np.asarray(task.predict([tuple(pair) for pair in form["pairs"]]), np.float32)
        return {"scores": scores[:, 0] if scores.ndim == 2 and scores.shape[1] == 1 else scores}, task.tokenizer
    expected = dict(np.load(folder.with_name(f"{folder.name}.npz"))) if not form["refused"] else {}
    inputs = {name: expected.get(f"in_{name}", np.zeros((1, 4), np.int32)) for name in INPUTS}
    if call == "encoder":
        output = kb.load_encoder(folder)(inputs)
        pooled = {} if output.pooled is None else {"pooler_output": np.asarray(output.pooled)}
        return {"last_hidden_state": np.asarray(output.sequence), **pooled}, None
    classes = {"classifier": kb.TextClassifier, "masked_lm": kb.MaskedLM, "pretrainer": kb.Pretrainer}
    task = kb.load_task(folder) if call == "task" else classes[call].from_pretrained(folder)
    if type(task).__name__ == "MultipleChoice":
        inputs = {name: value[None] for name, value in inputs.items()}
    result = task(inputs)
    named = result if isinstance(result, dict) else {"logits": result}
    return {name: np.asarray(value) for name, value in named.items()}, task.tokenizer if task.has_tokenizer else None


def _difference(ours: np.ndarray, theirs: np.ndarray, mask: np.ndarray | None) -> float:
    """The largest difference, at tokens that are no padding; infinite for other shapes."""
    ours, theirs = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    if ours.size == theirs.size and ours.shape != theirs.shape:
        ours = ours.reshape(theirs.shape)
    if ours.shape != theirs.shape:
        return float("inf")
    if mask is not None and theirs.shape[:2] == mask.shape:
        ours, theirs = ours[mask.astype(bool)], theirs[mask.astype(bool)]
    return float(np.abs(ours - theirs).max(initial=0.0))


def _ids(tokenizer: Any, texts: list[str]) -> list[list[int]]:
    return [list(map(int, row)) for row in tokenizer.encode(texts, max_length=64).input_ids]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", nargs="+", default=[], help="interpreters of environments with the other libraries")
    parser.add_argument("--json", default=record.RESULTS / "published_forms.json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
