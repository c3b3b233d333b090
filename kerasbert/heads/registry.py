"""Heads of users by name: any Keras layer or function on the encoder's outputs."""

import contextlib
import importlib.util
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from kerasbert.arguments import shown
from kerasbert.console.output import note
from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import parse_json
from kerasbert.suggestions import nearest

DEFAULT = "default"  # the name of a task's own head
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_MODULE = "kerasbert_head_file_"  # the start of the names of modules that are files of --head
_heads: dict[str, Callable] = {}
_files: ContextVar[tuple[str, ...]] = ContextVar("kerasbert_head_files", default=())
_executed_specs: ContextVar[set[str]] = ContextVar("kerasbert_executed_heads")


def register_head(name: str, head: Callable | None = None) -> Any:
    """Register a head of your own under a name, for `head=` of a task and for the folders that name it.

    A head is one of these:

    - a class of Keras layers, or a function, whose first parameter is `outputs`: called with the number of outputs and `head_settings`.
      A function returns a layer, or a function over layers of its own;
    - a function of `encoded` and `mask`, without weights.

    The layer or the function is called with the encoder's output, an `EncoderOutput` with `sequence`, `pooled`, `hidden_states` and
    `attentions`, and with Keras' bool mask `(batch, length)` if it takes one. It returns logits: `(batch, outputs)`, or
    `(batch, length, outputs)` for a task with an answer for each token.

    Args:
        name: The name, of letters, digits, `-` and `_`.
        head: The class or the function; without it, `register_head` is a decorator.

    Returns:
        The class or the function, unchanged.

    Raises:
        KerasBertError: When the name cannot be used, or another class or function has it.

    Example:
        ```python
        import tf_keras as keras
        @kb.register_head("first-token")
        def first_token(outputs):
            dense = keras.layers.Dense(outputs)
            return lambda encoded, mask: dense(encoded.sequence[:, 0])
        task = kb.TextClassifier.from_pretrained("small-en", labels=["a", "b"], head="first-token")
        ```
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name == DEFAULT:
        raise KerasBertError(
            f"expected the name of a head, of letters, digits, - and _ and not {DEFAULT!r}, received {shown(name)}; write "
            '@kb.register_head("my-head")'
        )
    if head is None:
        return lambda head: register_head(name, head)
    if not callable(head) or not hasattr(head, "__qualname__"):
        raise KerasBertError(
            f"expected a class or a function as the head {name!r}, received {shown(head)}; several models cannot share the weights of one "
            "layer: register a function that makes it"
        )
    other = _heads.get(name)
    # A notebook defines the same class again. A file of --head is executed once.
    in_file = (head.__module__ or "").startswith(_MODULE)
    if other is not None and other is not head and (in_file or _origin(other) != _origin(head)):
        raise KerasBertError(
            f"expected one head of the name {name!r}, received {_shown_origin(head)} beside {_shown_origin(other)}; choose another name"
        )
    _heads[name] = head
    return head


def head_named(name: str, where: str = "") -> Callable:
    """Return the class or the function that is registered under a name.

    Args:
        name: The name.
        where: The folder that names it with a colon, for messages.

    Raises:
        KerasBertError: When there is none.
    """
    load_requested_heads()
    if not isinstance(name, str) or name not in _heads:
        similar = nearest(str(name), sorted(_heads))
        raise KerasBertError(
            f"{where}expected a registered head, received {str(name)[:60]!r}; "
            + (f"did you mean {similar!r}? " if similar else "")
            + f'register it by @kb.register_head("{str(name)[:60]}"), or name its file in a command (--head FILE.py:NAME)'
        )
    return _heads[name]


@contextlib.contextmanager
def requesting_heads(*specs: str | None) -> Iterator[None]:
    """Make the heads of files known while the block runs; a file is executed when a model needs a head. A note names others at the end.

    Args:
        specs: `FILE.py:NAME` each.
    """
    executed: set[str] = set()
    files = tuple(spec for spec in specs if spec is not None)
    tokens = _files.set(files), _executed_specs.set(executed)
    try:
        yield
        for spec in files:
            if spec not in executed:
                note(f"note: --head {spec} is not used: no model that this command loads has a head of yours")
    finally:
        _files.reset(tokens[0])
        _executed_specs.reset(tokens[1])


def requested_heads() -> tuple[str, ...]:
    """Return the files of `requesting_heads`, `FILE.py:NAME` each."""
    return _files.get()


def load_requested_heads() -> list[str]:
    """Execute the files of `requesting_heads`, and return the names of their heads."""
    return [head_of_file(spec) for spec in _files.get()]


def head_of_file(spec: str) -> str:
    """Execute a Python file and return the name of the head in it, which is registered.

    Args:
        spec: `FILE.py:NAME`, with the name of a class or a function, or a name that the file registers.

    Raises:
        KerasBertError: When there is no such file or name, or the file fails.
    """
    _executed_specs.get(set()).add(str(spec))
    file, separator, name = str(spec).rpartition(":")
    path = Path(file)
    if not separator or not name or path.suffix != ".py" or not path.is_file():
        raise KerasBertError(
            f"expected a Python file with a head and its name, received {spec!r}; write --head FILE.py:NAME"
        )
    module = _executed(path.resolve())
    if name in _heads and _heads[name].__module__ == module.__name__:
        return name
    head = getattr(module, name, None)
    registered = [known for known, each in _heads.items() if each is head]
    if head is None or not (registered or callable(head)):
        known = ", ".join(known for known, each in _heads.items() if each.__module__ == module.__name__) or "none"
        raise KerasBertError(f"expected a head of {file} ({known} registered), received {name!r}; correct the name")
    if not registered:
        register_head(name, head)
    return registered[0] if registered else name


def checked_settings(name: str | None, settings: object) -> dict[str, Any]:
    """Return the settings of a head, which kerasbert.json holds.

    Raises:
        KerasBertError: When they are no dict of JSON's types, or there is no head that they are of.
    """
    if settings is None or settings == {}:
        return {}
    if name is None:
        raise KerasBertError("expected head= with head_settings=, received none; name the head that they are of")
    try:
        if isinstance(settings, Mapping) and all(isinstance(key, str) for key in settings):
            return parse_json(json.dumps(dict(settings)).encode(), "head_settings")
    except (TypeError, ValueError):
        pass
    raise KerasBertError(
        f"expected head_settings as a dict of numbers, texts and lists by name, received {shown(settings)}; a folder stores them as JSON"
    )


def _executed(path: Path) -> Any:
    """Import a file, once in a process, under a name of its own."""
    name = f"{_MODULE}{path.stem}_{abs(hash(str(path))):x}"
    if name in sys.modules:
        return sys.modules[name]
    spec: Any = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        for known in [known for known, head in _heads.items() if head.__module__ == name]:
            del _heads[known]
        if isinstance(error, KerasBertError) or not isinstance(error, Exception):
            raise
        line = str(error).splitlines()[0] if str(error) else ""
        raise KerasBertError(
            f"expected a Python file with a head, received {path.name}, which fails with {type(error).__name__}: {line}; correct it"
        ) from error
    return module


def _origin(head: Callable) -> str:
    return f"{head.__module__}.{head.__qualname__}"


def _shown_origin(head: Callable) -> str:
    """Return the module and the name of a head, or the file and the name."""
    if (head.__module__ or "").startswith(_MODULE):
        return f"{Path(str(sys.modules[head.__module__].__file__)).name}:{head.__qualname__}"
    return _origin(head)
