"""Checks of layer counts and indices with a model's config."""

import json

import pytest

from kerasbert.checkpoints.layer_counts import check_layer_count
from kerasbert.errors import KerasBertError

BERT = {
    "model_type": "bert", "vocab_size": 20, "hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 16,
    "num_hidden_layers": 3,
}  # fmt: skip
DISTILBERT = {"model_type": "distilbert", "vocab_size": 20, "dim": 8, "n_heads": 2, "hidden_dim": 16, "n_layers": 3}


@pytest.mark.parametrize("config", [BERT, DISTILBERT])
@pytest.mark.parametrize(
    ("layers", "fewer", "message"),
    [
        (6, False, "expected --layers from 1 to 3, received 6; {} has 3 layers"),
        (3, True, "expected --layers from 1 to 2, received 3; {} has 3 layers, and pruning must leave fewer"),
        ([0, 3], False, "expected layer indices from 0 to 2 in --layers, received 3; {} has 3 layers"),
    ],
)  # fmt: skip
def test_missing_layers_are_rejected(tmp_path, config, layers, fewer, message):
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(KerasBertError) as error:
        check_layer_count(str(tmp_path), layers, fewer)
    assert str(error.value) == message.format(tmp_path)
    check_layer_count(str(tmp_path), 2 if isinstance(layers, int) else [0, 2], fewer)
