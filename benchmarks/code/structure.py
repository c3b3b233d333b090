"""Sizes and documentation of the source code: modules, functions and classes, types, docstrings, packages, and obsolete words.

    python -m benchmarks.code.structure
    python -m benchmarks.code.structure --root CHECKOUT --json before.json

Measured: lines, circles of modules and of folders, lines and modules of a float BERT, modules per package, typed and documented public
names, long functions and classes, and occurrences of obsolete words. Overrides inherit their docstring.

Only the sources are read. A float BERT is `encoders/bert.py` and the layers that a factory makes, with every encoder and layer module that
they import at the top of modules, without `layers/quantization`, `layers/lowering` and decomposed attention. Public names are functions,
methods and classes without an underscore.
"""

import argparse
import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.code import import_graph
from benchmarks.common import record

ROOT = Path(__file__).parents[2]
LONG, MANY_PARAMETERS, MANY_METHODS = 60, 12, 15
# A float BERT executes them, even where only a factory imports them.
FLOAT_BERT = ("encoders.bert", "layers.dense", "layers.dropout", "layers.embedding_table", "layers.norms")
# Obsolete words and their standard replacements.
OBSOLETE_WORDS = {
    "half_sums": "split_k",
    "sums_in_parts": "split_k",
    "parts_of": "split_k_factor",
    "whole_sums": "split_k",
    "whole-sums": "split-k",
    "half_file": "keep_embeddings_fp32",
    "denses": "Dense layers",
    "denses_as_convolutions": "fully_connected_to_conv1x1",
    "fewer_reshapes": "fold_reshapes",
    "drop_unused": "dead_code",
    "tied_tables": "tie_embeddings",
    "dynamic_denses": "dynamic_range_versions",
    "ActivationPoint": "ActivationFakeQuant",
    "KernelPoint": "KernelFakeQuant",
    "ConstantPoint": "ConstantFakeQuant",
    "written_by": "output_norm",
    "come_after": "connect_quantizers",
    "take_turn": "set_call",
    "scaled_like": "carry_scales",
    "keeps_bias": "prevent_bias_folding",
    "forget_ranges": "reset_ranges",
    "settle_ranges": "symmetrize_ranges",
    "fix_ranges": "freeze_ranges",
    "QuantizationPhases": "QuantizationSchedule",
    "activation-delay": "quant-delay",
    "range_method": "range_estimator",
    "long_rows": "outlier_tokens",
    "tapped": "captured",
    "taps": "captured",
    "GraphLayout": "LoweringOptions",
    "flat_ids": "rank1_ids",
    "LayerMix": "ScalarMix",
    "word table": "token embeddings",
    "Problem": "Processor",
    "asks": "processor",
    "usual_step": "default_stride",
    "best_context": "max_context",
    "Answering": "InferenceModel",
    "Fitting": "KerasTask",
    "kerasbert cut": "kerasbert prune",
    "Cut": "PrunedSizes",
    "KeepZeros": "PreserveSparsity",
    "Fitted": "TrainResult",
    "_Watch": "TrainerCallback",
    "Feeder": "DistillationDataset",
    "Side": "Reference",
    "open_side": "open_reference",
    "Kept": "RowOutputs",
    "Job": "ValidationContext",
    "judged": "make_check",
    "told": "summarize",
    "gpu-classic": "gpu-opencl",
    "RunningModel": "Session",
    "FittingModels": "Runner",
    "Ended": "ProcessResult",
    "last_words": "failure_reason",
    "leftovers": "cleanup",
    "removed_by": "cleanup_on_exit",
    "remove_all": "run_cleanups",
    "data_pickle": "restricted_unpickler",
    "peer_tasks": "transformers_baseline",
    "steps_apart": "int8_backend_divergence",
    "float_denses": "float_activation_reference",
    "quantization_points": "quantizer_ablation",
    "quanta": "LSB",
    "without a word": "silently",
    "so many": "a count",
}


