"""Heads that cannot be trained or exported are refused before training, in one line."""

import json

import numpy as np
import pytest
import tensorflow as tf
import tf_keras as keras

import kerasbert as kb
from kerasbert.cli import main
from kerasbert.errors import KerasBertError
from kerasbert.tasks.compiling import CompilingModel

pytestmark = pytest.mark.one_layer
SHARED = tf.Variable(tf.ones((8, 2)))
calls = []


def counted(encoded, mask):
    calls.append(1)
    return encoded.pooled[:, :2]


class Counting(keras.layers.Layer):
    def __init__(self, outputs):
        super().__init__()
        self.steps = 0

    def call(self, encoded):
        self.steps += 1
        return encoded.pooled[:, :2]


def with_texts(outputs, width):
    return keras.layers.Dense(outputs)


WRONG = {
    "no state": (lambda encoded: encoded.hidden_states[7][:, 0, :2], "IndexError.*2 hidden states and 1 attentions"),
    "no pooled": (lambda encoded: encoded.logits, "AttributeError: .*logits"),
    "counts": (Counting, "without side effects, received one that changes self.steps"),
    "counts outside": (counted, "without side effects, received one that changes calls"),
    "numpy": (lambda encoded: tf.constant(encoded.pooled.numpy()[:, :2]), "operators alone.*use tf functions"),
    "random": (lambda encoded: encoded.pooled[:, :2] + np.random.rand(), "received another output on the same input"),
    "branch": (
        lambda encoded: encoded.pooled[:, :2] if tf.reduce_sum(encoded.pooled) > 0 else encoded.pooled[:, 2:4],
        "operators alone",
    ),
    "ragged": (
        lambda encoded, mask: tf.RaggedTensor.from_row_lengths(tf.ones(4), [3, 1]),
        r"dense tensor of floats \(batch, outputs\), here \(2, 2\), received a RaggedTensor",
    ),
    "rank": (lambda encoded: encoded.sequence[..., :2], r"here \(2, 2\), received one of shape \(2, 7, 2\)"),
    "width": (lambda encoded: encoded.pooled, r"here \(2, 2\), received one of shape \(2, 8\)"),
    "integers": (lambda encoded: tf.ones((2, 2), tf.int32), "received one of int32"),
    "fixed token": (lambda encoded: encoded.sequence[:, 5, :2], "any number of rows and tokens, received InvalidArg"),
    "fixed rows": (
        lambda encoded: tf.reshape(encoded.sequence, (2, -1))[:, :2],
        r"received ValueError: shape \(2, 2\)",
    ),
    "no operator": (
        lambda encoded: tf.linalg.eigvalsh(tf.matmul(encoded.sequence, encoded.sequence, transpose_a=True))[:, :2],
        "operators that a .tflite file has, received SelfAdjointEigV2; use others",
    ),
    "python": (
        lambda encoded: tf.py_function(lambda x: x, [encoded.pooled[:, :2]], tf.float32),
        "received EagerPyFunc",
    ),
    "outside weights": (lambda encoded: encoded.pooled @ SHARED, "weights that its class or function makes"),
    "no call": (lambda: None, "a call with encoded and mask, received one with nothing"),
    "arguments": (with_texts, "TypeError: with_texts.. missing 1 required positional argument: 'width'"),
    "no layer": (lambda outputs: outputs, "a layer of tf_keras or a function, received int"),
}


@pytest.mark.parametrize("kind", list(WRONG))
@pytest.mark.long_cases
def test_a_wrong_head_is_refused(tiny, kind):
    head, message = WRONG[kind]
    name = "bad-" + kind.replace(" ", "-")
    kb.register_head(name, head)
    with pytest.raises(KerasBertError, match=message) as error:
        tiny.narrow(head=name)
    assert "\n" not in str(error.value) and str(error.value).startswith(f"head {name!r}: expected")


