"""Formulas of the captions and of the site: written once, each with what stands in it and whose it is.

They are set as MathML (`dpml_app.text.mathml`): browsers know it, so that a page asks no other host, loads no script
and no font for it, and an exported or printed caption keeps its formulas.
"""

from dataclasses import dataclass
from functools import lru_cache
from html import escape
from pathlib import Path

import yaml

from dpml_app.text.entries import InvalidEntry
from dpml_app.text.mathml import mathml

FILE = Path(__file__).with_suffix(".yaml")
FIELDS = ("title", "tex", "says", "source")


class InvalidFormulas(InvalidEntry):
    """An entry of the file of formulas is not as it must be."""

    file = "formulas"


@dataclass(frozen=True)
class Formula:
    """A formula, what it is called, what stands in it, and whose it is."""

    title: str
    tex: str
    says: str
    source: str

    @property
    def _scrolled(self) -> str:
        # a long one scrolls, also by keyboard
        return mathml(self.tex).replace("<math ", '<math tabindex="0" ', 1)

    @property
    def html(self) -> str:
        """The formula as it is set, with its words."""
        return (
            f'<div class="formula"><b>{escape(self.title)}</b>{self._scrolled}<p>{escape(self.says)} '
            f"Source: {escape(self.source)}.</p></div>"
        )


@dataclass(frozen=True)
class _Caption:
    formulas: tuple[Formula, ...]
    uncertain: str


def read_formulas(text: str) -> tuple[dict[str, Formula], dict[str, _Caption]]:
    r"""Return the formulas of a YAML text by their names, and what each card says by the card's name.

    Raises `InvalidFormulas` for the first entry that is not as it must be.

    >>> one = "formulas: {a: {title: One, tex: x, says: A letter., source: nobody}}"
    >>> read_formulas(one + "\ncards: {b: {formulas: [a], uncertain: nothing}}")[0]["a"].title
    'One'
    """
    read = yaml.safe_load(text)
    by_name = {}
    for name, entry in read["formulas"].items():
        for field in FIELDS:
            if not isinstance(entry.get(field), str) or not entry[field]:
                raise InvalidFormulas(name, field, entry.get(field), "a text")
        unknown = sorted(set(entry) - set(FIELDS))
        if unknown:
            raise InvalidFormulas(name, unknown[0], entry[unknown[0]], f"a field among {', '.join(FIELDS)}")
        by_name[name] = Formula(**entry)
    cards = {}
    for name, entry in read["cards"].items():
        # a comma in a text without quotes would make a field of what follows it
        if set(entry) != {"formulas", "uncertain"} or not isinstance(entry["uncertain"], str):
            raise InvalidFormulas(name, "fields", sorted(map(str, entry)), "formulas and uncertain, a text in quotes")
        for formula in entry["formulas"]:
            if formula not in by_name:
                raise InvalidFormulas(name, "formulas", formula, "names of formulas above")
        cards[name] = _Caption(tuple(by_name[one] for one in entry["formulas"]), entry["uncertain"])
    return by_name, cards


@lru_cache(maxsize=1)
def _all() -> tuple[dict[str, Formula], dict[str, _Caption]]:
    return read_formulas(FILE.read_text(encoding="utf-8"))


def formulas() -> dict[str, Formula]:
    """Return the project's formulas by their names.

    >>> formulas()["risk"].source
    'Antonova (2016), eq. 2.3 to 2.7'
    """
    return _all()[0]


@lru_cache(maxsize=128)
def caption(card: str) -> str:
    """Return what a caption says besides its words: the formulas, their sources, and what is uncertain.

    A card that the file does not name has none.
    """
    entry = _all()[1].get(card)
    if entry is None:
        return ""
    uncertain = f'<p class="uncertain"><b>Uncertainty:</b> {escape(entry.uncertain)}</p>'
    return "".join(formula.html for formula in entry.formulas) + uncertain
