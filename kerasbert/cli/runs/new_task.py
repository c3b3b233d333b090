"""The task of a training run of a command: a checkpoint with the head and the settings that the config names."""

import inspect
from typing import TYPE_CHECKING, Any

from kerasbert.errors import KerasBertError
from kerasbert.training.answer_options import answer_settings
from kerasbert.training.config import TrainConfig
from kerasbert.training.exit_options import parse_exits

if TYPE_CHECKING:
    from kerasbert.cli.inputs.training_data import TrainingData
    from kerasbert.tasks.base import Task


def new_task(training: TrainConfig, data: "TrainingData") -> "Task":
    """Create the task of a config, with a new head if the checkpoint has none.

    Args:
        training: The settings.
        data: The data of the run.

    Raises:
        KerasBertError: When the checkpoint cannot be loaded, or the task takes no head of a user's own.
    """
    from kerasbert.cli.inputs.training_data import fallback_settings
    from kerasbert.cli.process.progress import loading
    from kerasbert.processors.joint import Joint
    from kerasbert.processors.registry import TASK_NAMES, train_tasks

    with loading("the model"):
        import tf_keras as keras

        from kerasbert import tasks
        from kerasbert.tasks.precision import dtype_policy
        from kerasbert.training.preparation import strategy_named

        strategy = strategy_named(training.distribute)  # first: workers connect when TensorFlow starts
        keras.utils.set_random_seed(training.seed)
        name, processor_name = train_tasks()[training.task]
        settings: dict[str, Any] = {"sequence_length": data.length}
        if data.processor.labels is not None and not TASK_NAMES[name].fixed_labels:
            settings["labels"] = data.processor.labels
        if TASK_NAMES[name].processor is None:
            settings["problem"] = processor_name
        if training.adapters:
            settings["adapters"] = training.adapters
        if training.head is not None:
            from kerasbert.heads.registry import head_of_file

            if "head" not in inspect.signature(tasks.TASKS[name].__init__).parameters:
                raise KerasBertError(
                    f"expected a task that takes a head of your own for --head, received --task {training.task}; leave --head out"
                )
            settings["head"] = head_of_file(training.head)
        settings |= {"heads": data.processor.heads} if isinstance(data.processor, Joint) else {}
        if training.exits is not None:
            if "exits" not in inspect.signature(tasks.TASKS[name].__init__).parameters:
                raise KerasBertError(
                    f"expected a task with classes for --exits, received --task {training.task}; leave --exits out"
                )
            settings["exits"] = parse_exits(training.exits)
        settings |= {**answer_settings(training), **fallback_settings(training)}
        settings |= {name: True for name in ("layer_mix", "new_head") if getattr(training, name)}
        with dtype_policy(training.precision), strategy.scope():
            task = tasks.TASKS[name].from_pretrained(data.folder, **settings)
            if training.cased:
                from kerasbert.compression.pruning.structured.matched_vocabulary import match_vocabulary

                task = match_vocabulary(task, data.tokenizer)
            if training.tokenize_as:
                task.tokenize_as(training.tokenize_as)
            if isinstance(task, tasks.QuestionAnswerer) and training.no_answer is None:
                task.no_answer = task.no_answer or None  # `fit` decides by the data
            return task if training.dropout is None else task.with_dropout(training.dropout)
