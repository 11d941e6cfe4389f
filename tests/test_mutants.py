"""The tests notice when the library is broken: a part of the mutants is killed, and none of them quotes source text.

`python tests/mutants` runs all of them.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from mutants.mutant import ALL, MUTANTS, PART
from mutants.rules import RULES, applied, functions, places
from mutants.table import EQUIVALENT

ROOT = Path(__file__).parents[1]
FILES = [*sorted((ROOT / "tests/mutants").glob("*.py")), Path(__file__)]


def test_there_are_mutants_of_every_rule_and_each_has_a_name_of_its_own():
    assert len(MUTANTS) >= 400
    assert len({m.name for m in ALL}) == len(ALL)
    assert {m.rule for m in PART} == set(RULES)
    assert {test.rpartition("/")[0] for m in ALL for test in m.tests} <= {
        f"tests/{path.name}" for path in (ROOT / "tests").glob("test_*.py")
    }


def test_what_is_excluded_is_there_and_has_a_reason():
    for pattern, reason in EQUIVALENT.items():
        assert len(reason.split()) >= 5, f"{pattern!r} needs a reason in a sentence"
        assert any(re.search(pattern, m.name) for m in ALL), f"{pattern!r} excludes nothing"


@pytest.mark.parametrize("rule", RULES)
def test_every_mutant_of_a_rule_is_another_function_that_compiles(rule):
    for mutant in (m for m in ALL if m.rule == rule):
        assert mutant.changed().co_code, mutant.name
        assert mutant.changed() != mutant.find().__code__, mutant.name


def test_no_mutant_quotes_source_text():
    """A string of the mutants that has a space or a bracket, as code has, is no part of the library's source."""
    source = " ".join(re.sub(r'"""(.|\n)*?"""', "", path.read_text()) for path in (ROOT / "dpml").rglob("*.py"))
    for path in FILES[:-1]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.search(r"[(=]", node.value):
                assert node.value.strip() not in source, f"{path.name} quotes {node.value!r}"


def test_the_mutants_take_at_most_700_lines():
    assert sum(len(path.read_text().splitlines()) for path in FILES) <= 700


FAULTS = {
    "noise to a third": ("rng.laplace(size=3)", "rng.laplace(size=3) / 3.0"),
    "epsilon tripled": ("Laplace(epsilon, 2)", "Laplace(3.0 * epsilon, 2)"),
    "no charge": ("charge(a, b)", "pass"),
    "relation factor 1": ("FACTOR[a]", "1"),
    "relation left out": ("release_x(a, relation=b)", "release_x(a)"),
    "the rest is the whole": ("rest_of(a, b)", "a"),
    "bound left out": ("np.clip(a, 0, 1)", "a"),
}


@pytest.mark.parametrize("rule", FAULTS)
def test_a_rule_changes_one_place_and_counts_them(rule):
    before, after = FAULTS[rule]
    for place, lines in ((1, (after, before)), (2, (before, after))):
        [(_, function)] = functions(ast.parse(f"def f():\n    {before}\n    {before}"))
        assert places(rule, function) == 2
        assert ast.unparse(applied(rule, function, place)).splitlines()[1:] == [f"    {line}" for line in lines]


def test_the_part_of_the_mutants_is_killed():
    """In a process of its own, for a fork of one that has threads could wait for ever."""
    command = [sys.executable, "tests/mutants", "--part", "--jobs", "1"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.count("killed by tests/") == len(PART)
