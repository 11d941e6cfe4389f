"""Install lines in all texts, the names of the distribution and its commands, and the files about the project."""

import importlib.util
import re
import sys
import tomllib
import zipfile
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import yaml

import dpml
from dpml.exceptions import DISTRIBUTION, install_command

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = sorted(PROJECT["optional-dependencies"])

spec = importlib.util.spec_from_file_location("install_lines", ROOT / ".ci" / "install_lines.py")
install_lines = importlib.util.module_from_spec(spec)
sys.modules["install_lines"] = install_lines  # its dataclass looks its module up
spec.loader.exec_module(install_lines)


def lines_of(text):
    """Return the requirements of one line of text, as lines of a page."""
    return [install_lines.Line("page.md", 1, found) for found in install_lines.requirements(text)]


# ---- install lines ----------------------------------------------------------------------------------------------


def test_install_lines_name_this_project():
    found = install_lines.install_lines()
    assert list(install_lines.faults(found)) == []
    paths = {line.path for line in found}
    assert {"README.md", "CONTRIBUTING.md", "Dockerfile", "dpml/exceptions.py"} <= paths
    assert any(path.startswith("docs/") for path in paths)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('Run `pip install "dpml-explorer[release]"` first.', ["dpml-explorer[release]"]),
        ("    python -m venv .venv && .venv/bin/pip install -e . && .venv/bin/panel serve app", ["."]),
        ('pip install diffprivlib==0.6.6 "scikit-learn<1.8"', ["diffprivlib==0.6.6", "scikit-learn"]),
        ("message = 'pip install dpml'", ["dpml"]),
        ('  "source": ["%pip install \\"dpml[release]\\"\\n"]', ["dpml[release]"]),
        ("RUN pip install --no-index --find-links /wheels dpml", ["dpml"]),
        ("`uvx dpml --show` or `uv tool run --from dpml dpml-app`", ["dpml", "dpml"]),
    ],
)
def test_install_lines_are_found(text, names):
    assert list(install_lines.requirements(text)) == names


@pytest.mark.parametrize(
    "text",
    [
        'pip install "dpml[release]"',
        'pip install "dpml_explorers"',
        'pip install "dpml-explorer[secure]"',
        'pip install -e ".[tests]"',
        "pip install {name}",
    ],
)
def test_other_install_lines_are_faults(text):
    assert len(list(install_lines.faults(lines_of(text)))) == 1


def test_install_line_broken_between_two_lines_is_found(tmp_path):
    (tmp_path / "page.md").write_text("Run `pip install\n`dpml[release]` now.\nRun pip install\n  dpml now.\n", "utf-8")
    assert "dpml" in {line.text for line in install_lines.install_lines(tmp_path)}


@pytest.mark.parametrize("extra", EXTRAS)
def test_errors_print_install_lines_of_this_project(extra):
    lines = lines_of(install_command(extra))
    assert [line.parts for line in lines] == [(PROJECT["name"], (extra,))]
    assert list(install_lines.faults(lines)) == []


def test_extras_named_in_texts_are_declared():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"), *ROOT.glob("dpml/**/*.py")]
    texts = {path: path.read_text(encoding="utf-8") for path in pages if "decisions" not in path.parts}
    named = [(str(path), name) for path, text in texts.items() for name in re.findall(r"\bextra `+(\w+)`", text)]
    assert len(named) > 5
    assert [pair for pair in named if pair[1] not in EXTRAS] == []


def write_wheel(folder, name):
    """Write a wheel without code that states the extras of this project."""
    file_name = f"{name.replace('-', '_')}-{PROJECT['version']}"
    metadata = [f"Metadata-Version: 2.4\nName: {name}\nVersion: {PROJECT['version']}"]
    metadata += [f"Provides-Extra: {extra}" for extra in EXTRAS]
    with zipfile.ZipFile(folder / f"{file_name}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{file_name}.dist-info/METADATA", "\n".join(metadata) + "\n")
        wheel.writestr(f"{file_name}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{file_name}.dist-info/RECORD", "")


@pytest.mark.long
def test_install_lines_resolve_to_the_wheel_alone(tmp_path, capsys):
    """`.ci/run` repeats this with the wheel that it builds."""
    for name in (PROJECT["name"], "dpml"):
        (tmp_path / name).mkdir()
        write_wheel(tmp_path / name, name)
    lines = install_lines.install_lines()
    assert list(install_lines.unresolved(lines, tmp_path / PROJECT["name"])) == []
    printed = capsys.readouterr().out.splitlines()
    assert f"{PROJECT['name']}[release]" in printed
    assert printed[-1].replace("_", "-") == f"Would install {PROJECT['name']}-{PROJECT['version']}"
    [message] = install_lines.unresolved(lines, tmp_path / "dpml")
    assert "No matching distribution found for dpml-explorer" in message


# ---- names ------------------------------------------------------------------------------------------------------


def test_distribution_has_one_name():
    assert PROJECT["name"] == DISTRIBUTION == "dpml-explorer"
    assert dpml.__name__ == "dpml"


@pytest.mark.parametrize("script", ["dpml", "dpml-app", "dpml-explorer"])
def test_console_script_names_a_function(script):
    target = EntryPoint(script, PROJECT["scripts"][script], "console_scripts").load()
    assert callable(target)
    assert target.__module__ == ("dpml.__main__" if script == "dpml" else "dpml_app.__main__")


# ---- files about the project ------------------------------------------------------------------------------------


def citation():
    return yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_citation_agrees_with_the_project():
    found = citation()
    assert found["cff-version"] == "1.2.0"
    assert (found["type"], found["title"]) == ("software", "dpml")
    assert str(found["version"]) == PROJECT["version"]
    assert found["license"] == PROJECT["license"]
    assert found["message"]
    assert found["abstract"]
    assert [set(author) for author in found["authors"]] == [{"name"}]


def test_workflow_runs_the_checks_of_the_project():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    assert {"push", "pull_request"} <= set(workflow[True])  # YAML 1.1 reads `on` as a truth value
    assert workflow["permissions"] == {"contents": "read"}
    runs = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    assert "bash .ci/run" in runs
