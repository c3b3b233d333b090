"""Tables of docs/results/pretraining.md."""

from benchmarks.reports.markdown_tables import number, percent, quartiles, table
from benchmarks.reports.results import Table

_SYSTEMS = {
    "keras": "kerasbert",
    "pytorch": "transformers, PyTorch",
    "pytorch-compiled": "transformers, PyTorch compiled",
    "pytorch-masked-only": "the same, logits of masked tokens by hand",
    "pytorch-masked-only-compiled": "the same, compiled",
}


def masks(result: dict) -> list[str]:
    """Format the properties of the masks of each corpus and unit."""
    rows = []
    for corpus, facts in result["corpora"].items():
        for unit, found in facts["units"].items():
            spans = found["spans"]
            rows.append(
                (
                    f"{corpus}, {unit}", f"{found['sequences']:,}", percent(found["share"], 2), percent(found["share masks"], 2),
                    percent(found["share kept"], 2), f"{found['words in part']:,}", found["special"],
                    number(spans.get("chi-square over degrees of freedom")),
                )
            )  # fmt: skip
    columns = (
        "text, masked together", "rows", "masked (%)", "of them the mask (%)", "unchanged (%)", "words masked in part",
        "special tokens masked", "span lengths: chi-square over degrees of freedom",
    )  # fmt: skip
    return table(columns, rows)


def losses(result: dict) -> list[str]:
    """Format the largest difference of the losses of each class."""
    rows = []
    for facts in result["cases"].values():
        objectives = dict.fromkeys(name for losses in facts["units"].values() for name in losses["ours"])
        units = ", ".join(facts["units"])
        rows.append(
            (f"`{facts['class']}`", ", ".join(objectives), units, f"{facts['largest_relative_difference']:.1e}")
        )
    return table(("transformers' class", "losses", "masked together", "largest relative difference"), rows)


def throughput(result: dict) -> list[str]:
    """Format tokens per second of every system and precision."""
    rows = []
    for precision, facts in result["cases"].items():
        for name, title in _SYSTEMS.items():
            if name not in facts["tokens_per_second"]:
                continue
            speed, ratio = facts["tokens_per_second"][name], facts["ratios_to_each_peer"].get(name)
            cells = (number(ratio["of_medians"]), quartiles(ratio, prefix="round_")) if ratio else (None, None)
            rows.append((precision, title, number(speed["median"], 0), *cells))
    return table(("precision", "system", "tokens/s", "kerasbert is times as fast", "quartiles of the rounds"), rows)


TABLES = {
    "masks": Table(masks, ("pretraining_masks",)),
    "losses": Table(losses, ("pretraining_losses",)),
    "throughput": Table(throughput, ("pretraining_throughput",)),
}
