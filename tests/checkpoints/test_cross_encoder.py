"""Cross-encoders in the forms of sentence-transformers 2 to 6.2: scores counted with NumPy from the logits, ranks, files, refusals."""

import json

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.checkpoints.cross_encoder import problem_of, read_classifier
from kerasbert.checkpoints.hugging_face import read_config
from kerasbert.errors import KerasBertError
from kerasbert.files.model_folder import OWN_FILE

SIGMOID, IDENTITY = "torch.nn.modules.activation.Sigmoid", "torch.nn.modules.linear.Identity"
QUERY = "we saw the film"


@pytest.fixture(scope="module")
def texts(tiny):
    return tiny.rows(6, seed=8)[0]


@pytest.fixture(scope="module")
def scorer(tiny):
    """A model of one score, with logits away from 0."""
    task = tiny.classifier(labels=["LABEL_0"], problem="regression")
    task.classifier.kernel.assign(task.classifier.kernel * 20 + 0.1)
    return task


@pytest.fixture(scope="module")
def logits(scorer, texts):
    return scorer(scorer.pack([QUERY] * len(texts), texts)).numpy()[:, 0]


@pytest.fixture
def folder(scorer, tmp_path):
    """The folder that `CrossEncoder` of sentence-transformers 2 writes: nothing names an activation."""
    scorer.save_pretrained(tmp_path / "model")
    (tmp_path / "model" / OWN_FILE).unlink()
    config = json.loads((tmp_path / "model" / "config.json").read_text("utf-8"))
    del config["problem_type"], config["sentence_transformers"]
    write(tmp_path / "model" / "config.json", config)
    return tmp_path / "model"


def write(path, content):
    path.write_text(json.dumps(content), "utf-8")


def edit(path, **changes):
    write(path, {**json.loads(path.read_text("utf-8")), **changes})
    return path.parent


def renewed(folder, **changes):
    """The folder in the form of 6.2, with further settings of the model."""
    kind = "sentence_transformers.base.modules.transformer.Transformer"
    write(folder / "modules.json", [{"idx": 0, "name": "0", "path": "", "type": kind}])
    transformer = {
        "transformer_task": "sequence-classification",
        "modality_config": {"text": {"method": "forward", "method_output_name": "logits"}},
        "module_output_name": "scores",
    }
    write(folder / "sentence_bert_config.json", transformer)
    versions = {"sentence_transformers": "6.2.0", "transformers": "5.24.0", "pytorch": "2.15.0"}
    model = {"__version__": versions, "model_type": "CrossEncoder", "prompts": {}, "default_prompt_name": None}
    write(folder / "config_sentence_transformers.json", {**model, **changes})
    return edit(folder / "tokenizer_config.json", model_max_length=16)


def settings(folder, longest=32):
    with kb.strict():
        return read_classifier(read_config(folder), folder, longest)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@pytest.mark.long
def test_one_label_has_a_sigmoid_by_default(folder, texts, logits):
    for task in (kb.TextClassifier.from_pretrained(folder), kb.load_task(folder)):
        assert (task.problem, task.activation, task.labels) == ("regression", "sigmoid", ("LABEL_0",))
    np.testing.assert_allclose(task.predict(([QUERY] * 6, texts))[:, 0], sigmoid(logits), atol=1e-6)
    assert kb.TextClassifier.from_pretrained(folder, labels=["relevance"]).labels == ("relevance",)


