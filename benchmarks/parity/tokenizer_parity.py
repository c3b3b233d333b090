"""Token ids and character offsets of `kerasbert.text` against `transformers`, on real lines and random hard strings.

    python -m benchmarks.parity.tokenizer_parity --vocabularies vocabs/ --data data/

Measured: strings whose ids, token types or offsets differ, alone and as a pair with the next string. Needs an environment with transformers
(5 or later), tokenizers, sentencepiece, protobuf, fugashi and unidic-lite; without transformers the script ends with a note.

Each folder of `--vocabularies` has a `vocab.txt` or `vocab.txt.gz`; its settings are those of the checkpoint of that name. Both sides read
one folder with `vocab.txt` and `tokenizer_config.json`: ours with `tokenizer_from_folder`, transformers with `BertTokenizerFast`. Its
Japanese tokenizer has no offsets, so there each token is compared with the text at our offsets. ALBERT's and RoBERTa's vocabularies are
trained on the lines, because none is published as plain text. So are those of `learn_tokenizer`, whose folders transformers opens with
`AutoTokenizer`. `--data` is searched for `.tsv`, `.txt`, `.json`, `.jsonl` and CoNLL files,
plain or gzip: every field with letters is a line.

With `--folders`, folders with a `tokenizer.json` are compared instead, which transformers opens with `PreTrainedTokenizerFast`; the other
entries of the result file stay.
"""

import argparse
import gzip
import importlib.util
import json
import random
import re
import sys
import tempfile
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.common import hard_strings, record

PACKAGES = ("transformers", "tokenizers", "sentencepiece", "fugashi", "unidic-lite", "numpy")
MAX_LENGTH = 1_000_000  # no row is truncated
_MAX_LINE = 2000  # characters; whole articles only add time
_MAX_REPORTS = 5
CASED = {"do_lower_case": False}
JAPANESE = {
    "tokenizer_class": "BertJapaneseTokenizer",
    "do_lower_case": False,
    "word_tokenizer_type": "mecab",
    "subword_tokenizer_type": "wordpiece",
    "mecab_kwargs": {"mecab_dic": "unidic_lite"},
}
SETTINGS = {
    "bert-base-uncased": {"do_lower_case": True},
    "bert-base-cased": CASED,
    "bert-base-multilingual-cased": CASED,
    "koelectra": CASED,
    "bert-base-japanese-v3": JAPANESE,
}
# Kinds of `learn_tokenizer` by the language that they are learned from: the lines that match a pattern.
KANA, IDEOGRAPHS = "[\u3041-\u30fa]", "^(?=.*[\u4e00-\u9fff])[^\u3041-\u30fa]*$"
LEARNED = {
    "words": ("wordpiece", "[A-Za-z]"),
    "byte pairs": ("bpe", "[A-Za-z]"),
    "chinese": ("wordpiece", IDEOGRAPHS),
    "japanese": ("japanese", KANA),
    "japanese characters": ("japanese-characters", KANA),
}


def main() -> None:
    """Compare all tokenizers and write the result; exits with 1 if any differ."""
    arguments = _arguments()
    if importlib.util.find_spec("transformers") is None:
        print("skipped: no transformers in this environment (pip install transformers sentencepiece protobuf)")
        return
    load = record.load()
    lines = read_lines(arguments.data)
    if not lines:
        sys.exit(f"expected text files in {arguments.data}, received none; name their folder with --data")
    if arguments.folders:
        path = Path(arguments.json)
        found = json.loads(path.read_text("utf-8")) if path.exists() and path.stat().st_size else {}
        results = found.get("results", {})
        results |= {folder.name: compare_json(folder, lines, arguments) for folder in arguments.folders}
        _write(arguments, len(lines), results, load)
        return
    results = {}
    with tempfile.TemporaryDirectory() as scratch:
        for name, settings in SETTINGS.items():
            source = _vocabulary_file(arguments.vocabularies / name)
            if source is None:
                print(f"{name}: skipped, no vocab.txt in {arguments.vocabularies.name}/{name}")
                continue
            folder = Path(scratch) / name
            folder.mkdir()
            (folder / "vocab.txt").write_bytes(source)
            (folder / "tokenizer_config.json").write_text(json.dumps(settings), "utf-8")
            results[name] = compare_folder(name, folder, lines, arguments)
        results["albert (learned here)"] = compare_albert(Path(scratch) / "albert", lines, arguments)
        results["roberta (learned here)"] = compare_roberta(Path(scratch) / "roberta", lines, arguments)
        for name in LEARNED:
            results[f"{name} (learned here)"] = compare_learned(
                name, Path(scratch) / f"learned-{name}", lines, arguments
            )
    _write(arguments, len(lines), results, load)


def _write(arguments: argparse.Namespace, lines: int, results: dict, load: Any) -> None:
    result = {"lines_found": lines, "seed": arguments.seed, "results": results}
    record.write(arguments.json, result, record.versions(PACKAGES), load)
    if any(value for numbers in results.values() for key, value in numbers.items() if key.startswith("mismatches")):
        sys.exit(1)


