"""What a link says, and the link that says what a page shows.

A link names the page and those settings that the page uses and that differ from their defaults. It comes from anywhere,
so every fault in it is answered by a sentence, and what is right in it is kept.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode

import param

from dpml_app.settings import Shared

MOST_CHARACTERS = 300
MOST_SENTENCE = 200
MOST_SHOWN = 40
EMPTY: Mapping[str, str] = {}


def parse(query: str) -> dict[str, str]:
    """Return the settings that the part of an address behind ``?`` names, as texts.

    Examples
    --------
    >>> parse("?page=train&epsilon=0.5")
    {'page': 'train', 'epsilon': '0.5'}
    """
    return dict(parse_qsl(query.removeprefix("?"), keep_blank_values=True, errors="replace"))


def query_of(
    settings: Shared, names: Sequence[str], usual: Mapping[str, str] = EMPTY, beside: Mapping[str, str] = EMPTY
) -> str:
    """Return the link's part behind ``?``: the page, and which of these settings differ from their defaults.

    `usual` has texts that stand for some defaults, those of a lesson's step; `beside` is what the link says besides,
    and then it always names the page.

    Examples
    --------
    >>> from dpml_app.state import Settings
    >>> settings = Settings()
    >>> settings.assign({"epsilon": 0.5, "page": "train"})
    []
    >>> query_of(settings, ["epsilon", "draws"])
    '?page=train&epsilon=0.5'
    """
    values = {name: text_of(settings.param[name], getattr(settings, name)) for name in ("page", *names)}
    left_out = {n: usual.get(n, text_of(settings.param[n], settings.param[n].default)) for n in values}
    written = {n: text for n, text in values.items() if text != left_out[n]}
    if beside:
        written = {"page": values["page"], **written, **beside}
    return "?" + urlencode(written, safe=".,:") if written else "?"


def read(settings: Shared, given: Mapping[str, str], known: Sequence[str]) -> list[str]:
    """Set what a link says and return a sentence for each fault, all of them short.

    Parameters
    ----------
    settings : Shared
    given : mapping of str to str
        From `parse`.
    known : sequence of str
        The names that a link can have.
    """
    sentences = []
    unknown = sorted(set(given) - set(known))
    if unknown:
        shown = ", ".join(short(name) for name in unknown[:3])
        more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
        sentences.append(f"{shown}{more}: unknown setting.")
    for name, text in given.items():
        if name not in known:
            continue
        problems = settings.assign({name: _value(settings.param[name], text)})
        if problems:
            sentences.append(problems[0])
    return sentences


def faults(sentences: Sequence[str]) -> str:
    """Return the faults of a link in at most 300 characters; those without room are counted.

    Examples
    --------
    >>> faults(["draws = 5 is not allowed: it must be a whole number from 10 to 200. It stays at 50."])
    'In the link: draws = 5 is not allowed: it must be a whole number from 10 to 200. It stays at 50.'
    >>> faults(["a = 1 is not allowed."] * 20)[-31:]
    ' a = 1 is not allowed. 8 more …'
    """
    # of a long one, what is wrong without what is allowed
    said = [each if len(each) <= MOST_SENTENCE else each.partition(": ")[0] + "." for each in sentences]
    for shown in range(len(said), -1, -1):
        more = [f"{len(said) - shown} more …"] if shown < len(said) else []
        text = " ".join(["In the link:", *said[:shown], *more])
        if len(text) <= MOST_CHARACTERS:
            break
    return text


def text_of(parameter: param.Parameter, value: Any) -> str:
    """Return a value as a link has it."""
    written = parameter.serialize(value)
    if isinstance(value, float):
        return f"{value:.12g}"
    return written if isinstance(written, str) else json.dumps(written)


def _value(parameter: param.Parameter, text: str) -> Any:
    """Return what a text means for a setting, or the text itself where it means nothing."""
    text = text.strip()
    if len(text) > 1000:
        return short(text)
    try:
        if isinstance(parameter, param.Selector) and not isinstance(parameter, param.ListSelector):
            objects = list(parameter.objects)
            return _number(text) if isinstance(objects[0], float) else _one(text, objects)
        if isinstance(parameter, param.Integer):
            return int(text)
        if isinstance(parameter, param.Number):
            return _number(text)
        if isinstance(parameter, param.ListSelector) and text.startswith("["):
            return json.loads(text)  # as it can be written by hand
        return parameter.deserialize(text)
    except (ValueError, TypeError, RecursionError):
        return text


def _number(text: str) -> float:
    """Return a number, whole where it is written so: a fault is told in the link's own words."""
    try:
        return int(text)
    except ValueError:
        return float(text)


def _one(text: str, objects: Sequence[Any]) -> Any:
    return next((value for value in objects if str(value) == text), text)


def short(text: str) -> str:
    """Return the beginning of what a link says, for a message."""
    return text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + "…"
