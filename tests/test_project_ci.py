"""The checks and reports of .ci/run. The tests run the real script with programs that only record their calls."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Each program records its arguments and its time limit. It fails if the test asks for that.
PROGRAM = """#!/bin/bash
line="$(basename "$0") $*"
echo "limit=${LIMIT:-none} neighbours=${DPML_NEIGHBOURS:-} fuzz=${DPML_FUZZ:-} data=${DPML_DATA:-} in=$PWD \
$0 $*" >>"$NOTES"
if [ "${1:-} ${2:-}" = "-m venv" ]; then
    mkdir -p "$3/bin"
    for name in python pytest ruff mypy lint-imports nbstripout sphinx-build dpml dpml-app dpml-explorer; do
        cp "$0" "$3/bin/$name"
    done
fi
if [ -n "${REAL:-}" ] && [[ "$0 $*" == *"/pytest -m browser "* ]]; then exec $REAL "${@}"; fi
[ -z "$BROKEN" ] || [[ ! "$0 $*" =~ $BROKEN ]]
"""
TIMEOUT = """#!/bin/bash
LIMIT=$1 exec "${@:2}"
"""
# pattern of the failing command, and the name of its check in the last line
CHECKS = {
    "ruff check|bin/mypy": "ruff mypy",
    "ruff format --check": "format",
    "lint-imports": "imports",
    "nbstripout --verify": "stripped",
    "sphinx-build -W": "site",
    r"pytest --durations": "tests without data",
    "pytest .*not browser": "tests with data",
    "pytest .*-m browser": "browser tests",
    "-m build --wheel": "wheel",
    "plain/bin/dpml-app --check": "wheel",
}
LONG_CHECKS = {
    "tests/mutants": "mutants",
    "pytest .*tests/library/test_wholes_estimators.py": "neighbours",
    "pytest .*tests/library/test_public_input_fuzz.py": "fuzz",
    r"\.ci/lowest\.py": "lowest versions",
    "lowest/bin/pytest": "lowest versions",
}


@pytest.fixture
def ci(tmp_path):
    """Return a function that runs a copy of .ci/run and returns its result and the notes of the programs."""
    checkout, programs, notes, rest = (tmp_path / name for name in ("checkout", "programs", "notes", "rest"))
    for folder in (checkout / ".ci", checkout / "notebooks", checkout / "tests" / "library", programs, rest):
        folder.mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "run", checkout / ".ci" / "run")
    for name in (
        "notebooks/01.ipynb",
        "tests/library/test_wholes_estimators.py",
        "tests/library/test_wholes_functions.py",
    ):
        (checkout / name).touch()
    subprocess.run(["git", "init", "--quiet", str(checkout)], check=True)
    (tmp_path / "shared" / "datasets").mkdir(parents=True)
    for name in ("python3", "python3.11", "chromium", "timeout"):
        (programs / name).write_text(TIMEOUT if name == "timeout" else PROGRAM)
        (programs / name).chmod(0o755)

    def run(*arguments, broken="", real=""):
        notes.write_text("")
        environment = {"PATH": f"{programs}:/usr/bin:/bin", "NOTES": str(notes), "BROKEN": broken, "TMPDIR": str(rest)}
        environment["REAL"] = real
        command = ["bash", str(checkout / ".ci" / "run"), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert list(rest.iterdir()) == [], "something was left behind"
        return done, notes.read_text().splitlines()

    return run


def last_line(done):
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize("arguments", [(), ("full",)], ids=["every change", "full"])
def test_it_passes_where_all_checks_pass(ci, arguments):
    done, _ = ci(*arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.fullmatch(r"CI PASSED in \d+ s", last_line(done))


@pytest.mark.parametrize(
    ("arguments", "broken", "name"),
    [((), *check) for check in CHECKS.items()] + [(("full",), *check) for check in LONG_CHECKS.items()],
)
def test_one_failed_check_is_named_and_does_not_stop_the_others(ci, arguments, broken, name):
    done, notes = ci(*arguments, broken=broken)
    assert done.returncode != 0
    assert re.fullmatch(rf"CI FAILED in \d+ s: {name}", last_line(done))
    assert any("plain/bin/python" in note for note in notes) or name == "wheel"


def test_nothing_runs_without_an_environment(ci):
    done, notes = ci(broken="venv/bin/python -m pip install")
    assert done.returncode != 0
    assert re.fullmatch(r"CI FAILED in \d+ s: stopped at install", last_line(done))
    assert not any("bin/pytest" in note for note in notes)


def test_readme_test_command_runs_without_data(ci):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert '    python -m venv .venv && .venv/bin/pip install -e ".[test]" && .venv/bin/pytest\n' in readme
    notes = ci()[1]
    [install] = [note for note in notes if re.search(r"pip install .*dpml\[test\]$", note)]
    [tests] = [note for note in notes if "/pytest --durations" in note or ".venv/bin/pytest --durations" in note]
    folder = re.search(r" in=(\S+/newcomer/dpml) \.venv/bin/pytest --durations 15$", tests)[1]
    assert f" {folder}/.venv/bin/python -m pip install" in install
    assert " data= " in tests
    # the other run has the data, and works in the checkout
    [others] = [note for note in notes if "(data or long)" in note]
    assert re.search(r" data=\S+/shared/datasets in=\S+/checkout ", others)


def leaves_out(note):
    return re.search(r"/pytest -m (.*?) (?:-n|--durations) ", note)[1]


def test_what_takes_long_runs_only_where_it_is_asked_for(ci):
    short, full = ci()[1], ci("full")[1]
    for program in LONG_CHECKS:
        assert not any(re.search(program, note) for note in short), program
        assert any(re.search(program, note) for note in full), program
    # with `full` nothing is left out, and no test twice
    left_out = [leaves_out(note) for note in short if "--durations" in note and " -m " in note]
    assert left_out == ["not browser and not full and (data or long)", "browser and not full"]
    again = [leaves_out(note) for note in full if "--durations" in note and " -m " in note]
    assert again == ["not browser and (data or long or full)", "browser"]
    [neighbours] = [note for note in full if "tests/library/test_wholes_estimators.py" in note]
    assert "neighbours=10000" in neighbours
    assert "tests/library/test_wholes_functions.py" in neighbours
    [fuzz] = [note for note in full if "tests/library/test_public_input_fuzz.py" in note]
    assert "fuzz=10000" in fuzz


def test_every_run_of_tests_has_a_time_limit(ci):
    runs = [note for note in ci("full")[1] if "/pytest " in note or "tests/mutants" in note]
    assert len(runs) == 7
    assert [note for note in runs if not re.match(r"limit=\d{3,5} ", note)] == []


# tests that the real pytest runs: some fail the first time, some always
SCRATCH = """
from pathlib import Path
import pytest

