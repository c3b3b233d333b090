"""What is read from a cache is what the teacher says, and never what another one said."""

import numpy as np
import pytest
import tensorflow as tf

from kerasbert.errors import KerasBertError
from kerasbert.tasks import MaskedLM
from kerasbert.training.distillation import (
    AttentionRelations,
    Attentions,
    Distiller,
    HiddenStates,
    PatientStates,
    SoftLabels,
)
from kerasbert.training.distillation.cache import open_teacher_cache
from kerasbert.training.distillation.teacher import TeacherRunner

pytestmark = pytest.mark.one_layer


def folders(place):
    return sorted(entry.name for entry in place.iterdir())


@pytest.mark.long
def test_cache_keeps_results_and_runs_the_teacher_once(models, fit, tmp_path, capsys, monkeypatch):
    found = []
    for cache in (None, tmp_path, tmp_path):
        objectives = [SoftLabels(2.0), HiddenStates(), Attentions(), AttentionRelations(), PatientStates({0: 0})]
        distiller = Distiller(models.student(), models.teacher, objectives, label_weight=0.5, cache=cache)
        if len(found) == 2:  # nobody is asked any more
            monkeypatch.setattr(TeacherRunner, "tensors", lambda *arguments: pytest.fail("the teacher was asked"))
        found.append(fit(distiller, models.texts, models.labels, batch_size=12))
        said = capsys.readouterr().err
        assert ("note: writing" in said) == (len(found) == 2)
    assert len(folders(tmp_path)) == 1
    for name, values in found[0].items():
        np.testing.assert_allclose(found[1][name], values, rtol=1e-4)
        assert found[2][name] == found[1][name]


@pytest.mark.long
def test_teacher_data_and_objectives_determine_the_cache_folder(tiny, models, tmp_path):
    first, student = tiny.narrow(0), tiny.narrow(1)

    def train(objective, teacher=first, texts=models.texts[:6], **options):
        distiller = Distiller(student, teacher, [objective], cache=tmp_path, **options)
        for _ in distiller.dataset(texts, shuffle=True):
            pass
        return len(folders(tmp_path))

    assert [train(SoftLabels()), train(SoftLabels()), train(SoftLabels(4.0))] == [
        1,
        1,
        1,
    ]  # a temperature is the student's affair
    assert train(PatientStates({0: 0})) == 2
    assert train(SoftLabels(), texts=models.texts[6:12]) == 3
    assert train(SoftLabels(), tiny.narrow(7)) == 4
    assert train(SoftLabels(), cache_type="float16") == 5


@pytest.mark.long
def test_damaged_cache_and_overflow_are_refused(tiny, models, tmp_path):
    student, teacher = tiny.narrow(1), tiny.narrow(0)

    def read(teacher=teacher, **options):
        Distiller(student, teacher, [SoftLabels()], cache=tmp_path, **options).dataset(models.texts[:6], shuffle=True)

    read()
    (file,) = tmp_path.glob("*/outputs.logits.bin")
    file.write_bytes(file.read_bytes()[:-4])
    with pytest.raises(KerasBertError, match="damaged cache; delete"):
        read()
    loud = tiny.narrow(7)
    loud.classifier.bias.assign([1e6, -1e6])
    before = folders(tmp_path)
    with pytest.raises(KerasBertError, match="numbers within float16 .* cache as float32"):
        read(loud, cache_type="float16")
    assert folders(tmp_path) == before  # nothing half-written


def test_grouped_rows_and_token_axes_are_cached(tiny, tmp_path):
    """Written in order of length, read in any order, padded to any length."""
    rows = tiny.classifier().features(["a good film", "so bad", "the song was very lovely and it was warm"])[1]

    def compute(index):
        length = int(rows.lengths[index].max())
        values = np.arange(len(index) * 2 * length * 3, dtype=np.float32).reshape(len(index) * 2, length, 3) + 1
        values += 1000 * np.repeat(index, 2)[:, None, None]
        return {"states.1": (values, (1,))}

    cache = open_teacher_cache(tmp_path, {}, rows, compute, batch_size=1)
    found = cache.read(np.array([2, 0]), 12)["states.1"].reshape(2, 2, 12, 3)
    lengths = rows.lengths[[2, 0]]
    assert [int((row[0, :, 0] > 0).sum()) for row in found] == list(lengths)
    assert found[0].max() // 1000 == 2 and found[1].max() // 1000 == 0


@pytest.mark.long
def test_changing_data_are_refused_with_a_cache(tiny, models, fit, tmp_path):
    model = MaskedLM(tiny.encoder(num_hidden_layers=1, hidden_size=8), tiny.tokenizer(), sequence_length=12)
    teacher = MaskedLM(tiny.encoder(num_hidden_layers=1, hidden_size=8), tiny.tokenizer(), sequence_length=12)
    distiller = Distiller(model, teacher, [SoftLabels()], cache=tmp_path)
    with pytest.raises(KerasBertError, match="masked anew; train without cache"):
        fit(distiller, models.texts)
    cached = Distiller(models.student(), models.teacher, [SoftLabels()], cache=tmp_path)
    with pytest.raises(KerasBertError, match="received a dataset"):
        fit(cached, tf.data.Dataset.from_tensor_slices(models.texts))
