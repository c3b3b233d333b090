"""Tables of docs/results/accuracy.md."""

from benchmarks.common.finetuning_cases import CASES
from benchmarks.reports.markdown_tables import number, percent, quartiles, table, with_deviation
from benchmarks.reports.published import published
from benchmarks.reports.results import Table

TASKS = {"mrpc": "MRPC", "sts-b": "STS-B", "rte": "RTE", "cola": "CoLA", "sst-2": "SST-2", "conll2003": "CoNLL-2003"}
VARIANTS = {
    "float32": "float32", "float32_trained": "float32, trained on (control)", "dynamic": "dynamic int8",
    "dynamic_4_bits": "dynamic int4", "static_ptq": "static int8, calibrated", "static_qat": "static int8, trained",
    "integer_ptq": "integer-only, calibrated", "integer_ptq_reference_kernels": "integer-only, calibrated, reference kernels",
    "integer_qat": "integer-only, trained", "integer_qat_reference_kernels": "integer-only, trained, reference kernels",
}  # fmt: skip
_FILES = {
    "keras_float": "Keras, float32", "keras_fake_quant": "Keras, fake quantization", "dynamic_wi8_afp32": "dynamic_wi8_afp32",
    "dynamic_wi8_afp32_reference_kernels": "dynamic_wi8_afp32, reference kernels", "static_wi8_ai8": "static_wi8_ai8",
    "static_wi8_ai8_reference_kernels": "static_wi8_ai8, reference kernels", "keras_float32": "Keras, float32", "float32": "float32",
}  # fmt: skip
# The result file has the names of its day.
_QUANTIZERS = {
    "all": "all (the static policy)",
    "all, not equalized": "all, without equalization",
    "all, both feed-forward denses dynamic": "all, without equalization, feed-forward Dense layers dynamic",
    "only kernels": "kernels only",
    "only the word table": "token embeddings only",
    "only feed-forward inputs": "feed-forward inputs only, static",
    "only feed-forward inputs, equalized": "feed-forward inputs only, static, equalized",
}
_DIAGNOSED = {"static": "static int8", "integer-only": "integer-only", "dynamic": "kernels and embeddings only"}


def scores(result: dict) -> list[str]:
    """Format the metric of each file on each task."""
    summary = result["summary"]
    tasks = [task for task in TASKS if task in summary["float32"]["metrics"]]
    columns = ("file", *(f"{TASKS[task]}, {CASES[task].metric}" for task in tasks))
    rows = [
        (title, *(number(summary[variant]["metrics"].get(task), 4) for task in tasks))
        for variant, title in VARIANTS.items()
        if variant in summary
    ]
    return table(columns, rows)


def shares(result: dict) -> list[str]:
    """Format what each file keeps of float, and of float that was trained for as long."""
    columns = (
        "file",
        "mean share of float32 (%)",
        "mean share of the control (%)",
        "lowest task",
        "its share of float32 (%)",
        "runs",
    )
    rows = []
    for variant, title in VARIANTS.items():
        if variant not in result["summary"]:
            continue
        facts = result["summary"][variant]["shares"]
        of_float, of_control = facts["float32"], facts.get("float32_trained", {})
        lowest = min(of_float["cases"], key=of_float["cases"].__getitem__)
        runs = sum(run["variant"] == variant.removesuffix("_reference_kernels") for run in result["runs"])
        exact = variant == "float32"
        rows.append(
            (
                title, percent(of_float["mean"], 2), percent(of_control.get("mean"), 2), None if exact else TASKS[lowest],
                None if exact else percent(of_float["cases"][lowest]), runs,
            )
        )  # fmt: skip
    return table(columns, rows)


def sst2_files(result: dict) -> list[str]:
    """Format accuracy and agreement of one classifier's files."""
    columns = (
        "model",
        "rows",
        "accuracy",
        "share of float32 (%)",
        "same class as float32 (%)",
        "same class as fake quantization (%)",
    )
    rows = [
        (
            _FILES.get(name, name), facts["rows"], number(facts["accuracy"], 4), percent(facts["share_of_float"]),
            percent(facts["same_class_as_float"]), percent(facts["same_class_as_fake_quant"]),
        )
        for name, facts in result["results"].items()
    ]  # fmt: skip
    return table(columns, rows)


