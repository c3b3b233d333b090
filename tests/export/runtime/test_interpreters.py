import numpy as np
import pytest

from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.interpreters import KERNELS, describe_machine, find_runtime, open_model


@pytest.mark.parametrize("kernels", KERNELS)
def test_kernel_sets_agree_and_report_their_operators(float_file, helpers, kernels):
    model, rows = open_model(float_file, kernels=kernels), helpers.packed_rows(1)
    other = open_model(float_file, kernels="builtin").run(rows)["probabilities"]
    np.testing.assert_allclose(model.run(rows)["probabilities"], other, atol=1e-5)
    total = sum(sum(counts.values()) for counts in model.ops_by_backend.values())
    assert total == 24
    if kernels == "xnnpack":
        assert model.partitions == 1
        assert model.ops_by_backend["builtin"] == {"CAST": 2, "GATHER": 1}
        assert model.ops_by_backend["xnnpack"]["FULLY_CONNECTED"] == 2
    else:
        assert model.partitions == 0 and "xnnpack" not in model.ops_by_backend


def test_float16_kernels_are_unpacked_inside_the_delegate(half_file):
    model = open_model(half_file)
    assert model.partitions >= 1
    assert model.ops_by_backend["xnnpack"]["DEQUANTIZE"] >= 2


@pytest.mark.parametrize("length", [5, 16])
def test_resizable_model_keeps_its_delegate_at_every_length(resizable_file, helpers, length):
    model = open_model(resizable_file, length=length)
    assert model.resizable and model.length == length and model.partitions == 1
    assert model.run(helpers.packed_rows(1, length))["probabilities"].shape == (1, 3)


def test_padding_does_not_change_a_resizable_model(resizable_file, helpers):
    short = helpers.packed_rows(1, 5)
    long = {name: np.pad(values, ((0, 0), (0, 4))) for name, values in short.items()}
    results = [open_model(resizable_file, length=n).run(rows)["probabilities"] for n, rows in ((5, short), (9, long))]
    np.testing.assert_allclose(*results, atol=1e-5)


def test_lengths_that_do_not_fit_are_refused(float_file, resizable_file):
    with pytest.raises(KerasBertError, match="length 8.*received 9"):
        open_model(float_file, length=9)
    with pytest.raises(KerasBertError, match="resizable"):
        open_model(resizable_file)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows.pop("input_ids"), "received attention_mask, token_type_ids"),
        (lambda rows: rows.update(extra=rows["input_ids"]), "extra"),
        (lambda rows: rows.update(input_ids=rows["input_ids"][:, :4]), r"\(1, 8\).*received \(1, 4\)"),
        (lambda rows: rows.update(input_ids=rows["input_ids"].astype(np.int64)), "int32.*received int64"),
    ],
)
def test_inputs_are_checked(float_file, helpers, change, message):
    rows = helpers.packed_rows(1)
    change(rows)
    with pytest.raises(KerasBertError, match=message):
        open_model(float_file).run(rows)


def test_an_operator_that_fails_is_an_error_of_one_line(float_file, helpers):
    rows = helpers.packed_rows(1)
    rows["input_ids"][0, 0] = 10_000
    with pytest.raises(KerasBertError, match="gather index") as error:
        open_model(float_file).run(rows)
    assert "\n" not in str(error.value)


def test_unknown_kernels_threads_and_damaged_files_are_refused(float_file):
    with pytest.raises(KerasBertError, match="xnnpack, builtin, reference"):
        open_model(float_file, kernels="cuda")
    with pytest.raises(KerasBertError, match="thread"):
        open_model(float_file, threads=0)
    with pytest.raises(KerasBertError, match="intact"):
        open_model(float_file.read_bytes()[:200])


def test_the_machine_is_described():
    machine = describe_machine()
    assert machine["cpu"] and int(machine["cores"]) >= 1 and machine["runtime"].startswith("ai_edge_litert")


def test_errors_of_the_runtime_are_raised(float_file, helpers, monkeypatch):
    """Damaged files leave tensors unallocated, and the interpreter raises in each of the three steps."""
    model, rows = open_model(float_file), helpers.packed_rows(1)
    for name in ("set_tensor", "invoke", "get_tensor"):
        with monkeypatch.context() as patched:
            refuse = lambda *arguments: (_ for _ in ()).throw(ValueError("Tensor is unallocated."))  # noqa: E731
            patched.setattr(find_runtime().interpreter, name, refuse)
            with pytest.raises(KerasBertError, match="Tensor is unallocated"):
                model.run(rows)


def test_a_row_is_timed_without_its_copies(float_file, helpers):
    model, rows = open_model(float_file), helpers.packed_rows(1)
    outputs, seconds = model.timed(rows)
    assert seconds > 0
    np.testing.assert_array_equal(outputs["probabilities"], model.run(rows)["probabilities"])


def test_arrays_of_no_token_list_have_no_outputs_and_no_arrays_are_refused(float_file, helpers):
    model = open_model(float_file)
    outputs, seconds = model.run_arrays(helpers.packed_rows(3))
    assert outputs["probabilities"].shape == (3, 3) and len(seconds) == 3
    assert model.run_arrays(helpers.packed_rows(0)) == ({}, [])
    with pytest.raises(KerasBertError, match="received none; pass exactly these"):
        model.run_arrays({})
    with pytest.raises(KerasBertError, match="a default length"):
        open_model(float_file, default_length="long")