def compare_folder(name: str, folder: Path, lines: list[str], arguments: argparse.Namespace) -> dict:
    """Compare both tokenizers of one folder with `vocab.txt`.

    Args:
        name: A key of `SETTINGS`.
        folder: The folder.
        lines: Real text.
        arguments: Of the command line.
    """
    import transformers

    from kerasbert.text import tokenizer_from_folder

    if SETTINGS[name] is JAPANESE:
        reference = transformers.BertJapaneseTokenizer.from_pretrained(folder)
    else:
        reference = transformers.BertTokenizerFast.from_pretrained(folder)
    strings = _strings(name, lines, reference.all_special_tokens, arguments)
    return compare(name, tokenizer_from_folder(folder), reference, strings)


def compare_json(folder: Path, lines: list[str], arguments: argparse.Namespace) -> dict:
    """Compare both tokenizers of one folder with `tokenizer.json`.

    Args:
        folder: The folder.
        lines: Real text.
        arguments: Of the command line.
    """
    import transformers

    from kerasbert.text import tokenizer_from_folder

    tokenizer = tokenizer_from_folder(folder)
    names = tokenizer.special_tokens()
    reference = transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), **names)
    return compare(folder.name, tokenizer, reference, _strings(folder.name, lines, [*names.values()], arguments))


def compare_albert(folder: Path, lines: list[str], arguments: argparse.Namespace) -> dict:
    """Compare a SentencePiece model with a transformers tokenizer, built like the published `tokenizer.json` files."""
    import transformers
    from sentencepiece import sentencepiece_model_pb2
    from tokenizers import AddedToken

    from kerasbert.text import SentencePiece, tokenizer_from_folder

    SentencePiece.train(_sample(lines, 20_000, arguments.seed), 8000).save(folder)
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString((folder / "spiece.model").read_bytes())
    scores = [
        (each.piece, each.score - 100 if each.piece[-1:] == "," and each.piece[-2:-1].isdigit() else each.score)
        for each in proto.pieces
    ]
    reference = transformers.AlbertTokenizer(
        vocab=scores,
        mask_token=AddedToken("[MASK]", lstrip=True, normalized=False),
        _spm_precompiled_charsmap=proto.normalizer_spec.precompiled_charsmap,
    )
    strings = _strings("albert", lines, reference.all_special_tokens, arguments)
    return compare("albert", tokenizer_from_folder(folder), reference, strings)


def compare_roberta(folder: Path, lines: list[str], arguments: argparse.Namespace) -> dict:
    """Compare both tokenizers of one `vocab.json` and `merges.txt`."""
    import transformers
    from tokenizers import AddedToken
    from tokenizers.implementations import ByteLevelBPETokenizer

    from kerasbert.text import tokenizer_from_folder

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    learned = ByteLevelBPETokenizer()
    learned.train_from_iterator(
        _sample(lines, 20_000, arguments.seed), vocab_size=8000, special_tokens=special, show_progress=False
    )
    folder.mkdir()
    learned.save_model(str(folder))
    reference = transformers.RobertaTokenizerFast.from_pretrained(
        folder, mask_token=AddedToken("<mask>", lstrip=True, normalized=False)
    )
    strings = _strings("roberta", lines, reference.all_special_tokens, arguments)
    return compare("roberta", tokenizer_from_folder(folder), reference, strings)


def compare_learned(name: str, folder: Path, lines: list[str], arguments: argparse.Namespace) -> dict:
    """Compare a tokenizer that was learned and saved with what transformers reads from its folder.

    Args:
        name: A key of `LEARNED`.
        folder: The folder to save it in.
        lines: Real text.
        arguments: Of the command line.
    """
    import transformers

    from kerasbert.text import learn_tokenizer, tokenizer_from_folder

    kind, characters = LEARNED[name]
    lines = [line for line in lines if re.search(characters, line)]
    learn_tokenizer(kind, _sample(lines, 20_000, arguments.seed), 12_000).save(folder)
    reference = transformers.AutoTokenizer.from_pretrained(folder)
    strings = _strings(name, lines, reference.all_special_tokens, arguments)
    return compare(name, tokenizer_from_folder(folder), reference, strings)