def test_two_heads_of_one_name_are_refused_and_the_same_class_again_is_not():
    def define():
        @kb.register_head("again")
        class Again(keras.layers.Layer):
            pass

        return Again

    assert define() is not define()
    with pytest.raises(KerasBertError, match="one head of the name 'again', received .*counted beside .*Again"):
        kb.register_head("again", counted)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("default",), "not 'default', received 'default'"),
        ((3,), "received 3"),
        (("instance", keras.layers.Layer()), "a class or a function"),
    ],
)
def test_a_name_or_an_object_that_is_no_head_is_refused(arguments, message):
    with pytest.raises(KerasBertError, match=message):
        kb.register_head(*arguments) if len(arguments) > 1 else kb.register_head(*arguments)(counted)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"head": "unknown-head"}, "registered head, received 'unknown-head'; register it by"),
        ({"head_settings": {"a": 1}}, "expected head= with head_settings="),
        ({"head": "plain", "head_settings": {"a": {1}}}, "as a dict of numbers, texts"),
        ({"head": "plain", "head_settings": [1]}, "as a dict of numbers, texts"),
    ],
)
def test_settings_of_heads_are_checked(tiny, settings, message):
    with pytest.raises(KerasBertError, match=message):
        tiny.narrow(**settings)


def test_a_head_that_reads_padding_is_noted(tiny, capsys):
    kb.register_head("plain", _plain)
    tiny.narrow(head="plain")
    assert "its outputs depend on padding" in capsys.readouterr().err


def _plain(outputs):
    dense = keras.layers.Dense(outputs)
    return lambda encoded, mask: dense(tf.reduce_mean(encoded.sequence, axis=1))


def test_a_model_of_keras_is_refused_with_the_way_to_heads():
    model = keras.Sequential([keras.layers.Dense(2, input_shape=(4,))])
    for call in (kb.export.convert, kb.compression.quantize):
        with pytest.raises(KerasBertError, match="expected a task.*received a Sequential.*see kb.register_head"):
            call(model)


def test_integer_only_models_refuse_the_head(tiny):
    kb.register_head("plain", _plain)
    with pytest.raises(KerasBertError, match="with the head 'plain', which stays in float"):
        kb.compression.quantize(
            tiny.narrow(head="plain"), "static_wi8_ai8", calibration=tiny.rows(8)[0], integer_only=True
        )


HEAD_FILE = """
import tf_keras as keras
import kerasbert as kb

@kb.register_head("file-head")
class FileHead(keras.layers.Layer):
    def __init__(self, outputs):
        super().__init__()
        self.hidden, self.dense = keras.layers.Dense(4, "relu"), keras.layers.Dense(outputs)

    def call(self, encoded, mask):
        return self.dense(self.hidden(encoded.sequence[:, 0]))
"""


@pytest.fixture(scope="module")
def eager():
    """Trainings of one step, which take less time than their graphs."""
    compiled = CompilingModel.compile
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            CompilingModel,
            "compile",
            lambda task, *args, **kwargs: compiled(task, *args, **{**kwargs, "run_eagerly": True}),
        )
        yield


