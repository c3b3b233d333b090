"""Sizes and documentation of the source code: modules, functions and classes, types, docstrings, packages, and obsolete words.

    python -m benchmarks.code.structure
    python -m benchmarks.code.structure --root CHECKOUT --json before.json

Measured: lines and modules of a float BERT, modules per package, typed and documented public names, long functions and classes, and
occurrences of obsolete words.

Only the sources are read. A float BERT is `encoders/bert.py` with every encoder and layer module that it imports at the top of modules,
without `layers/quantization` and `layers/lowering`. Public names are functions, methods and classes without an underscore.
"""

import argparse
import ast
import re
from collections import Counter
from pathlib import Path

from benchmarks.common import record

ROOT = Path(__file__).parents[2]
LONG, MANY_PARAMETERS, MANY_METHODS = 60, 12, 15
# Obsolete words and their standard replacements.
OBSOLETE_WORDS = {
    "denses": "Dense layers", "half_sums": "split-K", "sums_in_parts": "split-K", "whole_sums": "split-K", "ActivationPoint":
    "ActivationFakeQuant",
    "KernelPoint": "KernelFakeQuant", "ConstantPoint": "ConstantFakeQuant", "take_turn": "set_call", "come_after": "tie_ranges",
    "keeps_bias": "prevent_bias_folding", "scaled_like": "carry_scales", "forget_ranges": "reset_ranges", "settle_ranges":
    "symmetrize_ranges",
    "fix_ranges": "freeze_ranges", "tapped": "captured", "LayerMix": "ScalarMix", "GraphLayout": "lowering options", "quanta": "LSB",
    "further_decoder": "extra_decoder", "Answering": "InferenceMixin", "Fitting": "KerasTask", "open_side": "open_reference",
    "Problem": "Processor",
    "RunningModel": "InterpreterModel", "FittingModels": "BucketedModel", "last_words": "failure_reason", "leftovers": "cleanup",
    "KeepZeros": "PreserveSparsity", "gpu-classic": "gpu-opencl", "without a word": "silently", "so many": "a count",
}  # fmt: skip


def main() -> None:
    """Measure the sources and write the result."""
    arguments = _arguments()
    root = arguments.root
    trees = {name: ast.parse(path.read_text("utf-8")) for name, path in _sources(root).items()}
    float_bert = _float_bert(root, trees)
    result = {
        "float_bert": {"files": len(float_bert), "lines": sum(float_bert.values()), "modules": float_bert},
        "rooms": dict(sorted(Counter(name.rpartition(".")[0] for name in trees).items())),
        **_definitions(trees),
        "old_words": _count_obsolete_words(root),
    }
    for key, value in result.items():
        print(f"{key}: {value}")
    record.write(arguments.json, result, {})


def _sources(root: Path) -> dict[str, Path]:
    sources = {}
    for top in ("kerasbert", "export", "zoo"):
        for path in sorted((root / top).rglob("*.py")):
            if not any(folder.is_symlink() for folder in path.parents):
                name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
                sources[name if top == "kerasbert" else f"kerasbert.{name}"] = path
    return sources


def _float_bert(root: Path, trees: dict[str, ast.Module]) -> dict[str, int]:
    """Count the lines of each module that a float BERT needs."""
    sources, queue, lines = _sources(root), ["kerasbert.encoders.bert"], {}
    while queue:
        name = queue.pop()
        excluded = re.search(r"layers\.(quantization|lowering)", name) or sources[name].name == "__init__.py"
        if name in lines or excluded:
            continue
        lines[name] = len(sources[name].read_text("utf-8").splitlines())
        for node in trees[name].body:
            if isinstance(node, ast.ImportFrom) and node.module:
                modules = {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)} & trees.keys()
                queue += [module for module in modules if module.startswith(("kerasbert.encoders", "kerasbert.layers"))]
    return dict(sorted(lines.items()))


def _definitions(trees: dict[str, ast.Module]) -> dict:
    parameters = typed = returns = returned = public = documented = 0
    long, wide, large = [], [], []
    for module, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                methods = sum(isinstance(member, ast.FunctionDef) for member in node.body)
                large += [(methods, f"{module}.{node.name}")] if methods > MANY_METHODS else []
            if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name.startswith("_"):
                continue
            public, documented = public + 1, documented + bool(ast.get_docstring(node))
            if isinstance(node, ast.FunctionDef):
                arguments = [
                    argument
                    for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
                    if argument.arg not in ("self", "cls")
                ]
                parameters += len(arguments)
                typed += sum(argument.annotation is not None for argument in arguments)
                returns, returned = returns + 1, returned + (node.returns is not None)
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                long += [(length, f"{module}.{node.name}")] if length > LONG else []
                wide += [(len(arguments), f"{module}.{node.name}")] if len(arguments) > MANY_PARAMETERS else []
    return {
        "typed_parameters": round(typed / parameters, 3),
        "typed_returns": round(returned / returns, 3),
        "documented": round(documented / public, 3),
        f"functions_over_{LONG}_lines": sorted(long, reverse=True),
        f"functions_over_{MANY_PARAMETERS}_parameters": sorted(wide, reverse=True),
        f"classes_over_{MANY_METHODS}_methods": sorted(large, reverse=True),
    }


def _count_obsolete_words(root: Path) -> dict[str, int]:
    """Count each obsolete word in code and documents."""
    texts = [path.read_text("utf-8") for path in _sources(root).values()]
    texts += [path.read_text("utf-8") for path in (root / "README.md", *sorted((root / "docs").glob("*.md")))]
    text = "\n".join(texts)
    return {
        word: count for word in OBSOLETE_WORDS if (count := len(re.findall(rf"(?<!\w){re.escape(word)}(?!\w)", text)))
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=ROOT, metavar="FOLDER", help="the checkout to read (this one)")
    record.add_output(parser, "structure")
    return parser.parse_args()


if __name__ == "__main__":
    main()