def compare(name: str, tokenizer: Any, reference: Any, strings: list[str]) -> dict:
    """Count the strings whose ids, token types or offsets differ, alone and as pairs.

    Args:
        name: For messages.
        tokenizer: A tokenizer of kerasbert.
        reference: A tokenizer of transformers.
        strings: The texts.
    """
    has_offsets = getattr(reference, "is_fast", False)
    counts = {"strings": len(strings), "tokens": 0, "mismatches_ids": 0, "mismatches_offsets": 0}
    counts |= {"pairs": len(strings) - 1, "mismatches_pair_ids": 0, "mismatches_pair_offsets": 0}
    for paired, key in ((False, ""), (True, "pair_")):
        texts, pairs = (strings[:-1], strings[1:]) if paired else (strings, None)
        encoded = tokenizer.encode(texts, pairs, max_length=MAX_LENGTH)
        expected = reference(
            texts, pairs, add_special_tokens=True, return_token_type_ids=True, return_offsets_mapping=has_offsets
        )
        for row, text in enumerate(texts):
            same = encoded.input_ids[row] == expected["input_ids"][row]
            same &= encoded.token_type_ids[row] == expected["token_type_ids"][row]
            if has_offsets:
                same_offsets = encoded.offsets[row] == [tuple(span) for span in expected["offset_mapping"][row]]
            else:
                same_offsets = paired or _offsets_match_tokens(tokenizer, text, encoded, row)
            counts[f"mismatches_{key}ids"] += not same
            counts[f"mismatches_{key}offsets"] += not same_offsets
            if (
                not (same and same_offsets)
                and counts[f"mismatches_{key}ids"] + counts[f"mismatches_{key}offsets"] <= _MAX_REPORTS
            ):
                print(f"{name}: {'ids' if not same else 'offsets'} differ: {text[:200]!r}", file=sys.stderr)
        counts["tokens"] += 0 if paired else sum(map(len, encoded.input_ids))
    counts["offsets"] = "equal" if has_offsets else "each token's text is where its offsets say"
    print(f"{name}: {counts}", flush=True)
    return counts


def _offsets_match_tokens(tokenizer: Any, text: str, encoded: Any, row: int) -> bool:
    """Check that each token equals the text at its offsets in Unicode form NFKC, and that offsets never decrease.

    A character that NFKC expands, such as U+337B, may be covered in part at both ends of a token.
    """
    last = 0
    for number, (start, end) in list(zip(encoded.input_ids[row], encoded.offsets[row], strict=True))[1:-1]:
        piece, source = tokenizer.vocabulary[number].removeprefix("##"), text[start:end]
        if not last <= start < end <= len(text):
            return False
        normalized = unicodedata.normalize("NFKC", source)
        letters = [character for character in source if not _count_marks(character)] or [source]
        tolerance = _extra_length(letters[0]) + _extra_length(letters[-1]) + sum(map(_count_marks, source))
        if number != tokenizer.unk_id and (piece not in normalized or len(normalized) - len(piece) > tolerance):
            return False
        last = start
    return True


def _extra_length(character: str) -> int:
    """Characters that NFKC adds."""
    return len(unicodedata.normalize("NFKC", character)) - 1


def _count_marks(character: str) -> int:
    """Combining marks that a character consists of; 0 for other characters."""
    decomposed = unicodedata.normalize("NFKD", character)
    return len(decomposed) if unicodedata.combining(decomposed[0]) else 0


def read_lines(folder: Path) -> list[str]:
    """Collect the distinct fields with letters of all text files below a folder, in a fixed order."""
    lines: dict[str, None] = {}
    for path in sorted(folder.rglob("*")):
        names = path.name.removesuffix(".gz").rsplit(".", 1)
        if not path.is_file() or names[-1] not in ("tsv", "txt", "json", "jsonl", "conll") or names[0] == "vocab":
            continue
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        text = content.decode("utf-8-sig", errors="strict")
        for field in _fields(text, names[-1]):
            if len(field) <= _MAX_LINE and any(map(str.isalpha, field)):
                lines[field] = None
    return list(lines)


def _fields(text: str, kind: str) -> Iterator[str]:
    if kind in ("json", "jsonl"):
        try:
            documents = [json.loads(text)]
        except json.JSONDecodeError:
            documents = [json.loads(line) for line in text.split("\n") if line]
        for document in documents:
            yield from _texts(document)
    else:
        for line in text.split("\n"):
            yield from line.split("\t") if kind == "tsv" else [line]


def _texts(value) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


def _strings(name: str, lines: list[str], special: list[str], arguments: argparse.Namespace) -> list[str]:
    """Sample real lines (for Japanese, lines with kana) and add hard strings."""
    seed, half = arguments.seed, arguments.strings // 2
    if name == "bert-base-japanese-v3":
        lines = [line for line in lines if any("ぁ" <= character <= "ヿ" for character in line)]
    return _sample(lines, arguments.strings - half, seed) + hard_strings.make(half, special, seed)


def _sample(lines: list[str], count: int, seed: int) -> list[str]:
    return random.Random(seed).sample(lines, min(count, len(lines)))


def _vocabulary_file(folder: Path) -> bytes | None:
    if (folder / "vocab.txt").is_file():
        return (folder / "vocab.txt").read_bytes()
    packed = folder / "vocab.txt.gz"
    return gzip.decompress(packed.read_bytes()) if packed.is_file() else None


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocabularies", type=Path, metavar="DIR", help="a folder with one folder per vocabulary")
    parser.add_argument("--folders", type=Path, nargs="+", metavar="DIR", help="folders with a tokenizer.json")
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="text files in several languages")
    parser.add_argument("--strings", type=int, default=24_000, help="strings per vocabulary, half of them random")
    parser.add_argument("--seed", type=int, default=0)
    record.add_output(parser, "tokenizer_parity")
    arguments = parser.parse_args()
    if (arguments.vocabularies is None) == (arguments.folders is None):
        parser.error("expected either --vocabularies or --folders; name one of them")
    return arguments


if __name__ == "__main__":
    main()
