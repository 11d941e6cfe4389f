"""Formulas of the captions and of the site, each with the meaning of its symbols and its source.

The app shows them as MathML. Browsers render it without a script or a font, and an exported caption keeps it.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from pathlib import Path

import yaml
from latex2mathml.converter import convert

FILE = Path(__file__).with_suffix(".yaml")


def mathml(formula: str) -> str:
    r"""Return a formula in TeX as MathML, with its source as the alternative text.

    >>> mathml("x^2")[-53:]
    '<mrow><msup><mi>x</mi><mn>2</mn></msup></mrow></math>'
    """
    # characters instead of numeric references, except for the signs that XML escapes
    text = re.sub(
        r"&#x0*(?!26;|3C;|3E;)([0-9A-F]+);", lambda match: chr(int(match[1], 16)), convert(formula, display="block")
    )
    return text.replace("<math ", f'<math alttext="{escape(formula)}" ', 1)


@dataclass(frozen=True)
class Formula:
    """A formula in TeX, its title, the meaning of its symbols and its source."""

    title: str
    tex: str
    says: str
    source: str

    @property
    def html(self) -> str:
        """The formula and its text. A long formula can be scrolled by keyboard."""
        shown = mathml(self.tex).replace("<math ", '<math tabindex="0" ', 1)
        return (
            f'<div class="formula"><b>{escape(self.title)}</b>{shown}<p>{escape(self.says)} '
            f"Source: {escape(self.source)}.</p></div>"
        )


@lru_cache(maxsize=1)
def formulas() -> dict[str, Formula]:
    """Return the project's formulas by name.

    >>> formulas()["risk"].source
    'Antonova 2016, eq. 2.3 to 2.7'
    """
    return {name: Formula(**entry) for name, entry in _file()["formulas"].items()}


@lru_cache(maxsize=1)
def captions() -> dict[str, dict]:
    """Return for each card the names of its formulas and a sentence on the uncertainty of its plot."""
    cards: dict[str, dict] = _file()["cards"]
    return cards


@lru_cache(maxsize=128)
def caption(card: str) -> str:
    """Return the formulas of a card and the uncertainty of its plot as HTML, or nothing for an unknown card."""
    entry = captions().get(card)
    if entry is None:
        return ""
    uncertain = f'<p class="uncertain"><b>Uncertainty:</b> {escape(entry["uncertain"])}</p>'
    return "".join(formulas()[name].html for name in entry["formulas"]) + uncertain


@lru_cache(maxsize=1)
def _file() -> dict[str, dict]:
    content: dict[str, dict] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return content
