"""`FewShotClassifier` and its file: taught, opened, evaluated, taught anew; what is refused."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.errors import KerasBertError

ALARM = ["wake me at six", "set an alarm for noon", "alarm at seven please", "wake me up early"]
MUSIC = ["play some jazz", "the next song please", "turn the music up", "play the album again"]
TEXTS, LABELS = ALARM + MUSIC, ["alarm"] * 4 + ["music"] * 4
OTHERS = ["what is the capital of france", "my soup was cold", "he lived in the nineteenth century"]


@pytest.fixture(scope="module")
def few():
    return kb.FewShotClassifier("search").fit(TEXTS, LABELS)


@pytest.fixture(scope="module")
def file(few, tmp_path_factory):
    return few.save(tmp_path_factory.mktemp("few") / "taught.tflite")


def test_texts_get_the_label_of_similar_examples(few):
    assert few("please wake me at nine")["label"] == "alarm"
    assert [each["label"] for each in few(["another song", "an alarm"])] == ["music", "alarm"]
    assert few.labels == ("alarm", "music")
    assert few.taught.examples == (4, 4) and set(few.taught.accuracy) == {"centre", "logistic"}


def test_predict_returns_probabilities(few):
    shares = few.predict(["another song", "an alarm"])
    assert shares.shape == (2, 2) and shares.dtype == np.float32
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-6)
    assert shares[0, 1] == few("another song")["score"]


def test_the_file_predicts_the_same_without_tensorflow(few, file):
    code = f"""
