"""Rules for the whole project: names, dependencies, layers, and tests that can fail."""

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest
import yaml
from dpml_app.page_list import PAGES

import dpml

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
README_COMMANDS = [
    "python -m venv .venv && .venv/bin/pip install -e . && .venv/bin/panel serve app --show",
    'python -m venv .venv && .venv/bin/pip install -e ".[test]" && .venv/bin/pytest',
]
DRAWING = ["bokeh", "holoviews", "panel", "panel_material_ui", "param"]
# conda's name: the name everywhere else
CONDA_NAMES = {"python-build": "build", "playwright-python": "playwright"}
MOST_BYTES = 1_000_000
TEST_FILES = sorted((ROOT / "tests").rglob("test_*.py"))


def requirement(text):
    """Return (name, bounds) of a requirement such as ``numpy>=2.0`` or ``panel>=1.9,<2``."""
    match = re.fullmatch(r"([A-Za-z0-9_.-]+)\s*>=\s*([0-9.]+(?:,<[0-9.]+)?)", text.strip())
    assert match, f"{text!r} is not of the form name>=version, with an upper bound or without"
    return match[1].lower().replace("_", "-"), match[2]


def project_files():
    """Return the files that git tracks or would add; without git, all but hidden folders and caches."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        listing = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout.split("\0")
    except (OSError, subprocess.CalledProcessError):
        paths = [path.relative_to(ROOT) for path in ROOT.rglob("*")]
        listing = [str(p) for p in paths if not any(part[0] == "." or part == "__pycache__" for part in p.parts)]
    return [ROOT / name for name in listing if name and (ROOT / name).is_file()]


# ---- names ------------------------------------------------------------------------------------------------------


def test_readme_has_exactly_the_two_commands():
    lines = [line.strip() for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()]
    assert [line for line in lines if "-m venv" in line or "pip install" in line] == README_COMMANDS


def test_version_is_stated_alike():
    assert PYPROJECT["project"]["version"] == dpml.__version__


def test_changelog_has_unreleased_part_and_this_version_or_none():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## \[([^\]]+)\]", text, flags=re.M)
    assert headings[0] == "Unreleased"
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", heading) for heading in headings[1:])
    unreleased = re.split(r"^## ", text, flags=re.M)[1]
    assert re.search(r"^### (Added|Changed|Fixed|Removed|Deprecated|Security)\n\n- \S", unreleased, flags=re.M)


def test_changelog_bullets_are_short():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    bullets = re.findall(r"^- (.+(?:\n  .+)*)$", text, flags=re.M)
    assert len(bullets) > 20
    assert [bullet for bullet in bullets if len(bullet.split()) > 25] == []


def test_no_file_is_over_a_megabyte():
    files = project_files()
    assert ROOT / "pyproject.toml" in files
    assert {
        str(path.relative_to(ROOT)): path.stat().st_size for path in files if path.stat().st_size > MOST_BYTES
    } == {}


# ---- dependencies -----------------------------------------------------------------------------------------------


def test_environment_yml_has_the_dependencies_of_pyproject():
    project = PYPROJECT["project"]
    extras = project["optional-dependencies"]
    expected = sorted(map(requirement, project["dependencies"] + extras["test"] + extras["docs"]))
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert environment["channels"] == ["conda-forge"]
    entries = environment["dependencies"]
    [from_pip] = [entry["pip"] for entry in entries if isinstance(entry, dict)]
    assert from_pip[0] == "-e ."
    names = [entry for entry in entries if isinstance(entry, str) and entry != "pip"] + from_pip[1:]
    assert f"python{project['requires-python']}" in names
    found = [requirement(name) for name in names if not name.startswith("python>=")]
    assert sorted((CONDA_NAMES.get(name, name), version) for name, version in found) == expected


def test_lowest_versions_are_those_that_are_declared():
    """What `.ci/run full` installs before it runs the tests."""
    run = subprocess.run(
        [sys.executable, ROOT / ".ci" / "lowest.py"], cwd=ROOT.parent, capture_output=True, text=True, check=True
    )
    project = PYPROJECT["project"]
    declared = project["dependencies"] + project["optional-dependencies"]["test"]
    assert run.stdout.split() == [text.partition(",")[0].replace(">=", "==") for text in declared]


def explained(heading):
    """Return {name: reason} of the bullets under one heading of CONTRIBUTING.md."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = re.search(rf"^### {heading}\n(.*?)(?=^#|\Z)", text, flags=re.M | re.S)
    assert section, f"CONTRIBUTING.md has no part {heading!r}"
    return dict(re.findall(r"^- `([^`]+)`: (.+)$", section[1], flags=re.M))