def main() -> None:
    """Measure the sources and write the result."""
    arguments = _arguments()
    root = arguments.root
    trees = {name: ast.parse(path.read_text("utf-8")) for name, path in import_graph.module_files(root).items()}
    float_bert = _float_bert(root, trees)
    result = {
        "float_bert": {"files": len(float_bert), "lines": sum(float_bert.values()), "modules": float_bert},
        "lines": sum(len(path.read_text("utf-8").splitlines()) for path in import_graph.module_files(root).values()),
        "module_cycles": import_graph.import_cycles(import_graph.import_graph(root)),
        "module_cycles_with_types": import_graph.import_cycles(import_graph.import_graph(root, types=True)),
        "mutual_folders": import_graph.mutual_imports(import_graph.folder_graph(root)),
        "folder_cycles": import_graph.import_cycles(import_graph.folder_graph(root)),
        "rooms": dict(sorted(Counter(name.rpartition(".")[0] for name in trees).items())),
        **_definitions(trees),
        "old_words": _count_obsolete_words(root),
    }
    for key, value in result.items():
        print(f"{key}: {value}")
    record.write(arguments.json, result, {})


def _float_bert(root: Path, trees: dict[str, ast.Module]) -> dict[str, int]:
    """Count the lines of each module that a float BERT needs."""
    sources, lines = import_graph.module_files(root), {}
    queue = [name for part in FLOAT_BERT if (name := f"kerasbert.{part}") in trees]
    while queue:
        name = queue.pop()
        excluded = (
            re.search(r"layers\.(quantization|lowering)|decomposed_attention", name)
            or sources[name].name == "__init__.py"
        )
        if name in lines or excluded:
            continue
        lines[name] = len(sources[name].read_text("utf-8").splitlines())
        for node in trees[name].body:
            if isinstance(node, ast.ImportFrom) and node.module:
                modules = {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)} & trees.keys()
                queue += [module for module in modules if module.startswith(("kerasbert.encoders", "kerasbert.layers"))]
    return dict(sorted(lines.items()))


def _definitions(trees: dict[str, ast.Module]) -> dict:
    classes = {node.name: node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    parameters = typed = returns = returned = public = documented = 0
    long, wide, large = [], [], []
    for module, tree in trees.items():
        for node, owner in _public_names(tree.body, None):
            if isinstance(node, ast.ClassDef):
                methods = sum(isinstance(member, ast.FunctionDef) for member in node.body)
                large += [(methods, f"{module}.{node.name}")] if methods > MANY_METHODS else []
            public, documented = public + 1, documented + _is_documented(node, owner, classes)
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


def _public_names(body: list[ast.stmt], owner: ast.ClassDef | None) -> Iterator[tuple]:
    """Yield (definition, its class or None) of public classes, functions and methods; nested functions are not names."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node, owner
            if isinstance(node, ast.ClassDef):
                yield from _public_names(node.body, node)


def _is_documented(node: ast.ClassDef | ast.FunctionDef, owner: ast.ClassDef | None, classes: dict) -> bool:
    """Return whether a name has a docstring, its own or that of the method it overrides, ours or a foreign base's."""
    if ast.get_docstring(node):
        return True
    bases = [] if owner is None else [ast.unparse(base).rpartition(".")[2] for base in owner.bases]
    for base in bases:
        if base not in classes:
            return base not in ("Protocol", "NamedTuple", "ABC")  # Keras, typer and others document their methods
        for member in classes[base].body:
            if isinstance(member, ast.FunctionDef) and member.name == node.name:
                return _is_documented(member, classes[base], classes)
        if any(True for _ in classes[base].bases) and _is_documented(node, classes[base], classes):
            return True
    return False


def _count_obsolete_words(root: Path) -> dict[str, int]:
    """Count each obsolete word in code and documents."""
    texts = [path.read_text("utf-8") for path in import_graph.module_files(root).values()]
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
