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

import torch
from published_forms_models import (
    CLASSES,
    CONFIGS,
    EXTRA,
    FORMS,
    NAMES,
    SIZES,
    SPECIAL,
    WORDS,
    add,
    edit_json,
    make,
    outputs,
    randomize,
    rename_tensors,
    save,
    to_pickle,
    tokenizer,
    versions,
)
from published_forms_sentences import write_sentence_transformers
from safetensors.torch import load_file, save_file


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
    variant("pytorch_model.bin", lambda folder: to_pickle(folder, tensors))
    variant(
        "prefix _orig_mod. of torch.compile", lambda folder: rename_tensors(folder, lambda name: f"_orig_mod.{name}")
    )
    variant("prefix module. of DataParallel", lambda folder: rename_tensors(folder, lambda name: f"module.{name}"))
    variant("prefix model.", lambda folder: rename_tensors(folder, lambda name: f"model.{name}"))
    variant("config.json with an unknown key", lambda folder: edit_json(folder / "config.json", a_key_of_tomorrow=1))
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
        edit_json(folder / "config.json", architectures=None)
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
        rename_tensors(folder, rename)
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
        edit_json(folder / "config.json", **config)
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
    edit_json(folder / "adapter_config.json", base_model_name_or_path=str(base_folder))
    # Merging rounds once; it also drops no tensor.
    add("LoRA folder, base found", folder, "task", expected, library="peft")
    alone = out / "lora alone"
    shutil.copytree(folder, alone)
    edit_json(alone / "adapter_config.json", base_model_name_or_path="an-organization/no-such-model")
    add("LoRA folder, no base", alone, "task", None, library="peft")
    merged = tuned.merge_and_unload()
    add(
        "LoRA merged",
        save(out, "lora merged", merged),
        "task",
        outputs(merged, "ForSequenceClassification"),
        library="peft",
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