def sentence_vectors(result: dict) -> list[str]:
    """Format the Spearman correlation of sentence vectors by recipe."""
    rows = [
        (
            _FILES.get(name, name),
            number(facts["spearman"], 4),
            number(facts["bytes"] / 1e6, 1) if "bytes" in facts else None,
        )
        for name, facts in result["results"].items()
    ]
    return table(("model", "STS-B test, Spearman", "file (MB)"), rows)


def quantizers(result: dict) -> list[str]:
    """Format the logit error of some of the quantizers at a time."""
    rows = [
        (_quantizers_title(name), percent(facts["relative_error"], 2), percent(facts["same_class"]))
        for name, facts in result["results"].items()
    ]
    return table(("quantizers switched on", "logit error (% of the logits' norm)", "same class as float32 (%)"), rows)


def _quantizers_title(name: str) -> str:
    if name.startswith("all but "):
        return f"all but `{name.removeprefix('all but ')}`"
    return _QUANTIZERS.get(name, name)


def diagnosis(result: dict) -> list[str]:
    """Format the rank that `kerasbert diagnose` gives a broken tensor."""
    rows = []
    for name, facts in sorted(result["summary"].items(), key=lambda item: -int(item[0].rpartition(" ")[2])):
        mode, _, factor = name.partition(", times ")
        ranked = result["unbroken"][mode]["tensors"]
        first = f"{facts['first']} of {facts['cases']}"
        rows.append((f"{int(factor):,}", _DIAGNOSED.get(mode, mode), first, f"{facts['worst_rank']} of {ranked}"))
    return table(("factor of the fault", "model", "ranked first (faults)", "worst rank (tensors)"), rows)


def few_examples(result: dict) -> list[str]:
    """Format the accuracy of each method by the examples of a class."""
    titles = {"centre": "nearest centre", "logistic": "logistic regression"}
    columns = ("data, classes", "method", *(f"{rows} of each class" for rows in result["rows"]))
    lines = []
    for model in result["models"].values():
        for name, facts in model.items():
            for method, title in titles.items():
                scores = (with_deviation(facts["accuracy"][str(rows)][method]) for rows in result["rows"])
                lines.append((f"{name}, {facts['classes']}", title, *scores))
    return table(columns, lines)


def few_examples_seconds(result: dict) -> list[str]:
    """Format the seconds in which a classifier is taught."""
    columns = ("data, classes", *(f"{rows} of each class" for rows in result["rows"]))
    lines = [
        (f"{name}, {facts['classes']}", *(number(facts["fit"][str(rows)]["seconds"], 1) for rows in result["rows"]))
        for model in result["models"].values()
        for name, facts in model.items()
    ]
    return table(columns, lines)


def few_examples_trained(result: dict) -> list[str]:
    """Format accuracy and seconds of training the encoder too, beside SetFit, by the examples of a class."""
    lines = []
    for data, counts in result["summary"].items():
        for rows, methods in counts.items():
            for method, found in methods.items():
                title = '`method="trained"`' if method == "trained" else method
                lines.append((data, rows, title, with_deviation(found), found["seeds"], number(found["seconds"], 0)))
    return table(("data", "of each class", "method", "accuracy", "draws", "seconds, median"), lines)


def budget(result: dict) -> list[str]:
    """Format the file that `kerasbert fit` chose beside the best of 20 by hand, by data set."""
    columns = (
        "data",
        "budget",
        "chosen",
        "score on test",
        "best of 20 on dev",
        "score on test",
        "best on test",
        "minutes",
        "minutes of the 20",
    )
    lines = []
    for name, found in result["data"].items():
        fit, hand = found["fit"], found["by_hand"]
        best = hand["best_on_dev"]
        scores = (
            number(fit["test"], 3),
            best["candidate"],
            number(best["test"], 3),
            number(hand["best_on_test"]["test"], 3),
        )
        spent = (number(each["processor_seconds"] / 60, 0) for each in (fit, hand))
        lines.append((name, found["budget"], fit["chosen"], *scores, *spent))
    return table(columns, lines)