@pytest.mark.parametrize("heading", ["Run", *PYPROJECT["project"]["optional-dependencies"]])
def test_every_dependency_is_explained(heading):
    project = PYPROJECT["project"]
    wanted = project["dependencies"] if heading == "Run" else project["optional-dependencies"][heading]
    reasons = explained(heading.capitalize())
    assert sorted(reasons) == sorted(requirement(text)[0] for text in wanted)
    assert [name for name, reason in reasons.items() if len(reason.split()) < 3] == []


# ---- layers -----------------------------------------------------------------------------------------------------


def test_import_contracts_cover_all_modules():
    layers, pages, folders, forbidden = PYPROJECT["tool"]["importlinter"]["contracts"]
    assert (layers["containers"], folders["containers"]) == (["dpml"], ["dpml_app"])
    assert layers["exhaustive"] is folders["exhaustive"] is True
    assert "ignore_imports" not in folders
    assert forbidden["source_modules"] == ["dpml"]
    assert set(forbidden["forbidden_modules"]) == {"dpml_app", "benchmarks", *DRAWING}
    assert pages["modules"] == ["dpml_app.pages.*"]


def test_the_app_has_a_folder_for_each_page():
    app = ROOT / "app" / "dpml_app"
    assert len(list(app.glob("*.py"))) <= 9
    assert [path.name for path in (app / "pages").glob("*.py")] == ["__init__.py"]
    folders = [path for path in (app / "pages").iterdir() if (path / "__init__.py").exists()]
    assert {path.name for path in folders} == set(PAGES)
    # a page has at most five modules; My data has more
    modules = {path.name: {file.stem for file in path.glob("*.py")} - {"__init__"} for path in folders}
    known = {"page", "compute", "figures", "text", "lesson"}
    assert [name for name, found in modules.items() if "page" not in found] == []
    assert {name for name, found in modules.items() if not found <= known} <= {"mydata"}


# ---- packaging and checks ---------------------------------------------------------------------------------------


def test_wheel_ships_both_packages_and_the_data():
    wheel = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["packages"] == ["dpml", "app/dpml_app"]
    assert wheel["force-include"] == {"data": "dpml/data"}
    assert not (ROOT / "dpml" / "data").exists(), "the wheel would get two folders of that name"
    assert [path for path in (ROOT / "data").rglob("*") if path.is_file() and not path.name.startswith(".")] != []


# ---- tests ------------------------------------------------------------------------------------------------------


def test_no_two_test_files_share_a_name():
    counts = Counter(path.name for path in TEST_FILES)
    assert counts["test_project.py"] == 1
    assert [name for name, count in counts.items() if count > 1] == []


def name_of(call):
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def vacuous_tests(path):
    """Return the tests of a file that cannot fail: no assertion, no expected error and no check is called.

    A call counts where it is pytest's raises, warns or fail, where its name begins with assert, check, expect or
    audit, or where it names a function of the same file that counts itself.
    """
    functions = [
        n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    can_fail = set()
    while True:
        more = {
            f.name for f in functions if f.name not in can_fail and any(_can_fail(n, can_fail) for n in ast.walk(f))
        }
        if not more:
            break
        can_fail |= more
    return [f.name for f in functions if f.name.startswith("test") and f.name not in can_fail]


def _can_fail(node, known):
    if isinstance(node, ast.Assert):
        return not isinstance(node.test, ast.Constant)
    if not isinstance(node, ast.Call):
        return False
    name = name_of(node)
    return name in known | {"raises", "warns", "fail"} or name.startswith(("assert", "check", "expect", "audit"))


@pytest.mark.parametrize("path", TEST_FILES, ids=lambda path: path.stem)
def test_test_file_has_tests_that_can_fail(path):
    assert re.search(r"^(?:    )?(?:async )?def test", path.read_text("utf-8"), flags=re.M)
    assert vacuous_tests(path) == []


def test_vacuous_tests_are_found(tmp_path):
    path = tmp_path / "test_sample.py"
    path.write_text(
        "def helper():\n    assert 1 + 1 == 2\n"
        "def test_good():\n    helper()\n"
        "def test_constant():\n    assert True\n"
        "def test_empty():\n    print('nothing')\n"
    )
    assert vacuous_tests(path) == ["test_constant", "test_empty"]


@pytest.mark.parametrize(("page", "command"), [("reference/claims", "catalogue"), ("explanation/papers", "papers")])
def test_a_page_shows_what_its_command_prints(capsys, page, command):
    from dpml.__main__ import main

    assert main([command, "--markdown"]) == 0
    printed = capsys.readouterr().out.strip()
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    shown = text.split("<!-- printed -->")[1].split("<!-- /printed -->")[0].strip()
    assert shown == printed, "the table is old: python docs/write_claims.py"
    # five cells in each row, whatever bars its formulas have
    rows = [line for line in printed.splitlines() if line.startswith("|")]
    assert {len(re.split(r"(?<!\\)\|", line)) for line in rows} == {7}
