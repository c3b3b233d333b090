"""Model cards, generated from the catalog, the measurements, the recipe and the table of texts."""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from kerasbert.console.tables import Block, Table
from kerasbert.files.json_text import read_json_object
from kerasbert.zoo import tables
from kerasbert.zoo.building.file_recipe import FileRecipe
from kerasbert.zoo.building.recipe import Recipe
from kerasbert.zoo.catalog import ENCODER, FILE, ROOT, ZooModel
from kerasbert.zoo.results import Result, select

if TYPE_CHECKING:
    from kerasbert.export.tflite.metadata import Metadata

_TEACHER = "sentence-transformers/all-MiniLM-L6-v2"
_PIPELINES = {
    "embedding": "sentence-similarity",
    "classification": "text-classification",
    "tagging": "token-classification",
    "question-answering": "question-answering",
    "multi-task": "token-classification",
    "regression": "text-ranking",
}
_TEXTS = ROOT / "texts.csv"
_TRAINING_TEXTS = "Texts have up to 128 tokens; 6 % are passages of several sentences. `recipe.toml` has every setting:"
_UNSEEN = (
    "It was not trained on any text of the data sets that it is measured on, but for the training part of each in fine-tuned rows. Lines "
    "with a sentence of SST-2, STS-B, MRPC, CoNLL-2003, WNUT-17, SQuAD, CLINC150, Banking77, SNIPS and others had been removed from the "
    "texts. The teacher was trained on a billion pairs of its own choice, which may hold some of them."
)
_LINE_IN_PARAGRAPH = re.compile(r"(?<!\n)\n(?!\n| {4}|- )")  # which a terminal wraps at its own width


@dataclass(frozen=True)
class Code:
    """Lines of code or of a command.

    Attributes:
        lines: The lines.
        language: Its name for Markdown.
    """

    lines: tuple[str, ...]
    language: str = ""


@dataclass(frozen=True)
class Section:
    """A section of a card.

    Attributes:
        title: The heading.
        blocks: Texts, tables and code, one below the other.
    """

    title: str
    blocks: "tuple[str | Table | Code, ...]"


def card(model: ZooModel, results: Sequence[Result]) -> str:
    """Return a model card in Hugging Face's form: metadata in YAML with a `model-index`, then Markdown.

    Args:
        model: The model.
        results: All measurements.
    """
    from huggingface_hub import EvalResult, ModelCardData

    own = [result for result in select(results, model=model.name) if _is_score(result)]
    evaluations = [
        EvalResult(
            task_type=_PIPELINES[model.task], dataset_type=result.data.rpartition(" ")[0].rstrip(",").lower(), dataset_name=result.data,
            metric_type=re.sub(r"\W+", "_", result.metric.lower()), metric_value=round(result.value, 4),
            metric_name=f"{result.metric}, {result.file}, {result.backend}",
        )
        for result in sorted(own, key=lambda result: result.key)
    ]  # fmt: skip
    metadata = ModelCardData(
        license=model.licence, language="en", library_name="kerasbert", base_model=_TEACHER, model_name=model.name,
        pipeline_tag=_PIPELINES[model.task], tags=["tflite", "on-device"], eval_results=evaluations,
    )  # fmt: skip
    return f"---\n{metadata.to_yaml()}\n---\n{_markdown_body(model, results)}\n"


def terminal_card(model: ZooModel, results: Sequence[Result], whole: bool = False) -> list[Block]:
    """Return a card as text and tables for a terminal.

    Args:
        model: The model.
        results: All measurements.
        whole: Whether to show every section, as in `card`, in place of one screen: use, main results and limits.
    """
    sections = _sections(model, results) if whole else _screen(model, results)
    blocks: list[Block] = []
    for section in sections:
        blocks += ["", section.title]
        for number, block in enumerate(section.blocks):
            blocks += [*[""] * (number > 0 or isinstance(block, Code)), _terminal_block(block)]
    return blocks


def _terminal_block(block: "str | Table | Code") -> Block:
    if isinstance(block, Code):
        return "\n".join(f"    {line}" for line in block.lines)
    return _LINE_IN_PARAGRAPH.sub(" ", block).strip() if isinstance(block, str) else block


def _markdown_body(model: ZooModel, results: Sequence[Result]) -> str:
    parts = []
    for number, section in enumerate(_sections(model, results)):
        parts.append(f"{'##' if number else '#'} {section.title}")
        parts += [_markdown_block(block) for block in section.blocks]
    return "\n\n".join(parts)


def _markdown_block(block: "str | Table | Code") -> str:
    if isinstance(block, Code):
        return "\n".join([f"```{block.language}", *block.lines, "```"])
    return block if isinstance(block, str) else tables.markdown(block.columns, block.rows)


def _sections(model: ZooModel, results: Sequence[Result]) -> list[Section]:
    return [
        Section(model.name, (model.summary, _usage(model))),
        Section("Results", _results(model, results)),
        Section("Training", _training(model)),
        Section("Licences", (f"Licence of the weights: {model.licence}.", *_fine_tuning(model), *_texts())),
        Section("Limits", ("\n".join(f"- {each}" for each in _limits(model)),)),
        Section("Files", _files(model)),
    ]


def _screen(model: ZooModel, results: Sequence[Result]) -> list[Section]:
    columns = ("data", "metric", "float", "int8 on CPU")
    limits = "\n".join(f"- {each}" for each in _limits(model))
    more = f"Weights: {model.licence}. `kerasbert zoo show {model.name} --all` has every result, the training and the licences of the data."
    return [
        Section(model.name, (model.summary, _usage(model))),
        Section("Main results", (Table(columns, tables.main_results(model, results)),)),
        Section("Limits", (limits, more)),
    ]


