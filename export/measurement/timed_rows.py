"""The token rows that a benchmark runs: each file tokenizes the same texts itself."""

from collections.abc import Sequence
from typing import Any

from kerasbert.console.output import note
from kerasbert.data.sampling import sample_evenly
from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.opening import pipeline_of
from kerasbert.export.runtime.padding import padding_note
from kerasbert.export.runtime.pipeline import Pipeline
from kerasbert.export.tflite.constants import table_rows
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.export.validation.data import read_data
from kerasbert.processors import Features

Rows = dict[str, Any]  # `input_ids` and `token_type_ids` of each row, and `longest`, the most tokens of a row


def tokenized_rows(file: ModelFile, others: Sequence[ModelFile | None], data: Any, count: int | None) -> list[Rows]:
    """Tokenize texts for each file, cut to its longest row.

    Args:
        file: The file, which has a tokenizer.
        others: Files that are compared with it, None for an `.onnx` file. One without a tokenizer gets the first file's rows.
        data: Texts as `validate` takes them.
        count: The number of texts to use, sampled evenly; None for all.

    Returns:
        The rows of each file.

    Raises:
        KerasBertError: When the data are no texts, `count` is below 1, the first file has no tokenizer, or a later file has none and takes
            other ids or shorter rows.
    """
    first = pipeline_of(file)
    texts = read_data(data, first.processor)
    if texts.is_packed:
        raise KerasBertError("expected texts to measure, received packed arrays; pass texts, or leave the data out")
    x = sample_evenly(first.processor.examples(texts.x), count)
    rows = [_tokenized(first, x, with_note=True)]
    for other in others:
        if other is not None and other.metadata is not None:
            rows.append(_tokenized(pipeline_of(other), x))
        else:
            if other is not None:
                _check_same_sizes(other, first, rows[0])
            rows.append(rows[0])
    return rows


def _tokenized(pipeline: Pipeline, x: Any, with_note: bool = False) -> Rows:
    examples = pipeline.processor.examples(x)
    features = pipeline.processor.scoring_features(examples, pipeline.tokenizer, pipeline.length)
    if with_note and (line := padding_note(pipeline.metadata, features.lengths)):
        note(line)
    return token_rows(features, pipeline.length)


def token_rows(features: Features, longest: int) -> Rows:
    """Return the rows of some features.

    Args:
        features: The features. Empty token lists, which fill up the choices of a prompt, are left out.
        longest: The most tokens of a row.
    """
    lists = features.token_lists
    pairs = [(ids, types) for ids, types in zip(lists.input_ids, lists.token_type_ids, strict=True) if len(ids)]
    return {
        "input_ids": [list(map(int, ids)) for ids, _ in pairs],
        "token_type_ids": [list(map(int, types)) for _, types in pairs],
        "longest": longest,
    }


def _check_same_sizes(model: ModelFile, first: Pipeline, rows: Rows) -> None:
    """Check that a file without a tokenizer takes the first file's rows."""
    words = first.metadata.vocab_size or first.tokenizer.vocabulary_size
    tables = table_rows(model)
    lengths = {
        model.subgraphs[signature.subgraph].tensors[index].shape[-1]
        for signature in model.signatures
        for index in signature.inputs.values()
    }
    most = max(map(len, rows["input_ids"]))
    fits = -1 in lengths or max(lengths, default=most) >= most
    if words not in tables or not fits:
        received = (
            f"one with tables of {', '.join(map(str, sorted(tables))) or 'no'} rows"
            if fits
            else f"one of {max(lengths)} tokens for rows of {most}"
        )
        raise KerasBertError(
            f"expected a tokenizer in {model.label}, or the sizes of {first.name} ({words:,} token ids), received {received}; "
            "convert the model with `kerasbert convert`, or leave the data out"
        )