@pytest.mark.parametrize(
    ("config", "activation"),
    [
        ({}, "sigmoid"),
        ({"sentence_transformers": {"activation_fn": SIGMOID, "version": "5.1.0"}}, "sigmoid"),
        ({"sentence_transformers": {"activation_fn": IDENTITY, "version": "4.1.0"}}, "identity"),
        ({"sentence_transformers": {"version": "4.1.0"}}, "sigmoid"),
        ({"sbert_ce_default_activation_function": IDENTITY}, "identity"),
        ({"sbert_ce_default_activation_function": "torch.nn.Sigmoid"}, "sigmoid"),
        ({"sbert_ce_default_activation_function": None}, "sigmoid"),
        ({"problem_type": "regression", "sentence_transformers": {"activation_fn": SIGMOID}}, "sigmoid"),
        ({"problem_type": "multi_label_classification"}, "sigmoid"),
    ],
)
def test_the_activation_that_config_json_names(folder, config, activation):
    found = settings(edit(folder / "config.json", **config))
    assert (found["problem"], found["activation"]) == ("regression", activation)


def test_a_regression_of_transformers_has_no_activation(folder):
    assert settings(edit(folder / "config.json", problem_type="regression")) == {"problem": "regression"}


@pytest.mark.parametrize(("path", "activation"), [(SIGMOID, "sigmoid"), (IDENTITY, "identity"), (None, "sigmoid")])
def test_folders_of_the_newest_form(folder, path, activation, texts, logits):
    renewed(folder, **({} if path is None else {"activation_fn": path}))
    assert settings(folder) == {"problem": "regression", "activation": activation, "sequence_length": 16}
    with kb.strict():
        task = kb.load_task(folder)
    expected = sigmoid(logits) if activation == "sigmoid" else logits
    np.testing.assert_allclose(task.predict(([QUERY] * 6, texts))[:, 0], expected, atol=1e-5)


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({}, None),
        ({"sentence_transformers": {"activation_fn": IDENTITY}}, None),
        ({"sentence_transformers": {"activation_fn": SIGMOID}}, "multi_label"),
        ({"problem_type": "multi_label_classification"}, "multi_label"),
    ],
)
def test_several_labels_are_classes(folder, config, problem):
    labels = {"id2label": {"0": "no", "1": "maybe", "2": "yes"}, "label2id": {"no": 0, "maybe": 1, "yes": 2}}
    found = settings(edit(folder / "config.json", **labels, **config))
    assert found.get("problem") == problem and "activation" not in found
    assert found.get("sequence_length") == (32 if "sentence_transformers" in config else None)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"sentence_transformers": {"activation_fn": "torch.nn.modules.activation.Tanh"}}, "received 'torch.*Tanh'"),
        (
            {"sbert_ce_default_activation_function": "my.module.Activation"},
            "an activation of torch.*received 'my.module",
        ),
        ({"sentence_transformers": {"activation_fn": ["x"]}}, "an activation of torch"),
        ({"sentence_transformers": "sigmoid"}, "sentence_transformers as an object"),
        ({"sentence_transformers": {"temperature": 2}}, r"1 unknown key \(temperature\)"),
    ],
)
def test_other_activations_are_refused(folder, config, message):
    with pytest.raises(KerasBertError, match=message):
        settings(edit(folder / "config.json", **config))


def test_other_settings_of_the_newest_form_are_refused(folder):
    with pytest.raises(
        KerasBertError, match="expected default_prompt_name None, the only supported value, received 'q'"
    ):
        settings(renewed(folder, default_prompt_name="q", prompts={"q": "query: "}))
    renewed(folder)
    edit(folder / "sentence_bert_config.json", transformer_task="text-generation")
    with pytest.raises(KerasBertError, match="expected transformer_task 'sequence-classification'"):
        settings(folder)
    renewed(folder)
    modules = json.loads((folder / "modules.json").read_text("utf-8"))
    write(folder / "modules.json", [*modules, {"type": "sentence_transformers.x.LogitScore", "path": "1_LogitScore"}])
    with pytest.raises(KerasBertError, match="the module Transformer alone, received Transformer, LogitScore"):
        settings(folder)


