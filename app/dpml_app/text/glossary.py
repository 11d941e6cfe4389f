"""The glossary of the app: terms that open in place, and what each control trades.

The texts stand in `glossary.yaml`, from which the site's page is written too.
"""

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

import yaml

from dpml_app.text.entries import InvalidEntry
from dpml_app.text.glossary_pictures import PICTURES, picture

FILE, HELP = (Path(__file__).with_name(name) for name in ("glossary.yaml", "glossary_help.yaml"))
MOST_WORDS = 45
FIELDS = {"id": str, "term": str, "says": str, "picture": str, "source": str, "phrases": list}
# the page's styles do not reach into Panel's shadow roots
LOOK = "font:inherit;color:inherit;background:none;border:0;border-bottom:1.5px dotted;padding:0;margin:0;cursor:help"


class InvalidGlossary(InvalidEntry):
    """An entry of the glossary is not as it must be."""

    file = "glossary"


@dataclass(frozen=True)
class Term:
    """One entry: its name in the app, the term, two sentences, and what it has besides."""

    id: str
    term: str
    says: str
    picture: str = ""
    source: str = ""
    phrases: tuple[str, ...] = ()


def read_glossary(text: str) -> dict[str, Term]:
    """Return the terms that a YAML text lists, by their ids.

    Raises `InvalidGlossary` for the first entry that is not as it must be.

    >>> read_glossary("- {id: noise, term: noise, says: It hides. It costs.}")["noise"].term
    'noise'
    """
    try:
        entries = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InvalidGlossary("the file", "text", str(error), "YAML") from None
    if not isinstance(entries, list):
        raise InvalidGlossary("the file", "text", entries, "a list of entries")
    terms: dict[str, Term] = {}
    phrases: set[str] = set()
    for place, entry in enumerate(entries, 1):
        definition = _entry(entry, f"entry {place}")
        if definition.id in terms:
            raise InvalidGlossary(definition.id, "id", definition.id, "the id of one entry only")
        for phrase in definition.phrases:
            if phrase in phrases:
                raise InvalidGlossary(definition.id, "phrases", phrase, "a phrase of one entry only")
        phrases |= set(definition.phrases)
        terms[definition.id] = definition
    return terms


def _entry(entry: Any, where: str) -> Term:
    if not isinstance(entry, dict):
        raise InvalidGlossary(where, "entry", entry, f"fields among {', '.join(FIELDS)}")
    where = str(entry.get("id", where))
    for field, value in entry.items():
        if field not in FIELDS:
            raise InvalidGlossary(where, str(field), value, f"a field among {', '.join(FIELDS)}")
        if not isinstance(value, FIELDS[field]) or not value:
            raise InvalidGlossary(where, field, value, "a list of texts" if field == "phrases" else "a text")
    for field in ("id", "term", "says"):
        if field not in entry:
            raise InvalidGlossary(where, field, None, "given")
    if not re.fullmatch("[a-z][a-z-]*", entry["id"]):
        raise InvalidGlossary(where, "id", entry["id"], "small letters, with hyphens between words")
    says, words = entry["says"], len(entry["says"].split())
    if words > MOST_WORDS:
        raise InvalidGlossary(where, "says", f"{words} words", f"at most {MOST_WORDS} words")
    if len(re.findall(r"[.?](?=\s|$)", says)) != 2 or not says.endswith("."):
        raise InvalidGlossary(where, "says", says, "two sentences")
    if entry.get("picture", PICTURES[0]) not in PICTURES:
        raise InvalidGlossary(where, "picture", entry["picture"], f"one of {', '.join(PICTURES)}")
    return Term(**{**entry, "phrases": tuple(entry.get("phrases", ()))})


@lru_cache(maxsize=1)
def glossary() -> dict[str, Term]:
    """Return the project's own terms, by their ids."""
    return read_glossary(FILE.read_text(encoding="utf-8"))


def term(name: str, words: str | None = None) -> str:
    """Return, as HTML, words that open a term; without words, the term itself.

    >>> term("mask", "masks").startswith('<button type="button" class="term" data-term="mask"')
    True
    """
    if name not in glossary():
        raise InvalidGlossary(name, "id", name, "the id of an entry")
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
    return dict(yaml.safe_load(HELP.read_text(encoding="utf-8")))


def help_for(setting: str) -> str:
    """Return in one line what a control trades, and who pays.

    >>> help_for("epsilon").startswith("Small:")
    True
    """
    if setting not in helps():
        raise InvalidGlossary("help", "setting", setting, "the name of a setting that has a line of help")
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
    pictures = {kind: picture(kind) for kind in sorted({t.picture for t in glossary().values()} - {""})}
    controls = {name: {**entry, "says": escape(entry["says"])} for name, entry in helps().items()}
    content = {"terms": terms, "helps": controls, "pictures": pictures}
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
