"""Exact values are opened only where a reason is listed here: rules of the whole source, by its syntax tree.

Each rule takes the syntax tree of a module and returns what breaks it, by the qualified name of the function in which
it stands ("" for the module itself). The type itself is tested in test_private_type.py. That a statistic changes no
exact value is tested by test_wholes_estimators.py, with arrays that cannot be written to.
"""

import ast
from functools import cache
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[2]

OPENED = {
    "dpml.mechanisms.private": "the type itself",
    "dpml.mechanisms.boundary": "a statistic is opened for the draw of a mechanism and for the comparison with another",
    "dpml.estimators.inner_budget": "the fit of an estimator that a wrapper holds takes the records themselves",
}
# an audit compares exact values of two data sets by design
AUDITING = "dpml.audit"

STUDIES = {
    "dpml.classifiers.linear.estimators.check_ones": "an error: a record with more ones than the schema states",
    "dpml.estimators.base.PrivateEstimator._check_records": "warnings: how few the records are, what is clipped",
    "dpml.evaluation.histogram.to_read": "an error: a value that is not allowed, where nothing is clipped",
    "dpml.evaluation.cross_validation._refuse_few": "an error: folds that leave fewer records than the schema states",
    "dpml.evaluation.histogram.roc_histogram": "the exact histogram is what it returns",
    "dpml.evaluation.as_published._published_n": "a number of records as published, without a release",
    "dpml.evaluation.as_published.published_roc_curve": "thresholds by exact scores as published",
    "dpml.mechanisms.columns.numbers.refuse_invalid": "an error: a cell that is not valid, where nothing is left out",
    "dpml.release.forecast.forecast": "a forecast for the owner of the table, which is never in a release",
    "dpml.release.records.warn_violations": "a warning, in a demonstration run: what is clipped",
    "dpml.selection._base.PrivateSelector._check_table": "an error: fewer records than the schema states",
    "dpml.selection.as_published.PublishedSelector._masks": "a choice by exact scores as published, without a release",
}


@cache
def trees():
    files = sorted((ROOT / "dpml").rglob("*.py"))
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): ast.parse(path.read_text())
        for path in files
    }


def everywhere(rule):
    """Return what breaks a rule in all of dpml, by its full name."""
    return {f"{module}.{name}".rstrip(".") for module, tree in trees().items() for name in rule(tree)}


# ---- the rules -------------------------------------------------------------------------------------------------------

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def inside(tree: ast.AST) -> list[tuple[str, ast.AST]]:
    """Return every node with the qualified name of the innermost function or class around it."""
    nodes, waiting = [], [("", tree)]
    while waiting:
        name, parent = waiting.pop()
        for child in ast.iter_child_nodes(parent):
            named = isinstance(child, (*FUNCTIONS, ast.ClassDef))
            waiting.append((f"{name}.{child.name}".lstrip(".") if named else name, child))
            nodes.append(waiting[-1])
    return nodes


def called(node: ast.AST) -> str:
    """Return the last part of the name of what a node calls, or ""."""
    if not isinstance(node, ast.Call):
        return ""
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def openings(tree: ast.AST) -> set[str]:
    """Return where a module takes `opened`, or what lies in a `Private` value, under any name."""
    return {name for name, node in inside(tree) if _opens(node)}


