"""One concept has one word, and the field's where it has one: words that were replaced do not come back."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# what stood there (a pattern of whole words): what is said
WORDS = {
    r"\w*_?doors?": "privacy boundary, public input",
    r"listeners?|_listener|Listener": "observer",
    r"\w*_?purses?(?:_\w*)?": "inner budget",
    r"[Rr]ehears\w*|REHEARSAL": "dry run (on an empty table), demonstration run (noise for study)",
    r"Book": "running totals of a ledger",
    r"AsStated|needs_spelling|spelled": "cell normalizer, normalised",
    r"telling_pairs": "informative pairs",
    r"\w*_?misfits?(?:_\w*)?": "violations of a schema, misspecification of a model, why a page cannot show a table",
    r"peeked\w*": "data-derived",
    r"Specimen|Hunt": "published algorithm, search for a counterexample",
    r"[Cc]lassifier to begin with|classifier_to_begin_with": "default classifier",
    r"Turns|Rank|_Hand": "fair queue, priority, worker thread",
    r"Loan|lend|owed|lent": "attach, detach",
    r"Engine|Late|NOW|LATE": "task runner, deferred request, immediate, deferred",
    r"ROOMS|[Tt]he rooms": "packages, pages by their class",
    r"Lacking|Wording": "missing data set, button labels",
}
# records of measurements keep the words of their day, and the site's copies are made from the notebooks
LEFT_OUT = ("benchmarks/records/", "docs/notebooks/")
# the history tells what was renamed, this file lists it
EXCEPTIONS = {"tests/test_vocabulary.py"}
FOLDERS = ("dpml", "app", "tests", "docs", "benchmarks", "notebooks")
SUFFIXES = {".py", ".md", ".yaml", ".toml", ".ipynb"}


def texts():
    """Return {path: text} of code and docs."""
    files = [*ROOT.glob("*"), *(file for folder in FOLDERS for file in (ROOT / folder).rglob("*"))]
    names = {file.relative_to(ROOT).as_posix(): file for file in files if file.suffix in SUFFIXES}
    kept = {name: file for name, file in names.items() if name not in EXCEPTIONS and not name.startswith(LEFT_OUT)}
    return {name: file.read_text(encoding="utf-8") for name, file in kept.items()}


def pattern_of(word):
    return re.compile(rf"(?<!\w)(?:{word})(?!\w)")


@pytest.fixture(scope="module")
def code():
    return texts()


def test_code_and_docs_are_read(code):
    assert {"dpml/budget/budget.py", "docs/privacy.md", "README.md", "tests/test_budget.py"} <= set(code)
    assert pattern_of(r"\w*_?doors?").search("def at_the_door(call):")
    assert not pattern_of("Engine|Late|NOW|LATE").search("a LATER step of the engine")


@pytest.mark.parametrize("word", WORDS)
def test_a_replaced_word_does_not_come_back(code, word):
    pattern = pattern_of(word)
    places = [f"{path}: {match[0]}" for path, text in code.items() for match in pattern.finditer(text)]
    assert places == [], f"say: {WORDS[word]}"
