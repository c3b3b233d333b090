package kerasbert.desktop.commands

import kerasbert.core.file.ModelFile
import kerasbert.core.file.SecondInput
import kerasbert.core.model.TextModel
import kerasbert.core.tasks.taskOf
import kerasbert.desktop.litert.JnaEngine

/** Prints the prediction for each line. Returns the exit code: 1 if a number is NaN or infinite. */
internal fun predict(arguments: Arguments): Int {
    val path = arguments.model()
    val file = ModelFile.open(path)
    val reader = ExampleLines(file.metadata.type)
    val examples = inputLines().mapIndexed { number, line -> reader.example(line, number) }
    var cut = 0
    val broken = ArrayList<Int>()
    val model = TextModel.open(file) { JnaEngine.open(path, arguments.count("--threads", 1)) }
    taskOf(model).use { task ->
        Output().use { output ->
            examples.forEachIndexed { number, example ->
                val prediction = task.predict(example)
                if (prediction.isCut) cut++
                if (!prediction.isFinite) broken += number
                output.write(prediction.record())
            }
        }
    }
    if (cut > 0) {
        val items = if (file.metadata.type.second == SecondInput.CONTEXT) "questions" else "texts"
        note("note: $cut of ${examples.size} $items are too long for ${model.length} tokens and were truncated")
    }
    if (broken.isEmpty()) return 0
    note(
        "warning: the predictions contain NaN or infinity for ${broken.size} of ${examples.size} texts, the first is number ${broken[0]}; the " +
            "model is damaged, or its training diverged",
    )
    return 1
}
