"""The documentation runs: code in the tutorials and in README, links, the glossary, and the site's list of rooms."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md")), *TUTORIALS]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.M | re.S)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def blocks(text, language):
    """Return the code of each fenced block of one language."""
    return [code for found, code in FENCE.findall(text) if found == language]


def run_examples(text, name):
    """Run all interactive blocks of a page in one namespace; return (failures, examples)."""
    code = "\n".join(blocks(text, "pycon"))
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    test = doctest.DocTestParser().get_doctest(code, {"__name__": "__main__"}, name, name, 0)
    runner.run(test)
    return runner.summarize(verbose=False)


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_tutorial_runs(path):
    failures, examples = run_examples(path.read_text(encoding="utf-8"), path.stem)
    assert examples > 5
    assert failures == 0
