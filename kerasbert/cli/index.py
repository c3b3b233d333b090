"""`kerasbert index`."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from kerasbert.cli.arguments import options
from kerasbert.cli.arguments.option_groups import OptionGroup, with_options
from kerasbert.cli.outputs.results import Result
from kerasbert.data.file_options import FileOptions

Texts = Annotated[
    list[Path],
    Argument(
        metavar="TEXTS...",
        help="Files of text, each a document; tables (.csv, .tsv, .jsonl), each row a document; or folders of text files.",
    ),
]
OutFile = Annotated[
    Path,
    Option("--out", "-o", metavar="FILE", help="Index, .kbindex. Into one that exists, new and changed documents go."),
]
Model = Annotated[
    str | None,
    Option(
        metavar="MODEL",
        help="Sentence encoder: a .tflite file, a model of the zoo, or a folder. Default: search, or that of the index.",
    ),
]  # fmt: skip
Lines = Annotated[bool, Option("--lines", help="Make each line of a text file a document.")]
Chunk = Annotated[
    int | None,
    Option(
        metavar="N", help="Most tokens of a row. 0 keeps documents whole. Default: those of the model, at most 126."
    ),
]
Overlap = Annotated[
    int | None, Option(metavar="N", help="Tokens with which a row repeats the end of the one before. Default: 0.")
]
Dimensions = Annotated[
    int | None, Option(metavar="N", help="Numbers that a vector keeps, by principal components. Default: all.")
]
Vectors = Annotated[str | None, Option(metavar="FORM", help="int8, or bit for the signs alone. Default: int8.")]
Delete = Annotated[bool, Option("--delete", help="Remove documents of the index that are not among TEXTS.")]

_READING = OptionGroup(FileOptions, without=("pair_column", "label_column", "label_separator"))


@with_options("strict", reading=_READING)
def index(
    texts: Texts,
    out: OutFile,
    reading: FileOptions,
    model: Model = None,
    lines: Lines = False,
    chunk: Chunk = None,
    overlap: Overlap = None,
    dimensions: Dimensions = None,
    vectors: Vectors = None,
    delete: Delete = False,
    threads: options.Threads = 1,
) -> Result:
    """Make an index of texts, which kerasbert search searches by meaning; or update one.

    Long texts are divided into rows at the ends of sentences. The file holds the texts. Python, Kotlin and JavaScript read it.

    Example: kerasbert index notes/ faq.csv -o notes.kbindex
    """
    from kerasbert.cli.outputs.destinations import check_out_file
    from kerasbert.cli.process.progress import progress
    from kerasbert.files.own_files import INDEX
    from kerasbert.retrieval.documents import read_documents

    check_out_file(out, "--out", INDEX, ending=".kbindex")
    documents = read_documents(texts, reading, lines)
    settings = {"chunk": chunk, "overlap": overlap, "dimensions": dimensions, "vectors": vectors}
    with progress("loading the model"):
        from kerasbert.retrieval.text_index import TextIndex

        if out.exists() and out.stat().st_size:
            made = TextIndex.read(out, model, threads=threads)
            made.check_settings(**settings)
        else:
            given = {name: value for name, value in settings.items() if value is not None}
            made = TextIndex("search" if model is None else model, threads=threads, **given)
    with progress("encoding", "rows") as bar:
        added = made.add(
            [each.text for each in documents],
            [each.name for each in documents],
            report=lambda done, all_rows: bar.advance(done, all_rows),
        )
    gone = sorted(set(made.documents) - {each.name for each in documents}) if delete else []
    if gone:
        made.remove(gone)
    made.save(out)
    from dataclasses import asdict

    from kerasbert.console.numbers import format_bytes
    from kerasbert.console.tables import Facts

    size = out.stat().st_size
    data = {
        "file": out, "bytes": size, "rows": len(made), "documents": len(made.documents),
        "update": {**asdict(added), "removed": len(gone)}, **made.settings(),
    }  # fmt: skip
    counts = {"added": added.added, "replaced": added.replaced, "unchanged": added.unchanged, "blank": added.blank}
    counts["removed"] = len(gone)
    facts = [
        ("documents", f"{len(made.documents):,} ({', '.join(f'{v:,} {k}' for k, v in counts.items() if v)})"),
        ("rows", f"{len(made):,}"),
        ("model", made.settings()["model"]),
    ]
    written = f'wrote {out}: {format_bytes(size)}; search it with: kerasbert search {out} "QUERY"'
    return Result(data, [Facts(facts), written])
