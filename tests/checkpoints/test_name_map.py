from dataclasses import replace

import numpy as np
import pytest

from kerasbert.checkpoints.name_map import Entry, Ignored, LoadReport, NameMap, WrongShape
from kerasbert.errors import KerasBertError

MAP = NameMap(
    entries=(
        Entry("bert.norm.weight", "norm.gamma"),
        Entry("bert.dense.weight", "dense.kernel", transpose=True),
        Entry("bert.extra.bias", "extra.bias", optional=True),
        Entry("classifier.weight", "classifier.kernel", transpose=True),
        Entry("classifier.bias", "classifier.bias"),
    ),
    ignored=(Ignored(r"position_ids", "position_ids", redundant=True), Ignored(r"cls\..*", "masked-LM head")),
    prefixes=("bert.",),
    aliases=((".gamma", ".weight"),),
)


class Variable:
    """The interface of a TensorFlow variable, without TensorFlow."""

    def __init__(self, shape):
        self.value = np.zeros(shape, np.float32)
        self.shape = shape

    def assign(self, value):
        assert value.shape == self.shape
        self.value = value

    def numpy(self):
        return self.value


def variables():
    return {
        "norm.gamma": Variable((3,)),
        "dense.kernel": Variable((3, 2)),
        "extra.bias": np.zeros(2, np.float32),
        "classifier.kernel": np.zeros((2, 4), np.float32),
        "classifier.bias": np.zeros(4, np.float32),
    }


def tensors(prefix="bert."):
    return {
        f"{prefix}norm.weight": np.arange(3, dtype=np.float32),
        f"{prefix}dense.weight": np.arange(6, dtype=np.float32).reshape(2, 3),
        f"{prefix}extra.bias": np.full(2, 5, np.float32),
        "classifier.weight": np.arange(8, dtype=np.float32).reshape(4, 2),
        "classifier.bias": np.arange(4, dtype=np.float32),
    }


