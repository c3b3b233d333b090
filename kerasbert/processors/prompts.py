"""Prompts of sentence encoders: texts that stand before each text, by name."""

from collections.abc import Mapping
from typing import Any

from kerasbert.errors import KerasBertError
from kerasbert.suggestions import nearest

QUERY = "query"
DOCUMENTS = ("document", "passage", "corpus")  # in the order in which sentence-transformers looks for one
_MAX_PROMPTS = 1000
_MAX_CHARACTERS = 10_000


def checked_prompts(prompts: object, default_prompt_name: object) -> tuple[dict[str, str] | None, str | None]:
    """Return prompts by name and the name of the default one, both None where there is none.

    Args:
        prompts: Texts by name, or None.
        default_prompt_name: The name of the default prompt, or None or "" for no default.

    Raises:
        KerasBertError: When the prompts are no texts, or the default is none of them.
    """
    prompts = {} if prompts is None else prompts
    if (
        not isinstance(prompts, Mapping)
        or len(prompts) > _MAX_PROMPTS
        or not all(isinstance(name, str) and isinstance(text, str) for name, text in prompts.items())
        or any(len(each) > _MAX_CHARACTERS for entry in prompts.items() for each in entry)
    ):
        raise KerasBertError(
            f"expected prompts as texts by name, up to {_MAX_PROMPTS:,} of {_MAX_CHARACTERS:,} characters each, "
            f"received {str(prompts)[:60]}"
        )
    if default_prompt_name in (None, ""):
        return dict(prompts) or None, None
    if not isinstance(default_prompt_name, str) or default_prompt_name not in prompts:
        raise _unknown_prompt("default_prompt_name", default_prompt_name, prompts)
    return dict(prompts), default_prompt_name


def chosen_prompt(
    prompts: Mapping[str, str] | None, default: str | None, prompt_name: str | None, prompt: str | None
) -> str:
    """Return the text that stands before each text.

    Args:
        prompts: Texts by name, or None.
        default: The name of the default prompt, or None.
        prompt_name: The name of the prompt to use; None for the default.
        prompt: A text to use instead of a named prompt; "" for none at all.

    Raises:
        KerasBertError: When both are given, there is no such prompt, or the prompt is no text.
    """
    prompts = prompts or {}
    if prompt is not None:
        if prompt_name is not None:
            raise KerasBertError(f"expected prompt or prompt_name, received both ({prompt_name!r}); leave one out")
        if not isinstance(prompt, str):
            raise KerasBertError(f"expected a prompt as a text, received {prompt!r}; pass a string")
        return prompt
    if prompt_name is not None:
        if not isinstance(prompt_name, str) or prompt_name not in prompts:
            raise _unknown_prompt("prompt_name", prompt_name, prompts)
        return prompts[prompt_name]
    return prompts[default] if default else ""


def search_prompts(prompts: Mapping[str, str] | None, default: str | None) -> tuple[str, str]:
    """Return the texts that stand before a query and before each text that is searched.

    Prompts named `query`, and `document`, `passage` or `corpus` are meant for them. If only one side has a prompt, the other has none.
    Without either, both have the default prompt.

    Args:
        prompts: Texts by name, or None.
        default: The name of the default prompt, or None.
    """
    prompts = prompts or {}
    query = prompts.get(QUERY)
    document = next((prompts[name] for name in DOCUMENTS if prompts.get(name)), None)
    if not query and not document:
        both = chosen_prompt(prompts, default, None, None)
        return both, both
    return query or "", document or ""


def _unknown_prompt(argument: str, received: Any, prompts: Mapping[str, str]) -> KerasBertError:
    if not prompts:
        return KerasBertError(
            f"expected a model with prompts for {argument}={received!r}, received one without; pass prompt="
        )
    similar = nearest(str(received), list(prompts))
    known = ", ".join(repr(name) for name in list(prompts)[:10])
    advice = f"did you mean {similar!r}?" if similar else "use one of them"
    return KerasBertError(f"expected {argument} to be one of {known}, received {received!r}; {advice}")
