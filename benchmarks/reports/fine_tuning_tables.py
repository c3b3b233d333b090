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
_WAYS = {
    "full": "everything", "top-layers": "the top two layers", "frozen-features": "pooler and head on frozen features",
    "adapters": "adapters", "weighted-layers": "weighted layers, frozen encoder", "gradual-unfreezing": "gradual unfreezing",
}  # fmt: skip


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


def ways(result: dict) -> list[str]:
    """Format the options and the costs of each way to fine-tune. The counts are those of the first task."""
    cases = _complete_cases(result)
    case, costs = next(iter(cases.items()))
    rows = []
    for way, title in _WAYS.items():
        options = {name: value for name, value in result["settings"]["ways"][way].items() if "rate" not in name}
        words = [
            f"--{name.replace('_', '-')}" + ("" if value is True else f" {value}") for name, value in options.items()
        ]
        run = next(run for run in result["runs"] if (run["case"], run["way"]) == (case, way))
        ratios = [facts[way]["processor_time_of_full"] for facts in cases.values()]
        rows.append(
            (
                title, f"`{' '.join(words)}`" if words else "none", _rates_of(run), f"{costs[way]['trained_parameters']:,}",
                number(costs[way]["kept_bytes"] / 1e6, 1), number(sum(ratios) / len(ratios), 1),
            )
        )  # fmt: skip
    columns = ("trained", "options", "rates", "trained parameters", "file for each task (MB)", "processor time")
    return table(columns, rows)


def _complete_cases(result: dict) -> dict[str, dict]:
    """Return the tasks for which all ways were measured: a run takes minutes, and the result file grows run by run."""
    return {name: facts for name, facts in result["summary"].items() if facts.keys() == _WAYS.keys()}


def _rates_of(run: dict) -> str:
    """Format the rate of a run, and those of its parts that have another one: parts of equal rates together."""
    parts: dict[float, list[str]] = {}
    for part, rate in run["rates"].items():
        parts.setdefault(rate, []).append(part)
    others = (f"{' and '.join(names)} {rate:g}" for rate, names in parts.items())
    return "; ".join([f"{run['learning_rate']:g}", *others])


def ways_scores(result: dict) -> list[str]:
    """Format the score of each way on each task. In parentheses: its difference from training everything.

    A difference is marked with ~ if it is not larger than the larger one of the two deviations over the seeds.
    """
    cases, metrics = _complete_cases(result), result["settings"]["metrics"]
    rows = [(title, *(_way_cell(facts, way) for facts in cases.values())) for way, title in _WAYS.items()]
    seeds = (min(each["seeds"] for each in facts.values()) for facts in cases.values())
    return table(("trained", *(f"{TASKS[case]}, {metrics[case]}" for case in cases)), [*rows, ("seeds", *seeds)])


def _way_cell(facts: dict[str, dict], way: str) -> str:
    own, full = facts[way], facts["full"]
    if way == "full":
        return with_deviation(own)
    difference = own["mean"] - full["mean"]
    deviations = [each["deviation"] for each in (own, full) if each["deviation"] is not None]
    within = "~" if len(deviations) == 2 and abs(difference) <= max(deviations) else ""
    return f"{with_deviation(own)} ({within}{difference:+.3f})"


TABLES = {
    "defaults": Table(defaults, ("training_defaults",)),
    "scores": Table(scores, ("finetuning",)),
    "settings": Table(settings, ()),
    "speeds": Table(speeds, ("finetuning",)),
    "sentence-pairs": Table(sentence_pairs, ("sentence_pairs",)),
    "ways": Table(ways, ("finetuning_ways",)),
    "ways-scores": Table(ways_scores, ("finetuning_ways",)),
    "headlines": Table(headlines, ("japanese_headlines",)),
}
