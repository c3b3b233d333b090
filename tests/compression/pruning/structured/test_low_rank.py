"""Low-rank factors: exact at full rank, the least error at a lower one, and everything that is done with a model afterwards."""

import json

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.compression.pruning.structured import (
    drop_layers,
    factorize,
    low_rank_report,
    merge_factors,
    prune_feed_forward,
    prune_heads,
    trim_vocabulary,
)
from kerasbert.errors import KerasBertError
from kerasbert.tasks import MaskedLM
from kerasbert.training.distillation import student_from

NAMES = ("bert", "albert", "mobilebert", "distilbert", "electra", "roberta")


def lower(model, rank: int) -> None:
    """Gives kernels and token embeddings at most that rank."""
    for path, variable in model.variables_by_path().items():
        if path.startswith("encoder.") and path.endswith((".kernel", "word.table")):
            left, values, right = np.linalg.svd(variable.numpy(), full_matrices=False)
            variable.assign((left * np.where(np.arange(len(values)) < rank, values, 0)) @ right)


@pytest.mark.long_cases("albert", "electra")
@pytest.mark.parametrize("name", NAMES)
def test_factors_of_the_true_rank_compute_the_same_and_are_saved(make, tiny, tmp_path, name):
    model, texts = make.classifier(name), tiny.rows(8)[0]
    lower(model, 2)
    smaller = factorize(model, 2, 2)
    assert {rank for rank in smaller.encoder.ranks.values()} == {2} and "embeddings.word" in smaller.encoder.ranks
    assert low_rank_report(model, smaller).kept == pytest.approx(1, abs=1e-5)
    assert low_rank_report(model, smaller).parameters == (make.parameters(model), make.parameters(smaller))
    assert make.parameters(smaller) < make.parameters(model)
    np.testing.assert_allclose(make.output(smaller, texts), make.output(model, texts), atol=1e-4)
    np.testing.assert_allclose(
        make.output(factorize(model, 2, 2, data=texts), texts), make.output(model, texts), atol=1e-3
    )
    merged = merge_factors(smaller)
    assert merged.encoder.options == {} and make.parameters(merged) == make.parameters(model)
    np.testing.assert_allclose(make.output(merged, texts), make.output(model, texts), atol=1e-4)
    smaller.save_pretrained(tmp_path / "m")
    loaded = kb.load_task(tmp_path / "m")
    assert loaded.encoder.options == smaller.encoder.options == {"ranks": dict(smaller.encoder.ranks)}
    assert (loaded.load_report.missing, loaded.load_report.unused) == ((), ())
    make.assert_equal_weights(loaded, smaller)


def test_the_product_has_the_least_error_of_weights_or_of_outputs(make, tiny):
    """Against NumPy's decomposition without data, and against the plain factors on the inputs with data."""
    model, texts = make.classifier(num_hidden_layers=1), tiny.rows(40)[0]
    path = "layers.0.feed_forward.output_dense"
    plain, weighted = (factorize(model, parts={path: 3}, data=data) for data in (None, texts))
    kernel = model.encoder.layers[0].feed_forward.output_dense.kernel.numpy()
    values = np.linalg.svd(kernel)[1]
    energy = (values[:3] ** 2).sum() / (values**2).sum()
    assert low_rank_report(model, plain).energies[path] == pytest.approx(energy, abs=1e-5)
    assert low_rank_report(model, weighted).energies[path] < energy
    packed = model.pack(texts)
    mask = packed["attention_mask"].astype(bool)
    exact = np.asarray(model.encoder(packed).sequence)[mask]
    errors = [np.square(np.asarray(each.encoder(packed).sequence)[mask] - exact).sum() for each in (plain, weighted)]
    assert errors[1] < 0.8 * errors[0]


def test_frequent_tokens_are_kept_first(make):
    model = make.classifier()
    texts = ["good"] * 500  # with [CLS] and [SEP] three directions
    known = model.encode(["good"]).input_ids[0][1]
    smaller = factorize(model, embedding_rank=3, data=texts)
    product = merge_factors(smaller).encoder.embeddings.word.table.numpy()
    errors = np.linalg.norm(product - model.encoder.embeddings.word.table.numpy(), axis=1)
    assert errors[known] < 0.1 * np.median(errors)


def test_layers_whose_factors_would_not_be_smaller_stay_whole(make, capsys):
    model = make.classifier(num_hidden_layers=1)
    smaller = factorize(model, 5)  # 8 x 8 pays below 4, 8 x 24 below 6
    assert set(smaller.encoder.ranks) == {f"layers.0.feed_forward.{name}" for name in ("intermediate", "output_dense")}
    note = "note: left whole, as two factors would have no fewer weights: layers.*.attention.query, layers.*.attention.key,"
    assert note in capsys.readouterr().err
    half = factorize(smaller, 0.25)  # the layers that are whole
    assert half.encoder.ranks["layers.0.attention.query"] == 2 and half.encoder.ranks["pooler"] == 2
    assert half.encoder.ranks["layers.0.feed_forward.intermediate"] == 5


