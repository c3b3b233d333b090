"""Byte-level byte-pair encoding, the tokenizer of RoBERTa; its ids equal those of Hugging Face's `RobertaTokenizerFast`."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Self, Unpack

from kerasbert.errors import KerasBertError
from kerasbert.text import tokenizer_files, tokenizer_keys
from kerasbert.text.corpus import Corpus
from kerasbert.text.encoded import Template
from kerasbert.text.tokenizer import Tokenizer
from kerasbert.text.vocabulary import VocabularySettings, check_not_a_path
from kerasbert.text.vocabulary_learning import ROBERTA_TOKENS, learn_byte_pairs

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Engine
    from tokenizers.decoders import Decoder


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

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        vocabulary_size: int,
        min_frequency: int = 2,
        add_prefix_space: bool = False,
    ) -> Self:
        """Learn merges from texts. Training is deterministic, and keeps the number of each word only.

        Args:
            texts: The texts, of any iterable. It is read once.
            vocabulary_size: The maximum number of tokens, the five special ones and the 256 bytes included.
            min_frequency: The minimum number of occurrences of a pair that is merged.
            add_prefix_space: Treat the first word of a text like a word after a space, in training and when encoding.

        Returns:
            A tokenizer with that vocabulary. `<s>`, `<pad>`, `</s>` and `<unk>` have the ids 0 to 3 of RoBERTa's checkpoints, and `<mask>`
            has 4.

        Raises:
            KerasBertError: When there are no texts, an entry is not a text, or `vocabulary_size` is below 261.

        Example:
            ```python
            from kerasbert.text import ByteLevelBPE
            ByteLevelBPE.train(texts, vocabulary_size=300).vocabulary_size
            ```
        """
        untrained, corpus = cls(ROBERTA_TOKENS, (), add_prefix_space=add_prefix_space), Corpus(texts)
        pieces = corpus.pieces(untrained._word_ends)
        vocabulary, merges = learn_byte_pairs(untrained._build_engine(), pieces, vocabulary_size, min_frequency)
        corpus.check_words()
        return cls(vocabulary, merges, add_prefix_space=add_prefix_space)

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

    def _decoder(self) -> "Decoder":
        from tokenizers import decoders

        return decoders.ByteLevel()

    def _shifted(self, offsets: list[tuple[int, int]], start: int) -> list[tuple[int, int]]:
        shifted = super()._shifted(offsets, start)
        if start and shifted and self.add_prefix_space and self.trim_offsets:
            # The engine takes the space before the first word of a piece for the one that it adds to a text itself.
            shifted[0] = (start + 1, max(start + 1, shifted[0][1]))
        return shifted
