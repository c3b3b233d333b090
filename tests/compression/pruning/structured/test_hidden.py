"""The hidden size: how important dimensions are, and that one mask goes through every layer that reads or writes them."""

import json

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.compression.pruning.structured import (
    hidden,
    hidden_importance,
    prune_heads,
    prune_hidden,
    trim_vocabulary,
)
from kerasbert.compression.pruning.structured.hidden_axes import hidden_axes
from kerasbert.compression.pruning.structured.importance import gate_derivatives
from kerasbert.encoders.pruned_sizes import PrunedSizes, sizes_of
from kerasbert.errors import KerasBertError
from kerasbert.tasks import MaskedLM, Pretrainer, SentenceEncoder
from kerasbert.training.distillation import student_from

NAMES = ("bert", "albert", "mobilebert", "distilbert", "electra", "roberta")
HALF = 8
WIDE = {"hidden_size": 2 * HALF, "intermediate_size": 24}


def doubled(make, name, monkeypatch, **options):
    """A task whose last dimensions repeat the first ones, so that norms over one half are those over both; the first are kept."""
    model = make.classifier(name, **WIDE, **options)
    monkeypatch.setattr(
        hidden, "stream_importance", lambda task, *_: (np.repeat([1.0, 0.0], HALF), np.repeat([1.0, 0.0], HALF))
    )
    axes = hidden_axes(model, prune_hidden(model, size=HALF, data=([], []), refits=False))
    variables = model.variables_by_path()
    for path, holds in axes.items():
        value = variables[path].numpy()
        writes = len(value.shape) - 1 if path.endswith(("kernel", "table", "bias", "gamma", "beta")) else 0
        if holds[writes] is not None:
            value = np.concatenate([np.take(value, range(HALF), writes)] * 2, writes)
        variables[path].assign(value)
    return model, [path for path, holds in axes.items() if path.endswith("kernel") and holds[0] is not None]


@pytest.mark.long_cases("albert", "mobilebert")
@pytest.mark.parametrize("name", NAMES)
def test_dimensions_that_nothing_reads_are_cut_without_effect(make, tiny, monkeypatch, name):
    model, readers = doubled(make, name, monkeypatch)
    variables = model.variables_by_path()
    for path in readers:
        value = variables[path].numpy()
        value[HALF:] = 0
        variables[path].assign(value)
    data = tiny.rows(8)
    smaller = prune_hidden(model, size=HALF, data=data, refits=False)
    assert smaller.config.hidden_size == HALF and type(smaller) is type(model)
    assert sizes_of(smaller.encoder) == sizes_of(model.encoder)
    np.testing.assert_allclose(make.output(smaller, data[0]), make.output(model, data[0]), atol=1e-5)


@pytest.mark.long_cases("bert")
@pytest.mark.parametrize("name", ["bert", "albert", "mobilebert"])
def test_refitted_layers_take_over_what_is_linear_in_the_rest(make, tiny, monkeypatch, name):
    model, data = doubled(make, name, monkeypatch)[0], tiny.rows(32)
    before = make.output(model, data[0])
    errors = [
        np.abs(make.output(prune_hidden(model, size=HALF, data=data, refits=refits), data[0]) - before).mean()
        for refits in (False, True)
    ]
    assert errors[1] < 0.1 * errors[0]


def test_gate_derivative_matches_finite_difference(make, tiny):
    """A gate on a dimension is a factor on the scale and the shift of every norm that writes it."""
    model, (texts, labels) = make.classifier(), tiny.rows(1)
    found = gate_derivatives(model, [], [], (texts, labels), stream=True)[0]
    loss, (inputs, targets) = model.default_loss(), next(iter(model.dataset(texts, labels)))
    variables, losses = model.variables_by_path(), []
    norms = {path: v.numpy() for path, v in variables.items() if path.endswith(("gamma", "beta"))}
    for factor in (0.98, 1.02):
        for path, value in norms.items():
            variables[path].assign(np.where(np.arange(8) == 3, factor * value, value))
        losses.append(float(loss(targets, model(inputs))))
    assert found[3] == pytest.approx(abs(losses[1] - losses[0]) / 0.04, rel=0.05)


def test_importance_is_normalized_and_leaves_the_task_unchanged(make, tiny):
    model = make.classifier()
    before = {path: variable.numpy() for path, variable in model.variables_by_path().items()}
    found = hidden_importance(model, tiny.rows(6), batch_size=4)
    assert found.shape == (8,) and np.linalg.norm(found) == pytest.approx(1, rel=1e-5)
    for path, value in before.items():
        np.testing.assert_array_equal(model.variables_by_path()[path], value)


@pytest.mark.long_cases("[bert")
@pytest.mark.parametrize("name", ["bert", "albert", "mobilebert"])
def test_cut_model_is_saved_quantized_and_cut_further(make, tiny, tmp_path, name):
    model, data = make.classifier(name, **WIDE), tiny.rows(16)
    smaller = prune_hidden(model, share=0.4, data=data, multiple=4)
    assert smaller.config.hidden_size == 12
    assert smaller.encoder.options == ({} if name == "mobilebert" else {"cut": {"head_size": 4}})
    smaller.save_pretrained(tmp_path / "m")
    loaded = kb.load_task(tmp_path / "m")
    make.assert_equal_weights(loaded, smaller)
    assert (loaded.load_report.missing, loaded.load_report.unused) == ((), ())
    np.testing.assert_array_equal(make.output(loaded, data[0]), make.output(smaller, data[0]))
    assert kb.load_encoder(tmp_path / "m").options == smaller.encoder.options
    quantized = loaded.with_policy(kb.compression.POLICIES["static_wi8_ai8"])
    make.assert_equal_weights(quantized, smaller)
    fewer = trim_vocabulary(prune_heads(loaded, heads={0: [1]}), data[0])
    assert fewer.encoder.layers[0].attention.head_size == model.encoder.layers[0].attention.head_size
    again = prune_hidden(fewer, size=4, data=data)
    assert again.encoder.layers[0].attention.value.kernel.shape[0] == 4
    if name != "albert":
        cut = again.encoder.options["cut"]
        assert student_from(again, layers=1).encoder.options == {"cut": {**cut, "heads": cut["heads"][:1]}}


