"""Every architecture against what PyTorch transformers computes from the same checkpoint."""

from pathlib import Path

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.ids import INPUT_NAMES

GOLDEN = Path(__file__).parents[1] / "golden"
FOLDERS = sorted(path.name for path in GOLDEN.iterdir() if path.is_dir())
HEADS = {
    "albert-sequence-classification": ("TextClassifier", ["logits"]),
    "albert-two-groups": ("Pretrainer", ["prediction_logits", "sop_logits"]),
    "bert-multiple-choice": ("MultipleChoice", ["logits"]),
    "bert-pretraining": ("Pretrainer", ["prediction_logits", "seq_relationship_logits"]),
    "bert-sequence-classification": ("TextClassifier", ["logits"]),
    "bert-token-classification": ("TokenTagger", ["logits"]),
    "distilbert-masked-lm": ("MaskedLM", ["logits"]),
    "electra-discriminator": ("ReplacedTokenDetector", ["logits"]),
    "mobilebert-layer-norm-gelu": ("Pretrainer", ["prediction_logits", "seq_relationship_logits"]),
    "mobilebert-pretraining": ("Pretrainer", ["prediction_logits", "seq_relationship_logits"]),
    "mobilebert-question-answering": ("QuestionAnswerer", ["start_logits", "end_logits"]),
    "mobilebert-tiny-style": ("Pretrainer", ["prediction_logits", "seq_relationship_logits"]),
}


def close(ours, theirs, real=None):
    """Within 1e-5, at tokens that are no padding where `real` (rows, length) is given."""
    ours, theirs = (np.asarray(array) if real is None else np.asarray(array)[real] for array in (ours, theirs))
    np.testing.assert_allclose(ours, theirs, atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", FOLDERS)
@pytest.mark.long_cases
def test_hidden_states_and_attentions_are_those_of_pytorch(name):
    encoder, reference = kb.load_encoder(GOLDEN / name), dict(np.load(GOLDEN / name / "reference.npz"))
    output = encoder({key: reference[key] for key in INPUT_NAMES}, output_hidden_states=True, output_attentions=True)
    real = reference["attention_mask"].astype(bool)
    expected = [
        [reference[key] for key in sorted(reference, key=_number) if key.startswith(kind) and _number(key) >= 0]
        for kind in ("hidden_", "attention_")
    ]
    assert [len(output.hidden_states), len(output.attentions)] == [len(states) for states in expected]
    for ours, theirs in zip(output.hidden_states, expected[0], strict=True):
        close(ours, theirs, real)
    for ours, theirs in zip(output.attentions, expected[1], strict=True):
        close(np.moveaxis(ours, 2, 1), np.moveaxis(theirs, 2, 1), real)
    np.testing.assert_array_equal(output.sequence, output.hidden_states[-1])
    report = encoder.load_report
    assert (report.missing, report.unused, report.wrong_shape) == ((), (), ())


def _number(key: str) -> int:
    ending = key.rpartition("_")[2]
    return int(ending) if ending.isdecimal() else -1


@pytest.mark.long_cases("albert-two", "bert-pre", "mobilebert-question", "electra")
@pytest.mark.parametrize("name", HEADS)
def test_heads_are_those_of_pytorch(name):
    kind, outputs = HEADS[name]
    task, reference = kb.load_task(GOLDEN / name), dict(np.load(GOLDEN / name / "reference.npz"))
    assert type(task).__name__ == kind
    assert (task.load_report.missing, task.load_report.unused) == ((), ())
    inputs = {key: reference[key] for key in INPUT_NAMES}
    if kind == "MultipleChoice":
        inputs = {key: value[None] for key, value in inputs.items()}
    found = task(inputs)
    found = found if isinstance(found, dict) else {"logits": found}
    assert sorted(found) == sorted(outputs)
    for output in outputs:
        per_token = reference[output].shape[:2] == reference["input_ids"].shape
        close(found[output], reference[output], reference["attention_mask"].astype(bool) if per_token else None)


@pytest.mark.long_cases("albert-two", "bert-pre", "mobilebert-question", "electra")
@pytest.mark.parametrize("name", HEADS)
def test_a_saved_task_has_the_tensors_that_it_was_loaded_from(name, tmp_path):
    from safetensors.numpy import load_file

    task = kb.load_task(GOLDEN / name)
    task.save_pretrained(tmp_path / "saved")
    before, after = (load_file(folder / "model.safetensors") for folder in (GOLDEN / name, tmp_path / "saved"))
    unused = {key for key, _ in task.load_report.ignored}
    assert after.keys() == before.keys() - unused
    for key, tensor in after.items():
        np.testing.assert_array_equal(tensor, before[key])
    assert type(kb.load_task(tmp_path / "saved")) is type(task)
