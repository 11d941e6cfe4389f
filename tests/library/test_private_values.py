"""Exact values are opened where it is meant, and statistics are pure: rules of the whole source, by its syntax tree.

The rules are functions of `statistic_rules`; what is allowed to break one is listed here, each with its reason. The
type itself is tested in tests/library/test_private_type.py.
"""

import ast
from functools import cache
from pathlib import Path
from textwrap import dedent

import pytest
import statistic_rules as rules

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

RAISES = {
    "dpml.encoding._ones_of_long_records": "the number of dimensions",
    "dpml.encoding.unit_scale": "the number of dimensions",
    "dpml.evaluation.histogram.aligned": "whether lengths agree",
    "dpml.evaluation.histogram.read_numbers": "the shape; a value only where nothing is clipped, for study",
    "dpml.mechanisms.aggregate.SampleAndAggregate._block_results": "the shape of what a user's function returns",
    "dpml.mechanisms.columns.numbers.one_dimension": "the number of dimensions",
    "dpml.mechanisms.norms.vectors_of": "the shape",
    "dpml.mechanisms.ranges.RangeMechanism._check": "the shape; counts of records are always finite",
    "dpml.mechanisms.secure._candidates": "the shape",
    "dpml.mechanisms.secure._integers": "the type of the numbers",
    "dpml.mechanisms.smooth.admissible.SmoothNoise._pair": "the shapes; the formulas give finite numbers",
    "dpml.mechanisms.choice._excess": "the shape",
    "dpml.selection.scores.scores_to_choose": "the shape, and whether there are as many features as are wanted",
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


def test_all_modules_are_walked_and_some_are_full_of_statistics():
    assert len(trees()) > 150
    counted = {module: len(rules.statistics(tree)) for module, tree in trees().items()}
    assert counted["dpml.mechanisms.private"] >= 3
    assert counted["dpml.encoding"] >= 5
    assert counted["dpml.selection.scores"] >= 4
    assert sum(counted.values()) >= 40


# ---- the rules -------------------------------------------------------------------------------------------------------


def test_exact_values_are_opened_in_three_modules_and_in_an_audit_only():
    modules = {module for module, tree in trees().items() if rules.openings(tree)}
    assert {m for m in modules if m.split(".")[:2] != AUDITING.split(".")} == set(OPENED)


def test_exact_values_are_shown_for_study_where_it_is_listed():
    assert everywhere(rules.studies) - {"dpml.mechanisms.private"} == set(STUDIES)


def test_statistics_raise_only_for_shapes_and_types():
    assert everywhere(rules.raising) == set(RAISES)


def test_statistics_are_pure():
    assert {(module, *fault) for module, tree in trees().items() for fault in rules.impure(tree)} == set()


def test_a_statistic_is_always_a_decorated_function():
    assert everywhere(rules.undecorated) == set()


def test_every_fit_takes_private_records():
    assert everywhere(rules.unchecked) == {"dpml.estimators.base.PrivateEstimator._private_records"}


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
    assert rules.openings(tree(source))
    assert not rules.openings(tree("from dpml.mechanisms.private import Private, statistic\nopened = 3\nn = opened"))


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
    assert rules.studies(tree(source)) == {where}
    assert not rules.studies(
        tree("from dpml.mechanisms.private import for_study\ndef plot(X):\n    return number_of(X)")
    )


@pytest.mark.parametrize(
    "line",
    [
        "if len(values) < 3: raise InvalidData('too few')",
        "assert values.sum() > 0",
        "for value in values:\n        if value < 0:\n            raise ValueError(value)",
    ],
)
def test_an_error_of_a_statistic_is_seen(line):
    source = "@statistic\ndef total(values):\n    {}\n    return values.sum()"
    assert rules.raising(tree(source.format(line))) == {"total"}
    assert not rules.raising(tree(source.format("assert values is not None")))
    assert not rules.raising(tree(source.format(line).removeprefix("@statistic\n")))
    # nor may a function that it calls
    helper = source.format("check(values)") + "\ndef check(values):\n    " + line
    assert rules.raising(tree(helper)) == {"check"}


IMPURE = [
    # it tells
    "warnings.warn(f'{values.sum()}')",
    "print(values)",
    "logging.info(values)",
    "LOG.debug(values)",
    "open('sums', 'w').write(str(values))",
    "np.save('values', values)",
    # it pays or draws
    "charge(budget, 'add-remove', 1.0)",
    "budget.spend(1.0)",
    "values = Laplace(1.0).release(values)",
    "values = boundary.release(mechanism, values, None)",
    "values = release_row_bounded(values, 1.0, 3)",
    "values = values + boundary.public_randomness(None, 'random')",
    "values = values + rng.normal(size=3)",
    "values = values + np.random.rand(3)",
    "values = values + np.random.default_rng(0).laplace()",
    "values = values[generator.permutation(3)]",
    "Source(None, True).counts(values, 1.0, 1)",
    # it writes to what is around it
    "global TOTAL\n    TOTAL = values.sum()",
    "SEEN.append(values)",
    "SEEN[0] = values",
    "CACHE.total = values",
    "CACHE.table[values.sum()] += 1",
    "np.copyto(TABLE, values)",
    "np.add(values, 1, out=TABLE)",
    "function.total = values",
    "setattr(CACHE, 'total', values)",
    "object.__setattr__(CACHE, 'total', values)",
    # it writes to its arguments
    "values[0] = 0",
    "values += 1",
    "values.total = 3",
    "values.sort()",
    "values['total'] = 3",
    "del values[0]",
    "other['n'] = values.sum()",
    "options.update(total=3)",
    "rest[0].append(values)",
    "np.add(values, 1, out=values)",
    "np.fill_diagonal(values, 0.0)",
    "np.add.at(values, 0, 1)",
    "np.put_along_axis(values, other, 0, axis=0)",
    # or to a view of one
    "table = values\n    table[0] = 0",
    "table = np.asarray(values, dtype=float)\n    table[0] = 0",
    "table = values[1:].reshape(-1)\n    table += 1",
    "table = other if other is not None else values.copy()\n    table[0] = 0",
    "table, total = values, 0\n    table[0] = total",
    "(table := values)[0] = 0",
    "for row in values:\n        row[0] = 0",
    "for k, row in enumerate(values):\n        row[0] = k",
    "[row.sort() for row in values]",
    "parts = {k: part.pop() for k, part in options.items()}",
    "if other:\n        values = values.copy()\n    values[0] = 0",
    "while other:\n        table[0] = 0\n        table = values",
    "with context(values) as table:\n        values[0] = 0",
    "def inner(part):\n        part[0] = 0\n    inner(values)",
    "def inner():\n        nonlocal values\n        values = 0",
    "yield values",
]


SOURCE = """
@statistic
def function(values, other=None, *rest, **options):
    {}
    return values.sum()
"""


@pytest.mark.parametrize("line", IMPURE)
def test_what_is_not_pure_is_seen(line):
    assert rules.impure(tree(SOURCE.format(line)))
    assert not rules.impure(tree(SOURCE.format(line).replace("@statistic", "@cache")))


@pytest.mark.parametrize(
    "line",
    [
        "self.total = 3",
        "self.table[0] = 3",
        "self.seen.append(values)",
        "self.total += 1",
        "table = self.table\n        table += 1",
    ],
)
def test_a_method_that_writes_to_its_object_is_seen(line):
    source = (
        f"class A:\n    @private.statistic\n    def total(self, values):\n        {line}\n        return values.sum()"
    )
    assert {name for name, _ in rules.impure(tree(source))} == {"A.total"}


def test_a_cached_statistic_is_seen():
    assert rules.impure(tree("@lru_cache(8)\n@statistic\ndef total(values):\n    return values.sum()"))
    assert rules.impure(tree("@statistic\n@functools.cache\ndef total(values):\n    return values.sum()"))


@pytest.mark.parametrize(
    "body",
    [
        "table = np.zeros(3)\n    table[0] = 1\n    table += values",
        "table = np.array(values)\n    table[0] = 1\n    np.add.at(table, 0, 1)",
        "values = values.copy()\n    values[0] = 1\n    values.sort()",
        "total = 0\n    for value in values:\n        total += value",
        "parts = []\n    for value in values:\n        parts.append(2 * value)",
        "if other:\n        values = values + 1\n    else:\n        values = np.array(values)\n    values[0] = 0",
        "columns = {}\n    columns['a'] = values\n    columns.setdefault('b', []).append(1)",
        "np.add(values, 1, out=np.empty(3))",
        "table, total = np.zeros(3), values\n    table[0] = total.sum()",
        "log = np.log(values)\n    order = np.sort(log)",
        "release = other\n    values = values * bool(release)",
    ],
)
def test_what_a_statistic_makes_itself_it_may_change(body):
    assert not rules.impure(tree(SOURCE.format(body)))


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
    assert rules.undecorated(tree(begin + use))
    assert not rules.undecorated(tree(begin + "@statistic\ndef total(values):\n    return values.sum()"))
    assert not rules.undecorated(tree(begin + "tiled = statistic(np.tile)"))
    assert not rules.undecorated(tree(begin + "def draw(statistic, rng):\n    return np.size(statistic)"))


def test_a_fit_that_takes_plain_records_is_seen():
    source = "class A:\n    def fit(self, X, y):\n        return self._{}(self.schema, X, y)"
    assert rules.unchecked(tree(source.format("check_records"))) == {"A.fit"}
    assert not rules.unchecked(tree(source.format("private_records")))
