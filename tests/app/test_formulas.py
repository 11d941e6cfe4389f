"""Formulas of the captions: every card has them, browsers can read them, and their numbers are the library's."""

import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from dpml_app.page_list import PAGES
from dpml_app.text.formulas import caption, captions, formulas, mathml

from dpml.mechanisms import ExponentialMechanism, Laplace, cauchy_scale
from dpml.selection import sensitivity


@pytest.mark.parametrize("name", formulas())
def test_a_formula_is_mathml(name):
    root = ElementTree.fromstring(mathml(formulas()[name].tex))
    assert root.get("alttext") == formulas()[name].tex
    # an unknown command would stay as TeX
    assert re.findall(r"[\\{}^_]", re.sub("[{}^]", "", "".join(root.itertext()))) == []


def names_of_cards():
    """Return how the line of each card of each page is called."""
    found = []
    for page in PAGES.values():
        found += [f"{page.page_id}-{kind.name}" for kind in page.kinds]
    return [*found, "mydata-advice"]


def test_every_card_has_a_formula_its_source_and_what_is_uncertain():
    cards = names_of_cards()
    assert sorted(cards) == sorted(captions())
    for card in cards:
        text = caption(card)
        assert text.count("<math") == text.count('<math tabindex="0"') > 0, "a long one is scrolled by keyboard, too"
        assert "Source: " in text
        assert "Uncertainty:" in text
    used = {name for entry in captions().values() for name in entry["formulas"]}
    assert used == set(formulas())
    assert caption("no such card") == ""


def test_formulas_give_the_numbers_of_the_library():
    n, epsilon, beta = 100, 0.7, 0.1
    information = math.log2(n) / n + (n - 1) / n * math.log2(n / (n - 1))
    assert sensitivity("mutual_information", "add-remove", n_rows=n) == pytest.approx(information)
    cauchy = max((2 * math.exp(x) * (math.cosh(epsilon) - math.cosh(x))) ** -0.5 for x in (0, beta))
    assert cauchy_scale(epsilon, beta) == pytest.approx(cauchy)
    threshold = 3 / epsilon * math.log(1 / (2 * (1 - 0.65)))
    assert Laplace(epsilon, 3).quantile(0.65) == pytest.approx(threshold)
    scores = np.array([3.0, 1.0, 0.0])
    weights = np.exp(epsilon / 2 * scores)
    assert ExponentialMechanism(epsilon, 2).probabilities(scores) == pytest.approx(weights / weights.sum())