def refusal(checkpoint, model, **options):
    with pytest.raises(KerasBertError) as caught:
        MAP.apply(checkpoint, model, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("prefix", ["bert.", ""])
def test_every_tensor_reaches_its_variable(prefix):
    model, checkpoint = variables(), tensors(prefix)
    report = MAP.apply(checkpoint, model)
    assert report == LoadReport(loaded=tuple(checkpoint))
    assert report.summary() == "5 tensors loaded"
    np.testing.assert_array_equal(model["norm.gamma"].value, [0, 1, 2])
    np.testing.assert_array_equal(model["dense.kernel"].value, [[0, 3], [1, 4], [2, 5]])
    np.testing.assert_array_equal(model["classifier.kernel"], np.arange(8).reshape(4, 2).T)
    np.testing.assert_array_equal(model["extra.bias"], [5, 5])


def test_export_is_the_reverse():
    model = variables()
    MAP.apply(tensors(""), model)
    exported = MAP.export(model)
    assert list(exported) == list(tensors("bert."))
    for name, tensor in tensors("bert.").items():
        np.testing.assert_array_equal(exported[name], tensor)
        assert exported[name].dtype == np.float32 and exported[name].flags.c_contiguous
    model["extra.bias"][:] = 9
    assert exported["bert.extra.bias"][0] == 5  # a copy, not a view of the variable


def test_export_requires_a_counterpart_for_each_variable_and_entry():
    model = variables()
    del model["extra.bias"]
    assert "bert.extra.bias" not in MAP.export(model)
    with pytest.raises(KerasBertError, match=r"none for new\.kernel"):
        MAP.export({**model, "new.kernel": np.zeros(1)})
    del model["norm.gamma"]
    with pytest.raises(KerasBertError, match=r"none at norm\.gamma"):
        MAP.export(model)


def test_legacy_names_are_recognized():
    checkpoint = tensors()
    checkpoint["bert.norm.gamma"] = checkpoint.pop("bert.norm.weight")
    model = variables()
    assert "bert.norm.gamma" in MAP.apply(checkpoint, model).loaded
    np.testing.assert_array_equal(model["norm.gamma"].value, [0, 1, 2])


def test_ignored_and_unused_are_reported():
    checkpoint = {
        "bert.position_ids": np.arange(4),
        "cls.bias": np.zeros(1),
        "cls.weight": np.zeros(1),
        "odd": np.zeros(1),
    }
    report = MAP.apply({**tensors(), **checkpoint}, variables(), may_drop=True)
    assert report.ignored == (
        ("bert.position_ids", "position_ids"),
        ("cls.bias", "masked-LM head"),
        ("cls.weight", "masked-LM head"),
    )
    assert report.unused == ("odd",)
    assert report.redundant == ("bert.position_ids",) and not report.is_complete
    assert report.summary() == "5 tensors loaded, 1 unused (odd), 3 ignored (position_ids, masked-LM head)"
    assert MAP.apply({**tensors(), "bert.position_ids": np.arange(4)}, variables()).is_complete


def test_unknown_tensors_are_errors():
    model = variables()
    assert "received also 1 other tensor (odd)" in refusal({**tensors(), "odd": np.zeros(1)}, model)
    assert not model["norm.gamma"].value.any()
    del model["classifier.kernel"], model["classifier.bias"]
    assert "2 other tensors (classifier.weight, classifier.bias)" in refusal(tensors(), model)
    assert MAP.apply(tensors(), model, may_drop=True).unused == ("classifier.weight", "classifier.bias")


@pytest.mark.parametrize("name", ["bert.odd", "norm.odd", "bert.norm.1.weight"])
def test_unknown_tensors_inside_of_the_encoder_are_errors_in_any_case(name):
    inner = replace(MAP, inner=frozenset({"norm", "dense"}))
    with pytest.raises(KerasBertError, match=rf"1 other tensor in it \({name}\)"):
        inner.apply({**tensors(), name: np.zeros(1)}, variables(), may_drop=True)


def test_entries_that_are_not_read_keep_their_initial_values():
    fresh = replace(MAP, unread={"classifier.weight": "old head", "classifier.bias": "old head"})
    model = variables()
    report = fresh.apply(tensors(), model, may_initialize=["classifier"])
    assert report.missing == ("classifier.weight", "classifier.bias")
    assert report.ignored == (("classifier.weight", "old head"), ("classifier.bias", "old head"))
    assert not model["classifier.kernel"].any()


@pytest.mark.parametrize("listed", [["classifier"], ["classifier."], ["classifier.kernel", "classifier.bias"]])
def test_new_heads_may_keep_their_initial_values(listed):
    checkpoint, model = tensors(), variables()
    del checkpoint["classifier.weight"], checkpoint["classifier.bias"]
    model["classifier.bias"][:] = 7
    report = MAP.apply(checkpoint, model, may_initialize=listed)
    assert report.missing == ("classifier.weight", "classifier.bias")
    assert report.summary() == "3 tensors loaded, 2 initialized anew (classifier.weight, classifier.bias)"
    assert model["classifier.bias"][0] == 7 and model["norm.gamma"].value[1] == 1


def test_missing_tensors_change_no_variable():
    checkpoint, model = tensors(), variables()
    del checkpoint["bert.norm.weight"], checkpoint["classifier.bias"]
    checkpoint["other"] = np.zeros(1)
    text = refusal(checkpoint, model)
    assert "expected 5 tensors, received 3 of them; missing: bert.norm.weight, classifier.bias; it has other" in text
    assert not model["dense.kernel"].value.any()
    assert "bert.norm.weight" in refusal(checkpoint, model, may_initialize=["classifier", "nor"])


def test_many_missing_tensors_are_counted():
    text = refusal({}, variables())
    assert "bert.norm.weight, bert.dense.weight, bert.extra.bias and 2 more" in text


def test_optional_variable_needs_its_tensor():
    checkpoint, model = tensors(), variables()
    del checkpoint["bert.extra.bias"]
    assert "missing: bert.extra.bias" in refusal(checkpoint, model)
    del model["extra.bias"]
    assert MAP.apply(checkpoint, model).missing == ()


def test_unmapped_variables_are_missing():
    model = {**variables(), "adapter.kernel": np.zeros(1)}
    assert "adapter.kernel" in refusal(tensors(), model)
    assert MAP.apply(tensors(), model, may_initialize=["adapter"]).missing == ("adapter.kernel",)


def test_wrong_shapes_change_no_variable():
    checkpoint, model = tensors(), variables()
    checkpoint["bert.dense.weight"] = checkpoint["bert.dense.weight"].T
    text = refusal(checkpoint, model)
    assert "bert.dense.weight: expected shape (2, 3), received (3, 2)" in text
    assert not model["norm.gamma"].value.any()
    assert MAP.compare(checkpoint, model).wrong_shape == (WrongShape("bert.dense.weight", (2, 3), (3, 2)),)
    checkpoint["classifier.bias"] = np.zeros(3, np.float32)
    assert "wrong too: classifier.bias" in refusal(checkpoint, model, may_initialize=["classifier"])
    assert (
        MAP.compare(checkpoint, model).summary().endswith("2 of the wrong shape (bert.dense.weight, classifier.bias)")
    )


def test_tensor_under_two_names():
    text = refusal({**tensors(), "norm.weight": np.zeros(3, np.float32)}, variables())
    assert "bert.norm.weight and norm.weight" in text


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_weights_must_be_finite(value):
    checkpoint, model = tensors(), variables()
    checkpoint["classifier.bias"][2] = value
    assert "classifier.bias: expected finite weights, received 1 of 4" in refusal(checkpoint, model)
    assert not model["norm.gamma"].value.any()


def test_integer_weights_are_errors():
    checkpoint = {**tensors(), "classifier.bias": np.zeros(4, np.int8)}
    assert "received int8" in refusal(checkpoint, variables())


def test_hostile_names_are_shortened():
    text = refusal({"a\nb" + "c" * 10**5: np.zeros(1)}, variables())
    assert len(text) < 600 and "a\\nb" in text
