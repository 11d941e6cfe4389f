"""The glossary of the app: terms that open in place, and what each control trades.

The texts stand in `glossary.yaml`, from which the site's page is written too.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
# the page's styles do not reach into Panel's shadow roots
LOOK = "font:inherit;color:inherit;background:none;border:0;border-bottom:1.5px dotted;padding:0;margin:0;cursor:help"


@dataclass(frozen=True)
class Term:
    """An entry: its id, the term, two sentences, the name of its picture, its source, and the phrases that open it."""

    id: str
    term: str
    says: str
    picture: str = ""
    source: str = ""
    phrases: Sequence[str] = ()


def _read(name: str) -> Any:
    return yaml.safe_load((HERE / name).read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def pictures() -> dict[str, str]:
    """Return the pictures of the glossary as inline SVG, by name."""
    return {path.stem: path.read_text(encoding="utf-8").strip() for path in sorted((HERE / "pictures").glob("*.svg"))}


@lru_cache(maxsize=1)
def glossary() -> dict[str, Term]:
    """Return the project's own terms, by their ids."""
    return {entry["id"]: Term(**entry) for entry in _read("glossary.yaml")}


def term(name: str, words: str | None = None) -> str:
    """Return, as HTML, words that open a term; without words, the term itself.

    >>> term("mask", "masks").startswith('<button type="button" class="term" data-term="mask"')
    True
    """
    shown_words = escape(glossary()[name].term if words is None else words)
    return f'<button type="button" class="term" data-term="{name}" style="{LOOK}">{shown_words}</button>'


def mark(html: str, *, most: int = 4) -> str:
    """Return HTML in which the first words of some terms open them, at most `most` of them.

    Tags, attributes and what stands in a button or a link are left alone.

    >>> mark("<p title='a mask'>a mask, and another mask</p>").count("data-term")
    1
    """
    pattern, names = _phrases()
    explained: set[str] = set()
    inside = 0
    parts = []
    for piece in re.split(r"(<[^>]*>)", html):
        if piece.startswith("<"):
            name = re.match(r"</?\s*(\w*)", piece)
            if name and name[1] in ("a", "button", "style", "script"):
                inside += -1 if piece.startswith("</") else 1
            parts.append(piece)
        elif inside:
            parts.append(piece)
        else:
            parts.append(pattern.sub(lambda match: _marked(match[0], names, explained, most), piece))
    return "".join(parts)


def _marked(words: str, names: dict[str, str], explained: set[str], most: int) -> str:
    name = names[words.lower()]
    if name in explained or len(explained) >= most:
        return words
    explained.add(name)
    # the words are HTML already
    return term(name, "\0").replace("\0", words)


@lru_cache(maxsize=1)
def _phrases() -> tuple[re.Pattern[str], dict[str, str]]:
    names = {phrase.lower(): entry.id for entry in glossary().values() for phrase in entry.phrases}
    longest = sorted((escape(p, quote=False) for p in names), key=len, reverse=True)
    return re.compile(rf"(?<![\w/·^])(?:{'|'.join(map(re.escape, longest))})(?![\w/·^])", re.IGNORECASE), names


@lru_cache(maxsize=1)
def helps() -> dict[str, dict[str, str]]:
    """Return, by the name of each setting, what its control trades, and the picture beside it, if it has one.

    >>> sorted(helps()["epsilon"])
    ['picture', 'says']
    """
    return dict(_read("glossary_help.yaml"))


def help_for(setting: str) -> str:
    """Return in one line what a control trades, and who pays.

    >>> help_for("epsilon").startswith("Smaller")
    True
    """
    return helps()[setting]["says"]


def raised(html: str) -> str:
    """Return HTML in which what stands behind a ^ is raised.

    >>> raised("a factor of e^ε")
    'a factor of e<sup>ε</sup>'
    """
    return re.sub(r"\^(ε|β|-?\d+)", r"<sup>\1</sup>", html)


def payload() -> str:
    """Return all terms, the help for controls and pictures as JSON that may stand in a page's script element."""
    terms = {
        t.id: {
            "term": escape(t.term),
            "says": raised(escape(re.sub("[*`]", "", t.says))),
            "picture": t.picture,
            "source": escape(t.source),
        }
        for t in glossary().values()
    }
    controls = {name: {**entry, "says": escape(entry["says"])} for name, entry in helps().items()}
    content = {"terms": terms, "helps": controls, "pictures": pictures()}
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