pytestmark = pytest.mark.browser

@pytest.mark.parametrize("name", ONCE)
def test_once(name):
    mark = Path(__file__).with_name(name)
    seen = mark.exists()
    mark.touch()
    assert seen

@pytest.mark.parametrize("name", ALWAYS)
def test_always(name):
    raise AssertionError(name)

def test_good():
    pass
"""


@pytest.mark.parametrize(
    ("once", "always", "passes", "runs"),
    [([], [], True, 1), (["a b"], [], True, 2), (["a", "b"], ["c"], False, 2), (["a", "b", "c", "d"], [], False, 1)],
    ids=["none", "one", "one of three again", "four"],
)
def test_few_browser_tests_that_fail_are_run_once_more(ci, tmp_path, once, always, passes, runs):
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = browser\n")
    scratch = SCRATCH.replace("ONCE", repr(once)).replace("ALWAYS", repr(always))
    (tmp_path / "test_scratch.py").write_text(scratch)
    done, notes = ci(real=f"{sys.executable} -m pytest -c {tmp_path}/pytest.ini {tmp_path}/test_scratch.py")
    expected = r"CI PASSED in \d+ s" if passes else r"CI FAILED in \d+ s: browser tests"
    assert re.fullmatch(expected, last_line(done)), done.stdout
    browser = [note for note in notes if "/pytest -m browser" in note]
    assert len(browser) == runs
    told = re.findall(r"!!! failed once, run again alone: .*test_(\w+)\[(.+)\]", done.stdout)
    assert sorted(told) == ([("always", n) for n in always] + [("once", n) for n in once] if runs == 2 else [])
    late = re.findall(r"!!! passed only the second time: .*test_once\[(.+)\]", done.stdout)
    assert late == (once if passes else [])


@pytest.mark.parametrize("arguments", [("ful",), ("--full",), ("",), ("full", "fast")])
def test_other_arguments_are_refused_by_name(ci, arguments):
    done, notes = ci(*arguments)
    assert done.returncode == 2
    assert f"'{' '.join(arguments)}' (allowed: full" in done.stderr
    assert notes == []
