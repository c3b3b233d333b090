"""Tiny models with random weights, and the list of folders that `published_forms_writer` makes of them.

It is read in an environment with PyTorch in which kerasbert is not installed, so it imports nothing of this project.
"""

import json
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
FORMS: list[dict[str, Any]] = []


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


def edit_json(path: Path, **changes: Any) -> None:
    content = json.loads(path.read_text())
    content.update(changes)
    path.write_text(json.dumps({key: value for key, value in content.items() if value is not None}))


def rename_tensors(folder: Path, rename: Callable[[str], str | None]) -> None:
    tensors = load_file(folder / "model.safetensors")
    renamed = {new: value for name, value in tensors.items() if (new := rename(name))}
    save_file(renamed, folder / "model.safetensors", metadata={"format": "pt"})


def to_pickle(folder: Path, tensors: dict[str, torch.Tensor]) -> None:
    torch.save(tensors, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
