"""One concept has one word, and the field's where it has one: words that were replaced do not come back."""

import ast
import json
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
    r"ROOMS|[Tt]he rooms|A room|to a room": "packages, pages by their class",
    r"Lacking|Wording": "missing data set, button labels",
    r"[Hh]ero|HERO|HeroCard|hero_figure|like_hero": "main card, main picture",
    r"LeversCard|levers_readout": "hyperparameters",
    r"MACHINE_(?:STYLES|EPSILONS)|machines_(?:cards|figures?|words)": "weighted classifiers",
    r"is_own|own_tables|(?:settings|uploaded_table)\.(?:own|Own|called)": "uploaded table, its display name",
    r"Chunk": "task",
    r"page\.room|page\.why|page\.places|card_places|on_places": "page id, details, regions and slots of a page",
    r"look_into": "facts of a release",
}
# records of measurements keep the words of their day, and the site's copies are made from the notebooks
LEFT_OUT = ("benchmarks/records/", "docs/notebooks/")
# this file lists what was renamed
EXCEPTIONS = {"tests/test_vocabulary.py"}
# participles that say how a value came about: a local is the noun of what it holds
NOT_NOUNS = {"found", "made", "told", "said"}
# the argument's name is public
PUBLIC_ARGUMENTS = {"dpml/studies/advice.py: found in sensible"}
# how a docstring of dpml does not begin: it says what the thing is or does
OPENINGS = re.compile(r"(?:What|Have|Tell|Tells)\b")
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
    assert pattern_of(r"page\.room|page\.why").search("print(page.why)")
    assert not pattern_of("Engine|Late|NOW|LATE").search("a LATER step of the engine")


@pytest.mark.parametrize("word", WORDS)
def test_a_replaced_word_does_not_come_back(code, word):
    pattern = pattern_of(word)
    places = [f"{path}: {match[0]}" for path, text in code.items() for match in pattern.finditer(text)]
    assert places == [], f"say: {WORDS[word]}"


def locals_of(function):
    """Return the names that a function binds, those of its inner functions too."""
    nodes = list(ast.walk(function))
    names = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    handlers = {node.name for node in nodes if isinstance(node, ast.ExceptHandler)}
    return names | handlers | {node.arg for node in nodes if isinstance(node, ast.arg)}


def definitions(code, folder):
    """Return [(path, node)] of all modules, classes and functions of a folder."""
    trees = {path: ast.parse(text) for path, text in code.items() if path.startswith(folder) and path.endswith(".py")}
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    return [(path, node) for path, tree in trees.items() for node in ast.walk(tree) if isinstance(node, kinds)]


@pytest.fixture(scope="module")
def library(code):
    return definitions(code, "dpml/")


def test_locals_are_nouns(code, library):
    text = "def f(told):\n try:\n  [0 for found in told]\n except E as said:\n  with g() as made:\n   a.b = c(d=1)\n"
    assert locals_of(ast.parse(text)) == NOT_NOUNS
    nodes = [*library, *definitions(code, "app/")]
    functions = [(path, node) for path, node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    assert len(functions) > 4_000
    places = {f"{path}: {name} in {node.name}" for path, node in functions for name in locals_of(node) & NOT_NOUNS}
    assert places == PUBLIC_ARGUMENTS


def test_names_in_notebooks_are_nouns(code):
    cells = [
        (path, "".join(cell["source"]))
        for path, text in code.items()
        if path.endswith(".ipynb")
        for cell in json.loads(text)["cells"]
        if cell["cell_type"] == "code"
    ]
    assert len(cells) > 150
    trees = [(path, ast.parse(source)) for path, source in cells]
    functions = {
        (path, node.name) for path, tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)
    }
    names = {(path, name) for path, tree in trees for name in locals_of(tree)}
    assert {(path, name) for path, name in functions | names if name.lower() in {*NOT_NOUNS, "asked"}} == set()


def test_docstrings_say_what_the_thing_is_or_does(library):
    assert OPENINGS.match("What is released.")
    assert not OPENINGS.match("Whatever is released.")
    openings = [(path, node, ast.get_docstring(node) or "") for path, node in library]
    places = [f"{path}: {getattr(node, 'name', '')}" for path, node, text in openings if OPENINGS.match(text)]
    assert places == []
