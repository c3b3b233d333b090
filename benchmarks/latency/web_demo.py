"""The page of `kerasbert web` in headless Chromium: its weight, the time to its first answer, predictions while typing, and its search.

    python -m benchmarks.latency.web_demo

Measured: the bytes of the page without models and LiteRT.js; milliseconds from the start of a first visit, with nothing in the browser's
cache, to the first answer on the page, and of a second visit with the page kept for offline use; from a changed text to its result; and for
20,000 sentences the time to the first results, to the end of the index, of queries, and to the first result after a reload. The host is on
the same machine, so no network is part of a time. It needs Node, Chromium and `kerasbert setup web`.
"""

import argparse
import json
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from benchmarks.common import record
from kerasbert.data import assistant
from kerasbert.export.backends import web
from kerasbert.zoo.catalog import FILE, models

PROGRAM = record.ROOT / "web_demo" / "tests" / "browser" / "time_page.js"
TEXTS = 100  # that are typed, and searched for
MOST_PAGE_BYTES = 3_000_000
MOST_QUERY_MILLISECONDS = 50.0


def main() -> None:
    """Measure the page and write the result."""
    arguments = _arguments()
    if missing := web.missing_part():
        raise SystemExit(f"expected all that a page is tried with, received {missing}")
    from kerasbert.web.models import read_models
    from kerasbert.web.site import site_files, write_site

    load = record.load()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        files = [model.path for model in models() if model.kind == FILE]
        site = write_site(folder / "site", site_files(read_models(files)))
        measured = _run_page(folder, arguments)
    result = {
        "bytes": _weights(site.sizes),
        "browser": measured["browser"],
        "model": arguments.model,
        "requests_of_first_answer": measured["requests"],
        **_visit_facts(measured["visits"]),
        **_typing_facts(measured["typing"]),
        "search": _search_facts(measured["search"]),
    }
    failed = _failed_checks(result)
    record.write(arguments.json, {**result, "failed_checks": failed}, record.versions(("numpy",)), load)
    if failed:
        raise SystemExit(f"expected every check to pass, received {'; '.join(failed)}")


def _run_page(folder: Path, arguments: argparse.Namespace) -> dict:
    texts = list(dict.fromkeys(text for split in assistant.SPLITS for text in assistant.load(split).texts))
    (folder / "texts.json").write_text(json.dumps(texts[:: len(texts) // TEXTS][:TEXTS]), "utf-8")
    (folder / "sentences.txt").write_text("".join(_sentences(texts, arguments.sentences)), "utf-8")
    asked = {
        "site": str(folder / "site"), "chromium": web.find_browser(), "modules": str(web.WEB.folder), "model": arguments.model,
        "texts": str(folder / "texts.json"), "sentences": str(folder / "sentences.txt"), "rounds": arguments.rounds,
    }  # fmt: skip
    process = subprocess.run(
        [arguments.node, str(PROGRAM), json.dumps(asked)], capture_output=True, text=True, check=False
    )
    if process.returncode:
        raise SystemExit(
            f"expected the page to be timed, received exit code {process.returncode}: {process.stderr[-500:]}"
        )
    return json.loads(process.stdout)


def _sentences(texts: list[str], count: int) -> Iterator[str]:
    """Join two texts to each line, in a pair of its own."""
    size = len(texts)
    for number in range(count):
        yield f"{texts[number % size]}, and {texts[(37 * number + number // size) % size]}\n"


def _weights(sizes: Mapping[str, int]) -> dict[str, int]:
    """Sum the bytes of the page, of LiteRT.js with its builds, and of the models."""
    weights = {"page": 0, "litert": 0, "models": 0}
    for path, size in sizes.items():
        part = path.partition("/")[0]
        is_model = part == "models" and path.endswith(".tflite")
        weights["models" if is_model else "litert" if part == "litert" else "page"] += size
    return weights


def _visit_facts(visits: list[dict]) -> dict:
    return {
        "first_visit_milliseconds": record.spread([visit["cold"] for visit in visits]),
        "kept_visit_milliseconds": record.spread([visit["kept"] for visit in visits]),
    }


def _typing_facts(typing: list[dict]) -> dict:
    shown = [each["shown"] for each in typing]
    return {
        "typed_to_shown_milliseconds": {**record.spread(shown), "p95": float(np.quantile(shown, 0.95))},
        "prediction_milliseconds": record.spread([each["predicted"] for each in typing]),
    }


def _search_facts(search: dict) -> dict:
    return {
        "sentences": search["sentences"],
        "first_results_milliseconds": search["first"],
        "index_seconds": search["indexed"] / 1e3,
        "query_milliseconds": {**record.spread(search["queries"]), "p95": float(np.quantile(search["queries"], 0.95))},
        "results_after_reload_milliseconds": search["kept"],
    }


def _failed_checks(result: dict) -> list[str]:
    failed = []
    if (weight := result["bytes"]["page"]) > MOST_PAGE_BYTES:
        failed.append(f"a page of {weight} bytes")
    if (median := result["search"]["query_milliseconds"]["median"]) > MOST_QUERY_MILLISECONDS:
        failed.append(f"queries of {median:.1f} ms")
    return failed


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="intents", metavar="NAME", help="model of the zoo whose labels are shown")
    parser.add_argument("--rounds", type=int, default=5, help="first visits")
    parser.add_argument("--sentences", type=int, default=20_000, metavar="N", help="sentences that are searched")
    parser.add_argument("--node", default="node", metavar="COMMAND")
    record.add_output(parser, "web_demo")
    return parser.parse_args()


if __name__ == "__main__":
    main()
