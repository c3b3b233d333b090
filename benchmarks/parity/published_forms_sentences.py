"""Folders of sentence encoders and cross-encoders, as the installed version of sentence-transformers writes them."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from published_forms_models import TEXTS, add, make, randomize, save, versions

REFUSABLE = ("pooling, two modes", "LayerNorm")  # forms that may be refused with the reason


def write_sentence_transformers(out: Path) -> None:
    """Sentence encoders and cross-encoders, as the installed version writes them."""
    if "sentence_transformers" not in versions():
        return
    from sentence_transformers import CrossEncoder, SentenceTransformer, models

    library = {"library": "sentence_transformers"}
    base = save(out, "sentence base", make("bert", "Model"))
    chains: dict[str, Callable[[], list[Any]]] = {}
    for mode in ("mean", "cls", "max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"):
        chains[f"pooling {mode}"] = lambda mode=mode: [models.Pooling(32, pooling_mode=mode)]
    chains["pooling, two modes"] = lambda: [
        models.Pooling(32, pooling_mode_mean_tokens=True, pooling_mode_cls_token=True)
        if _is_old()
        else models.Pooling(32, pooling_mode=("cls", "mean"))
    ]
    chains["normalize"] = lambda: [models.Pooling(32), models.Normalize()]
    for name, activation, bias in (("tanh, bias", torch.nn.Tanh(), True), ("identity", torch.nn.Identity(), False),
                                   ("identity, bias", torch.nn.Identity(), True)):  # fmt: skip
        chains[f"Dense {name}"] = lambda activation=activation, bias=bias: [
            models.Pooling(32), models.Dense(32, 16, bias=bias, activation_function=activation), models.Normalize(),
        ]  # fmt: skip
    chains["LayerNorm"] = lambda: [models.Pooling(32), models.LayerNorm(32)]
    for name, modules in chains.items():
        encoder = SentenceTransformer(
            modules=[models.Transformer(str(base), max_seq_length=24), *modules()], device="cpu"
        )
        for module in list(encoder)[1:]:
            randomize(module)
        add_sentences(out, name, encoder, {**library, "refusable": name in REFUSABLE})
    add_sentences(out, "do_lower_case", SentenceTransformer(
        modules=[models.Transformer(str(base), max_seq_length=24, do_lower_case=True), models.Pooling(32)], device="cpu",
    ), library)  # fmt: skip
    prompted = SentenceTransformer(
        modules=[models.Transformer(str(base), max_seq_length=24), models.Pooling(32)], device="cpu"
    )
    prompted.prompts, prompted.default_prompt_name = {"query": "the film ", "document": "was "}, "query"
    add_sentences(out, "default_prompt_name", prompted, library)
    folder = add_sentences(out, "0_Transformer", SentenceTransformer(
        modules=[models.Transformer(str(base), max_seq_length=24), models.Pooling(32)], device="cpu"), library)  # fmt: skip
    _move_transformer(folder)
    # sentence-transformers' own default is Sigmoid for one label and Identity for several; its softmax is an option of predict.
    for labels, activation in ((1, "Sigmoid"), (1, "Identity"), (3, "Identity"), (3, "Sigmoid")):
        model = make("bert", "ForSequenceClassification", num_labels=labels, names=False)
        name = f"cross {labels} {activation}"
        cross = CrossEncoder(
            str(save(out, f"base of {name}", model)), device="cpu", max_length=24, **_activation(activation)
        )
        pairs = [(TEXTS[0], TEXTS[1]), (TEXTS[2], TEXTS[0])]
        cross.save(str(out / name))
        # Read again: version 2.7 with transformers 4.44 does not save the activation.
        again = CrossEncoder(str(out / name), device="cpu", max_length=24)
        function = getattr(again, "activation_fn", None) or getattr(again, "default_activation_function", None)
        scores = again.predict(pairs, apply_softmax=labels > 1 and isinstance(function, torch.nn.Identity))
        add(f"CrossEncoder, {labels} label{'s' * (labels > 1)}, {activation}", out / name, "pairs",
            {"scores": np.asarray(scores, np.float32)}, pairs=pairs, **library)  # fmt: skip


def add_sentences(out: Path, name: str, encoder: Any, options: dict[str, Any]) -> Path:
    """Save a sentence encoder and its vectors."""
    vectors = encoder.encode(TEXTS, convert_to_numpy=True).astype(np.float32)
    folder = out / f"sentence {name}"
    encoder.save(str(folder))
    add(name, folder, "vectors", {"vectors": vectors}, **options)
    return folder


def _is_old() -> bool:
    import sentence_transformers

    return int(sentence_transformers.__version__.split(".")[0]) < 5


def _activation(name: str) -> dict[str, Any]:
    import sentence_transformers

    old = int(sentence_transformers.__version__.split(".")[0]) < 4
    return {"default_activation_function" if old else "activation_fn": getattr(torch.nn, name)()}


def _move_transformer(folder: Path) -> None:
    """Give a folder the form of sentence-transformers 0 and 1: the encoder in 0_Transformer."""
    inside = folder / "0_Transformer"
    inside.mkdir()
    keep = {"modules.json", "config_sentence_transformers.json", "README.md", inside.name}
    for path in list(folder.iterdir()):
        if path.is_file() and path.name not in keep:
            shutil.move(path, inside / path.name)
    modules = json.loads((folder / "modules.json").read_text())
    modules[0]["path"] = inside.name
    (folder / "modules.json").write_text(json.dumps(modules))