@pytest.mark.long
def test_factorized_models_are_pruned_further(make, tiny):
    data = tiny.rows(8)
    model = factorize(make.classifier(num_hidden_layers=3), 2, 2)
    cut = trim_vocabulary(prune_feed_forward(prune_heads(model, 0.25, data=data), 0.4, data=data), data[0])
    assert cut.encoder.ranks == model.encoder.ranks and cut.predict(data[0][:1]).shape == (1, 2)
    fewer = drop_layers(cut, layers=[0, 2])
    assert {path.split(".")[1] for path in fewer.encoder.ranks if path.startswith("layers.")} == {"0", "1"}
    student = student_from(model, [2])
    np.testing.assert_array_equal(
        student.encoder.layers[0].attention.query.factor.kernel, model.encoder.layers[2].attention.query.factor.kernel
    )


@pytest.mark.long_cases("albert")
@pytest.mark.parametrize("name", ["bert", "albert"])
def test_factors_are_quantized_with_one_range_between_them(make, tiny, tmp_path, name):
    model, texts = factorize(make.classifier(name), 2, 2), tiny.rows(12)[0]
    int8 = kb.compression.quantize(model, calibration=texts)
    dense = int8.encoder.layers[0].attention.query
    assert dense.input_quantizer.kind == dense.factor.output_quantizer.kind == "static"
    assert all(
        a[0] is b[0] for a, b in zip(dense.input_quantizer.ranges, dense.factor.output_quantizer.ranges, strict=True)
    )
    network = int8.encoder.layers[0].feed_forward.output_dense
    assert (network.input_quantizer.kind, network.factor.output_quantizer.kind) == ("dynamic", "float")
    file = kb.export.convert(int8).save(tmp_path / "m.tflite")
    found = [list(each["probabilities"].values()) for each in kb.open(file).predictions(texts)]
    np.testing.assert_allclose(found, make.output(int8, texts), atol=0.02)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "expected a rank of layers, of the token embeddings or of parts, received none"),
        ({"rank": 0}, "expected a rank as a whole number from 1 on, or as a fraction .*, received 0; correct it"),
        ({"rank": True}, "expected a rank as a whole number from 1 on, .* received True"),
        ({"rank": 1.5}, "expected a rank as a whole number from 1 on, .* received 1.5"),
        ({"rank": "4"}, "expected a rank as a whole number from 1 on, .* received '4'"),
        ({"rank": 9}, r"expected a rank of at most 8 for layers.0.attention.query \(8 x 8\), received 9"),
        ({"embedding_rank": 8}, r"fewer weights, such as below .* for embeddings.word \(.* x 8\), received 8"),
        ({"rank": 1.0}, "expected a rank with which two factors have fewer weights"),
        ({"parts": {"layer.*": 2}}, "expected a part that fits whole layers, such as layers.0.attention.query, embeddings.word, r"),
        ({"rank": 2, "data": ["", " "]}, "expected texts in words that the model's tokenizer knows to weight directions"),
    ],
)  # fmt: skip
@pytest.mark.long_cases
def test_wrong_ranks_are_refused(make, arguments, message):
    with pytest.raises(KerasBertError, match=message):
        factorize(make.classifier(num_hidden_layers=1), **arguments)


def test_models_whose_table_is_read_twice_and_quantized_ones_are_refused(make, quantized):
    with pytest.raises(
        KerasBertError, match="reads its token embeddings once, received a MaskedLM, whose head has them"
    ):
        factorize(make.classifier(task=MaskedLM), embedding_rank=2)
    with pytest.raises(KerasBertError, match="expected a task in float to cut"):
        factorize(quantized, 2)
    with pytest.raises(KerasBertError, match="expected a task, such as"):
        factorize("small-en", 2)


def test_ranks_of_a_folder_are_checked(make, tmp_path):
    factorize(make.classifier(num_hidden_layers=1), 2).save_pretrained(tmp_path / "m")
    path = tmp_path / "m" / "kerasbert.json"
    own = json.loads(path.read_text("utf-8"))
    for ranks, message in [
        ({"layers.7.attention.query": 2}, "expected ranks of layers of BertEncoder, received 'layers.7.attention.query'"),
        ({"pooler": 0}, "expected the ranks of the encoder .*received 0"),
        ({"pooler": 3}, "expected"),
        ([2], "expected ranks as an object"),
    ]:  # fmt: skip
        path.write_text(json.dumps({**own, "encoder": {"ranks": ranks}}), "utf-8")
        with pytest.raises(KerasBertError, match=message):
            kb.load_task(tmp_path / "m")
