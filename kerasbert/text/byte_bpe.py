"""Byte-level byte-pair encoding: text to the token ids of a RoBERTa checkpoint, as Hugging Face's `RobertaTokenizerFast`."""

from collections.abc import Sequence
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.text import tokenizer_files
from kerasbert.text.encoded import Template
from kerasbert.text.tokenizer import Tokenizer


class ByteLevelBPE(Tokenizer):
    """RoBERTa's tokenizer (Liu et al. 2019, arXiv:1907.11692), that of GPT-2: merges of bytes, most frequent first.

    A pair is `<s> a </s></s> b </s>`, and every token type is 0. A word with a space before it is another token than
    the same word at the start of a text. The ids are those of `RobertaTokenizerFast` read from the published
    `tokenizer.json`; there `<mask>` includes the space before it.

    Args:
      vocabulary: the tokens; a token's place is its id. Each byte stands as one printable character.
      merges: the pairs to merge, in that order, "left right" each.
      add_prefix_space: treat the first word of a text like one in the middle.
      trim_offsets: leave the space before a word out of its offsets.
      **common: special tokens ("<unk>", "<s>", "</s>", "<pad>", "<mask>" unless named), `added_tokens` and
        `model_max_length`, see `Tokenizer`.

    Raises:
      KerasBertError: as `Tokenizer`, or a merge that is no pair or whose parts or result are not in the vocabulary.
    """

    kind = "byte_level_bpe"
    special_names = {
        "unk_token": "<unk>",
        "cls_token": "<s>",
        "sep_token": "</s>",
        "pad_token": "<pad>",
        "mask_token": "<mask>",
    }
    flags = {"add_prefix_space": "add_prefix_space", "trim_offsets": "trim_offsets"}
    template = Template(separators=2, second_type=0)
    mask_takes_space = True

    def __init__(
        self,
        vocabulary: Sequence[str],
        merges: Sequence[str],
        *,
        add_prefix_space: bool = False,
        trim_offsets: bool = True,
        **common,
    ):
        super().__init__(vocabulary, **common)
        self.merges = tuple(merges)
        self.add_prefix_space = bool(add_prefix_space)
        self.trim_offsets = bool(trim_offsets)
        for number, merge in enumerate(self.merges):
            parts = merge.split(" ")
            if len(parts) != 2 or not {*parts, "".join(parts)} <= self._ids.keys():
                raise KerasBertError(
                    f"expected merges of two tokens to a third of the vocabulary, received {merge!r} as merge {number}"
                )

    def _build_engine(self):
        from tokenizers import Tokenizer as Engine
        from tokenizers import models, pre_tokenizers, processors

        pairs = [tuple(merge.split(" ")) for merge in self.merges]
        engine = Engine(models.BPE(self._model_ids(), pairs, fuse_unk=False))
        engine.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=self.add_prefix_space)
        # Only for the trimmed offsets: special tokens are put around a text elsewhere.
        engine.post_processor = processors.RobertaProcessing(
            (self.sep_token, self.sep_id),
            (self.cls_token, self.cls_id),
            trim_offsets=self.trim_offsets,
            add_prefix_space=self.add_prefix_space,
        )
        return engine

    def _settings(self) -> dict:
        return {"merges": list(self.merges), **{name: getattr(self, name) for name in self.flags.values()}}

    def _file_settings(self) -> dict:
        return {"tokenizer_class": "RobertaTokenizer"}

    def _write_files(self, folder: Path) -> None:
        tokenizer_files.write_json(folder / tokenizer_files.BPE_VOCABULARY, self._ids)
        tokenizer_files.write_merges(folder / tokenizer_files.MERGES, self.merges)

    @classmethod
    def _read_files(cls, folder: Path) -> dict:
        vocabulary = tokenizer_files.read_bpe_vocabulary(folder / tokenizer_files.BPE_VOCABULARY)
        return {"vocabulary": vocabulary, "merges": tokenizer_files.read_merges(folder / tokenizer_files.MERGES)}
