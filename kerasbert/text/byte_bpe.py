"""Byte-level byte-pair encoding, the tokenizer of RoBERTa; its ids equal those of Hugging Face's `RobertaTokenizerFast`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from kerasbert.errors import KerasBertError
from kerasbert.text import tokenizer_files, tokenizer_keys
from kerasbert.text.encoded import Template
from kerasbert.text.tokenizer import Tokenizer
from kerasbert.text.vocabulary import VocabularySettings, check_not_a_path

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Engine


class ByteLevelBPE(Tokenizer):
    """RoBERTa's tokenizer (Liu et al. 2019, arXiv:1907.11692), which is GPT-2's: byte pairs, merged by rank.

    A pair is `<s> a </s></s> b </s>`, and all token types are 0. A word after a space is another token than the same word at the start of
    a text. The ids equal those of `RobertaTokenizerFast` with the published `tokenizer.json`. In that file, `<mask>` includes the space
    before it.

    Args:
        vocabulary: The tokens in the order of their ids. Each byte is one printable character.
        merges: The pairs to merge in the order of their ranks, "left right" each.
        add_prefix_space: Treat the first word of a text like a word after a space.
        trim_offsets: Exclude the space before a word from its offsets.
        **common: Special tokens (default "<unk>", "<s>", "</s>", "<pad>", "<mask>"), `added_tokens` and `model_max_length`; see
            `Tokenizer`.

    Raises:
        KerasBertError: When `Tokenizer` raises, a merge is not a pair, or its parts or its result are not in the vocabulary.

    Example:
        ```python
        from kerasbert.text import ByteLevelBPE
        vocabulary = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "a", "b", "ab"]
        tokenizer = ByteLevelBPE(vocabulary, merges=["a b"])
        tokenizer.encode(["abba"], max_length=8).input_ids  # [[0, 7, 6, 5, 2]]
        ```
    """

    kind = "byte_level_bpe"
    special_names = {
        "unk_token": "<unk>",
        "cls_token": "<s>",
        "sep_token": "</s>",
        "pad_token": "<pad>",
        "mask_token": "<mask>",
    }
    config_keys = tokenizer_keys.BYTE_LEVEL_BPE
    flags = {"add_prefix_space": "add_prefix_space", "trim_offsets": "trim_offsets"}
    settings = ("merges", *flags)
    files, hub_class = tokenizer_files.BPE_FILES, "RobertaTokenizer"
    template = Template(separators=2, second_type=0)
    mask_takes_space = True

    def __init__(
        self,
        vocabulary: Sequence[str],
        merges: Sequence[str],
        *,
        add_prefix_space: bool = False,
        trim_offsets: bool = True,
        **common: Unpack[VocabularySettings],
    ) -> None:
        super().__init__(vocabulary, **common)
        check_not_a_path(merges, "the merges as a list in the order of their ranks")
        self.merges = tuple(merges)
        self.add_prefix_space = bool(add_prefix_space)
        self.trim_offsets = bool(trim_offsets)
        for number, merge in enumerate(self.merges):
            parts = merge.split(" ")
            if len(parts) != 2 or not {*parts, "".join(parts)} <= self._ids.keys():
                raise KerasBertError(
                    f"expected merges of two tokens to a third of the vocabulary, received {merge!r} as merge {number}"
                )

    def _build_engine(self) -> "Engine":
        import tokenizers
        from tokenizers import models, pre_tokenizers, processors

        pairs = [(left, right) for left, right in (merge.split(" ") for merge in self.merges)]
        engine = tokenizers.Tokenizer(models.BPE(self.model_ids(), pairs, fuse_unk=False))
        engine.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=self.add_prefix_space)
        # Only for trimmed offsets: special tokens are added by the template.
        engine.post_processor = processors.RobertaProcessing(
            (self.sep_token, self.sep_id),
            (self.cls_token, self.cls_id),
            trim_offsets=self.trim_offsets,
            add_prefix_space=self.add_prefix_space,
        )
        return engine

    def _shifted(self, offsets: list[tuple[int, int]], start: int) -> list[tuple[int, int]]:
        shifted = super()._shifted(offsets, start)
        if start and shifted and self.add_prefix_space and self.trim_offsets:
            # The engine takes the space before the first word of a piece for the one that it adds to a text itself.
            shifted[0] = (start + 1, max(start + 1, shifted[0][1]))
        return shifted
