"""Numbers, privacy and captions in words, as every page says them."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray


def read_captions(file: Path, **values: object) -> dict[str, str]:
    """Return captions by their cards, with `values` in their places; a text that begins with _ is a part of others."""
    texts: dict[str, str] = yaml.safe_load(file.read_text(encoding="utf-8"))
    parts = {name: text.format_map(values) for name, text in texts.items() if name.startswith("_")}
    return {name: text.format_map({**values, **parts}) for name, text in texts.items() if name not in parts}


RELATION_WORDS = {
    "add-remove": ("add or remove one record", "whether any one person is in the data"),
    "replace-one": ("replace one record", "which of two records any one person has in the data"),
}


def percent(value: float, digits: int = 1) -> str:
    """Return a share as a percentage.

    >>> percent(0.8974).split()
    ['89.7', '%']
    """
    return f"{100 * value:.{digits}f}\N{NO-BREAK SPACE}%"


def interval(draws: NDArray[np.float64], digits: int = 1) -> str:
    r"""Return where 90 % of draws of a share lie.

    Examples
    --------
    >>> interval(np.array([0.25, 0.25])).replace("\xa0", " ")
    '25.0 % to 25.0 %'
    """
    low, high = np.quantile(draws, [0.05, 0.95])
    return f"{percent(float(low), digits)} to {percent(float(high), digits)}"


def shortened(text: str, most: int) -> str:
    """Return a text, its end left out where it is longer than so many characters.

    >>> shortened("occupation", 10), shortened("occupation", 5)
    ('occupation', 'occu…')
    """
    return text if len(text) <= most else text[: max(most - 1, 0)] + "…"


def table(heads: Sequence[str], rows: Sequence[str]) -> str:
    """Return rows of HTML as a table that a narrow page scrolls; the first column has no name."""
    names = "".join(f"<th scope='col'>{head}</th>" for head in heads)
    look = "border-spacing:12px 2px;text-align:left"
    return f"<div style='overflow-x:auto'><table style='{look}'><tr><td></td>{names}</tr>{''.join(rows)}</table></div>"


def minus(text: str) -> str:
    """Return numbers with the minus sign that axes have.

    >>> minus("-1.5 to -0.5")
    '−1.5 to −0.5'
    """
    return text.replace("-", "\N{MINUS SIGN}")


def points(value: float) -> str:
    """Return a difference of shares in percentage points.

    Examples
    --------
    >>> points(0.025), points(0.01)
    ('2.5 points', '1.0 points')
    """
    return minus(f"{100 * value:.1f} points")


def factor(epsilon: float, *, at_least: bool = False) -> str:
    """Return e^ε to three digits, never rounded down, or never up where it is a lower bound.

    >>> factor(0.1), factor(0.2), factor(10)
    ('1.11', '1.23', '22,100')
    >>> factor(0.1, at_least=True), factor(10, at_least=True)
    ('1.1', '22,000')
    """
    value = math.exp(epsilon)
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    # what is a whole number of units but for rounding stays
    steps = round(value / unit, 6)
    rounded = (math.floor if at_least else math.ceil)(steps) * unit
    return f"{rounded:.3g}" if rounded < 100 else f"{rounded:,.0f}"


def certainty(epsilon: float, *, at_least: bool = False) -> str:
    """Return how sure someone can become who thought it a coin toss, never rounded down.

    `at_least`: never rounded up, for an ε that is itself a lower bound.

    >>> certainty(1).split(), certainty(1, at_least=True).split()
    (['73.2', '%'], ['73.1', '%'])
    """
    return f"{right_of_hundred(epsilon, at_least=at_least)}\N{NO-BREAK SPACE}%"


def right_of_hundred(epsilon: float, *, at_least: bool = False) -> str:
    """Return how many of 100 even cases an attacker who knows all the rest decides rightly at most, never rounded down.

    Whoever sees an output with probability p under one data set sees it with at least p·e^-ε under its neighbour, so
    that the best guess is right with probability at most e^ε/(1 + e^ε). `at_least`: never rounded up instead.

    >>> [right_of_hundred(epsilon) for epsilon in (0.01, 0.1, 1, 10)]
    ['50.3', '52.5', '73.2', '99.9955']
    """
    wrong = 100 / (1 + math.exp(epsilon))
    digits = 1 if wrong >= 0.1 else 1 - math.floor(math.log10(wrong))
    step = 10**digits
    rounded = (math.floor if at_least else math.ceil)(round((100 - wrong) * step, 6))
    return f"{rounded / step:.{digits}f}"


PEOPLE_STYLE = Path(__file__).with_name("people.css").read_text(encoding="utf-8")


def risk(epsilon: float, relation: str) -> str:
    """Return, as HTML, what ε hides: a hundred cases, and how many of them an attacker decides rightly at most."""
    right = right_of_hundred(epsilon)
    drawn = min(math.ceil(float(right) - 1e-9), 100)
    people = "".join(f'<i class="{"coin" if i < 50 else "more" if i < drawn else ""}"></i>' for i in range(100))
    question = {
        "add-remove": "Was this person in the data?",
        "replace-one": "Which of two records is this person's?",
    }[relation]
    return (
        f'<h2>Risk</h2><div class="people" aria-hidden="true">{people}</div>'
        f"<p>{question} An attacker who knows all the rest is right at most <b>{right}</b> times in 100. A coin: 50."
        "</p>"
        f"<details><summary>Odds</summary><p>Whoever sees the result can raise the odds on it by a factor of at most "
        f"<b>{factor(epsilon)}</b>: a coin toss becomes at most {certainty(epsilon)} sure.</p></details>"
    )


def about_data(text: str) -> str:
    """Return a line about a data set, which opens."""
    return f"<details><summary>About</summary>{text}</details>"


def number(value: float) -> str:
    """Return a number to three digits.

    >>> number(9.9035), number(0.00012345), number(12345.6), number(0.0)
    ('9.9', '0.000123', '12,300', '0')
    """
    if value == 0:
        return "0"
    rounded = float(f"{value:.3g}")
    if abs(rounded) >= 1000:
        return minus(f"{rounded:,.0f}")
    if abs(rounded) < 1e-4:
        return f"{rounded:.2e}"
    return minus(f"{rounded:.6f}".rstrip("0").rstrip("."))
