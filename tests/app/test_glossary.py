"""The glossary: its entries, words that open them, pictures, and a line of help for every setting."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from dpml_app.state import Settings
from dpml_app.text.glossary import InvalidGlossary, glossary, help_for, helps, mark, payload, read_glossary, term
from dpml_app.text.glossary_pictures import PICTURES, picture

ROOT = Path(__file__).parents[2]


def test_there_are_terms_pictures_and_sources():
    entries = glossary().values()
    assert len(entries) >= 40
    assert sum(bool(entry.picture) for entry in entries) >= 20
    assert sum(bool(entry.source) for entry in entries) >= 20


def test_sources_are_references_of_the_project():
    known = (ROOT / "docs" / "reference" / "references.md").read_text(encoding="utf-8")
    for entry in glossary().values():
        assert not entry.source or f"| {entry.source} |" in known, entry.id


@pytest.mark.parametrize("kind", PICTURES)
def test_a_picture_is_a_named_drawing_inside_its_frame(kind):
    drawn = ET.fromstring(picture(kind))
    assert drawn.attrib["aria-label"]
    _, _, wide, high = map(float, drawn.attrib["viewBox"].split())
    marks = [node for node in drawn if node.tag in ("polyline", "rect", "polygon")]
    assert marks
    for node in marks:
        assert node.attrib["class"]
        if node.tag == "rect":
            x, y, w, h = (float(node.attrib[name]) for name in ("x", "y", "width", "height"))
            corners = [(x, y), (x + w, y + h)]
        else:
            corners = [tuple(map(float, pair.split(","))) for pair in node.attrib["points"].split()]
        assert all(-0.1 <= x <= wide + 0.1 and -0.1 <= y <= high + 0.1 for x, y in corners), node.attrib


def test_two_laplace_densities_keep_their_ratio():
    """What is drawn is true: with ε = 1 and one step between them the heights differ by a factor of e at most."""
    [_, first, second] = ET.fromstring(picture("densities")).findall("polyline")
    base = 80.0
    heights = [[base - float(pair.split(",")[1]) for pair in line.attrib["points"].split()] for line in (first, second)]
    ratios = [a / b for a, b in zip(*heights, strict=True) if min(a, b) > 3]
    assert max(ratios) == pytest.approx(2.718, rel=0.05)
    assert min(ratios) == pytest.approx(1 / 2.718, rel=0.05)


@pytest.mark.parametrize("setting", Settings.names())
def test_every_setting_has_a_line_of_help(setting):
    assert 6 <= len(help_for(setting).split()) <= 25
    assert help_for(setting).endswith(".")
    assert set(helps()[setting]) <= {"says", "picture"}
    assert helps()[setting].get("picture", PICTURES[0]) in PICTURES


def test_no_line_of_help_is_of_a_setting_that_is_gone():
    assert set(helps()) == set(Settings.names())
    with pytest.raises(InvalidGlossary, match="setting = 'colour' is not allowed: it must be the name of a setting"):
        help_for("colour")


def test_a_term_is_a_button_in_any_words():
    written = term("epsilon", "<ε & more>")
    assert re.match(r'<button type="button" class="term" data-term="epsilon" style="[^"]+">', written)
    assert "&lt;ε &amp; more&gt;</button>" in written
    assert ">mask<" in term("mask")
    with pytest.raises(InvalidGlossary, match="id = 'luck' is not allowed"):
        term("luck")


def test_words_of_a_text_are_marked_once_and_outside_tags():
    marked = mark('<p title="a mask">By ε: one mask, another mask, and <a href="?mask=1">a ROC curve</a>. αεβ</p>')
    assert re.findall(r'data-term="([\w-]+)"', marked) == ["epsilon", "mask"]
    assert marked.startswith('<p title="a mask">By <button')
    assert '<a href="?mask=1">a ROC curve</a>. αεβ</p>' in marked
    # the longest phrase goes before a shorter one in it, and letters keep their size
    assert 'data-term="smooth-sensitivity"' in mark("Smooth sensitivity is one.")
    assert ">Smooth sensitivity</button>" in mark("Smooth sensitivity is one.")
    assert mark("ε, δ, λ, Δ and β", most=2).count("data-term") == 2
    assert mark("x &lt; ε &amp; y").startswith("x &lt; <button")
    assert mark(term("mask", "a mask")) == term("mask", "a mask")


def test_the_browser_gets_all_terms_and_no_element_ends_early():
    text = payload()
    assert "</" not in text
    told = json.loads(text)
    assert set(told["terms"]) == set(glossary())
    assert {entry["picture"] for entry in told["terms"].values()} - {""} == set(told["pictures"]) == set(PICTURES)
    assert "e<sup>ε</sup>" in told["terms"]["epsilon"]["says"]
    assert "`" not in told["terms"]["release-mode"]["says"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- {id: a, term: A}", "glossary, a, says = None is not allowed: it must be given"),
        ("- {id: a, term: A, says: One.}", "a, says = 'One.' is not allowed: it must be two sentences"),
        ("- {id: a, term: A, says: One. Two. Three.}", "it must be two sentences"),
        (f"- {{id: a, term: A, says: {'word ' * 46}. Two.}}", "says = '48 words' is not allowed: it must be at most"),
        ("- {id: A b, term: A, says: One. Two.}", "id = 'A b' is not allowed: it must be small letters"),
        ("- {id: a, term: 3, says: One. Two.}", "a, term = 3 is not allowed: it must be a text"),
        ("- {id: a, term: A, says: One. Two., picture: cat}", "picture = 'cat' is not allowed: it must be one of"),
        ("- {id: a, term: A, says: One. Two., colour: red}", "colour = 'red' is not allowed: it must be a field"),
        ("- {id: a, term: A, says: One. Two., phrases: x}", "a, phrases = 'x' is not allowed: it must be a list"),
        ("- {id: a, term: A, says: One. Two.}\n- {id: a, term: B, says: One. Two.}", "the id of one entry only"),
        (
            "- {id: a, term: A, says: One. Two., phrases: [x]}\n- {id: b, term: B, says: One. Two., phrases: [x]}",
            "b, phrases = 'x' is not allowed: it must be a phrase of one entry only",
        ),
        ("a: b", "it must be a list of entries"),
        ("- [", "it must be YAML"),
        ("- word", "entry 1, entry = 'word' is not allowed"),
    ],
)  # fmt: skip
def test_an_entry_that_is_wrong_is_told(text, message):
    with pytest.raises(InvalidGlossary, match=re.escape(message)):
        read_glossary(text)
