"""A cased WordPiece made from an uncased one: its tokens, and forms of them with capital letters."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kerasbert.errors import KerasBertError
from kerasbert.text.tokenizer import Tokenizer
from kerasbert.text.wordpiece import WordPiece

_CONTINUATION = "##"
_LONGEST = 10**9  # tokens of a text: no text is truncated


@dataclass(frozen=True)
class CasedForm:
    """A token with capitals.

    Attributes:
        token: The form, such as "Paris", "NASA" or "##ING".
        source: The id of its lower-case token in the vocabulary that lacks the form.
        capitals: True if all letters are capitals, as in "NASA"; False if only the first is, as in "Paris" and "A".
    """

    token: str
    source: int
    capitals: bool


def cased_tokenizer(tokenizer: Tokenizer, texts: Iterable[str] = ()) -> WordPiece:
    """Return a cased tokenizer with the tokens of an uncased one, and behind them forms of these with capitals.

    Each token that begins a word gets a form with a first capital. A form in capitals is added if the texts have it. Single letters in
    capitals are always added, so that every word can be spelled. Texts without capitals are tokenized as before; accents are removed as
    before too.

    Args:
        tokenizer: An uncased WordPiece.
        texts: Texts with capitals, such as those of the training data.

    Raises:
        KerasBertError: When the tokenizer is of another kind, or keeps capitals already.
    """
    if type(tokenizer) is not WordPiece or not tokenizer.lowercase:
        received = repr(tokenizer) if type(tokenizer) is WordPiece else f"a {type(tokenizer).__name__}"
        raise KerasBertError(
            f"expected an uncased WordPiece tokenizer to add capitals to, received {received}; leave cased out for this model"
        )
    settings = tokenizer.get_config()
    settings |= {
        "vocabulary": [*tokenizer.vocabulary, *_forms(tokenizer, texts)],
        "lowercase": False,
        "strip_accents": tokenizer.effective_config()["strip_accents"],
    }
    return WordPiece.from_config(settings)


def match_tokens(known: Tokenizer, wanted: Tokenizer) -> list[int | CasedForm | None]:
    """Return where each token of one vocabulary comes from in another.

    Args:
        known: The tokenizer with the tokens to take.
        wanted: The tokenizer whose tokens are looked for.

    Returns:
        For each token of `wanted`: the id of the same token; or, for a form with capitals of a token, that form; None where there is
        neither.
    """
    ids = {token: number for number, token in enumerate(known.vocabulary)}
    found: list[int | CasedForm | None] = []
    for token in wanted.vocabulary:
        lower = token.lower()
        if token in ids or lower not in ids:
            found.append(ids.get(token))
        else:
            letters = _letters(token)
            found.append(CasedForm(token, ids[lower], len(letters) > 1 and letters.isupper()))
    return found


def strings_of(examples: Any) -> Iterator[str]:
    """Yield the strings of examples in any form: texts, pairs, lists of words, questions with contexts.

    Args:
        examples: Strings inside of lists, tuples, arrays or the values of mappings.
    """
    if isinstance(examples, str):
        yield examples
    elif isinstance(examples, Mapping):
        yield from strings_of(list(examples.values()))
    elif hasattr(examples, "__iter__") and not isinstance(examples, bytes):
        for each in examples:
            yield from strings_of(each)


def _forms(tokenizer: WordPiece, texts: Iterable[str]) -> list[str]:
    """The forms to add, in the order of their tokens."""
    names = {token["content"] for token in tokenizer.added_tokens}
    used, forms = _tokens_in_capitals(tokenizer, texts), dict[str, None]()
    for token in tokenizer.vocabulary:
        if token in names or (token.startswith("[") and token.endswith("]") and len(token) > 2):
            continue
        letters = _letters(token)
        if letters == token:
            forms[letters[:1].upper() + letters[1:]] = None
        if len(letters) == 1 or token in used:
            forms[token.removesuffix(letters) + letters.upper()] = None
    known = {*tokenizer.vocabulary}
    return [form for form in forms if form not in known and form.lower() in known]


def _tokens_in_capitals(tokenizer: WordPiece, texts: Iterable[str]) -> set[str]:
    """The tokens of the words in capitals, lowercased."""
    words = list({word for text in texts for word in text.split() if len(word) > 1 and word.isupper()})
    encoded = tokenizer.encode(words, max_length=_LONGEST).input_ids if words else ()
    return {tokenizer.vocabulary[number] for ids in encoded for number in ids}


def _letters(token: str) -> str:
    return token.removeprefix(_CONTINUATION) if len(token) > len(_CONTINUATION) else token
