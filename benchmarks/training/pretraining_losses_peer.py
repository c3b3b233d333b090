"""transformers' side of `benchmarks.training.pretraining_losses`: prints the losses of the rows in a folder, by unit and objective."""

import argparse
import json
from pathlib import Path

import numpy as np
import torch
import transformers

PAIRS = {"label seq_relationship_logits": "next-sentence", "label sop_logits": "sentence-order"}
WORDS = "label prediction_logits"


def main() -> None:
    """Print the losses as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("kind", help="transformers' class")
    arguments = parser.parse_args()
    losses = {}
    for file in sorted(arguments.folder.glob("*.npz")):
        arrays = dict(np.load(file))
        with torch.no_grad():
            losses[file.stem] = _losses(arguments.folder, arguments.kind, arrays)
    print(json.dumps(losses))


def _losses(folder: Path, kind: str, arrays: dict[str, np.ndarray]) -> dict[str, float]:
    """Return the losses that transformers computes from labels, in its own way: the total of one head after the other."""
    inputs = {name: _tensor(arrays[name]) for name in ("input_ids", "attention_mask", "token_type_ids")}
    if kind.startswith(("DistilBert", "Roberta")):
        del inputs["token_type_ids"]
    if "corrupted" in arrays:
        return _electra_losses(folder, inputs, arrays)
    model = getattr(transformers, kind).from_pretrained(folder / "model").eval()
    pairs = next((name for name in PAIRS if name in arrays), None)
    if kind.endswith("ForNextSentencePrediction"):
        assert pairs is not None
        return {PAIRS[pairs]: float(model(**inputs, labels=_tensor(arrays[pairs])).loss)}
    words = _tensor(arrays[WORDS])
    if pairs is None:
        return {"masked-lm": float(model(**inputs, labels=words).loss)}
    second = {"next-sentence": "next_sentence_label", "sentence-order": "sentence_order_label"}[PAIRS[pairs]]
    outputs = model(**inputs, labels=words, **{second: _tensor(arrays[pairs])})
    logits = next(outputs[name] for name in ("seq_relationship_logits", "sop_logits") if name in outputs)
    pair_loss = float(torch.nn.functional.cross_entropy(logits, _tensor(arrays[pairs])))
    return {"masked-lm": float(outputs.loss) - pair_loss, PAIRS[pairs]: pair_loss}


def _electra_losses(folder: Path, inputs: dict[str, torch.Tensor], arrays: dict[str, np.ndarray]) -> dict[str, float]:
    words, corrupted = _tensor(arrays[WORDS]), _tensor(arrays["corrupted"])
    generator = transformers.ElectraForMaskedLM.from_pretrained(folder / "generator").eval()
    detector = transformers.ElectraForPreTraining.from_pretrained(folder / "model").eval()
    originals = torch.where(words != -100, words, inputs["input_ids"])
    replaced = (corrupted != originals).long()
    found = detector(**{**inputs, "input_ids": corrupted}, labels=replaced).loss
    return {"masked-lm": float(generator(**inputs, labels=words).loss), "replaced-tokens": float(found)}


def _tensor(values: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(values.astype(np.int64))


if __name__ == "__main__":
    main()
