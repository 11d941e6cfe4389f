"""Format numbers, privacy guarantees and captions for all pages."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

RELATION_WORDS = {
    "add-remove": ("add or remove one record", "whether any one person is in the data"),
    "replace-one": ("replace one record", "which of two records any one person has in the data"),
}


def percent(value: float, digits: int = 1) -> str:
    """Return a share as a percentage.

    >>> percent(0.8974)
    '89.7%'
    """
    return f"{100 * value:.{digits}f}%"


def interval(draws: NDArray[np.float64]) -> str:
    """Return the 5% and 95% quantiles of a share's runs.

    Examples
    --------
    >>> interval(np.array([0.25, 0.25]))
    '25.0% to 25.0%'
    """
    low, high = np.quantile(draws, [0.05, 0.95])
    return f"{percent(float(low))} to {percent(float(high))}"


def shortened(text: str, most: int) -> str:
    """Return a text, cut at `most` characters.

    >>> shortened("occupation", 10), shortened("occupation", 5)
    ('occupation', 'occu…')
    """
    return text if len(text) <= most else text[: max(most - 1, 0)] + "…"


def listed(names: Sequence[str]) -> str:
    """Return names as a list in a sentence.

    >>> listed(["seeds"]), listed(["seeds", "glass", "iris"])
    ('seeds', 'seeds, glass and iris')
    """
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def table(heads: Sequence[str], rows: Sequence[str]) -> str:
    """Return rows of HTML as a table that scrolls on a narrow page; the first column has no heading."""
    names = "".join(f"<th scope='col'>{head}</th>" for head in heads)
    look = "border-spacing:12px 2px;text-align:left"
    return f"<div style='overflow-x:auto'><table style='{look}'><tr><td></td>{names}</tr>{''.join(rows)}</table></div>"


def minus(text: str) -> str:
    """Replace hyphens by minus signs, as on axes.

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
    """Return e^ε to three digits, rounded up; with `at_least`, rounded down.

    >>> factor(0.1), factor(0.2), factor(10)
    ('1.11', '1.23', '22,100')
    >>> factor(0.1, at_least=True), factor(10, at_least=True)
    ('1.1', '22,000')
    """
    value = math.exp(epsilon)
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    # floating-point error must not add a unit
    steps = round(value / unit, 6)
    rounded = (math.floor if at_least else math.ceil)(steps) * unit
    return f"{rounded:.3g}" if rounded < 100 else f"{rounded:,.0f}"


def certainty(epsilon: float, *, at_least: bool = False) -> str:
    """Return the largest posterior probability from a prior of 50%, rounded up.

    `at_least`: rounded down, for an ε that is a lower bound.

    >>> certainty(1), certainty(1, at_least=True)
    ('73.2%', '73.1%')
    """
    return f"{right_of_hundred(epsilon, at_least=at_least)}%"


def right_of_hundred(epsilon: float, *, at_least: bool = False) -> str:
    """Return the largest accuracy of an attacker with full background knowledge, in percent, rounded up.

    An output of probability p on one table has at least probability p·e^-ε on its neighbour. With equal priors the
    best guess is therefore correct with probability at most e^ε/(1 + e^ε). `at_least`: rounded down instead.

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
    """Return the risk card as HTML: an attacker's largest accuracy, drawn as 100 guesses."""
    right = right_of_hundred(epsilon)
    drawn = min(math.ceil(float(right) - 1e-9), 100)
    people = "".join(f'<i class="{"chance" if i < 50 else "more" if i < drawn else ""}"></i>' for i in range(100))
    guesses = {
        "add-remove": "guesses membership correctly",
        "replace-one": "guesses which of two records is yours correctly",
    }[relation]
    return (
        f'<h2>Risk</h2><div class="people" aria-hidden="true">{people}</div>'
        f"<p>An attacker who knows every other record {guesses} at most <b>{right}%</b> of the time (chance: 50%).</p>"
        f"<details><summary>Odds</summary><p>The result raises the attacker's odds by a factor of at most "
        f"<b>{factor(epsilon)}</b>: a probability of 50% becomes at most {right}%.</p></details>"
    )


def about_data(text: str) -> str:
    """Return a data set's description as a closed `details` element."""
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
