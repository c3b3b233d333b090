"""Tables of docs/results/tokenizers.md."""

from benchmarks.reports.markdown_tables import percent, quartiles, table
from benchmarks.reports.results import Table

_ENGINES = {"kerasbert": "host engine", "graph": "graph engine, batches of 1,024"}
_PEERS = {"tokenizers": "encode_batch", "tokenizers-fast": "encode_batch_fast"}
_KINDS = {
    "capitals of new alphabets": "capitals of alphabets new to Unicode",
    "marks of new alphabets": "composed letters of alphabets new to Unicode",
    "any code point": "random code points",
    "every code point": "every code point once, 16 in a string",
}


def parity(result: dict) -> list[str]:
    """Format mismatches to transformers by vocabulary."""
    rows = []
    for name, facts in result["results"].items():
        mismatches = (facts[f"mismatches_{kind}"] for kind in ("ids", "offsets", "pair_ids", "pair_offsets"))
        counts = (f"{facts[key]:,}" for key in ("strings", "tokens"))
        rows.append((name.replace("(learned here)", "(own vocabulary)"), *counts, *mismatches))
    columns = (
        "vocabulary", "strings, and as many pairs", "tokens", "strings with other ids", "with other offsets", "pairs with other ids",
        "with other offsets",
    )  # fmt: skip
    return table(columns, rows)


def graph_parity(result: dict) -> list[str]:
    """Format strings that the graph engine tokenizes differently from the host engine, by vocabulary and settings."""
    rows = [
        (
            facts["vocabulary"],
            _settings(facts["settings"]),
            f"{facts['total']['strings']:,}",
            facts["total"]["different"],
        )
        for facts in result["results"]
    ]
    return table(("vocabulary", "settings", "strings", "strings that differ"), rows)


def _settings(settings: dict) -> str:
    return ", ".join(f"`{name}={value}`" for name, value in settings.items())


def graph_differences(result: dict) -> list[str]:
    """Format the kinds of string that differ."""
    rows = [
        (_KINDS.get(kind, kind), _settings(facts["settings"]), f"{counts['strings']:,}", percent(counts["rate"], 2))
        for facts in result["results"]
        for kind, counts in facts["kinds"].items()
        if counts["different"]
    ]
    return table(("kind of string", "settings", "strings", "strings that differ (%)"), rows)


def speed(result: dict) -> list[str]:
    """Format the time of each engine relative to bare tokenizers."""
    rows = []
    for threads, title in (("one", "1"), ("all", "all")):
        engines = result["threads"][threads]["engines"]
        for engine, name in _ENGINES.items():
            facts = engines[engine]
            speed = f"{facts['texts_per_second']['median']:,.0f}"
            times = (_with_quartiles(facts["time_over"][peer]) for peer in _PEERS)
            rows.append((name, title, speed, *times))
    columns = (
        "engine",
        "threads",
        "texts per second",
        *(f"time relative to `{name}` (quartiles)" for name in _PEERS.values()),
    )
    return table(columns, rows)


def app_parity(result: dict) -> list[str]:
    """Format mismatches of the Kotlin and the JavaScript tokenizer to kerasbert's, by tokenizer."""
    rows = []
    for name, facts in result["tokenizers"].items():
        strings, *others = (f"{facts['rows'][kind]:,}" for kind in ("tokens", "pairs", "windows", "words"))
        mismatches = (sum(facts["mismatches"][client].values()) for client in ("kotlin", "javascript"))
        rows.append((name, strings, f"{facts['tokens']:,}", *others, *mismatches))
    columns = (
        "tokenizer", "strings", "tokens", "sequences", "texts in windows", "texts in words", "differences in Kotlin",
        "differences in JavaScript",
    )  # fmt: skip
    return table(columns, rows)


def witness(result: dict) -> list[str]:
    """Format on how many strings Hugging Face's tokenizer in JavaScript has the ids of others."""
    rows = []
    for name, facts in result["tokenizers"].items():
        if counts := facts.get("witness"):
            shares = (percent(counts[side] / counts["strings"], 2) for side in ("golden", "javascript"))
            rows.append((name, f"{counts['strings']:,}", f"{counts['strings'] - counts['golden']:,}", *shares))
    columns = (
        "tokenizer", "strings", "strings with other ids", "equal to the Rust `tokenizers` (%)", "equal to `web_demo` (%)"
    )  # fmt: skip
    return table(columns, rows)


def app_speed(kotlin: dict, web: dict) -> list[str]:
    """Format the time of the Kotlin and the JavaScript tokenizer relative to bare tokenizers."""
    engines = (
        ("Kotlin", kotlin["engines"]["jvm"], kotlin["jvm_time_over"]),
        ("JavaScript", web["engines"]["javascript"], web["time_over"]["javascript"]),
        ("`@huggingface/tokenizers`", web["engines"]["huggingface-js"], web["time_over"]["huggingface-js"]),
    )
    rows = [
        (
            name,
            f"{facts['texts_per_second']['median']:,.0f}",
            *(_with_quartiles(over[peer]["processor_seconds"]) for peer in _PEERS),
        )
        for name, facts, over in engines
    ]
    columns = ("engine", "texts per second", *(f"time relative to `{name}` (quartiles)" for name in _PEERS.values()))
    return table(columns, rows)


def _with_quartiles(ratio: dict) -> str:
    return f"{ratio['round_median']:.2f} ({quartiles(ratio, prefix='round_')})"


def client_kinds(result: dict) -> list[str]:
    """Format texts that MediaPipe Tasks and the Task Library tokenize differently from BERT, by kind."""
    kinds, others = (result["clients"][client]["kinds"] for client in ("mediapipe", "task-library"))
    rows = [
        (name, f"{facts['texts']:,}", percent(facts["tokenized_otherwise"] / facts["texts"]),
         percent(others[name]["tokenized_otherwise"] / others[name]["texts"]),
         percent(facts["unknown_tokens_bert"]), percent(facts["unknown_tokens_client"]))
        for name, facts in sorted(kinds.items(), key=lambda item: item[1]["tokenized_otherwise"] / item[1]["texts"])
    ]  # fmt: skip
    columns = (
        "kind of text", "texts", "MediaPipe differs (% of texts)", "Task Library differs (% of texts)", "unknown tokens, BERT (%)",
        "unknown tokens, client (%)",
    )  # fmt: skip
    return table(columns, rows)


def client_rules(result: dict) -> list[str]:
    """Format how often `ClientWordPiece` differs from the client itself."""
    rows = []
    for facts in result["clients"].values():
        kinds, characters = facts["kinds"].values(), facts["characters"]
        texts, different = (sum(kind[key] for kind in kinds) for key in ("texts", "otherwise_than_ClientWordPiece"))
        single = (f"{characters['characters']:,}", characters["texts_otherwise_than_ClientWordPiece"])
        rows.append((", ".join(facts["packages"][:1]), f"{texts:,}", different, *single))
    return table(("client", "texts", "texts that differ", "characters, each between two letters", "that differ"), rows)


TABLES = {
    "parity": Table(parity, ("tokenizer_parity",)),
    "graph-parity": Table(graph_parity, ("in_graph_parity",)),
    "graph-differences": Table(graph_differences, ("in_graph_parity",)),
    "speed": Table(speed, ("tokenization",)),
    "app-parity": Table(app_parity, ("golden_comparison",)),
    "witness": Table(witness, ("golden_comparison",)),
    "app-speed": Table(app_speed, ("jvm_tokenization", "web_tokenization")),
    "client-kinds": Table(client_kinds, ("client_tokenization",)),
    "client-rules": Table(client_rules, ("client_tokenization",)),
}
