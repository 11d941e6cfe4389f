"""The documentation runs: code in the guides and in README, links, and the check of the built site."""

import doctest
import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [page for page in sorted(DOCS.glob("**/*.md")) if not {"_build", "notebooks", "api"} & {*page.parts}]
PAGES += [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
GUIDES = [page for page in sorted((DOCS / "how_to").glob("*.md")) if page.stem not in ("index", "serve", "teach")]
LESSONS = [page for page in sorted((DOCS / "learn").glob("*.md")) if page.stem != "index"]
INTRODUCTIONS = [DOCS / "index.md", DOCS / "get_started.md", *LESSONS]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.M | re.S)
LINK = re.compile(r"\]\(([^)\s]+)\)")
# these pages exist only while the site is built
NOTEBOOKS, API = DOCS / "learn" / "notebooks", DOCS / "reference" / "api"

spec = importlib.util.spec_from_file_location("check_site", DOCS / "check_site.py")
check_site = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_site)


def blocks(text, language):
    """Return the code of each fenced block of one language."""
    return [code for found, code in FENCE.findall(text) if found == language]


def run_examples(text, name, report=None):
    """Run all interactive blocks of a page in one namespace; return (failures, examples)."""
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    code = "\n".join(blocks(text, "pycon"))
    runner.run(doctest.DocTestParser().get_doctest(code, {"__name__": "__main__"}, name, name, 0), out=report)
    return runner.summarize(verbose=False)


# ---- code -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", GUIDES + INTRODUCTIONS, ids=lambda path: path.stem)
def test_all_code_of_a_page_runs(path):
    text = path.read_text(encoding="utf-8")
    failures, examples = run_examples(text, path.stem)
    assert examples >= 3
    assert failures == 0
    assert {language for language, _ in FENCE.findall(text)} == {"pycon"}


def test_readme_example_runs():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    failures, examples = run_examples(text, "README")
    assert 8 <= examples <= 12
    assert failures == 0


# ---- links ------------------------------------------------------------------------------------------------------


def headings(path):
    """Return the anchors of a page's headings: words in small letters, joined by hyphens."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.+)$", text, flags=re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken_links(path):
    found = []
    for link in LINK.findall(path.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", link):
            continue
        address, _, anchor = link.partition("#")
        target = (path.parent / address).resolve() if address else path
        if target.parent == API:
            continue
        if target.parent == NOTEBOOKS:
            target = ROOT / "notebooks" / target.name
        if not target.exists() or (anchor and anchor not in headings(target)):
            found.append(link)
    return found


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_of_page_hold(path):
    assert broken_links(path) == []


# ---- where to touch ---------------------------------------------------------------------------------------------


def tasks():
    """Return {task: cells} of CONTRIBUTING's table of places."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## Where to touch\n")[1].split("\n## ")[0]
    rows = [line.strip("|").split(" |") for line in text.splitlines() if line.startswith("| ")]
    return {row[0].strip(): [cell.strip() for cell in row[1:]] for row in rows[1:]}


@pytest.mark.parametrize("task", tasks())
def test_places_to_touch_exist(task):
    named = re.findall(r"`([\w./<>-]+(?:/|\.\w+))`", " ".join(tasks()[task]))
    paths = [name for name in named if "/" in name or (ROOT / name).exists()]
    assert paths
    assert [path for path in paths if "<" not in path and not (ROOT / path).exists()] == []


# ---- glossary -------------------------------------------------------------------------------------------------------


def test_glossary_is_that_of_the_app():
    """Terms and help for controls: one text for both."""
    text = (DOCS / "reference" / "glossary.md").read_text(encoding="utf-8")
    assert text == load_script("write_glossary").page(), "the page is old: python docs/write_glossary.py"


def load_script(name):
    """Return a script of docs as a module."""
    found = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_pictures_have_the_present_titles_and_questions():
    from dpml_app.page_list import PAGES as APP_PAGES

    text = (DOCS / "explanation" / "pictures.md").read_text(encoding="utf-8")
    assert text == load_script("write_pictures").page(), "the page is old: python docs/write_pictures.py"
    assert re.findall(r"^## (.+)$", text, flags=re.M)[:-1] == [p.title for p in APP_PAGES.values()]
    assert all(page.question in text for page in APP_PAGES.values())


def test_reference_lists_tasks_of_public_names(tmp_path):
    script = load_script("write_reference")
    modules = script.packages()
    documented = script.homes(modules)
    named = [name for names in script.TASKS.values() for name in names]
    assert len(set(named)) == len(named)
    assert [name for name in named if documented.get(name) != name.partition(".")[0]] == []
    assert {name for name in documented if name.startswith("classifiers.")} <= set(named)
    script.write(tmp_path)
    classes = [name for name, home in documented.items() if name.startswith(f"{home}.")]
    missing = [
        name
        for name in classes
        if script.kind(getattr(modules[name.partition(".")[0]], name.partition(".")[2])) != "constant"
        and not (tmp_path / f"dpml.{name}.md").is_file()
    ]
    assert missing == []
    text = (tmp_path / "dpml.classifiers.AutoClassifier.md").read_text(encoding="utf-8")
    assert ".. autoclass:: dpml.classifiers.AutoClassifier" in text
    commands = (tmp_path / "commands.md").read_text(encoding="utf-8")
    assert "## release\n" in commands
    assert "--preview" in commands


def test_teachers_page_names_every_lesson():
    from dpml_app.lessons import lessons, read_lesson

    text = (DOCS / "how_to" / "teach.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([\w-]+)`", text, flags=re.M)) == set(lessons())
    [example] = blocks(text, "yaml")
    head, step = example.split("steps:\n")
    assert len(read_lesson("my-lesson", f"{head}steps:\n{5 * step}").steps) == 5


# ---- the check of the built site ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ('<p id="here"></p><a href="#here">x</a><a href="https://example.org">y</a>', None),
        ('<a href="gone.html">x</a>', "no file"),
        ('<a href="#gone">x</a>', "no anchor"),
        ('<script src="//example.org/x.js"></script>', "elsewhere"),
        ("<style>@import 'https://example.org/x.css';</style>", "elsewhere"),
        ("<script>let home = 'https://example.org/about'</script><code>'//example.org/x.js'</code>", None),
        ('<link rel="stylesheet" href="https://example.org/x.css">', "elsewhere"),
        ('<img src="gone.png">', "no file"),
    ],
)
def test_check_of_the_site_finds(page, problem, tmp_path):
    (tmp_path / "index.html").write_text(f"<html><body>{page}</body></html>", encoding="utf-8")
    found = check_site.problems(tmp_path)
    assert (found == []) if problem is None else (len(found) == 1 and problem in found[0])


def test_check_of_the_site_reads_styles(tmp_path):
    assert check_site.problems(tmp_path) == [f"{tmp_path}: no page"]
    (tmp_path / "index.html").write_text("<p>x</p>", encoding="utf-8")
    (tmp_path / "x.css").write_text("@import 'https://example.org/font.css'; p { color: red }", encoding="utf-8")
    assert check_site.main([str(tmp_path)]) == 1
    (tmp_path / "x.css").write_text("p { background: url(x.png) }", encoding="utf-8")
    assert check_site.main([str(tmp_path)]) == 0
    assert check_site.main([str(tmp_path), "index.html"]) == 1  # it has no picture