def _opens(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        private = (node.module or "").endswith("mechanisms.private")
        return any(alias.name == "opened" or (private and alias.name == "*") for alias in node.names)
    if isinstance(node, ast.Attribute):
        return node.attr in ("opened", "_Private__value")
    # as getattr takes it
    return (
        isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in ("opened", "_Private__value")
    )


def studies(tree: ast.AST) -> set[str]:
    """Return the functions of a module that call `for_study`, or that take it under another name."""
    uses = {name for name, node in inside(tree) if called(node) == "for_study"}
    for name, node in inside(tree):
        renamed = isinstance(node, ast.alias) and node.name == "for_study" and node.asname
        passed = isinstance(node, (ast.Call, ast.keyword, ast.Assign)) and any(
            getattr(child, "id", getattr(child, "attr", "")) == "for_study"
            for child in (*getattr(node, "args", ()), getattr(node, "value", None))
        )
        if renamed or passed:
            uses.add(name)
    return uses


def unchecked(tree: ast.AST) -> set[str]:
    """Return the functions that take checked records as plain ones, by `_check_records`."""
    return {name for name, node in inside(tree) if getattr(node, "attr", "") == "_check_records"}


def undecorated(tree: ast.AST) -> set[str]:
    """Return where `statistic` is used other than as a decorator, so that no rule would see the function.

    A function of NumPy may be lifted by a call.
    """
    imports = [
        (n, a)
        for n, node in inside(tree)
        if isinstance(node, ast.ImportFrom)
        for a in node.names
        if (node.module or "").endswith("mechanisms.private") and a.name == "statistic"
    ]
    uses = {name for name, alias in imports if alias.asname}
    imported = bool(imports)
    # elsewhere it is the name of a value
    values = {name for name, node in inside(tree) if isinstance(node, FUNCTIONS) and "statistic" in _parameters(node)}
    for name, node in inside(tree):
        parts = (node.func, *node.args) if isinstance(node, ast.Call) else (getattr(node, "value", None),)
        if isinstance(node, ast.Call) and len(node.args) == 1 and _is_module(node.args[0]):
            continue
        if imported and name not in values and any(getattr(part, "id", "") == "statistic" for part in parts):
            uses.add(name)
        if any(isinstance(part, ast.Attribute) and ast.unparse(part) == "private.statistic" for part in parts):
            uses.add(name)
    return uses


def _is_module(node: ast.expr) -> bool:
    """Whether a node is a module of arrays, or a function in one, such as `np.add`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in ("np", "sparse", "special", "stats", "math", "pd", "linalg")


def _parameters(function: ast.FunctionDef) -> set[str]:
    return {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}


def test_exact_values_are_opened_in_few_modules():
    modules = {module for module, tree in trees().items() if openings(tree)}
    assert {m for m in modules if m.split(".")[:2] != AUDITING.split(".")} == set(OPENED)


def test_exact_values_are_shown_for_study_where_it_is_listed():
    assert everywhere(studies) - {"dpml.mechanisms.private"} == set(STUDIES)


def test_a_statistic_is_always_a_decorated_function():
    assert everywhere(undecorated) == set()


def test_every_fit_takes_private_records():
    assert everywhere(unchecked) == {"dpml.estimators.base.PrivateEstimator._private_records"}


# ---- each rule can be broken -----------------------------------------------------------------------------------------


def tree(source):
    return ast.parse(dedent(source))


@pytest.mark.parametrize(
    "source",
    [
        "from dpml.mechanisms.private import opened",
        "from dpml.mechanisms.private import opened as look",
        "from dpml.mechanisms.private import *",
        "from dpml.mechanisms.boundary import opened",
        "from dpml.mechanisms import private\nn = private.opened(X)",
        "n = X._Private__value",
        "n = getattr(X, '_Private__value')",
    ],
)
def test_an_opening_is_seen(source):
    assert openings(tree(source))
    assert not openings(tree("from dpml.mechanisms.private import Private, statistic\nopened = 3\nn = opened"))


@pytest.mark.parametrize(
    ("source", "where"),
    [
        ("def plot(X):\n    return for_study(X, False)", "plot"),
        ("class A:\n    def plot(self, X):\n        return private.for_study(X, self.release)", "A.plot"),
        ("def plot(X):\n    return list(map(for_study, X))", "plot"),
        ("def plot(X):\n    look = for_study\n    return look(X)", "plot"),
        ("from dpml.mechanisms.private import for_study as look", ""),
    ],
)
def test_a_study_is_seen_with_its_function(source, where):
    assert studies(tree(source)) == {where}
    assert not studies(tree("from dpml.mechanisms.private import for_study\ndef plot(X):\n    return number_of(X)"))


@pytest.mark.parametrize(
    "use",
    [
        "total = statistic(lambda values: seen.append(values))",
        "def total(values):\n    return statistic(sum)(values)",
        "lifted = list(map(statistic, functions))",
        "look = statistic",
        "from dpml.mechanisms.private import statistic as exact",
    ],
)
def test_a_statistic_that_is_not_decorated_is_seen(use):
    begin = "from dpml.mechanisms.private import statistic\n"
    assert undecorated(tree(begin + use))
    assert not undecorated(tree(begin + "@statistic\ndef total(values):\n    return values.sum()"))
    assert not undecorated(tree(begin + "tiled = statistic(np.tile)"))
    assert not undecorated(tree(begin + "def draw(statistic, rng):\n    return np.size(statistic)"))


def test_a_fit_that_takes_plain_records_is_seen():
    source = "class A:\n    def fit(self, X, y):\n        return self._{}(self.schema, X, y)"
    assert unchecked(tree(source.format("check_records"))) == {"A.fit"}
    assert not unchecked(tree(source.format("private_records")))
