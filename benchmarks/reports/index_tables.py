"""Tables of docs/results/index.md."""

from collections.abc import Mapping

from benchmarks.reports.markdown_tables import table
from benchmarks.reports.results import Table, day, load, names, processor

# Of the zoo, whose tables are made from zoo/results.csv.
_ZOO = {"zoo_finetuning", "zoo_latency", "zoo_vectors", "zoo_search", "zoo_rerank", "zoo_rebuild"}


def files(pages: Mapping[str, Mapping[str, Table]]) -> Table:
    """Make the table of all result files.

    Args:
        pages: The tables of each page.
    """

    def build() -> list[str]:
        rows = []
        for name in names():
            used = [page for page, tables in pages.items() if any(name in each.sources for each in tables.values())]
            links = ", ".join(map(_link, used or ["zoo"] * (name in _ZOO)))
            commit = (load(name).get("commit") or "").removesuffix("-dirty")
            rows.append(
                (f"`{name}.json`", links or None, day(name), processor(name), f"`{commit}`" if commit else None)
            )
        return table(("result file", "page", "date", "processor", "commit"), rows)

    return Table(build, ())


def _link(page: str) -> str:
    return "this page" if page == "index" else f"[{page}]({page}.md)"


def machines() -> list[str]:
    """Format the processors, with the number of result files and their first and last day."""
    found: dict[tuple[str, ...], list[str]] = {}
    for name in names():
        facts = load(name)["machine"]
        found.setdefault((facts["cpu"], facts["cores"], facts["system"], facts["python"], facts["runtime"]), []).append(
            day(name)
        )
    rows = [(*machine, len(days), min(days), max(days)) for machine, days in found.items()]
    return table(("processor", "cores", "system", "Python", "runtime", "result files", "first day", "last day"), rows)


def damaged_files(result: dict) -> list[str]:
    """Format what readers did with damaged files."""
    readers = result["readers"].values()
    counts = (
        sum(reader[key] for reader in readers)
        for key in ("inputs", "accepted", "refused", "crashes", "hangs", "out_of_memory")
    )
    foreign = sum(sum(reader["foreign"].values()) for reader in readers)
    columns = (
        "readers",
        "inputs",
        "read",
        "refused",
        "crashes",
        "hangs",
        "out of memory",
        "other exceptions",
    )
    return table(columns, [(len(readers), *(f"{count:,}" for count in counts), foreign)])


def damaged_models(result: dict) -> list[str]:
    """Format what happened to damaged `.tflite` files."""
    outcomes = list(dict.fromkeys(outcome for facts in result["outcomes"].values() for outcome in facts))
    titles = {"ran": "ran", "refused in a line": "refused with a message"}
    rows = [
        (
            _STEPS.get(step, f"`kerasbert {step.removeprefix('commands: ')}`"),
            *(f"{facts.get(each, 0):,}" for each in outcomes),
        )
        for step, facts in result["outcomes"].items()
    ]
    return table(("step", *(titles.get(outcome, outcome) for outcome in outcomes)), rows)


_STEPS = {
    "readers": "metadata reader", "unverified": "runtime, without verification", "verified": "runtime, after verification",
}  # fmt: skip


def kills(result: dict) -> list[str]:
    """Format what was left after processes were killed while they wrote."""
    writer, commands = result["writer"], result["commands"]["together"]
    rows = [
        ("saving a folder", writer["kills"], writer["whole"], writer["kills"] - writer["whole"], writer["not_cleared"]),
        ("commands", commands["kills"], commands["whole_new"] + commands["whole_old"] - commands["ended_before"],
         commands["kills"] - (commands["whole_new"] + commands["whole_old"] - commands["ended_before"]), commands.get("not_cleared", 0)),
    ]  # fmt: skip
    return table(
        ("process", "kills", "complete output, old or new", "damaged output", "temporary files that stayed"), rows
    )


def mutated_files(result: dict) -> list[str]:
    """Format the verdicts of `validate` on changed files, by what they predict."""
    counts = {(each["predicts"], each["validate"]): each["files"] for each in result["outcomes"]}
    ends = ("passed", "refused", "not decided")
    rows = [
        (f"predicts {effect}", *(counts.get((effect, end), 0) for end in ends))
        for effect in ("otherwise", "nearly the same", "the same")
    ]
    rows.append(("means the same in another form", *(result["same_meaning"].get(end, 0) for end in ends)))
    return table(("changed file", *ends), rows)


def power_cuts(result: dict) -> list[str]:
    """Format what was on the disk after a loss of power, and what the synchronization costs."""
    rows = []
    for name, facts in result["file_systems"].items():
        if "not_run" in facts:
            rows.append((name, f"not run: {facts['not_run']}", "", "", ""))
            continue
        with_sync, without = (_outputs(facts[side]) for side in ("synchronized", "not_synchronized"))
        times = (f"{facts['milliseconds'][side]['median']:.0f} ms" for side in ("synchronized", "not_synchronized"))
        rows.append((name, *with_sync, f"{without[0]}, {without[1]}", ", ".join(times)))
    columns = (
        "file system", "complete outputs", "damaged, missing or older than the last save", "the same without synchronization",
        "time of a save: with, without",
    )  # fmt: skip
    return table(columns, rows)


def _outputs(counts: dict) -> tuple[str, int]:
    """Return the complete outputs of all, and how many are damaged, missing or old: a folder and a file for each cut."""
    complete = counts.get("folder_complete", 0) + counts.get("file_complete", 0)
    lost = counts["folder_save_lost"] + counts["file_save_lost"]
    return f"{complete} of {2 * counts['cuts']}", 2 * counts["cuts"] - complete + lost


TABLES = {
    "machines": Table(machines, ()),
    "damaged-files": Table(damaged_files, ("fuzz_readers",)),
    "damaged-models": Table(damaged_models, ("fuzz_tflite",)),
    "kills": Table(kills, ("kills",)),
    "mutated-files": Table(mutated_files, ("validate_mutations",)),
    "power-cuts": Table(power_cuts, ("power_cuts",)),
}
