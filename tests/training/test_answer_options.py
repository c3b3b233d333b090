import pytest

from kerasbert.errors import KerasBertError
from kerasbert.processors.question_answering import QuestionAnswering
from kerasbert.training import TrainConfig
from kerasbert.training.answer_options import AnswerConfig, answer_settings, check_answers_questions


def test_options_become_settings_of_the_processor():
    config = AnswerConfig(
        no_answer=True, no_answer_threshold=-1.5, stride=8, max_answer_length=12, answers=3, unit="character"
    )
    settings = answer_settings(config)
    assert QuestionAnswering(**settings) == QuestionAnswering(
        stride=8, longest_answer=12, n_best=3, no_answer=True, no_answer_threshold=-1.5, unit="character"
    )
    assert answer_settings(AnswerConfig()) == {} and answer_settings(AnswerConfig(no_answer=False)) == {
        "no_answer": False
    }


def test_a_threshold_turns_no_answer_on():
    assert answer_settings(AnswerConfig(no_answer_threshold=0.0)) == {"no_answer_threshold": 0.0, "no_answer": True}
    with pytest.raises(KerasBertError, match="received --always-answer; leave one of them out"):
        AnswerConfig(no_answer=False, no_answer_threshold=1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stride": 0}, "--stride from 1 to 1048576, received 0"),
        ({"answers": 0}, "--answers"),
        ({"max_answer_length": 0}, "--max-answer-length"),
        ({"no_answer_threshold": float("nan")}, "--no-answer-threshold"),
        ({"unit": "letter"}, "--unit as one of word, character"),
    ],
)
def test_values_out_of_range_are_refused(options, message):
    with pytest.raises(KerasBertError, match=message):
        AnswerConfig(**options)


def test_other_tasks_refuse_the_options(tmp_path):
    with pytest.raises(KerasBertError, match="--max-answer-length for question answering only.*'single_label'"):
        check_answers_questions({"longest_answer": 3}, "single_label")
    with pytest.raises(KerasBertError, match="--stride for question answering only.*'classification'"):
        TrainConfig(stride=3)
    config = TrainConfig(task="question-answering", no_answer=True, no_answer_threshold=0.5, stride=3)
    config.write(tmp_path / "config.toml")
    assert TrainConfig(**TrainConfig.read(tmp_path / "config.toml")) == config