import sys, kerasbert as kb
print(kb.open({str(file)!r})("another song")["score"])
assert "tensorflow" not in sys.modules and "tf_keras" not in sys.modules
"""
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert float(output) == few("another song")["score"]


def test_the_graph_of_the_encoder_is_not_changed(file):
    encoder, taught = (kb.export.TFLiteFile.read(path) for path in (kb.zoo.find("search").path, file))
    size = min(len(encoder.content), len(taught.content)) // 2
    assert taught.content[:size] == encoder.content[:size]
    metadata = taught.require_metadata("to test")
    assert (metadata.task, metadata.processor.name, metadata.labels) == (
        "FewShotClassifier",
        "few_shot",
        ("alarm", "music"),
    )
    assert taught.signatures == encoder.signatures


def test_a_file_is_scored_and_taught_anew(file):
    assert kb.open(file).score(TEXTS, LABELS)["accuracy"] == 1.0
    again = kb.FewShotClassifier(file, method="centre").fit(TEXTS[:6], ["early"] * 4 + ["loud"] * 2)
    assert again("wake me")["label"] == "early" and again.taught.method == "centre"
    expected = kb.FewShotClassifier("search", method="centre").fit(TEXTS[:6], ["early"] * 4 + ["loud"] * 2)
    np.testing.assert_allclose(again.predict(OTHERS), expected.predict(OTHERS), atol=1e-6)


@pytest.mark.parametrize("examples", [[], OTHERS])
def test_other_texts_get_the_fallback(examples, tmp_path):
    few = kb.FewShotClassifier("search", fallback="oos").fit(TEXTS + examples, LABELS + ["oos"] * len(examples))
    assert few.labels == ("alarm", "music") and 0 < few.taught.fallback_below < 1
    below = kb.FewShotClassifier("search", fallback="oos", fallback_below=0.999).fit(TEXTS, LABELS)
    prediction = below("what is the capital of france")
    assert prediction["label"] == "oos" and prediction["score"] == max(prediction["probabilities"].values())
    scores = below.score([*TEXTS, *OTHERS], [*LABELS, *["oos"] * 3])
    assert scores["out-of-scope recall"] == 1.0
    opened = kb.open(below.save(tmp_path / "below.tflite"))
    assert opened("what is the capital of france") == prediction
    assert opened.score([*TEXTS, *OTHERS], [*LABELS, *["oos"] * 3]) == scores
    assert "out-of-scope recall" not in opened.score(TEXTS, LABELS)


def test_one_example_of_each_class_is_enough_without_a_fallback():
    few = kb.FewShotClassifier("search").fit([ALARM[0], MUSIC[0]], ["alarm", "music"])
    assert few("wake me at nine")["label"] == "alarm"
    assert few.taught.method == "centre" and few.taught.accuracy == {}
    with pytest.raises(KerasBertError, match="two examples of a class or more to choose the probability"):
        kb.FewShotClassifier("search", fallback="oos").fit([ALARM[0], MUSIC[0]], ["alarm", "music"])


@pytest.mark.long
def test_a_table_is_taught_and_a_folder_is_converted(tiny, tmp_path):
    tiny.sentence_encoder().save_pretrained(tmp_path / "encoder")
    rows = "".join(
        f"the film was {word}\t{label}\n" for word, label in zip(["good", "fine", "bad", "awful"], "ppnn", strict=True)
    )
    (tmp_path / "rows.tsv").write_text("text\tlabel\n" + rows)
    few = kb.FewShotClassifier(tmp_path / "encoder", method="logistic").fit(kb.data.read_table(tmp_path / "rows.tsv"))
    assert few.labels == ("n", "p")
    saved = few.save(tmp_path / "few.tflite")
    np.testing.assert_allclose(kb.open(saved)("the film was good")["score"], few("the film was good")["score"])


def test_threads_get_the_answers_of_one_thread(few):
    expected, wrong = few.predict(TEXTS), []

    def run():
        for _ in range(3):
            if not np.array_equal(few.predict(TEXTS), expected):
                wrong.append(1)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize(
    ("texts", "labels", "message"),
    [
        (TEXTS, ["alarm"] * 8, "at least two different labels, received only 'alarm'"),
        ([], [], "at least two different labels, received no rows"),
        (TEXTS, LABELS[:3], "a label for each of the 8 texts, received 3"),
        (TEXTS, None, "a label for each of the 8 texts, received none"),
        (
            [*TEXTS, "Play some  jazz".lower()],
            [*LABELS, "alarm"],
            "received two for 1 of them, such as in rows 4 and 8",
        ),
        (list(zip(TEXTS, TEXTS, strict=True)), LABELS, "single texts to teach, received pairs"),
        (["\u3042", "\u3044"], ["a", "b"], "expected texts with words that the model's tokenizer knows"),
        ("wake me", ["a"], "texts"),
        (TEXTS, 5, "a label for each text, received 5"),
        (TEXTS, "ab", "a label for each text, received 'ab'"),
        (TEXTS, [*LABELS[:7], None], "row 7: expected a label, received None"),
        (TEXTS, [*LABELS[:7], ""], "row 7: expected a label, received ''"),
        (TEXTS, [*LABELS[:7], "a\nb"], "labels of one line each"),
    ],
)
@pytest.mark.long_cases
def test_examples_that_teach_nothing_are_refused(texts, labels, message):
    with pytest.raises(KerasBertError, match=message):
        kb.FewShotClassifier("search").fit(texts, labels)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "center"}, "a method of"),
        ({"fallback": ""}, "`fallback=` as a label"),
        ({"fallback_below": 0.5}, "`fallback_below=` as a probability from 0 to 1, with `fallback=`"),
        ({"fallback": "oos", "fallback_below": 2}, "`fallback_below=` as a probability"),
        ({"keep": 0}, "`keep=` as a number above 0"),
        ({"model": "intents"}, "a sentence encoder to teach, such as search, received"),
        ({"model": "serch"}, "search"),
        ({"threads": 0}, "threads"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(KerasBertError, match=message):
        kb.FewShotClassifier(**{"model": "search", **settings})


def test_nothing_taught_predicts_nothing(tmp_path):
    few = kb.FewShotClassifier("search")
    for call in (
        lambda: few("x"),
        lambda: few.predict(["x"]),
        lambda: few.save(tmp_path / "x.tflite"),
        lambda: few.labels,
    ):
        with pytest.raises(KerasBertError, match=r"labels that were taught, received none; call fit"):
            call()
    assert not (tmp_path / "x.tflite").exists()


def test_labels_that_no_class_has_and_paths_that_are_none_are_refused(file):
    for path in (None, 5, ""):
        with pytest.raises(KerasBertError, match="a file to write"):
            kb.export.TFLiteFile.read(file).save(path)
    with pytest.raises(KerasBertError, match="weather"):
        kb.open(file).score(["is it raining"], ["weather"])
