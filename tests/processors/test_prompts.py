"""Which prompt stands before a text: by name, as a text, by default, and in a search."""

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.processors import make_processor
from kerasbert.processors.embedding import Embedding
from kerasbert.processors.prompts import chosen_prompt, search_prompts

E5 = {"query": "query: ", "passage": "passage: "}


@pytest.mark.parametrize(
    ("default", "name", "prompt", "expected"),
    [
        (None, None, None, ""),
        ("query", None, None, "query: "),
        ("query", "passage", None, "passage: "),
        ("query", None, "", ""),
        ("query", None, "topic: ", "topic: "),
        (None, "query", None, "query: "),
    ],
)
def test_the_prompt_of_a_call(default, name, prompt, expected):
    assert chosen_prompt(E5, default, name, prompt) == expected
    assert Embedding(prompts=E5, default_prompt_name=default).with_prompt(name, prompt).prefix == expected


@pytest.mark.parametrize(
    ("name", "prompt", "message"),
    [
        ("queri", None, r"prompt_name to be one of 'query', 'passage', received 'queri'; did you mean 'query'\?"),
        (["query"], None, "prompt_name to be one of .*received"),
        ("query", "text", r"expected prompt or prompt_name, received both \('query'\); leave one out"),
        (None, 3, "a prompt as a text, received 3"),
        (None, ["query: "], "a prompt as a text, received"),
    ],
)
def test_wrong_prompts_are_refused(name, prompt, message):
    with pytest.raises(KerasBertError, match=message):
        chosen_prompt(E5, None, name, prompt)


def test_a_model_without_prompts_has_no_named_one():
    with pytest.raises(KerasBertError, match="a model with prompts for prompt_name='query', received one without"):
        Embedding().with_prompt("query")
    assert Embedding().with_prompt(prompt="query: ").prefix == "query: "


@pytest.mark.parametrize(
    ("prompts", "default", "expected"),
    [
        (E5, "query", ("query: ", "passage: ")),
        ({"query": "query: "}, "query", ("query: ", "")),
        ({"document": "d: "}, "document", ("", "d: ")),
        ({"query": "q: ", "document": "", "passage": "p: ", "corpus": "c: "}, None, ("q: ", "p: ")),
        ({"sts": "sts: ", "query": "", "document": ""}, "sts", ("sts: ", "sts: ")),
        (None, None, ("", "")),
    ],
)
def test_the_prompts_of_a_search(prompts, default, expected):
    assert search_prompts(prompts, default) == expected
    assert (
        tuple(each.prefix for each in Embedding(prompts=prompts, default_prompt_name=default).for_search()) == expected
    )


def test_prompts_are_settings_of_a_file():
    assert Embedding(width=3).settings() == {"width": 3}  # as before
    settings = {"width": 3, "prompts": E5, "default_prompt_name": "query"}
    processor = make_processor("embedding", settings=settings)
    assert processor.settings() == settings and hash(processor) == hash(processor)
    assert make_processor("embedding", settings={"width": 3}) == Embedding(width=3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prompts": ["query: "]}, "prompts as an object, received"),
        ({"prompts": {"query": 3}}, "expected prompts as texts by name"),
        ({"prompts": {"query": "x" * 10_001}}, "expected prompts as texts by name"),
        ({"prompts": dict.fromkeys(map(str, range(1001)), "")}, "expected prompts as texts by name"),
        ({"prompts": E5, "default_prompt_name": "other"}, "default_prompt_name to be one of 'query', 'passage'"),
        ({"default_prompt_name": "query"}, "a model with prompts for default_prompt_name='query'"),
        ({"prompts": E5, "default_prompt_name": 3}, "default_prompt_name as a string, received 3"),
    ],
)
def test_settings_of_hostile_files_are_refused(settings, message):
    with pytest.raises(KerasBertError, match=message):
        make_processor("embedding", settings=settings)
