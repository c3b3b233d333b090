"""Lowers a task to the model of one length: traced, converted, decoded, and rewritten by the passes of its target."""

from dataclasses import replace
from typing import cast

from kerasbert.export.lowering.dense_plans import dense_plans
from kerasbert.export.lowering.integer_only import integer_target, integer_twin
from kerasbert.export.lowering.targets import Target
from kerasbert.export.lowering.tracing import converted_graph, export_twin, save_graph
from kerasbert.export.passes.context import PassContext
from kerasbert.export.tflite.model import Model, decode
from kerasbert.files.cleanup import temporary_folder
from kerasbert.layers.embedding_table import EmbeddingTable
from kerasbert.layers.traversal import sublayers
from kerasbert.memory import release
from kerasbert.tasks.base import Task
from kerasbert.tasks.early_exit import EarlyExitTask


def lowered_model(
    tasks: list[Task], target: Target, length: int | None, context: PassContext, integer_only: bool, texts: bool,
    stage: int | None = None,
) -> Model:  # fmt: skip
    """Lower a task at one length.

    Args:
        tasks: A list with the task as its last entry. It is removed from the list, so that its weights can be freed before the converter
            makes copies of them.
        target: The deployment target.
        length: Tokens in a row; None for a resizable length.
        context: The settings of the passes, without plans and tables.
        integer_only: Whether no operator computes in float.
        texts: Whether the graph takes texts.
        stage: The layers to lower, up to this exit, from 0; None for the whole task.
    """
    task = tasks.pop()
    if integer_only:
        target, twin = integer_target(target), integer_twin(task)
        context = replace(context, tables=[twin.encoder.embeddings.word.table.numpy()])
    else:
        twin = export_twin(task)
        if context.recipe.integer:
            context = _with_plans(context, task, twin, stage)
    with temporary_folder("graph") as folder:
        save_graph(twin, target, length, folder, texts, stage)
        # The converter holds the weights several times over. Ours are in the folder now.
        del task, twin
        release()
        half = context.recipe.name == "float16"
        model = decode(converted_graph(folder, half=half, integer=integer_only, texts=texts))
    for run_pass in target.integer_passes if integer_only else target.passes:
        run_pass(model, context)
    return model


def _with_plans(context: PassContext, task: Task, twin: Task, stage: int | None) -> PassContext:
    """Add the plans of the Dense layers, and the tables that are stored as integers."""
    pairs = zip(sublayers(twin, EmbeddingTable), sublayers(task, EmbeddingTable), strict=True)
    plans, staged = dense_plans(task, twin, static=context.recipe.trained), cast(EarlyExitTask, task)
    tables = [stored.table.numpy() for stored, trained in pairs if trained.quantized]
    return replace(
        context,
        plans=[plan for plan in plans if stage is None or staged.in_stage(plan.path, plan.call, stage)],
        tables=tables,
        table_bits=(task.policy and task.policy.table_bits) or 8,
        keeps_float=task.head is not None,
    )
