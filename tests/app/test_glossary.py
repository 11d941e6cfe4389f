"""The glossary: its entries, words that open them, pictures, and a line of help for every setting."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml
from dpml_app.state import Settings
from dpml_app.text.glossary import glossary, help_for, helps, mark, payload, pictures, term

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


def test_entries_are_two_sentences_with_phrases_of_their_own():
    for entry in glossary().values():
        assert re.fullmatch("[a-z][a-z-]*", entry.id)
        assert len(entry.says.split()) <= 45
        assert len(re.findall(r"[.?](?=\s|$)", entry.says)) == 2
        assert entry.picture in {"", *pictures()}
    phrases = [phrase for entry in glossary().values() for phrase in entry.phrases]
    assert len(phrases) == len(set(phrases))
    ids = [entry["id"] for entry in yaml.safe_load((ROOT / "app/dpml_app/text/glossary.yaml").read_text("utf-8"))]
    assert len(ids) == len(set(ids))


def test_pictures_are_named_drawings():
    for name, text in pictures().items():
        drawn = ET.fromstring(text)
        assert drawn.attrib["aria-label"], name
        assert {node.tag for node in drawn} & {"polyline", "rect", "polygon"}, name


@pytest.mark.parametrize("setting", Settings.names())
def test_every_setting_has_a_line_of_help(setting):
    assert 6 <= len(help_for(setting).split()) <= 25
    assert help_for(setting).endswith(".")
    assert set(helps()[setting]) <= {"says", "picture"}
    assert helps()[setting].get("picture", "") in {"", *pictures()}


def test_no_line_of_help_is_of_a_setting_that_is_gone():
    assert set(helps()) == set(Settings.names())


def test_a_term_is_a_button_in_any_words():
    written = term("epsilon", "<ε & more>")
    assert re.match(r'<button type="button" class="term" data-term="epsilon" style="[^"]+">', written)
    assert "&lt;ε &amp; more&gt;</button>" in written
    assert ">mask<" in term("mask")


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
    assert {entry["picture"] for entry in told["terms"].values()} - {""} == set(told["pictures"])
    assert "e<sup>ε</sup>" in told["terms"]["epsilon"]["says"]
    assert "`" not in told["terms"]["release-mode"]["says"]
