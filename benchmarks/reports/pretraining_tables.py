"""Tables of docs/results/pretraining.md."""

from benchmarks.reports.markdown_tables import number, percent, quartiles, table, with_deviation
from benchmarks.reports.results import Table

_SYSTEMS = {
    "keras": "kerasbert",
    "pytorch": "transformers, PyTorch",
    "pytorch-compiled": "transformers, PyTorch compiled",
    "pytorch-masked-only": "the same, logits of masked tokens by hand",
    "pytorch-masked-only-compiled": "the same, compiled",
}

# The accuracies of masked words, and of what is learned beside them.
_WORDS = ("val_prediction_logits_accuracy", "val_accuracy")
_SECOND = (
    "val_span_logits_accuracy", "val_seq_relationship_logits_accuracy", "val_sop_logits_accuracy", "val_logits_accuracy",
)  # fmt: skip
_ENCODERS = {
    "pretrained, title and body": "pretrained, then titles with bodies",
    "pretrained": "pretrained on the articles",
    "random weights": "random weights",
    "bag of words": "bag of words",
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


def steps(result: dict) -> list[str]:
    """Format the losses of steps of both sides."""
    rows = [
        (each["step"], f"{each['keras']:.4f}", f"{each['pytorch']:.4f}")
        for each in result["losses"]
        if not each["step"] % 100
    ]
    return table(("step", "kerasbert", "transformers, PyTorch"), rows)


def runs(result: dict) -> list[str]:
    """Format what kills, workers and larger corpora change."""
    kills, memory = result["kills"], result["memory"]
    equal = sum(
        run["equal_tensors"] == run["tensors"] and run["equal_metrics"] and run["equal_evaluations"]
        for run in kills["runs"]
    )
    sizes = [memory[name]["corpus_bytes"] / 1e6 for name in ("corpus", "larger")]
    peaks = [memory[name]["peak_megabytes"] for name in ("corpus", "larger")]
    rows = [
        (
            f"{kills['kills']} kills (SIGKILL) at random moments, each continued with `--resume`",
            f"{equal} of {len(kills['runs'])} runs have the weights and losses of an uninterrupted one, bit for bit",
        ),
        (
            "two workers on one machine against one process, no dropout",
            f"losses differ by at most {result['workers']['largest_relative_difference']:.1e}, relative",
        ),
        (
            f"a corpus of {sizes[1]:,.1f} MB against {sizes[0]:,.1f} MB, {result['steps']} steps",
            f"peak memory {peaks[1]:,.0f} MB against {peaks[0]:,.0f} MB",
        ),
    ]
    return table(("tried", "found"), rows)


def japanese(result: dict) -> list[str]:
    """Format the accuracy on Japanese headlines by model and number of headlines."""
    rows = []
    for count, systems in result["summary"].items():
        for name, title in _ENCODERS.items():
            if name in systems:
                scores = (with_deviation(systems[name][metric]) for metric in ("accuracy", "macro F1"))
                rows.append((count, title, *scores, systems[name]["accuracy"]["seeds"]))
    return table(("headlines of each class", "model", "accuracy", "macro F1", "seeds"), rows)


def curves(result: dict) -> list[str]:
    """Format the last evaluation of each run."""
    rows = []
    for name, run in result["runs"].items():
        last = run["evaluations"][-1]
        words, second = (next((last[key] for key in keys if key in last), None) for keys in (_WORDS, _SECOND))
        rows.append((name, number(last["loss"]), number(last["val_loss"]), percent(words), percent(second)))
    columns = ("learned", "training loss", "dev loss", "masked words right, dev (%)", "second objective right, dev (%)")
    return table(columns, rows)


def continued(result: dict) -> list[str]:
    """Format the scores before and after continued pretraining."""
    titles = {"before": "as it is", "after": "pretrained on the reviews"}
    metrics = list(next(iter(result["summary"].values())))
    rows = [
        (titles[name], *(with_deviation(facts[metric]) for metric in metrics), facts[metrics[0]]["seeds"])
        for name, facts in result["summary"].items()
    ]
    return table((result["model"], *metrics, "seeds"), rows)


def masked_words(result: dict) -> list[str]:
    """Format how often a masked word is the likeliest, or among the five likeliest; of all words and of longer ones."""
    places = (("model", "first"), ("model", "among five"), ("most frequent words", "among five"))
    rows = [
        (
            model,
            f"{name}, {found['sentences']:,}",
            words,
            *(percent(found[side][words][place]) for side, place in places),
        )
        for model, texts in result["models"].items()
        for name, found in texts.items()
        for words in found["model"]
    ]
    columns = ("model", "sentences", "words", "first (%)", "among five (%)", "the five most frequent words (%)")
    return table(columns, rows)


TABLES = {
    "masks": Table(masks, ("pretraining_masks",)),
    "losses": Table(losses, ("pretraining_losses",)),
    "steps": Table(steps, ("pretraining_steps",)),
    "throughput": Table(throughput, ("pretraining_throughput",)),
    "curves": Table(curves, ("pretraining_curves",)),
    "runs": Table(runs, ("pretraining_runs",)),
    "continued": Table(continued, ("continued_pretraining",)),
    "masked-words": Table(masked_words, ("masked_words",)),
    "japanese": Table(japanese, ("japanese_pretraining",)),
}
