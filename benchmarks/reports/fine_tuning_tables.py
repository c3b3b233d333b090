"""Tables of docs/results/fine-tuning.md."""

from benchmarks.common.finetuning_cases import CASES
from benchmarks.reports.markdown_tables import number, table, with_deviation
from benchmarks.reports.results import Table, brand

TASKS = {
    "sst-2": "SST-2", "mrpc": "MRPC", "rte": "RTE", "wnli": "WNLI", "cola": "CoLA", "sts-b": "STS-B", "conll2003": "CoNLL-2003",
    "wnut17": "WNUT-17", "subjqa": "SubjQA",
}  # fmt: skip
_SYSTEMS = ("kerasbert", "pytorch")
_DEFAULTS_CASES = {
    "sst-2": "SST-2", "banking77": "Banking77", "snips slots": "Snips, slots", "sts-b": "STS-B", "ag-news": "AG News",
    "clinc150": "CLINC150", "wnut17": "WNUT-17", "subjqa": "SubjQA",
}  # fmt: skip
_HEADLINES = {
    "bag_of_words": "bag of words", "bert_from_scratch": "BERT, random weights",
    "bert_after_masked_lm": "BERT, masked language modelling first",
}  # fmt: skip
_PAIRS = {
    "unfitted": "before",
    "scores": "on 5,749 scored pairs",
    "alike_pairs": "on pairs with a score of 4 or more, without scores",
}


def scores(result: dict) -> list[str]:
    """Format the scores of both systems on each task."""
    rows = []
    for case, title in TASKS.items():
        if case not in result["summary"]:
            continue
        metric = CASES[case].metric
        ours, peer = (result["summary"][case][system][metric] for system in _SYSTEMS)
        difference = f"{ours['mean'] - peer['mean']:+.3f}"
        rows.append(
            (title, metric, with_deviation(ours), with_deviation(peer), difference, min(ours["seeds"], peer["seeds"]))
        )
    return table(("task", "metric", "kerasbert", "PyTorch transformers", "difference", "seeds"), rows)


def settings() -> list[str]:
    """Format the settings of both systems on each task."""
    rows = []
    for name, title in TASKS.items():
        case = CASES[name]
        rows.append((title, f"`{case.task}`", case.epochs, case.length, case.batch_size, f"{case.learning_rate:g}"))
    return table(("task", "`--task`", "epochs", "tokens", "rows in a batch", "learning rate"), rows)


def speeds(result: dict) -> list[str]:
    """Format examples per second of runs on an idle machine."""
    rows = []
    for case, title in TASKS.items():
        facts = result["summary"].get(case, {})
        for cpu, ratio in facts.get("speed_ratio", {}).items():
            speeds = [facts["examples_per_second_idle"][system][cpu] for system in _SYSTEMS]
            means = (number(sum(each) / len(each), 1) for each in speeds)
            rows.append((title, brand(cpu), *means, number(ratio)))
    return table(("task", "processor", "kerasbert (examples/s)", "PyTorch (examples/s)", "times as fast"), rows)


def sentence_pairs(result: dict) -> list[str]:
    """Format the Spearman correlation of a sentence encoder before and after training on pairs."""
    rows = [(_PAIRS.get(name, name), with_deviation(facts["Spearman"], 4)) for name, facts in result["summary"].items()]
    return table(("training", "STS-B dev, Spearman"), rows)


def headlines(result: dict) -> list[str]:
    """Format the accuracy on Japanese headlines."""
    rows = [(title, with_deviation(result["summary"][name])) for name, title in _HEADLINES.items()]
    return table(("model", "accuracy"), rows)


def defaults(result: dict) -> list[str]:
    """Format the main metric with the defaults of `kerasbert train`, beside the best of a small search where that is better."""
    cells, models = result["summary"], list(dict.fromkeys(name.split(", ")[0] for name in result["summary"]))
    rows = []
    for case in dict.fromkeys(name.split(", ")[1] for name in cells):
        found = [cells.get(f"{model}, {case}") for model in models]
        metric = next(cell["metric"] for cell in found if cell)
        rows.append((_DEFAULTS_CASES.get(case, case), metric, *(_default_cell(cell) for cell in found)))
    return table(("data", "metric", *models), rows)


def _default_cell(cell: dict | None) -> str:
    if cell is None:
        return "-"
    value, best = number(cell["default"], 3), number(cell["best"], 3)
    text = f"{value} ({best})" if best != value else str(value)
    return text + (", at chance" if cell["at_chance"] else "")


TABLES = {
    "defaults": Table(defaults, ("training_defaults",)),
    "scores": Table(scores, ("finetuning",)),
    "settings": Table(settings, ()),
    "speeds": Table(speeds, ("finetuning",)),
    "sentence-pairs": Table(sentence_pairs, ("sentence_pairs",)),
    "headlines": Table(headlines, ("japanese_headlines",)),
}
