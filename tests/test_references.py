"""The documents that the code leans on: the list of references, the errata and the decisions."""

import re
from pathlib import Path

import pytest

from dpml.claims import KEY, NAMES, named
from dpml.registry import as_table, claims

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
ROW = re.compile(r"^\| `([a-z0-9-]+)` \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
LISTED = DOCS / "reference" / "references.md"
REFERENCES = {key: name for key, name, _ in ROW.findall(LISTED.read_text(encoding="utf-8"))}
SURNAME = r"[A-Z][\w-]+"
# "Ding et al. 2021", "Kifer, Smith and Thakurta 2012", "Lyu, Su and Li (2017)"
CITATION = re.compile(
    rf"\b({SURNAME})(?: et al\.|(?:, {SURNAME}(?: {SURNAME})?)* and {SURNAME})(?:'s)?,? \(?((?:19|20)\d\d)\b"
)
ENTRY = re.compile(r"^### (.+)\n((?:(?!#).*\n?)*)", re.MULTILINE)
ERRATA = dict(ENTRY.findall((DOCS / "explanation" / "errata.md").read_text(encoding="utf-8")))
PAGES = sorted((DOCS / "decisions").glob("[0-9]*.md"))


def texts():
    """Yield (path, text in one line) of the code and the documents, but not of what cites sources of data."""
    apart = {LISTED, ROOT / "dpml" / "datasets" / "_cards.py", Path(__file__)}
    for folder in ("dpml", "app", "benchmarks", "docs", "notebooks", "tests"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".py", ".md", ".ipynb"} and path not in apart:
                yield path, re.sub(r"\s*\n\s*(?:# )?", " ", path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def cited():
    """Return {(first author, year): a file that cites it} and all texts together."""
    found, everything = {}, []
    for path, text in texts():
        everything.append(text)
        for author, year in CITATION.findall(text):
            found.setdefault((author, year), str(path.relative_to(ROOT)))
    return found, " ".join(everything)


def first_author(key):
    """Return (first author, year) of a reference, as `CITATION` finds them."""
    return re.match(SURNAME, REFERENCES[key])[0], REFERENCES[key][-4:]


# ---- references -------------------------------------------------------------------------------------------------


def test_every_citation_is_in_the_list_of_references(cited):
    listed = {first_author(key) for key in REFERENCES}
    assert not {citation: path for citation, path in cited[0].items() if citation not in listed}


@pytest.mark.parametrize("key", REFERENCES)
def test_every_reference_is_used(key, cited):
    name = REFERENCES[key]
    forms = (name, f"{name[:-4]}({name[-4:]})", f"[{key}]")
    assert first_author(key) in cited[0] or any(form in cited[1] for form in forms)


def test_keys_are_made_of_authors_and_year():
    for key, name in REFERENCES.items():
        authors = re.sub(r" et al\.", "", name).replace(" and ", "-").replace("ć", "c").replace(" ", "").lower()
        assert key == authors


def test_the_list_of_references_is_sorted():
    assert list(REFERENCES)[5:] == sorted(list(REFERENCES)[5:])


def test_sources_of_claims_have_keys_that_exist():
    used = {key for entry in claims().values() for key in KEY.findall(entry.source)}
    assert used == set(NAMES)
    assert all(REFERENCES[key] == name for key, name in NAMES.items())
    # what a source cites it cites by key
    assert not [entry.source for entry in claims().values() if CITATION.search(entry.source)]


def test_people_read_names():
    assert (
        named("OpenDP; [canonne2020]; [antonova2016], eq. 2.1") == "OpenDP; Canonne et al. 2020; Antonova 2016, eq. 2.1"
    )
    assert named("[antonova2016], eq. 2.1 [0]") == "Antonova 2016, eq. 2.1 [0]"
    assert not [source for source in as_table()["source"] if KEY.search(source)]


# ---- errata -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("title", ERRATA)
def test_an_erratum_has_paper_claim_truth_and_test(title):
    assert re.findall(r"^- \*\*(\w+):\*\* \S", ERRATA[title], re.MULTILINE) == ["Paper", "Claim", "Truth", "Test"]


@pytest.mark.parametrize("title", ERRATA)
def test_the_tests_of_an_erratum_exist(title):
    test = ERRATA[title].partition("- **Test:** ")[2]
    named_tests = re.findall(r"`(test_\w+\.py)::(test_\w+)`", test)
    # nothing of this paper is implemented, so there is nothing to test
    assert named_tests or "Ji and Elkan" in ERRATA[title]
    for file, function in named_tests:
        [path] = (ROOT / "tests").rglob(file)
        code = path.read_text(encoding="utf-8")
        assert re.search(rf"^def {function}\(", code, re.MULTILINE), f"{file} has no {function}"


# ---- decisions --------------------------------------------------------------------------------------------------


def test_the_index_lists_every_decision_with_its_date_and_title():
    index = (DOCS / "decisions" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[(\d{4})\]\((.+?)\) \| (\S+) \| (.+) \|$", index, re.MULTILINE)
    lines = [page.read_text(encoding="utf-8").split("\n") for page in PAGES]
    assert rows == [(p.name[:4], p.name, text[2], text[0][2:]) for p, text in zip(PAGES, lines, strict=True)]
    numbers = [int(row[0]) for row in rows]
    assert numbers == sorted(set(numbers))
    assert all(re.fullmatch(r"20\d\d-[01]\d-[0-3]\d", row[2]) for row in rows)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_decision_is_short(page):
    assert len(page.read_text(encoding="utf-8").split("\n")) <= 60


def test_decisions_that_are_named_exist(cited):
    numbers = set(re.findall(r"docs/decisions/(\d{4})", cited[1]))
    assert numbers
    assert numbers <= {page.name[:4] for page in PAGES}
