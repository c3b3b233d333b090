"""A teacher that reads words in tokens of two vocabularies, and the student with the smaller one."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

from kerasbert.data.dataset import Dataset
from kerasbert.errors import KerasBertError
from kerasbert.processors import IGNORED
from kerasbert.tasks import MaskedLM, TextClassifier
from kerasbert.tasks.auto import load_task
from kerasbert.text import WordPiece
from kerasbert.training import RunFolder, TrainConfig, adamw, train
from kerasbert.training.distillation import DualVocabulary, small_vocabulary_student
from kerasbert.training.distillation.mixed_words import TwoVocabularies, mixed_rows
from kerasbert.training.distillation.two_vocabulary_teacher import two_vocabulary_teacher, vocabulary_logits
from kerasbert.training.distillation.weight_projections import WeightProjections
from tests.kills import KillAfter, Killed

SIZE = 60  # of the student's vocabulary: the characters of the texts, and some pieces


@pytest.fixture(scope="module")
def texts(tiny):
    return tiny.rows(40, seed=4)[0]


@pytest.fixture(scope="module")
def teacher(tiny):
    """A language model with 100 words and random weights; tests must not change it."""
    keras.utils.set_random_seed(0)
    words = (*tiny.vocabulary, *(f"word{number}" for number in range(100 - len(tiny.vocabulary))))
    sizes = {"vocab_size": len(words), "hidden_size": 16, "intermediate_size": 32, "num_attention_heads": 2}
    return MaskedLM(tiny.encoder(pooler=False, **sizes), WordPiece(words), sequence_length=12)


@pytest.fixture(scope="module")
def vocabularies(teacher, texts):
    student = small_vocabulary_student(teacher, texts, vocabulary_size=SIZE, hidden_size=8, layers=1)
    return TwoVocabularies(teacher.tokenizer, student.tokenizer)


def student_of(teacher, texts, **sizes):
    keras.utils.set_random_seed(1)
    return small_vocabulary_student(teacher, texts, **{"vocabulary_size": SIZE, "hidden_size": 8, "layers": 1, **sizes})


def test_sizes_of_a_student(teacher, texts):
    student = student_of(teacher, texts, layers=None, hidden_size=None)
    config = student.config
    assert (config.hidden_size, config.intermediate_size, config.num_attention_heads) == (8, 16, 1)
    assert config.num_hidden_layers == 2 and student.sequence_length == 12
    assert config.vocab_size == student.tokenizer.vocabulary_size <= SIZE
    assert small_vocabulary_student(teacher, texts, SIZE).tokenizer.vocabulary == student.tokenizer.vocabulary


def test_each_word_has_tokens_of_one_vocabulary(vocabularies, texts):
    rows = mixed_rows(texts, vocabularies, 12)
    both = (*vocabularies.teacher.vocabulary, *vocabularies.student.vocabulary)
    first, random, by_student = vocabularies.teacher.vocabulary_size, np.random.default_rng(0), []
    for row in range(len(rows.example)):
        plain, _ = rows.mixed(row, 0.0, random)
        np.testing.assert_array_equal(plain[1:-1], rows.teacher[row])
        small, _ = rows.mixed(row, 1.0, random)
        known = [i for i in small[1:-1] if i != vocabularies.teacher.unk_id]
        assert min(known) >= first and small[0] == vocabularies.teacher.cls_id
        for _ in range(20):
            ids, words = rows.mixed(row, 0.3, random)
            assert len(ids) <= 12 and (np.diff(words[1:-1]) >= 0).all()
            spelled = [
                "".join(both[i].removeprefix("##") for i in ids[words == word]) for word in range(words.max() + 1)
            ]
            assert " ".join(spelled) == " ".join(_words(rows, row))
            for word in range(words.max() + 1):
                assert len({i >= first for i in ids[words == word]}) == 1
                by_student.append(ids[words == word][0] >= first)
    assert np.mean(by_student) == pytest.approx(0.3, abs=0.02)


def _words(rows, row):
    vocabulary, words = rows.vocabularies.student.vocabulary, rows.student_words[row]
    return [
        "".join(vocabulary[i].removeprefix("##") for i in rows.student[row][words == word])
        for word in range(words.max() + 1)
    ]


def test_rows_hold_all_words_of_a_text_once(vocabularies):
    text = " ".join(["good film", "so very bad"] * 5)
    rows = mixed_rows([text, "fine"], vocabularies, 12)
    assert [word for row in np.flatnonzero(rows.example == 0) for word in _words(rows, row)] == text.split()
    assert all(len(ids) <= 12 for ids in rows.student_features().token_lists.input_ids)


def test_the_copy_of_the_teacher_reads_its_own_tokens_as_before(teacher, vocabularies, texts):
    copy, inputs = two_vocabulary_teacher(teacher, vocabularies), teacher.pack(texts[:3])
    logits, first = copy(inputs), vocabularies.teacher.vocabulary_size
    np.testing.assert_allclose(logits[..., :first], teacher(inputs), atol=1e-5)
    table, number = copy.encoder.embeddings.word.table, vocabularies.student.vocabulary.index("##s")
    np.testing.assert_allclose(table[first + number], table[vocabularies.teacher.vocabulary.index("##s")], atol=1e-6)


def test_a_token_is_predicted_among_its_own_vocabulary():
    shares = tf.nn.softmax(vocabulary_logits(tf.zeros((2, 5)), tf.constant([1, 4]), 3)).numpy()
    np.testing.assert_allclose(shares, [[1 / 3] * 3 + [0] * 2, [0] * 3 + [0.5] * 2], atol=1e-6)


@pytest.mark.parametrize("direction", ["up", "down"])
def test_projections_bring_weights_of_two_widths_together(teacher, texts, vocabularies, direction):
    student, copy = student_of(teacher, texts), two_vocabulary_teacher(teacher, vocabularies)
    projections = WeightProjections(student.encoder, copy.encoder, vocabularies.student_ids, direction, {0: 1})
    assert set(projections.matrices) == {(16, 8), (32, 16)}
    kernel, other = (task.encoder.layers[i].attention.query.kernel.numpy() for task, i in ((student, 0), (copy, 1)))
    matrix = projections.matrices[16, 8].numpy()
    up, down = matrix @ kernel @ matrix.T - other, matrix.T @ other @ matrix - kernel
    shares = (np.square(up if direction == "up" else down).sum() / np.square(other).sum()).item()
    found = [path for path, *_ in projections._pairs]
    projections._pairs = [pair for pair in projections._pairs if pair[0] == "layers.0.attention.query.kernel"]
    assert projections.loss().numpy() == pytest.approx(shares, rel=1e-5)
    assert "embeddings.word.table" in found and "embeddings.norm.gamma" not in found


@pytest.mark.long
def test_both_models_learn_and_the_given_teacher_stays(teacher, texts, tmp_path):
    student, before = student_of(teacher, texts), teacher.fingerprint()
    dual = DualVocabulary(student, teacher, projection_weight=1.0)
    first = dual.dual_teacher.fingerprint()
    dual.compile(adamw(1e-2, warmup=0, decay="constant"), run_eagerly=True)
    history = dual.fit(texts[:12], epochs=4, batch_size=64, seed=0, verbose=0).history
    assert list(history) == ["loss", "student_loss", "teacher_loss", "projection_loss", "masked_accuracy"]
    parts = [np.array(history[name]) for name in ("student_loss", "teacher_loss", "projection_loss")]
    np.testing.assert_allclose(history["loss"], sum(parts), rtol=1e-4)
    assert all(part[-1] < part[0] for part in parts)
    assert teacher.fingerprint() == before and dual.dual_teacher.fingerprint() != first
    student.save_pretrained(tmp_path / "student")
    classifier = TextClassifier.from_pretrained(tmp_path / "student", labels=["a", "b"])
    assert classifier.config.hidden_size == 8 and len(classifier.predict(["a good film"])) == 1


@pytest.mark.parametrize("name", ["distilbert", "electra", "mobilebert", "albert"])
@pytest.mark.long_cases
def test_other_architectures_shrink_too(tiny, texts, name):
    from kerasbert import encoders

    classes = {"distilbert": "DistilBert", "electra": "Electra", "mobilebert": "MobileBert", "albert": "Albert"}
    made = (getattr(encoders, f"{classes[name]}{kind}") for kind in ("Config", "Encoder"))
    config, encoder = made
    sizes = {"vocab_size": 100, "hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2}
    further = {} if name == "distilbert" else {"embedding_size": 8}
    further |= {"intra_bottleneck_size": 8} if name == "mobilebert" else {}
    words = (*tiny.vocabulary, *(f"word{number}" for number in range(100 - len(tiny.vocabulary))))
    teacher = MaskedLM(
        encoder(config(**{**tiny.sizes, **sizes, **further}), pooler=False), WordPiece(words), sequence_length=12
    )
    dual = DualVocabulary(student_of(teacher, texts), teacher)
    compared = {path.split(".")[0] for path, *_ in dual.projections._pairs}
    assert {"embeddings", "layers"} <= compared and np.isfinite(dual.projections.loss())
    np.testing.assert_allclose(
        dual.dual_teacher(teacher.pack(texts[:1]))[..., :100], teacher(teacher.pack(texts[:1])), atol=1e-5
    )


def test_labels_are_the_masked_tokens_of_each_vocabulary(teacher, texts):
    dual = DualVocabulary(student_of(teacher, texts), teacher)
    (inputs, labels), *_ = dual._dataset(texts, None, 40, shuffle=True, seed=3)
    sizes = {"student": dual.student.config.vocab_size, "teacher": dual.vocabularies.size}
    for name, size in sizes.items():
        masked = labels[name].numpy() != IGNORED
        tokens = inputs[name]["attention_mask"].numpy().sum() - 2 * len(masked)
        assert masked.sum() / tokens == pytest.approx(0.17, abs=0.05)  # one token of a short row is more than 15 %
        assert inputs[name]["input_ids"].numpy().max() < size and labels[name].numpy().max() < size
    wanted = labels["teacher"].numpy()[labels["teacher"].numpy() != IGNORED]
    assert 0.3 < np.mean(wanted >= dual.vocabularies.teacher.vocabulary_size) < 0.9


def test_wrong_models_and_numbers_are_refused(tiny, teacher, texts):
    student = student_of(teacher, texts)
    with pytest.raises(KerasBertError, match="a vocabulary_size below the teacher's 100 tokens, received 100"):
        small_vocabulary_student(teacher, texts, 100)
    with pytest.raises(KerasBertError, match="the special tokens and the characters of these texts, received 8"):
        small_vocabulary_student(teacher, texts, 8)
    with pytest.raises(KerasBertError, match="words repeat, received 1, of which only characters"):
        small_vocabulary_student(teacher, ["fine day"], SIZE)
    with pytest.raises(KerasBertError, match="hidden_size from 1 to 16, received 20"):
        small_vocabulary_student(teacher, texts, SIZE, hidden_size=20)
    with pytest.raises(KerasBertError, match="a kb.MaskedLM as the teacher .*received TextClassifier"):
        small_vocabulary_student(tiny.narrow(), texts)
    with pytest.raises(KerasBertError, match="0 texts without any word"):
        small_vocabulary_student(teacher, [], SIZE)
    for settings, expected in (
        ({"mixing_rate": 1.5}, "mixing_rate from 0 to 1"),
        ({"projection": "side"}, "a projection of up, down, received 'side'"),
        ({"projection_weight": -1}, "projection_weight of at least 0"),
    ):
        with pytest.raises(KerasBertError, match=expected):
            DualVocabulary(student, teacher, **settings)
    with pytest.raises(KerasBertError, match="one form of words"):
        DualVocabulary(MaskedLM(student.encoder, WordPiece(student.tokenizer.vocabulary, lowercase=False)), teacher)
    dual = DualVocabulary(student, teacher)
    with pytest.raises(KerasBertError, match="expected texts for two vocabularies, received dict"):
        dual.features(teacher.pack(["a film"]))
    with pytest.raises(KerasBertError, match="expected single texts for two vocabularies, received pairs"):
        dual.features([("a film", "it was good")])


@pytest.mark.long
def test_resumed_run_equals_unbroken_run(teacher, texts, tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(texts[:8]))
    table, found = Dataset(path, texts[:8]), []
    settings = TrainConfig(epochs=2, batch_size=12, seed=5, checkpoint_minutes=0)
    for stops in ((None,), (2, None)):
        folder = RunFolder(tmp_path / f"run{len(found)}")
        folder.begin({})
        for stop in stops:
            dual = DualVocabulary(student_of(teacher, texts), teacher)
            dual.compile(adamw(3e-3), run_eagerly=True)
            callbacks = [] if stop is None else [KillAfter(stop)]
            try:
                result = train(
                    dual, table, None, settings, folder, resume=stop is None and len(stops) > 1, callbacks=callbacks
                )
            except Killed:
                continue
        found.append((result.epochs, dual.student.fingerprint()))
    assert found[0] == found[1] and load_task(tmp_path / "run1").fingerprint() == found[0][1]
