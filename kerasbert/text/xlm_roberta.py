"""The tokenizer of XLM-RoBERTa, of multilingual models of 250,000 pieces."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from kerasbert.errors import KerasBertError
from kerasbert.text import tokenizer_files, tokenizer_keys
from kerasbert.text.encoded import Template
from kerasbert.text.sentencepiece_model import read_model, reordered
from kerasbert.text.tokenizer_files import SettingFile
from kerasbert.text.unigram import UnigramTokenizer
from kerasbert.text.vocabulary import VocabularySettings

if TYPE_CHECKING:
    from tokenizers.normalizers import Normalizer

FIRST = ("<s>", "<pad>", "</s>", "<unk>")  # of the ids 0 to 3, as in fairseq
MASK = "<mask>"  # of the last id
_IN_FILE = ("<unk>", "<s>", "</s>")  # of the first pieces of a file


def check_ids(pieces: Sequence[str]) -> None:
    """Check that special tokens have the ids of XLM-RoBERTa.

    Args:
        pieces: The pieces in the order of their ids.

    Raises:
        KerasBertError: When they have others.
    """
    if tuple(pieces[:4]) != FIRST or pieces[-1] != MASK:
        raise KerasBertError(
            f"expected the pieces of XLM-RoBERTa, {', '.join(FIRST)} first and {MASK} last, received {', '.join(pieces[:4])} first and "
            f"{pieces[-1]} last"
        )


def _read(path: Path) -> bytes:
    """Read a `sentencepiece.bpe.model`, and put its pieces into the order of the model's ids."""
    content = tokenizer_files.read_bytes(path)
    try:
        pieces = read_model(content).pieces
        if tuple(pieces[: len(_IN_FILE)]) != _IN_FILE:
            raise KerasBertError(
                f"expected a SentencePiece model that begins with {', '.join(_IN_FILE)}, received {', '.join(pieces[:3])}"
            )
    except KerasBertError as error:
        raise KerasBertError(f"{path}: {error}") from None
    return reordered(content, [*FIRST, *pieces[len(_IN_FILE) :], MASK], unk_id=FIRST.index("<unk>"))


def _write(path: Path, content: bytes) -> None:
    pieces = read_model(content).pieces[len(FIRST) : -1]
    tokenizer_files.write_bytes(path, reordered(content, [*_IN_FILE, *pieces], unk_id=0))


class XlmRobertaTokenizer(UnigramTokenizer):
    """XLM-RoBERTa's tokenizer (Conneau et al. 2020, arXiv:1911.02116): a unigram model of 100 languages.

    A pair is `<s> a </s></s> b </s>`, and all token types are 0. Characters are normalized by the map of the model, NFKC in the published
    ones; texts are not lowercased. The ids equal those of `XLMRobertaTokenizerFast` with the published `tokenizer.json`. In that file,
    `<mask>` includes the space before it.

    In `sentencepiece.bpe.model`, the file of a folder, ids are those of SentencePiece. The model's ids begin with `<s>`, `<pad>`, `</s>`
    and `<unk>`, and end with `<mask>`. That file does not say how words are split: transformers splits at all white space.

    Args:
        model: The content of a SentencePiece model of type unigram, its pieces in the order of the model's ids.
        remove_space: Split at all white space. False splits at runs of spaces only.
        **common: Special tokens (default "<unk>", "<s>", "</s>", "<pad>", "<mask>"), `added_tokens` and `model_max_length`; see
            `Tokenizer`.

    Raises:
        KerasBertError: When the model is damaged or not unigram, a piece is a duplicate, or special tokens have other ids.

    Example:
        ```python
        from kerasbert.text import XlmRobertaTokenizer
        tokenizer = XlmRobertaTokenizer.from_folder("xlm-roberta-base")
        tokenizer.encode(["ein guter Film"], max_length=32).input_ids
        ```
    """

    kind = "xlm_roberta"
    special_names = {
        "unk_token": "<unk>",
        "cls_token": "<s>",
        "sep_token": "</s>",
        "pad_token": "<pad>",
        "mask_token": MASK,
    }
    config_keys = tokenizer_keys.XLM_ROBERTA
    flags = {"remove_space": "remove_space"}
    files = {"model": SettingFile("sentencepiece.bpe.model", _read, _write)}
    hub_class = "XLMRobertaTokenizer"
    template = Template(separators=2, second_type=0)

    def __init__(self, model: bytes, *, remove_space: bool = True, **common: Unpack[VocabularySettings]) -> None:
        super().__init__(model, remove_space=remove_space, **common)

    def _check_pieces(self) -> None:
        check_ids(self._pieces.pieces)

    def _scores(self) -> list[tuple[str, float]]:
        return list(zip(self._pieces.pieces, self._pieces.scores, strict=True))

    def _normalizer(self) -> "Normalizer":
        from tokenizers import normalizers

        charsmap = self._pieces.charsmap
        return normalizers.Precompiled(charsmap) if charsmap else normalizers.Sequence([])
