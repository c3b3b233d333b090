package kerasbert.app

import android.content.Context
import kerasbert.core.file.TaskType
import kerasbert.screens.Accelerator
import kerasbert.screens.Numbers

/** Numbers in the language of the phone. */
val Context.numbers: Numbers get() = Numbers(resources.configuration.locales[0])

/** The name of an accelerator. */
fun Context.nameOf(accelerator: Accelerator): String = getString(
    when (accelerator) {
        Accelerator.CPU -> R.string.accelerator_cpu
        Accelerator.GPU -> R.string.accelerator_gpu
        Accelerator.NPU -> R.string.accelerator_npu
    },
)

/** The name of a type of task. */
fun Context.nameOf(type: TaskType): String = getString(
    when (type) {
        TaskType.SINGLE_LABEL -> R.string.task_single_label
        TaskType.FEW_SHOT -> R.string.task_few_shot
        TaskType.MULTI_LABEL -> R.string.task_multi_label
        TaskType.REGRESSION -> R.string.task_regression
        TaskType.TAGGING -> R.string.task_tagging
        TaskType.QUESTION_ANSWERING -> R.string.task_question_answering
        TaskType.EMBEDDING -> R.string.task_embedding
        TaskType.MULTIPLE_CHOICE -> R.string.task_multiple_choice
        TaskType.MASKED_LM -> R.string.task_masked_lm
    },
)