@pytest.mark.parametrize("activation", ["sigmoid", "identity"])
def test_saved_folders_say_the_same_to_both_libraries(tiny, activation, tmp_path):
    task = tiny.narrow(labels=["LABEL_0"], problem="regression", activation=activation)
    task.save_pretrained(tmp_path)
    config = read_config(tmp_path)
    assert config["sentence_transformers"] == {"activation_fn": SIGMOID if activation == "sigmoid" else IDENTITY}
    # transformers' pipelines apply a sigmoid to one label, unless the problem is named regression
    assert config.get("problem_type") == (None if activation == "sigmoid" else "regression")
    assert settings(tmp_path)["activation"] == problem_of(config).replace("regression", activation)
    assert kb.load_task(tmp_path).activation == activation


@pytest.mark.long
def test_ranks_are_those_of_the_scores(folder, texts, logits, tmp_path):
    task = kb.load_task(folder)
    file = tmp_path / "reranker.tflite"
    kb.export.convert(task, recipe="float32").save(file)
    order = np.argsort(-logits, kind="stable")
    for model in (kb.open(folder), kb.open(file)):
        ranked = model.rank(QUERY, texts)
        assert [each["index"] for each in ranked] == order.tolist()
        assert [each["text"] for each in ranked] == [texts[i] for i in order]
        np.testing.assert_allclose([each["score"] for each in ranked], sigmoid(logits)[order], atol=1e-5)
        assert model.rank(QUERY, texts, top_k=2) == ranked[:2]
        assert model.rank(QUERY, []) == []
    report = kb.export.validate(file, against=task, data=([(QUERY, text) for text in texts], sigmoid(logits)))
    assert "failed" not in {check.status for check in report.checks}


def pipeline_of(task):
    from kerasbert.export.runtime.pipeline import Pipeline

    return Pipeline("a task", task.processor, task)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([QUERY], ["good"]), "expected one text as a query, received list"),
        ((QUERY, "good"), "expected several texts to search, received one"),
        ((QUERY, ["good"], 0), "a top_k of at least 1, received 0"),
        ((QUERY, ["good"], True), "a top_k of at least 1, received True"),
        ((QUERY, ["good", 3]), "received"),
    ],
)
def test_wrong_ranks_are_refused(scorer, arguments, message):
    with pytest.raises(KerasBertError, match=message):
        pipeline_of(scorer).rank(*arguments)


def test_models_without_one_score_do_not_rank(tiny):
    with pytest.raises(KerasBertError, match="one score for a pair, .*received the task type 'single_label'; call it"):
        pipeline_of(tiny.narrow()).rank(QUERY, ["good"])
    with pytest.raises(KerasBertError, match="task type 'embedding'; use search"):
        pipeline_of(tiny.sentence_encoder()).rank(QUERY, ["good"])


def test_training_takes_scores_from_0_to_1(tiny, texts):
    task = tiny.narrow(labels=["relevance"], problem="regression", activation="sigmoid")
    pairs, scores = [(QUERY, text) for text in texts], np.array([0, 0, 0.25, 1, 1, 1])
    p = task.predict(pairs)[:, 0].astype(float)
    expected = -(scores * np.log(p) + (1 - scores) * np.log(1 - p)).mean()
    task.compile(kb.adamw(0.05), run_eagerly=True)
    assert task.fit(pairs, scores, epochs=1, verbose=0).history["loss"][0] == pytest.approx(
        expected, abs=0.02
    )  # dropout
    with pytest.raises(
        KerasBertError, match="row 1: expected scores from 0 to 1 for a sigmoid, received 4.5; scale them"
    ):
        task.fit(pairs[:2], [0.5, 4.5], verbose=0)


def test_wrong_activations_are_refused(tiny):
    with pytest.raises(KerasBertError, match="an activation of identity or sigmoid, received 'tanh'"):
        tiny.narrow(labels=["x"], problem="regression", activation="tanh")
    with pytest.raises(KerasBertError, match="activation='sigmoid' with regression, received problem='single_label'"):
        tiny.narrow(activation="sigmoid")
