"""Formulas of the captions: every card has them, browsers can read them, and their numbers are the library's."""

import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from dpml_app.page_list import PAGES
from dpml_app.text.formulas import InvalidFormulas, _all, caption, formulas, read_formulas
from dpml_app.text.mathml import InvalidFormula, mathml

from dpml.mechanisms import ExponentialMechanism, Laplace, cauchy_scale
from dpml.selection import sensitivity

KNOWN = {"math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "msub", "msup", "msubsup", "munder",
         "mover", "munderover"}  # fmt: skip
# how many parts each element takes, by the standard
PARTS = {"mfrac": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3, "msqrt": 1}


@pytest.mark.parametrize("name", formulas())
def test_a_formula_is_mathml_as_the_standard_has_it(name):
    root = ElementTree.fromstring(mathml(formulas()[name].tex))
    for element in root.iter():
        assert element.tag in KNOWN
        assert len(element) == PARTS.get(element.tag, len(element))
    assert root.get("alttext") == formulas()[name].tex
    # nothing of TeX is left in what is shown
    assert re.findall(r"[\\{}^_]", re.sub("[{}]", "", "".join(root.itertext()))) == []


def test_tex_is_read_as_it_is_meant():
    def texts(tex):
        return [(element.tag, element.text) for element in ElementTree.fromstring(mathml(tex)).iter() if element.text]

    assert texts(r"\frac{\epsilon}{2\Delta}") == [("mi", "ε"), ("mn", "2"), ("mi", "Δ")]
    assert texts(r"x_{ij}^2 - y") == [("mi", "x"), ("mi", "i"), ("mi", "j"), ("mn", "2"), ("mo", "−"), ("mi", "y")]
    assert texts(r"\text{a b}") == [("mtext", "a\N{NO-BREAK SPACE}b")]
    assert "<munderover>" in mathml(r"\sum_{i=1}^n i")
    assert "<msubsup>" in mathml("x_i^2")
    assert "&lt;" in mathml("a < b")


@pytest.mark.parametrize("tex", [r"\alchemy", "{x", "x}", r"\frac{1}", "x_", r"\text x", "a & b"])
def test_what_is_not_known_is_refused_and_named(tex):
    with pytest.raises(InvalidFormula, match="must be"):
        mathml(tex)


@pytest.mark.parametrize(
    "text", ["{a: {title: A, tex: x, says: b.}}", "{a: {title: A, tex: x, says: b, source: c, d: e}}"]
)
def test_a_faulty_entry_is_refused_and_named(text):
    with pytest.raises(InvalidFormulas, match=r"formulas, a, (source|d)"):
        read_formulas(f"formulas: {text}\ncards: {{}}")
    with pytest.raises(InvalidFormulas, match=r"b, fields = .*in quotes"):
        read_formulas("formulas: {}\ncards: {b: {formulas: [], uncertain: nothing, or all}}")
    with pytest.raises(InvalidFormulas, match=r"formulas = 'nothing'"):
        read_formulas("formulas: {}\ncards: {b: {formulas: [nothing], uncertain: c}}")


def names_of_cards():
    """Return how the line of each card of each page is called."""
    found = []
    for name, page_id in PAGES.items():
        found += [page_id.readout_name.format(kind.name) for kind in getattr(page_id, "kinds", ())]
        if name == "noise":
            found += [f"noise-{n}-readout" for n in ("draws", "tails", "rivals", "choices", "smooth", "calibrations")]
    found.append("mydata-advice-readout")
    return [name.removesuffix("-readout") for name in found]


def test_every_card_has_a_formula_its_source_and_what_is_uncertain():
    cards = names_of_cards()
    assert sorted(set(cards) - set(_all()[1])) == []
    for card in cards:
        text = caption(card)
        assert text.count("<math") == text.count('<math tabindex="0"') > 0, "a long one is scrolled by keyboard, too"
        assert "Source: " in text
        assert "Uncertainty:" in text
    used = {formula for said in _all()[1].values() for formula in said.formulas}
    assert used == set(formulas().values())
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
