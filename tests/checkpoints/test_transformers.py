"""Folders of `save_pretrained`, loaded by PyTorch transformers.

The tests need torch and transformers, here or in the Python that KERASBERT_PEER_PYTHON names, which can be another environment.
"""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from kerasbert.encoders import preset
from kerasbert.ids import INPUT_NAMES

PEER = os.environ.get("KERASBERT_PEER_PYTHON") or (
    sys.executable if find_spec("torch") and find_spec("transformers") else None
)
TASKS = {
    "bert": ("TextClassifier", "TokenTagger", "QuestionAnswerer", "MultipleChoice", "MaskedLM", "Pretrainer", "SentenceEncoder"),
    "albert": ("TextClassifier", "TokenTagger", "QuestionAnswerer", "MultipleChoice", "MaskedLM", "Pretrainer", "SentenceEncoder"),
    "mobilebert": ("TextClassifier", "TokenTagger", "QuestionAnswerer", "MultipleChoice", "MaskedLM", "Pretrainer"),
    "distilbert": ("TextClassifier", "TokenTagger", "QuestionAnswerer", "MultipleChoice", "MaskedLM", "SentenceEncoder"),
    "electra": ("TextClassifier", "TokenTagger", "QuestionAnswerer", "MaskedLM", "ReplacedTokenDetector", "SentenceEncoder"),
    "roberta": ("TextClassifier", "TokenTagger", "QuestionAnswerer", "MultipleChoice", "MaskedLM", "SentenceEncoder"),
}  # fmt: skip
SMALL = {
    "vocab_size": 60,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 40,
    "initializer_range": 0.2,
}
FURTHER = {
    "albert": {"embedding_size": 16},
    "electra": {"embedding_size": 16},
    "mobilebert": {"embedding_size": 16, "intra_bottleneck_size": 16},
}


def make(model_type: str, kind: str):
    """A tiny task whose weights, biases and norm scales differ from their initial values."""
    from dataclasses import replace

    from kerasbert.encoders import encoder_class
    from kerasbert.tasks import TASKS as KINDS

    base = {"roberta": "roberta-base", "electra": "electra-small"}.get(model_type, model_type)
    base = f"{base}-base" if base in ("bert", "albert") else base
    config = replace(preset(base), **SMALL, **FURTHER.get(model_type, {}))
    task_class = KINDS[kind]
    pooler = task_class.pools if task_class.pools is not None else model_type in ("bert", "albert", "roberta")
    labels = {"labels": ("a", "b", "c")} if task_class.labelled else {}
    plain = {"normalize": False} if kind == "SentenceEncoder" else {}
    task = task_class(encoder_class(model_type)(config, pooler=pooler), None, sequence_length=12, **labels, **plain)
    draw = np.random.default_rng(0)
    for path, variable in sorted(task.variables_by_path().items()):
        if path.endswith(("bias", "gamma", "beta")):
            variable.assign(variable + draw.normal(0, 0.2, variable.shape))
    return task


def packed(task) -> dict[str, np.ndarray]:
    """Three rows of 12 tokens, two of them padded; no padding id in the text."""
    draw, rows = np.random.default_rng(1), 3
    lengths = np.array([12, 7, 9])
    mask = (np.arange(12) < lengths[:, None]).astype(np.int32)
    ids = np.where(mask, draw.integers(5, 60, (rows, 12)), task.config.pad_token_id).astype(np.int32)
    types = (np.arange(12) > 4).astype(np.int32) * mask * (task.config.type_vocab_size > 1)
    return dict(zip(INPUT_NAMES, (ids, mask, types.astype(np.int32)), strict=True))


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """Each task's outputs, and its folder with the outputs of transformers from one subprocess."""
    if PEER is None:
        pytest.skip("torch and transformers are not installed, and KERASBERT_PEER_PYTHON names no Python that has them")
    root, saved = tmp_path_factory.mktemp("saved"), {}
    for model_type, kinds in TASKS.items():
        for kind in kinds:
            task, folder = make(model_type, kind), root / f"{model_type}-{kind}"
            inputs = packed(task)
            if kind == "MultipleChoice":
                inputs = {name: values[None] for name, values in inputs.items()}
            task.save_pretrained(folder)
            accepted = {k: v for k, v in inputs.items() if k != "token_type_ids" or task.config.type_vocab_size}
            np.savez(folder / "inputs.npz", **accepted)
            outputs = task.encoder(inputs).sequence if kind == "SentenceEncoder" else task(inputs)
            saved[model_type, kind] = (folder, inputs["attention_mask"].reshape(-1, 12), outputs)
    script = Path(__file__).with_name("transformers_peer.py")
    process = subprocess.run(
        [PEER, script, *(folder for folder, _, _ in saved.values())], capture_output=True, text=True
    )
    assert process.returncode == 0, process.stderr[-2000:]
    return saved


@pytest.mark.parametrize(("model_type", "kind"), [(name, kind) for name, kinds in TASKS.items() for kind in kinds])
def test_transformers_loads_every_key_with_equal_outputs(compared, model_type, kind):
    folder, mask, outputs = compared[model_type, kind]
    loading = json.loads((folder / "loading.json").read_text())
    assert loading == {"missing_keys": [], "unexpected_keys": [], "mismatched_keys": []}
    reference = dict(np.load(folder / "outputs.npz"))
    if kind == "SentenceEncoder":
        outputs = {"last_hidden_state": outputs}
    elif kind == "Pretrainer":
        outputs = {name.replace("seq_relationship_logits", _pair_logits(reference)): v for name, v in outputs.items()}
    elif not isinstance(outputs, dict):
        outputs = {"logits": outputs}
    assert outputs.keys() <= reference.keys()
    for name, values in outputs.items():
        values, expected = np.asarray(values), reference[name]
        assert values.shape == expected.shape
        if values.shape[:2] == mask.shape:
            values, expected = values[mask > 0], expected[mask > 0]
        np.testing.assert_allclose(values, expected, atol=1e-5, rtol=1e-5)


def _pair_logits(reference) -> str:
    return next(name for name in reference if name in ("seq_relationship_logits", "sop_logits"))
