// Written by benchmarks/parity/demo_tables.py: change the tables of Python, and run it again.
package kerasbert.core.file

/** The form of examples, outputs and settings, by the name of the type of the task. */
internal val TASK_FORMS = mapOf(
    "single_label" to TaskForm(
        SecondInput.PAIR, listOf("probabilities"), 2, false,
        mapOf(
            "paired" to SettingKind.FLAG, "fallback" to SettingKind.TEXT, "fallback_below" to SettingKind.NUMBER,
        ),
    ),
    "multi_label" to TaskForm(
        SecondInput.PAIR, listOf("probabilities"), 2, false,
        mapOf("paired" to SettingKind.FLAG),
    ),
    "regression" to TaskForm(
        SecondInput.PAIR, listOf("score"), 2, false,
        mapOf("paired" to SettingKind.FLAG),
    ),
    "embedding" to TaskForm(
        SecondInput.PAIR, listOf("embedding"), 2, false,
        mapOf(
            "width" to SettingKind.COUNT_OR_NULL, "prompts" to SettingKind.PROMPTS, "default_prompt_name" to SettingKind.PROMPT_NAME,
        ),
    ),
    "tagging" to TaskForm(
        SecondInput.NONE, listOf("probabilities"), 3, true,
        mapOf("stride" to SettingKind.COUNT_OR_NULL),
    ),
    "question_answering" to TaskForm(
        SecondInput.CONTEXT, listOf("start_logits", "end_logits"), 2, true,
        mapOf(
            "stride" to SettingKind.COUNT_OR_NULL, "longest_answer" to SettingKind.COUNT, "n_best" to SettingKind.COUNT,
            "no_answer" to SettingKind.FLAG, "no_answer_threshold" to SettingKind.NUMBER, "unit" to SettingKind.TEXT,
        ),
    ),
    "multiple_choice" to TaskForm(
        SecondInput.CHOICES, listOf("logits"), 2, false,
        mapOf(),
    ),
    "masked_lm" to TaskForm(
        SecondInput.NONE, listOf("logits"), 3, true,
        mapOf(
            "share" to SettingKind.NUMBER, "whole_words" to SettingKind.FLAG, "top" to SettingKind.COUNT, "masking" to SettingKind.TEXT,
        ),
    ),
    "few_shot" to TaskForm(
        SecondInput.NONE, listOf("embedding"), 2, false,
        mapOf(
            "paired" to SettingKind.FLAG, "fallback" to SettingKind.TEXT, "fallback_below" to SettingKind.NUMBER,
            "width" to SettingKind.COUNT, "layer" to SettingKind.TEXT, "method" to SettingKind.TEXT, "prompt" to SettingKind.TEXT,
        ),
    ),
)
