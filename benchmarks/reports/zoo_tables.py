"""Tables of docs/results/zoo.md that `kerasbert.zoo.documents` does not write."""

from collections.abc import Iterable

from benchmarks.reports.markdown_tables import number, percent, table
from benchmarks.reports.results import Table
from kerasbert.zoo.catalog import ENCODER, models
from kerasbert.zoo.results import Result, read_results, select

LENGTHS = ("32 tokens, 1 thread", "128 tokens, 1 thread")
# Data set of `benchmarks.zoo.task_peers` -> the file, and its data in zoo/results.csv.
_PEERS = {
    "clinc150": ("intents-150", "CLINC150 test"),
    "banking77": ("banking", "Banking77 test"),
    "hwu64": ("assistant", "HWU64 test"),
    "snips": ("slots", "Snips validation"),
}
VECTORS = {"data": "STS-B test", "metric": "Spearman"}


def encoder_names(results: list[Result]) -> list[str]:
    """List the zoo's encoders and those that were measured beside them, where their sentence vectors were."""
    own = [model.name for model in models() if model.kind == ENCODER]
    files = {model.name for model in models()} - set(own)
    measured = [result.model for result in select(results, file="int8", **VECTORS) if result.model not in files]
    return [*(name for name in own if name in measured), *sorted(set(measured) - set(own))]


def newest(results: list[Result], **values: str) -> float | None:
    """The newest of some measurements; None if there is none."""
    found = select(results, **values)
    return found[0].value if found else None


def int8_vectors() -> list[str]:
    """Format what int8 costs the sentence vectors of each encoder."""
    results = read_results()
    rows = []
    for name in encoder_names(results):
        exact, int8 = (newest(results, model=name, file=file, **VECTORS) for file in ("float", "int8"))
        share = percent(int8 / exact) if exact and int8 else None
        rows.append((name, number(exact, 4), number(int8, 4), share))
    return table(("encoder", "float32, Spearman", "int8, Spearman", "share kept (%)"), rows)


def latencies() -> list[str]:
    """Format the latency of every int8 file on each processor."""
    results = select(read_results(), file="int8", metric="latency ms")
    measured = {(result.model, result.machine): result.date for result in reversed(results) if result.data in LENGTHS}
    order = [model.name for model in models()]
    rows = []
    for name, machine in sorted(
        measured, key=lambda key: (key[1], order.index(key[0]) if key[0] in order else len(order), key)
    ):
        values = (newest(results, model=name, machine=machine, data=data) for data in LENGTHS)
        rows.append((name, *map(number, values), machine, measured[name, machine]))
    return table(("model", "32 tokens (ms)", "128 tokens (ms)", "processor", "date"), rows)


def usual_machine(results: list[Result]) -> str:
    """The processor with the most latencies of 32 tokens: those of others are not comparable."""
    machines = [result.machine for result in select(results, file="int8", metric="latency ms", data=LENGTHS[0])]
    return max(sorted(set(machines)), key=machines.count)


def search(*results: dict) -> list[str]:
    """Format the recall of search files.

    Args:
        results: Of `benchmarks.zoo.search`, for the file that ships and for one with shorter vectors.
    """
    titles = {
        "file": "the file's vectors, against the float encoder's",
        "vectors": "the same in int8, against the file's own in float",
        "both": "the file's vectors in int8, against the float encoder's",
    }
    columns = [f"{result['dimensions']} numbers" for result in results]
    rows = [(title, *(number(result["recall"][name], 4) for result in results)) for name, title in titles.items()]
    times = [f"{result['query_seconds']['median'] * 1e3:.0f}" for result in results]
    return [
        *table((f"recall@10 among {results[0]['sentences']:,} sentences", *columns), rows),
        "",
        f"A query takes {' and '.join(times)} ms (medians), the encoder included, on a machine with other work.",
    ]