def _usage(model: ZooModel) -> Code:
    text = model.example
    calls = {
        ("embedding", ENCODER): f'vectors = kb.zoo.load("{model.name}").predict(["{text}"])  # of length 1',
        ("embedding", FILE): f'vectors = kb.zoo.load("{model.name}")(["{text}"])  # of length 1',
        (
            "question-answering",
            FILE,
        ): f'answer = kb.zoo.load("{model.name}")([("Who is late?", "Ann waits. Bob is late.")])',
        (
            "regression",
            FILE,
        ): f'ranked = kb.zoo.load("{model.name}").rank("{text}", ["It rained.", "It is at the depot."])',
    }
    call = calls.get((model.task, model.kind), f'prediction = kb.zoo.load("{model.name}")("{text}")')
    return Code(("import kerasbert as kb", "", call), "python")


def _results(model: ZooModel, results: Sequence[Result]) -> "tuple[str | Table | Code, ...]":
    own = sorted(select(results, model=model.name), key=lambda result: (not _is_score(result), result.key))
    if not own:
        return ("Not measured yet.",)
    rows = [
        (each.data, each.metric, each.file, each.backend or "-", tables.format_value(each), each.machine or "-", each.date)
        for each in own
    ]  # fmt: skip
    columns = ("data", "metric", "model", "backend", "value", "machine", "date")
    return (Table(columns, rows), Code(tuple(dict.fromkeys(each.command for each in own))))


def _training(model: ZooModel) -> "tuple[str | Code, ...]":
    if model.kind != ENCODER:
        return _file_training(model)
    teachers = "".join(
        f" --teacher {name}" for name in Recipe.read(model.recipe).teachers or [_TEACHER.partition("/")[2]]
    )
    command = f"kerasbert zoo build {model.name} --texts text-en/ --texts books-en/{teachers} --out {model.name}"
    return model.training.strip(), _TRAINING_TEXTS, Code((command,)), _UNSEEN


def _file_training(model: ZooModel) -> "tuple[str | Code, ...]":
    recipe = FileRecipe.read(model.recipe)
    data = "".join(f" --{name} {name.upper()}" for name in recipe.used_data())
    about = f"`files/{model.name}.toml` has the commands that made it from {model.encoder}, with every setting. They run again by:"
    return model.training.strip(), about, Code((f"kerasbert zoo build {model.name}{data} --out {model.name}.tflite",))


def _limits(model: ZooModel) -> tuple[str, ...]:
    vocabulary = _vocabulary_size(model)
    return (
        f"English{'' if _tells_capitals(model) else ', lower case'}; other scripts become unknown tokens.",
        "Texts of more than 128 tokens are cut."
        if model.task != "question-answering"
        else "Long texts are read in overlapping windows of 128 tokens, so an answer that needs two distant passages is not found.",
        f"Words outside of its {vocabulary:,} tokens are spelled in pieces, and names more often than other words.",
        "It was not measured for bias. It will have taken over that of its teacher and of its texts, many of which are American.",
        *model.limits,
    )


def _vocabulary_size(model: ZooModel) -> int:
    if model.kind == ENCODER:
        return read_json_object(model.path / "config.json")["vocab_size"]
    metadata = _metadata(model)
    return metadata.vocab_size if metadata and metadata.vocab_size else 0


def _tells_capitals(model: ZooModel) -> bool:
    metadata = None if model.kind == ENCODER else _metadata(model)
    return metadata is not None and (metadata.tokenizer or {}).get("lowercase") is False


def _metadata(model: ZooModel) -> "Metadata | None":
    from kerasbert.export.tflite import metadata

    return metadata.read(model.path)


def _is_score(result: Result) -> bool:
    """Return True for a number from 0 to 1, which says how good a model is and not how small or fast."""
    return not result.metric.endswith((" ms", " MB", "/s")) and not result.metric.startswith(("speed", tables.SHARE))


def _fine_tuning(model: ZooModel) -> tuple[str | Table, ...]:
    if not model.fine_tuning:
        return ()
    return "The data of the fine-tuning:", Table(("data", "licence", "source"), model.fine_tuning)


def _texts() -> tuple[str, str]:
    with open(_TEXTS, newline="", encoding="utf-8") as file:
        entries = sorted(csv.DictReader(file), key=lambda entry: entry["licence"])
    lines = []
    for licence, group in groupby(entries, key=lambda entry: entry["licence"]):
        found = list(group)
        words = sum(int(entry["words"]) for entry in found) / 1e6
        lines.append(f"- {licence}: {words:.1f} million words of {', '.join(entry['file'] for entry in found)}")
    about = "The encoder's texts, by licence. `zoo/texts.csv` names the repository, commit and path of each:"
    return about, "\n".join(lines)


def _files(model: ZooModel) -> tuple[Table, str]:
    recorded, base = model.recorded(), model.path if model.kind == ENCODER else model.path.parent
    rows = [
        (path.relative_to(base).as_posix(), f"{path.stat().st_size / 1e6:.2f}", recorded[name])
        for name, path in model.parts().items()
    ]
    golden = f"`{model.golden.name}` has inputs with the outputs that this model must give."
    return Table(("file", "MB", "SHA-256"), rows), golden