@pytest.fixture(scope="module")
def files(tiny, eager, tmp_path_factory):
    """A file with a head, a data file, an encoder's folder, and a model with the head that a command has trained."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "my_heads.py").write_text(HEAD_FILE)
    lines = [f"{text}\t{label}" for text, label in zip(*tiny.rows(32, seed=1), strict=True)]
    (folder / "train.tsv").write_text("\n".join(["text\tlabel", *lines]) + "\n")
    tiny.narrow().save_pretrained(folder / "encoder")
    trains = ["train", "--model", "{}/encoder", "--new-head", "--out", "{}/model", *TRAINS]
    assert main(command_of(folder, trains)) == 0
    return folder


TRAINS = ["--train", "{}/train.tsv", "--dev", "{}/train.tsv", "--epochs", "1"]
DATA = ["--data", "{}/train.tsv"]
COMMANDS = {
    "quantize": ["{}/model", "--out", "{}/int8", *TRAINS],
    "convert": ["{}/int8", "-o", "{}/model.tflite"],
    "validate": ["{}/model.tflite", "--against", "{}/int8", *DATA, "--rows", "8", "--on", "cpu"],
    "prune": ["{}/model", "--heads", "0.5", "--feed-forward", "0.5", "--out", "{}/pruned", *DATA],
    "distill": ["--teacher", "{}/model", "--student", "{}/pruned", "--out", "{}/student", *TRAINS],
    "evaluate": ["{}/student", *DATA],
    "diagnose": ["{}/model", *DATA],
    "predict": ["{}/pruned", "a good film"],
    "benchmark": ["{}/model", "--runs", "1"],
}


def command_of(folder, parts):
    return [part.format(folder) for part in [*parts, "--head", "{}/my_heads.py:FileHead"]]


@pytest.mark.long
def test_commands_take_the_file_of_a_head(files, capsys, monkeypatch):
    """In this order: each takes what one before it has written."""
    monkeypatch.setenv("COLUMNS", "80")
    for kind in ("intra", "inter"):  # TensorFlow sets the threads of a process once
        monkeypatch.setattr(f"tensorflow.config.threading.set_{kind}_op_parallelism_threads", lambda number: None)
    for command, parts in COMMANDS.items():
        code = main(command_of(files, [command, *parts]))
        output = capsys.readouterr()
        assert code == 0 or command == "validate" and "cpu" in output.out, (command, output.err)
        assert "--head" not in output.err
    assert json.loads((files / "pruned" / "kerasbert.json").read_text())["settings"]["head"] == "file-head"


def test_a_head_that_no_model_needs_is_named_in_a_note(files, capsys):
    main(["evaluate", str(files / "encoder"), "--data", str(files / "train.tsv"), "--head", "other.py:Head"])
    assert "note: --head other.py:Head is not used" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", "train quantize prune distill convert validate predict evaluate diagnose benchmark".split()
)
def test_every_command_that_reads_folders_has_the_option(command, capsys):
    assert main([command, "--help"]) == 0
    assert "--head " in capsys.readouterr().out


def test_a_folder_executes_no_code_and_says_what_to_name(files, tmp_path):
    kb.register_head("gone", _plain)
    from kerasbert.heads import registry

    folder = tmp_path / "gone"
    task = kb.TextClassifier.from_pretrained(files / "encoder", head="gone", new_head=True, labels=["a", "b"])
    task.save_pretrained(folder)
    del registry._heads["gone"]
    with pytest.raises(
        KerasBertError, match=r"gone: expected a registered head, received 'gone'; .*--head FILE.py:NAME"
    ):
        kb.load_task(folder)
    plain = kb.TextClassifier.from_pretrained(folder, head="default", new_head=True)
    assert plain.head is None and plain.has_new_head


def test_side_effects_of_a_head_from_a_file_are_refused_too(tiny, tmp_path):
    from kerasbert.heads.registry import head_of_file

    (tmp_path / "counting.py").write_text(
        "calls = []\ndef counting(encoded):\n    calls.append(1)\n    return encoded.pooled[:, :2]\n"
    )
    with pytest.raises(KerasBertError, match="one that changes calls"):
        tiny.narrow(head=head_of_file(f"{tmp_path / 'counting.py'}:counting"))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("missing.py:Head", "a Python file with a head and its name, received"),
        ("my_heads.py", "write --head FILE.py:NAME"),
        ("my_heads.py:Other", r"a head of .*my_heads.py \(file-head registered\), received 'Other'"),
        (
            "twice.py:one",
            "one head of the name 'twice', received twice.py:one beside twice.py:one; choose another name",
        ),
        ("broken.py:Head", "broken.py, which fails with ZeroDivisionError: division by zero"),
    ],
)
def test_wrong_files_of_heads_are_refused(files, spec, message):
    from kerasbert.heads.registry import head_of_file

    (files / "broken.py").write_text("1 / 0\n")
    twice = '@register_head("twice")\ndef one(encoded):\n    return encoded.pooled\n'
    (files / "twice.py").write_text(f"from kerasbert import register_head\n{twice}{twice}")
    with pytest.raises(KerasBertError, match=message):
        head_of_file(str(files / spec))
