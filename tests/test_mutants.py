"""The rules change what they name, a mutant's verdict is right, and none of the mutants quotes source text.

`python tests/mutants` runs all of them.
"""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from mutants.equivalent import EQUIVALENT
from mutants.mutant import is_equivalent, mutants_of_library
from mutants.rules import RULES, applied, functions, places

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "tests/mutants").glob("*.py"))


def test_every_rule_has_mutants_with_names_of_their_own():
    mutants = mutants_of_library()
    names = {m.name for m in mutants if not is_equivalent(m)}
    assert len(names) >= 400
    assert len({m.name for m in mutants}) == len(mutants)
    assert {name.partition(":")[0] for name in names} == set(RULES)


def test_what_is_excluded_is_there_and_has_a_reason():
    for pattern, reason in EQUIVALENT.items():
        assert len(reason.split()) >= 5, f"{pattern!r} needs a reason in a sentence"
        assert any(re.search(pattern, m.name) for m in mutants_of_library()), f"{pattern!r} excludes nothing"


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.full)])
@pytest.mark.parametrize("rule", RULES)
def test_a_mutant_is_another_function_that_compiles(rule, step):
    for mutant in [m for m in mutants_of_library() if m.rule == rule][::step]:
        changed = mutant.changed()
        assert changed.co_code, mutant.name
        assert changed != mutant.find().__code__, mutant.name


def test_no_mutant_quotes_source_text():
    """A string of the mutants that has a bracket or an equals sign, as code has, is no part of the library's source."""
    source = " ".join(re.sub(r'"""(.|\n)*?"""', "", path.read_text()) for path in (ROOT / "dpml").rglob("*.py"))
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.search(r"[(=]", node.value):
                assert node.value.strip() not in source, f"{path.name} quotes {node.value!r}"


def test_the_mutants_take_at_most_700_lines():
    assert sum(len(path.read_text().splitlines()) for path in FILES) <= 700


# for each rule a line of a made-up function, and the line that it becomes
FAULTS = {
    "noise to a third": ("rng.laplace(size=3)", "rng.laplace(size=3) / 3.0"),
    "epsilon tripled": ("Laplace(epsilon, 2)", "Laplace(3.0 * epsilon, 2)"),
    "sensitivity halved": ("Laplace(a, b)", "Laplace(a, 0.5 * b)"),
    "no charge": ("charge(a, b)", "pass"),
    "charged a third": ("charge(epsilon, b)", "charge(0.3333333333333333 * epsilon, b)"),
    "relation factor 1": ("FACTOR[a]", "1"),
    "relation swapped": ("a == 'replace-one'", "a == 'add-remove'"),
    "the cheaper relation": ("release_x(a, relation=b)", "release_x(a, relation='add-remove')"),
    "the rest is the whole": ("rest_of(a, b)", "a"),
    "delta left out": ("charge(a, delta)", "charge(a, 0.0)"),
    "bound left out": ("np.clip(a, 0, 1)", "a"),
    "a release does not clip": ("'clip' if a else b", "b"),
    "no noise": ("law.release(a, rng)", "a"),
    "no secure noise": ("f(a, secure=release)", "f(a, secure=False)"),
    "a seed in a release": ("check_release(a, b)", "check_release(None, b)"),
    "loss halved": ("Loss(pure=a)", "Loss(pure=0.5 * a)"),
    "exact number of records": ("public_number(a)", "len(a)"),
    "refusal left out": ("if a:\n        raise NotPrivate(b)", "if False:\n        raise NotPrivate(b)"),
}


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "stated size halved"])
def test_a_rule_changes_one_place_and_counts_them(rule):
    before, after = FAULTS[rule]
    for place, lines in ((1, (after, before)), (2, (before, after))):
        [(_, function)] = functions(ast.parse(f"def f():\n    {before}\n    {before}"))
        assert places(rule, function) == 2
        assert ast.unparse(applied(rule, function, place)) == "\n    ".join(["def f():", *lines])


def test_the_size_that_a_function_states_is_halved():
    [(_, function)] = functions(ast.parse("def f_sensitivity() -> float:\n    return a"))
    assert places("stated size halved", function) == 1
    assert ast.unparse(applied("stated size halved", function, 1)).endswith("return 0.5 * a")


# the functions are alike: what their tests look at decides
TINY = """
from numpy import clip

def killed(x): return clip(x, 0, 1)
def survives(x): return clip(x, 0, 1)
def not_called(x): return clip(x, 0, 1)
def fails_already(x): return clip(x, 0, 1)

def does_not_import(x):
    if clip(x, 0, 1) > 1:
        import a_module_that_is_not_there

def fails_in_two_ways(x):
    x = clip(x, 0, 1)
    if x > 1:
        import a_module_that_is_not_there
    return x

def loops(x):
    while clip(x, 0, 1) > 1:
        pass
"""
TESTS = """
from tiny import *

def test_value(): assert killed(2) == 1
def test_too_weak(): assert survives(.5) == .5
def test_import(): does_not_import(2)
def test_one_way(): fails_in_two_ways(2)
def test_other_way(): assert fails_in_two_ways(-1) == 0
def test_end(): loops(2)
def test_that_fails(): assert fails_already(2) == 2
"""
RUN = """
import sys
from pathlib import Path
from mutants.engine import Runner
from mutants.mutant import mutants_of

folder = Path(sys.argv[1])
mutants = list(mutants_of(["tiny"]))
engine = Runner(mutants, mutants, [str(folder / "test_tiny.py")], folder / "record", lambda *_: None)
engine.seconds = 1
status = engine.run()
print(*engine.failed(), sep="\\n")
sys.exit(status)
"""


def test_only_a_mutant_that_an_assertion_notices_is_killed(tmp_path):
    """In a process of its own, for a fork of one that has threads could wait for ever."""
    (tmp_path / "tiny.py").write_text(TINY)
    (tmp_path / "test_tiny.py").write_text(TESTS)
    command = [sys.executable, "-c", RUN, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "tests", tmp_path)))}
    for _ in range(2):  # the second time all is read from the record, but the run of the library as it is
        ended = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        record = dict(json.loads(line) for line in (tmp_path / "record").read_text().splitlines())
        verdicts = {name.split(".")[-1].removesuffix(" 1"): value for name, value in record.items()}
        assert verdicts["killed"][0] == "killed"
        assert verdicts["killed"][1].endswith("::test_value")
        assert verdicts["fails_in_two_ways"][0] == "killed"
        assert verdicts["survives"] == ["survived", ""]
        assert verdicts["not_called"] == verdicts["fails_already"] == ["no test calls it", ""]
        assert verdicts["does_not_import"][0].startswith("a test failed by another exception: ModuleNotFoundError")
        assert verdicts["loops"] == ["too slow", ""]
        assert verdicts["the library as it is"] == ["survived", ""]
        not_killed = ended.stdout.splitlines()[-6:]
        assert not_killed[0].endswith("::test_that_fails")
        assert {line.split(".")[-1] for line in not_killed[1:]} == {
            f"{name} 1" for name in ("survives", "not_called", "fails_already", "does_not_import", "loops")
        }
