r"""Compares the tokenizers in Kotlin and in JavaScript with golden vectors, and `@huggingface/tokenizers` as a second witness.

    python -m benchmarks.parity.export_golden --vocabularies DIR --lines FOLDER ... --out golden
    npm install --prefix peers @huggingface/tokenizers@0.2.0
    python -m benchmarks.parity.golden_comparison golden --packages peers

The clients are `android_demo/core` on the JVM and `web_demo/core` on Node. Each of them compares ids and offsets of every string, sequences
of one and two texts, windows and words with those of `kerasbert.text`, and counts what differs. The witness makes ids only, of WordPiece
tokenizers only: from the `tokenizer.json` that the Rust `tokenizers` write. Its ids are compared with those of the Rust `tokenizers`, which
are the golden ones, and with those of `web_demo/core`. The exit code is 1 if a client differs.
"""

import argparse
import gzip
import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import jvm, record
from kerasbert.text import WordPiece, tokenizer_from_config

PACKAGES = ("tokenizers",)
CLIENTS = ("kotlin", "javascript")
WITNESS = "@huggingface/tokenizers"
MAIN = "kerasbert.core.text.GoldenMainKt"
NODE_PROGRAMS = record.ROOT / "web_demo" / "tests" / "text"


def main() -> None:
    """Compare all tokenizers and write the result."""
    arguments = _arguments()
    commands = {
        "kotlin": lambda: jvm.command(MAIN, [str(arguments.golden)], arguments.java, arguments.stdlib),
        "javascript": lambda: _node(arguments, "compare_golden.js", arguments.golden),
    }
    clients = {client: _answers(commands[client]()) for client in arguments.clients}
    witness = _ask_witness(arguments) if arguments.packages else {}
    result = {
        "node": _output([arguments.node, "--version"]),
        "java": jvm.version(arguments.java) if "kotlin" in clients else None,
        "witness": _witness_version(arguments.packages) if arguments.packages else _earlier(arguments).get("witness"),
        "tokenizers": {**_earlier(arguments).get("tokenizers", {}), **join_answers(clients, witness)},
    }
    packages = record.versions(PACKAGES)
    record.write(arguments.json, result, packages)
    different = {client: sum_mismatches(answers) for client, answers in clients.items()}
    print(f"mismatches: {different}")
    if any(different.values()):
        raise SystemExit(1)


def _earlier(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the content of the result file, with `--add`."""
    path = Path(arguments.json)
    if not arguments.add or not path.exists() or not path.stat().st_size:
        return {}
    return json.loads(path.read_text("utf-8"))


def join_answers(clients: dict[str, dict[str, dict]], witness: dict[str, dict]) -> dict[str, dict]:
    """Join the answers of all programs, by tokenizer.

    Args:
        clients: The answers of each client, by the tokenizer's name.
        witness: Those of the second witness, for some of them.

    Raises:
        SystemExit: When the clients did not compare the same.
    """
    first, *others = clients.values()
    joined = {}
    for name, answer in first.items():
        compared = answer["rows"], answer["tokens"]
        for other in others:
            if (other[name]["rows"], other[name]["tokens"]) != compared:
                raise SystemExit(
                    f"expected the same rows and tokens of {name} in all clients, received {compared} and "
                    f"{(other[name]['rows'], other[name]['tokens'])}"
                )
        joined[name] = {
            "rows": answer["rows"],
            "tokens": answer["tokens"],
            "mismatches": {client: answers[name]["mismatches"] for client, answers in clients.items()},
            **({"witness": witness[name]} if name in witness else {}),
        }
    return joined


def sum_mismatches(answers: dict[str, dict]) -> int:
    """Count the mismatches of a client over all tokenizers."""
    return sum(sum(answer["mismatches"].values()) for answer in answers.values())


def _answers(command: Sequence[str]) -> dict[str, dict]:
    """Run a program that prints a JSON object for each tokenizer, and return these by name."""
    answers = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdout is not None
        for line in process.stdout:
            answer = json.loads(line)
            answers[answer.pop("name")] = answer
            print(line[:500].rstrip(), flush=True)
    if process.returncode or not answers:
        raise SystemExit(f"expected answers of {command[0]}, received exit code {process.returncode}")
    return answers


def _node(arguments: argparse.Namespace, program: str, *words: Path) -> list[str]:
    return [arguments.node, str(NODE_PROGRAMS / program), *map(str, words)]


def _ask_witness(arguments: argparse.Namespace) -> dict[str, dict]:
    with tempfile.TemporaryDirectory() as scratch:
        for path in sorted(arguments.golden.glob("*/tokenizer.json")):
            content = json.loads(path.read_text("utf-8"))
            if content["settings"]["kind"] == "wordpiece":
                (Path(scratch) / f"{path.parent.name}.json").write_text(_engine_json(path, content), "utf-8")
        answers = _answers(_node(arguments, "compare_witness.js", arguments.golden, Path(scratch), arguments.packages))
    for name, answer in answers.items():
        for example in answer.pop("examples"):  # texts of the data, which no result file is to hold
            print(f"{name}: {example}")
    return answers


def _engine_json(path: Path, content: dict) -> str:
    """Return the `tokenizer.json` of the Rust tokenizer that made the golden vectors."""
    vocabulary = (path.parent / content["vocabulary"]).resolve()
    packed = vocabulary.read_bytes()
    tokens = gzip.decompress(packed) if vocabulary.suffix == ".gz" else packed
    lines = tokens.decode("utf-8").removesuffix("\n").split("\n")
    tokenizer = tokenizer_from_config({**content["settings"], "vocabulary": lines})
    assert isinstance(tokenizer, WordPiece)
    return tokenizer._engine.to_str()


def _witness_version(packages: Path) -> str:
    package = json.loads((packages / "node_modules" / WITNESS / "package.json").read_text("utf-8"))
    return f"{WITNESS} {package['version']}"


def _output(command: Sequence[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("golden", type=Path, metavar="FOLDER", help="golden vectors of parity.export_golden")
    parser.add_argument("--clients", nargs="+", choices=CLIENTS, default=list(CLIENTS), help="(both)")
    parser.add_argument("--packages", type=Path, metavar="FOLDER", help=f"has node_modules with {WITNESS}")
    parser.add_argument("--add", action="store_true", help="keep the other tokenizers of the result file")
    parser.add_argument("--node", default="node", metavar="COMMAND")
    jvm.add_options(parser)
    record.add_output(parser, "golden_comparison")
    return parser.parse_args()


if __name__ == "__main__":
    main()