def rebuild(result: dict) -> list[str]:
    """Format the result of builds at a reduced size."""
    low, high = result["band"]
    rows = [
        (
            run["seed"],
            number(run["correlation"], 3),
            run["seconds"],
            "yes" if low <= run["correlation"] <= high else "no",
        )
        for run in result["runs"]
    ]
    return table(("seed", "Spearman", "time (s)", f"between {low} and {high}"), rows)


def distilled_tags(result: dict) -> list[str]:
    """Format the entity F1 of a distilled encoder between that of its plain fine-tuning and those of its teachers."""
    plain, made, scores = read_results(), result["model"], result["scores"]

    def fine_tuned(model: str) -> tuple[str, float | None, float | None]:
        named = {"model": model, "file": "float", "metric": "entity F1"}
        seeds = {len(each.seeds.split()) for each in select(plain, **named) if each.data.startswith("CoNLL-2003")}
        means = [newest(plain, **named, data=f"CoNLL-2003 {part}") for part in ("dev", "test")]
        return f"{model}, fine-tuned; seeds: {max(seeds, default=0)}", means[0], means[1]

    def one_seed(which: str) -> list[float]:
        return [scores[which][part]["entity F1"] for part in ("dev", "test")]

    capitals = " and tokens with capitals" if result.get("cased") else ""
    rows = [
        fine_tuned(made),
        (f"{made}{capitals.replace(' and', ' with')}, distilled from the next", *one_seed("distilled")),
        (f"{result['teacher']} with the vocabulary of {made}{capitals}, fine-tuned", *one_seed("teacher")),
        fine_tuned(result["teacher"]),
    ]
    return table(("entity F1", "dev", "test"), [(name, number(dev, 3), number(test, 3)) for name, dev, test in rows])


def task_peers(result: dict) -> list[str]:
    """Format the scores of files beside those of a larger encoder that PyTorch fine-tuned on the same rows."""
    results, rows = read_results(), []
    for name, found in result["data"].items():
        file, data = _PEERS[name]
        for metric in sorted(found.keys() - {"seconds"}):
            int8 = newest(results, model=file, file="int8", data=data, metric=metric)
            rows.append((file, f"{data}, {metric}", number(int8, 3), number(found[metric], 3)))
    return table(("file", "data and metric", "the file", f"{result['model']} in PyTorch"), rows)


def sentiment_reviews(result: dict) -> list[str]:
    """Format the accuracy on reviews of each kind, of all and of those whose score reaches a threshold."""
    rows = [
        (name, f"{found['rows']:,}", number(found["accuracy"], 3), *map(_decided, found["decided"].values()))
        for name, found in result["reviews"].items()
    ]
    return table(("reviews", "rows", "accuracy", *_from(next(iter(result["reviews"].values()))["decided"])), rows)


def sentiment_neutral(result: dict) -> list[str]:
    """Format the share of texts without an opinion whose score is below a threshold."""
    rows = [(name, *map(percent, found["neutral"].values())) for name, found in result["neutral"].items()]
    names = [f"below {each} (%)" for each in next(iter(result["neutral"].values()))["neutral"]]
    return table(("texts", *names), rows)


def _decided(found: dict[str, float]) -> str:
    return f"{found['accuracy']:.3f} of {found['share']:.0%}"


def _from(thresholds: Iterable[str]) -> list[str]:
    return [f"from {each}" for each in thresholds]


TABLES = {
    "sentiment-reviews": Table(sentiment_reviews, ("zoo_sentiment_reviews",)),
    "sentiment-neutral": Table(sentiment_neutral, ("zoo_sentiment_reviews",)),
    "task-peers": Table(task_peers, ("zoo_task_peers",)),
    "distilled-tags": Table(distilled_tags, ("zoo_distilled_tags",)),
    "int8-vectors": Table(int8_vectors, ()),
    "latencies": Table(latencies, ()),
    "search": Table(search, ("zoo_search", "zoo_search_128")),
    "rebuild": Table(rebuild, ("zoo_rebuild",)),
}