def multilingual(result: dict) -> list[str]:
    """Format similarity and search of a multilingual encoder and of what is left of it."""
    models = result["models"]
    first = next(iter(models.values()))
    pairs = tuple(first["search"])
    within = [each for each in pairs if each.split(", ")[0] == each.split(", ")[1]]
    from_english = [each for each in pairs if each.startswith("en, ") and each not in within]
    columns = (
        "model", "MB", "tokens", *(f"STS {name}" for name in first["sts"]), "right first, one language (%)",
        "English questions, other paragraphs (%)",
    )  # fmt: skip
    lines = []
    for name, found in models.items():
        size = number(found["bytes"] / 1e6, 1) if "bytes" in found else "-"
        means = (sum(found["search"][pair] for pair in group) / len(group) for group in (within, from_english))
        scores = (number(score, 3) for score in found["sts"].values())
        lines.append((name, size, f"{found['vocabulary']:,}", *scores, *map(percent, means)))
    return table(columns, lines)


def retrieval(result: dict) -> list[str]:
    """Format how often the right sentence is found, by model and form of the vectors."""
    columns = ("model", "numbers", "vectors", "bytes a vector", "first (%)", "among ten (%)", "nDCG@10")
    lines = []
    for model, found in result["models"].items():
        for form in found["forms"]:
            width = form["dimensions"]
            size = {"float32": 4 * width, "int8": width + 4, "bit": -(-width // 8) + 4}[form["vectors"]]
            scores = percent(form["first"]), percent(form["recall@10"]), number(form["nDCG@10"], 3)
            lines.append((model, width, form["vectors"], size, *scores))
    return table(columns, lines)


def retrieval_engines(result: dict) -> list[str]:
    """Format what a search costs as the index grows."""
    columns = ("rows", "engine", "ready in (s)", "search, quartiles (ms)", "of the ten nearest (%)")
    lines = []
    for rows, facts in result["grown"].items():
        for name, engine in facts["engines"].items():
            ready, share = number(engine["seconds until ready"], 2), percent(engine["recall@10"])
            lines.append((f"{int(rows):,}", name, ready, quartiles(engine["ms"]), share))
    return table(columns, lines)


def retrieval_sizes(result: dict) -> list[str]:
    """Format the size of an index, and the time of what is done with it."""
    columns = ("rows", "file (MB)", "encode (s)", "write (s)", "open (s)")
    lines = [
        (
            f"{int(rows):,}",
            number(facts["bytes"] / 1e6, 1),
            *(number(facts[f"seconds to {name}"], 2) for name in ("encode", "write", "open")),
        )
        for rows, facts in result["grown"].items()
    ]
    return table(columns, lines)


TABLES = {
    "scores": Table(scores, ("quantized_tasks",)),
    "shares": Table(shares, ("quantized_tasks",)),
    "sst2-files": Table(sst2_files, ("classification",)),
    "sentence-vectors": Table(sentence_vectors, ("sentence_similarity",)),
    "quantizers": Table(quantizers, ("quantizer_ablation",)),
    "diagnosis": Table(diagnosis, ("diagnose_ranks",)),
    "few-examples": Table(few_examples, ("few_examples",)),
    "few-examples-seconds": Table(few_examples_seconds, ("few_examples",)),
    "budget": Table(budget, ("budget",)),
    "multilingual": Table(multilingual, ("multilingual",)),
    "few-examples-trained": Table(few_examples_trained, ("few_examples_trained",)),
    "retrieval": Table(retrieval, ("retrieval",)),
    "retrieval-engines": Table(retrieval_engines, ("retrieval",)),
    "retrieval-sizes": Table(retrieval_sizes, ("retrieval",)),
    "published-quantization": Table(lambda: published("quantization"), ()),
}
