"""Writes tiny checkpoint folders with transformers, PEFT and sentence-transformers, and what these libraries compute from them.

    python published_forms_writer.py OUT

A child process of `benchmarks.parity.published_forms`, for an environment with PyTorch in which kerasbert is not installed. OUT gets a
folder for each form, its outputs as .npz, and `forms.json`. Weights, biases and norms are random and far from their initial values.
"""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from safetensors.torch import load_file, save_file

SIZES = {"vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
CONFIGS: dict[str, dict[str, Any]] = {
    "bert": {**SIZES, "max_position_embeddings": 40},
    "albert": {**SIZES, "max_position_embeddings": 40, "embedding_size": 16},
    "electra": {**SIZES, "max_position_embeddings": 40, "embedding_size": 16},
    "mobilebert": {
        **SIZES, "max_position_embeddings": 40, "embedding_size": 16, "intra_bottleneck_size": 16, "true_hidden_size": 16,
        "num_feedforward_networks": 2,
    },
    "distilbert": {"vocab_size": 64, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 48, "max_position_embeddings": 40},
    "roberta": {**SIZES, "max_position_embeddings": 42, "type_vocab_size": 1},
}  # fmt: skip
NAMES = {"bert": "Bert", "albert": "Albert", "electra": "Electra", "mobilebert": "MobileBert", "distilbert": "DistilBert",
         "roberta": "Roberta"}  # fmt: skip
CLASSES = (
    "Model",
    "ForSequenceClassification",
    "ForTokenClassification",
    "ForQuestionAnswering",
    "ForMaskedLM",
    "ForMultipleChoice",
)
EXTRA = {"bert": ("ForPreTraining", "ForNextSentencePrediction"), "albert": ("ForPreTraining",), "mobilebert": ("ForPreTraining",),
         "electra": ("ForPreTraining",)}  # fmt: skip
LABELS = {"id2label": {0: "zeta", 1: "alpha", 2: "mid"}, "label2id": {"zeta": 0, "alpha": 1, "mid": 2}}
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [
    *"abcdefghijklmnopqrstuvwxyz",
    *(f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"),
    "the",
    "film",
    "was",
    "good",
    ".",
    ",",
    "!",
]
TEXTS = ["The film was good .", "a bad film, was it !", "zebra"]
REFUSABLE = ("pooling, two modes", "LayerNorm")  # forms that may be refused with the reason
FORMS: list[dict[str, Any]] = []


def main(out: Path) -> None:
    """Write every form that the installed libraries can write."""
    torch.manual_seed(0)
    out.mkdir(parents=True)
    (out / "vocab.txt").write_text("\n".join([*SPECIAL, *WORDS][: SIZES["vocab_size"]]) + "\n")
    write_architectures(out)
    write_variants(out)
    write_refused(out)
    write_peft(out)
    write_sentence_transformers(out)
    for form in FORMS:
        form["library"] = versions()[form["library"]]
    (out / "forms.json").write_text(json.dumps(FORMS, indent=1) + "\n")


def versions() -> dict[str, str]:
    """Return the installed libraries by name, with their versions."""
    found = {"transformers": f"transformers {transformers.__version__}"}
    for name in ("peft", "sentence_transformers"):
        try:
            module = __import__(name)
            found[name] = f"{name.replace('_', '-')} {module.__version__}"
        except ImportError:
            continue
    return found


def write_architectures(out: Path) -> None:
    """Every class of every architecture, as `save_pretrained` writes it."""
    for kind in CONFIGS:
        for name in (*CLASSES, *EXTRA.get(kind, ())):
            model = make(kind, name)
            folder = save(out, f"{kind} {name}", model)
            call = "encoder" if name == "Model" else "task"
            # ELECTRA's multiple choice has a summary layer of its own, which kerasbert does not have.
            refusable = (kind, name) == ("electra", "ForMultipleChoice")
            add(f"{NAMES[kind]}{name}", folder, call, outputs(model, name), refusable=refusable)


def write_variants(out: Path) -> None:
    """Folders that should load: other types, shards, prefixes, no architectures, problem types."""
    model = make("bert", "ForSequenceClassification")
    result = outputs(model, "ForSequenceClassification")
    tensors = dict(model.state_dict())

    def variant(name: str, change: Callable[[Path], None] = lambda folder: None, **options: Any) -> Path:
        folder = save(out, name, model, **options)
        change(folder)
        add(name, folder, "task", result)
        return folder

    variant("shards", max_shard_size="20KB")
    variant("pytorch_model.bin", lambda folder: _as_pickle(folder, tensors))
    variant("prefix _orig_mod. of torch.compile", lambda folder: _rename(folder, lambda name: f"_orig_mod.{name}"))
    variant("prefix module. of DataParallel", lambda folder: _rename(folder, lambda name: f"module.{name}"))
    variant("prefix model.", lambda folder: _rename(folder, lambda name: f"model.{name}"))
    variant("config.json with an unknown key", lambda folder: _edit(folder / "config.json", a_key_of_tomorrow=1))
    for dtype in ("float16", "bfloat16"):
        half = make("bert", "ForSequenceClassification").to(getattr(torch, dtype))
        folder = save(out, dtype, half)
        add(f"weights in {dtype}", folder, "task", outputs(half.float(), "ForSequenceClassification"))
    for problem, labels in {"multi_label_classification": 3, "regression": 1}.items():
        model_of = make("bert", "ForSequenceClassification", num_labels=labels, problem_type=problem)
        add(
            f"problem_type {problem}",
            save(out, problem, model_of),
            "task",
            outputs(model_of, "ForSequenceClassification"),
        )
    unnamed = make("bert", "ForSequenceClassification", num_labels=2, names=False)
    add(
        "two labels without names", save(out, "unnamed", unnamed), "task", outputs(unnamed, "ForSequenceClassification")
    )
    for name in ("ForSequenceClassification", "Model"):
        plain = make("bert", name)
        folder = save(out, f"no architectures {name}", plain)
        _edit(folder / "config.json", architectures=None)
        add(f"no architectures, {name}", folder, "classifier" if name != "Model" else "encoder", outputs(plain, name))
    mixed = make("bert", "ForPreTraining")
    both = outputs(mixed, "ForPreTraining")
    both["logits"] = both.pop("prediction_logits")
    del both["seq_relationship_logits"]
    add("ForPreTraining as a masked language model", save(out, "pretraining lm", mixed), "masked_lm", both)


def write_refused(out: Path) -> None:
    """Folders whose head would be random, or whose layers are not known: they must be refused."""
    model = make("bert", "ForSequenceClassification")
    changes: dict[str, Callable[[str], str | None]] = {
        "head under another name": lambda name: name.replace("classifier.", "fc."),
        "head missing": lambda name: None if name.startswith("classifier") else name,
        "pooler missing": lambda name: None if ".pooler." in name else name,
    }
    for name, rename in changes.items():
        folder = save(out, name, model)
        _rename(folder, rename)
        add(name, folder, "task", None)
    folder = save(out, "crf", model)
    tensors = load_file(folder / "model.safetensors")
    save_file(
        {**tensors, "crf.transitions": torch.zeros(3, 3), "lstm.weight_ih_l0": torch.zeros(8, 8)},
        folder / "model.safetensors",
    )
    add("CRF and LSTM behind the encoder", folder, "task", None)
    settings = {
        "fewer layers than weights": {"num_hidden_layers": 1},
        "class BertLSTMCRFForTokenClassification": {"architectures": ["BertLSTMCRFForTokenClassification"]},
        "relative positions": {"position_embedding_type": "relative_key"},
        "decoder": {"is_decoder": True},
        "model_type deberta-v2": {"model_type": "deberta-v2"},
        "unknown activation": {"hidden_act": "an_activation_of_tomorrow"},
    }
    for name, config in settings.items():
        folder = save(out, name, model)
        _edit(folder / "config.json", **config)
        add(name, folder, "task", None)
    folder = save(out, "git lfs", model)
    (folder / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1000\n")
    add("git-LFS pointer in place of the weights", folder, "task", None)


def write_peft(out: Path) -> None:
    """LoRA folders, with the base beside them and without."""
    if "peft" not in versions():
        return
    from peft import LoraConfig, get_peft_model

    base = make("bert", "ForSequenceClassification")
    base_folder = save(out, "lora base", base)
    tuned = get_peft_model(base, LoraConfig(task_type="SEQ_CLS", r=4, lora_alpha=8, target_modules=["query", "value"]))
    randomize(tuned, "lora_")
    expected = outputs(tuned, "ForSequenceClassification")
    folder = out / "lora"
    tuned.save_pretrained(folder)
    tokenizer(out).save_pretrained(folder)
    _edit(folder / "adapter_config.json", base_model_name_or_path=str(base_folder))
    # Merging rounds once; it also drops no tensor.
    add("LoRA folder, base found", folder, "task", expected, library="peft")
    alone = out / "lora alone"
    shutil.copytree(folder, alone)
    _edit(alone / "adapter_config.json", base_model_name_or_path="an-organization/no-such-model")
    add("LoRA folder, no base", alone, "task", None, library="peft")
    merged = tuned.merge_and_unload()
    add(
        "LoRA merged",
        save(out, "lora merged", merged),
        "task",
        outputs(merged, "ForSequenceClassification"),
        library="peft",
    )


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


# -- making ------------------------------------------------------------------------------------------------------------------------------


def make(kind: str, name: str, num_labels: int = 3, names: bool = True, **settings: Any) -> torch.nn.Module:
    """Make a model with random weights."""
    labelled = name in ("ForSequenceClassification", "ForTokenClassification")
    if labelled and names and num_labels == 3:
        settings |= LABELS
    elif labelled:
        settings["num_labels"] = num_labels
    config = getattr(transformers, f"{NAMES[kind]}Config")(**CONFIGS[kind], **settings)
    model = getattr(transformers, f"{NAMES[kind]}{name}")(config).eval()
    randomize(model)
    if hasattr(model, "tie_weights"):
        model.tie_weights()
    return model


def randomize(model: torch.nn.Module, part: str = "") -> None:
    """Draw every parameter whose name contains `part`; scales of norms around 1."""
    with torch.no_grad():
        for name, values in model.named_parameters():
            if part not in name:
                continue
            is_scale = ("norm" in name.lower()) and name.endswith("weight")
            values.copy_(torch.randn_like(values) * 0.2 + (1.0 if is_scale else 0.0))
    model.eval()


def outputs(model: torch.nn.Module, name: str) -> dict[str, np.ndarray]:
    """Compute the outputs of a model for fixed ids, with padding and two segments."""
    draw = np.random.default_rng(1)
    ids = draw.integers(5, SIZES["vocab_size"], (2, 12))
    mask = np.ones((2, 12), np.int64)
    mask[1, 8:] = 0
    ids[mask == 0] = int(getattr(model.config, "pad_token_id", 0) or 0)
    types = np.zeros((2, 12), np.int64)
    if getattr(model.config, "type_vocab_size", 0) > 1:
        types[:, 6:] = 1
        types[mask == 0] = 0
    packed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
    inputs = {key: torch.tensor(value) for key, value in packed.items()}
    if model.config.model_type == "distilbert":
        inputs.pop("token_type_ids")
    if name == "ForMultipleChoice":
        inputs = {key: value[None] for key, value in inputs.items()}
    with torch.no_grad():
        result = model(**inputs)
    keys = {"last_hidden_state", "pooler_output", "logits", "start_logits", "end_logits", "prediction_logits", "seq_relationship_logits",
            "sop_logits"}  # fmt: skip
    found = {key: value.float().numpy() for key, value in result.items() if key in keys}
    return {**found, **{f"in_{key}": value.astype(np.int32) for key, value in packed.items()}}


def tokenizer(out: Path) -> Any:
    """Make an uncased WordPiece tokenizer of the shared vocabulary."""
    return transformers.BertTokenizerFast(str(out / "vocab.txt"))


def save(out: Path, name: str, model: Any, **options: Any) -> Path:
    """Save a model, with the tokenizer where the architecture uses WordPiece."""
    folder = out / name
    model.save_pretrained(folder, **options)
    if model.config.model_type in ("bert", "electra", "mobilebert", "distilbert"):
        tokenizer(out).save_pretrained(folder)
    return folder


def add(
    name: str,
    folder: Path,
    call: str,
    arrays: dict[str, np.ndarray] | None,
    library: str = "transformers",
    **facts: Any,
) -> None:
    """List a form. `arrays` None: the folder has to be refused."""
    if arrays is not None and (folder / "tokenizer_config.json").is_file():
        facts["ids"] = transformers.AutoTokenizer.from_pretrained(folder)(TEXTS)["input_ids"]
    if arrays is not None:
        np.savez(folder.with_name(f"{folder.name}.npz"), **arrays)
    FORMS.append(
        {
            "form": name,
            "library": library,
            "folder": folder.name,
            "call": call,
            "refused": arrays is None,
            "texts": TEXTS,
            **facts,
        }
    )


def _edit(path: Path, **changes: Any) -> None:
    content = json.loads(path.read_text())
    content.update(changes)
    path.write_text(json.dumps({key: value for key, value in content.items() if value is not None}))


def _rename(folder: Path, rename: Callable[[str], str | None]) -> None:
    tensors = load_file(folder / "model.safetensors")
    renamed = {new: value for name, value in tensors.items() if (new := rename(name))}
    save_file(renamed, folder / "model.safetensors", metadata={"format": "pt"})


def _as_pickle(folder: Path, tensors: dict[str, torch.Tensor]) -> None:
    torch.save(tensors, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
