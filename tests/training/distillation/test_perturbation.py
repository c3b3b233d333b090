"""Variants of texts without a language model."""

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.training.distillation import perturb


def test_words_are_masked_and_all_else_stays(tiny):
    (text,) = perturb(["A  good film, so greatly warm!"], tiny.tokenizer(), copies=1, mask=1.0, run=0.0)
    assert text == "[MASK]  [MASK] [MASK][MASK] [MASK] [MASK] [MASK][MASK]"
    ids = tiny.tokenizer().encode([text], max_length=16).input_ids[0]
    assert list(ids)[1:-1] == [tiny.tokenizer().mask_id] * 8  # the word of two tokens is one mask


def test_runs_are_at_most_five_words_of_the_text(tiny):
    text = "a good film was so very warm and bright"
    variants = perturb([text], tiny.tokenizer(), copies=40, mask=0.0, run=1.0)
    assert all(variant in text and 1 <= len(variant.split()) <= 5 for variant in variants)
    assert {len(variant.split()) for variant in variants} == {1, 2, 3, 4, 5}


def test_shares_are_those_asked_for(tiny):
    variants = perturb(["a good film was so very warm"] * 400, tiny.tokenizer(), copies=2)
    masked = sum(variant.count("[MASK]") for variant in variants) / sum(len(variant.split()) for variant in variants)
    short = sum(len(variant.split()) < 7 for variant in variants) / len(variants)
    assert masked == pytest.approx(0.1, abs=0.02) and short == pytest.approx(0.25, abs=0.05)


def test_of_pairs_each_text_varies_in_turn(tiny):
    pair = ("a good film", "so very bad")
    variants = perturb([pair], tiny.tokenizer(), copies=3, mask=1.0, run=0.0)
    masks = "[MASK] [MASK] [MASK]"
    assert variants == [(masks, pair[1]), (pair[0], masks), (masks, masks)]


def test_seed_determines_variants_and_odd_texts_stay(tiny):
    texts = ["", " ", "a good film"]
    one, same, other = (perturb(texts, tiny.tokenizer(), copies=5, mask=0.5, seed=seed) for seed in (1, 1, 2))
    assert one == same != other and one[:10] == [""] * 5 + [" "] * 5


@pytest.mark.parametrize("options", [{"copies": 0}, {"copies": -1}, {"mask": 1.5}, {"run": "half"}])
def test_numbers_out_of_range_are_refused(options, tiny):
    with pytest.raises(KerasBertError, match="expected"):
        perturb(["a"], tiny.tokenizer(), **options)