@pytest.mark.long
def test_tied_decoder_and_sentence_vectors_follow(make, tiny):
    texts = tiny.rows(8)[0]
    model = prune_hidden(make.classifier(task=MaskedLM, **WIDE), share=0.25, data=texts, multiple=4)
    assert model.masked_lm.transform.kernel.shape == (12, 12) and model.serve(model.pack(texts))
    pairs = ((texts, texts[::-1]), [0.1, 0.9] * 4)
    vectors = prune_hidden(make.classifier(task=SentenceEncoder, **WIDE), size=12, data=pairs)
    assert vectors.width == 12 and vectors.predict(texts[:2]).shape == (2, 12)


@pytest.mark.parametrize("name", ["electra", "mobilebert"])
@pytest.mark.long_cases
def test_embeddings_without_projection_follow(make, tiny, name):
    plain = {"use_bottleneck": False, "trigram_input": False, "normalization_type": "layer_norm"}
    sizes = {**WIDE, "embedding_size": 16, **(plain if name == "mobilebert" else {})}
    smaller = prune_hidden(make.classifier(name, **sizes), size=12, data=tiny.rows(8))
    assert smaller.config.embedding_size == 12 and smaller.encoder.embeddings.word.table.shape[1] == 12


@pytest.mark.long
def test_heads_of_several_tasks_are_cut_by_what_they_read(make, tiny):
    texts, labels = tiny.rows(4)
    heads = {
        "tone": {"task": "classification", "labels": list(tiny.labels)},
        "words": {"task": "tagging", "labels": ["O", "B-X", "I-X"]},
    }
    model = kb.MultiTask(make.classifier(**WIDE).encoder, tiny.tokenizer(), heads=heads, sequence_length=tiny.length)
    tags = [["O"] * len(text.split()) for text in texts]
    smaller = prune_hidden(model, size=12, data=(texts, {"tone": labels, "words": tags}))
    assert {part.dense.kernel.shape[0] for part in smaller.head.parts.values()} == {12}


@pytest.mark.long
def test_folder_with_invalid_head_size_is_refused(make, tiny, tmp_path):
    prune_hidden(make.classifier(**WIDE), size=12, data=tiny.rows(8)).save_pretrained(tmp_path / "m")
    path = tmp_path / "m" / "kerasbert.json"
    own = json.loads(path.read_text("utf-8"))
    for size, message in [(0, "expected head_size of at least 1, received 0"), (3, "expected shape")]:
        path.write_text(json.dumps({**own, "encoder": {"cut": {"head_size": size}}}), "utf-8")
        with pytest.raises(KerasBertError, match=message):
            kb.load_task(tmp_path / "m")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": 0}, "expected a hidden size as a whole number from 1 to 31, below the present one, received 0"),
        ({"size": 32}, "received 32"),
        ({"size": 8.0}, "received 8.0"),
        ({"size": True}, "received True"),
        ({"size": 30}, "expected a hidden size that the 4 attention heads divide, received 30; 32 is the nearest"),
        ({"share": 1}, "expected a share of hidden dimensions above 0 and below 1, received 1"),
        ({"share": 0.2}, "expected a share that cuts 8 of 32 hidden dimensions, received 0.2; choose a larger share"),
        ({"share": 0.5, "multiple": 0}, "expected a hidden size in multiples of 1 or more, received 0"),
        ({"share": 0.5, "size": 8}, "expected one of share and size, received share and size"),
        ({"share": 0.5}, "expected labelled examples: .*`data=`"),
        ({"share": 0.5, "data": ["a film"]}, r"expected \(examples, labels\) or a table with labels as `data=`"),
        ({"share": 0.5, "data": (["a film"], None)}, "expected labels beside the examples"),
    ],
)
def test_invalid_arguments_are_refused(plain, arguments, message):
    with pytest.raises(KerasBertError, match=message):
        prune_hidden(plain, **arguments)


@pytest.mark.long
def test_models_that_cannot_be_cut_are_refused(make, tiny, quantized):
    data = tiny.rows(4)
    config = kb.encoders.BiLstmConfig(vocab_size=len(tiny.vocabulary), embedding_size=4, hidden_size=8)
    lstm = kb.TextClassifier(
        kb.encoders.BiLstmEncoder(config), tiny.tokenizer(), labels=tiny.labels, sequence_length=16
    )
    for model, size, message in [
        (make.classifier(task=Pretrainer), 4, "expected a task with a loss, received a Pretrainer"),
        (make.classifier("electra", **WIDE, embedding_size=12), 12, "a hidden size other than that of the embeddings"),
        (make.classifier("mobilebert", task=MaskedLM), 4, "whose decoder is the token table, received a MobileBERT"),
        (lstm, 4, "expected a transformer to cut hidden dimensions of, received a bilstm"),
        (quantized, 4, "cut first, quantize then"),
    ]:
        with pytest.raises(KerasBertError, match=message):
            prune_hidden(model, size=size, data=data)


def test_sizes_that_the_config_has_need_no_cut(make):
    encoder = make.classifier().encoder
    assert PrunedSizes.of(encoder.config, sizes_of(encoder)) == (encoder.config, None)
