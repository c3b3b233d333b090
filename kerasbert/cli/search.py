"""`kerasbert search`."""

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from kerasbert.cli.arguments import options
from kerasbert.cli.arguments.option_groups import with_options
from kerasbert.cli.outputs.results import Result

Index = Annotated[Path, Argument(metavar="INDEX", help="A file of kerasbert index.")]
Queries = Annotated[list[str], Argument(metavar="QUERY...", help="Queries; - reads them from stdin, one per line.")]
TopK = Annotated[int, Option("--top-k", metavar="N", min=1, help="Number of rows to find.")]
Model = Annotated[
    str | None,
    Option(
        metavar="MODEL",
        help="Sentence encoder of the index, where it is not under the name with which the index was made.",
    ),
]  # fmt: skip
Rerank = Annotated[
    str | None,
    Option(metavar="MODEL", help="Model of pairs that scores the first --candidates too, such as rerank."),
]
Candidates = Annotated[int, Option(metavar="N", min=1, help="Number of rows that --rerank scores.")]
Weight = Annotated[
    float,
    Option(
        "--rerank-weight", metavar="X", min=0, max=1,
        help="Weight of the scores of --rerank; the cosines have the rest. 1: the order of --rerank alone.",
    ),
]  # fmt: skip
Engine = Annotated[
    str, Option(metavar="NAME", help="exact, bits, faiss-flat or faiss-hnsw; faster ones pay from 100,000 rows on.")
]

_SHOWN = 160  # characters of a text on a terminal; --json has all


@with_options("strict")
def search(
    index: Index,
    queries: Queries,
    top_k: TopK = 10,
    model: Model = None,
    rerank: Rerank = None,
    candidates: Candidates = 20,
    rerank_weight: Weight = 0.5,
    engine: Engine = "exact",
    threads: options.Threads = 1,
) -> Result:
    """Search an index by meaning. Nothing but the query is encoded.

    Example: kerasbert search notes.kbindex "how do I get my money back"
    """
    from kerasbert.cli.inputs.texts import given_texts
    from kerasbert.cli.process.progress import progress

    asked = given_texts(queries, None, "queries")
    with progress("loading the index"):
        from kerasbert.export.runtime.opening import open
        from kerasbert.retrieval.text_index import TextIndex

        opened = TextIndex.read(index, model, engine=engine, threads=threads)
        reranker = None if rerank is None else open(rerank, threads=threads)
    ordering = {"rerank": reranker, "candidates": candidates, "rerank_weight": rerank_weight}
    found = [opened.search(query, top_k, **ordering) for query in asked]
    results = [{"query": query, "matches": matches} for query, matches in zip(asked, found, strict=True)]
    return Result({"index": index, "results": results}, _text(results))


def _text(results: list[dict[str, Any]]) -> list:
    from textwrap import shorten

    from kerasbert.console.tables import Table

    blocks: list = []
    for result in results:
        if len(results) > 1:
            blocks.append(result["query"])
        rows = [
            (
                f"{match['score']:.3f}",
                match["document"],
                f"{match['start']:,}",
                shorten(match["text"], _SHOWN, placeholder=" ..."),
            )
            for match in result["matches"]
        ]
        blocks.append(Table(("score", "document", "character", "text"), rows, spare=("character",)))
    return blocks
