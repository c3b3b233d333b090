"""Cards and tables are those of the catalog and of results.csv."""

from dataclasses import replace
from pathlib import Path

import pytest
from huggingface_hub import ModelCard

from kerasbert.zoo import documents, tables
from kerasbert.zoo.cards import card
from kerasbert.zoo.catalog import find, models
from kerasbert.zoo.results import Result

ROOT = Path(__file__).parents[2]
RESULT = Result(
    "small-en", "int8", "STS-B test", "Spearman", 0.7712, "", "", "xnnpack", "a CPU", "2026-11-25", "abc", "python -m x"
)  # fmt: skip


@pytest.mark.long
def test_generated_files_are_up_to_date():
    for path, text in documents.generated(ROOT).items():
        message = f"{path} differs from the catalog and results.csv: run python -m kerasbert.zoo.documents"
        assert path.read_text("utf-8") == text, message


def test_every_table_has_its_place():
    pages = [ROOT / page for page in documents.PAGES]
    text = "".join(page.read_text("utf-8") for page in pages if page.is_file())
    assert [name for name in documents.TABLES if f"<!-- zoo: {name} -->" not in text] == []


@pytest.mark.parametrize("model", models(), ids=lambda model: model.name)
def test_cards_are_valid(model):
    content = model.card.read_text("utf-8")
    loaded = ModelCard(content)
    assert loaded.data.license and loaded.data.library_name == "kerasbert"
    measured = [result.metric_value for result in loaded.data.eval_results or []]
    assert all(0 <= value <= 1 for value in measured)


def test_numbers_of_the_results_appear_in_card_and_table():
    text = card(find("small-en"), [RESULT, replace(RESULT, model="mini-en", value=0.9999)])
    assert "0.7712" in text and "value: 0.7712" in text and "0.9999" not in text
    assert "| small-en | encoder | 0.771 Spearman, STS-B test |" in tables.models_table([RESULT])
