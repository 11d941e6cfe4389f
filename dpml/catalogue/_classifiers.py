"""Claims of the classifiers."""

from typing import Any

import numpy as np

from dpml.catalogue._method import Case, Method, table_from_rows
from dpml.catalogue._recorded import recorded
from dpml.catalogue._typed import typed_published, typed_row_bounded
from dpml.classifiers import BernoulliNB
from dpml.classifiers.naive_bayes.as_published import class_sums_by_width, resampled_count, resampled_count_loss
from dpml.counts import contingency, release_published, release_row_bounded
from dpml.encoding import SHARE_GRID, share_rows
from dpml.schema import Schema

D, R = 3, 2
SCHEMA = Schema.binary(D)
CLASS_SHARE = 0.1
BASE = [([0, 1], 0), ([1], 0), ([2], 1), ([0, 2], 1)]


def _tables(relation: str) -> tuple[Any, Any]:
    before: list = [] if relation == "add-remove" else [([0, 1], 0)]
    return table_from_rows(BASE + before, D), table_from_rows([*BASE, ([1, 2], 1)], D)


def _many_ones(relation: str) -> tuple[Any, Any]:
    """Return tables where a record of too many ones is added, or replaces one whose label is no class."""
    X, codes = table_from_rows([*BASE, ([0, 1, 2], 1)], D)
    if relation == "add-remove":
        return (X[:-1], codes[:-1]), (X, codes)
    return (X, np.append(codes[:-1], 7)), (X, codes)


def _row_bounded(neighbours: Any = _tables, words: str = "a record of r ones is added, or replaced", **options: Any):
    def case(epsilon: float, relation: str) -> Case:
        more: dict[str, Any] = {"row_bound": R, "relation": relation, "class_share": CLASS_SHARE, "selection": "none"}
        if not options.get("release"):
            more["random_state"] = 0

        def call(data):
            return BernoulliNB(epsilon, schema=SCHEMA, **more, **options).fit(*data)

        def sample(data, draws, rng):
            X, codes = data
            known = codes < 2  # a record whose label is no class is dropped
            exact = contingency(share_rows(X[known], R), codes[known], 2)
            facts: dict[str, Any] = {"relation": relation, "grid": SHARE_GRID, "class_share": CLASS_SHARE}
            noise: dict[str, Any] = {"secure": True} if options.get("release") else {"rng": rng}
            noisy = release_row_bounded(exact, epsilon, R, draws=draws, **facts, **noise)
            return np.concatenate([noisy.on.reshape(draws, -1), noisy.n], axis=1)

        draws = 2_000 if options.get("release") else 20_000
        data, neighbour = neighbours(relation)
        others = () if neighbours is _tables else (_tables(relation),)
        return Case(data, neighbour, call, sample, recorded(call), draws=draws, words=words, others=others)

    return case


def _published(epsilon: float, relation: str) -> Case:
    def call(data):
        model = BernoulliNB(epsilon, method="published", relation=relation, schema=SCHEMA, random_state=0)
        return model.fit(*data)

    def sample(data, draws, rng):
        noisy = release_published(contingency(*data, 2), epsilon, relation=relation, draws=draws, rng=rng)
        return np.concatenate([noisy.on.reshape(draws, -1), noisy.off.reshape(draws, -1)], axis=1)

    return Case(*_tables(relation), call, sample, recorded(call), words="a record is added, or replaced")


WIDE, SIGNAL, OTHER = 400, list(range(20)), list(range(20, 40))


def few_of_many(relation: str) -> tuple[Any, Any]:
    """Return tables so wide that a few features are chosen first. Class 1 has 20 features, and so has one of class 0.

    Whichever of the 20 features is chosen, this record is counted in it. Under replace-one it is of class 1 first, and
    has 20 features of class 0 too, which then gain what the others lose.
    """
    if relation == "replace-one":
        rows = [(SIGNAL, 1), ([], 0)] * 45 + [(SIGNAL, 1), (OTHER, 0)] * 5
        sides = [[*rows, (SIGNAL + OTHER, label)] for label in (1, 0)]
    else:
        rows = [(SIGNAL, 1), ([], 0)] * 50
        sides = [rows, [*rows, (SIGNAL, 0)]]
    return table_from_rows(sides[0], WIDE), table_from_rows(sides[1], WIDE)


def _selecting(make: Any, shown: Any):
    """Return a case of an estimator that chooses features first. ``make(epsilon, relation, seed)`` returns it."""

    def case(epsilon: float, relation: str) -> Case:
        def call(data):
            return make(epsilon, relation, 0).fit(*data)

        def sample(data, draws, rng):
            fits = [make(epsilon, relation, np.random.default_rng(rng.integers(2**63))) for _ in range(draws)]
            return np.array([shown(fit.fit(*data)) for fit in fits])

        words = "a record that contradicts the chosen features is added, or replaces one that agrees"
        return Case(*few_of_many(relation), call, sample, recorded(call), draws=100, words=words)

    return case


WIDE_SCHEMA = Schema.binary(WIDE, n_lower=100)


def counts_of(model: Any) -> Any:
    return np.append(np.ravel(model.feature_log_prob_), model.class_log_prior_)


def _nb(epsilon: float, relation: str, seed: Any) -> BernoulliNB:
    return BernoulliNB(epsilon, relation=relation, schema=WIDE_SCHEMA, random_state=seed)


def _resampled(epsilon: float, relation: str) -> Case:
    class Exact:
        def privacy_loss(self, data, neighbour):
            return resampled_count_loss(data, neighbour, epsilon)

    def call(data):
        return resampled_count(data, epsilon, rng=np.random.default_rng(0))

    return Case(
        0,
        1,
        call,
        lambda data, draws, rng: resampled_count(data, epsilon, draws=draws, rng=rng),
        Exact(),
        score=lambda outputs: -outputs,
        draws=400_000,
        words="a count of 0, and one record is added",
    )


def _width(epsilon: float, relation: str) -> Case:
    values, codes = np.full(100, 100.5), np.arange(100) % 2
    moved = codes.copy()
    moved[0] = 1

    def sample(data, draws, rng):
        values, codes = data
        return class_sums_by_width(values, codes, 100.0, 101.0, epsilon, draws=draws, rng=rng)

    words = "100 records in [100, 101], and one label changes"
    return Case.of_release((values, codes), (values, moved), sample, one=1, words=words)


METHODS = (
    Method(
        "nb-row-bounded",
        "Row-bounded naive Bayes",
        "classifier",
        ("dpml.classifiers.BernoulliNB", "dpml.classifiers.BernoulliNB[row-bounded]"),
        "derived here (docs/explanation/errata.md), with the row sampling of [stoddard2014]",
        "ε",
        _row_bounded(),
        editable=typed_row_bounded(),
    ),
    Method(
        "nb-row-bounded-clip",
        "Row-bounded naive Bayes, invalid input clipped",
        "classifier",
        ("dpml.classifiers.BernoulliNB[row-bounded]",),
        "derived here (docs/explanation/errata.md): more ones share the bound, "
        "a record whose label is no class is dropped",
        "ε",
        _row_bounded(_many_ones, "a record of too many ones is added, or replaces an invalid one", on_invalid="clip"),
    ),
    Method(
        "nb-row-bounded-release",
        "Row-bounded naive Bayes, release",
        "classifier",
        ("dpml.classifiers.BernoulliNB[row-bounded]",),
        "the same with integer noise (OpenDP)",
        "ε",
        _row_bounded(_many_ones, "a record of too many ones is added, or replaces an invalid one", release=True),
    ),
    Method(
        "nb-posterior",
        "Row-bounded naive Bayes, rates averaged over their posterior",
        "classifier",
        ("dpml.classifiers.BernoulliNB[row-bounded]",),
        "post-processing of the counts of nb-row-bounded, after [bernstein-sheldon2018]",
        "ε",
        _row_bounded(shrinkage="posterior"),
    ),
    Method(
        "nb-selecting",
        "Row-bounded naive Bayes that chooses features first",
        "classifier",
        ("dpml.classifiers.BernoulliNB[row-bounded]", "dpml.selection.choose_features"),
        "derived here: the choice and the counts share ε",
        "ε",
        _selecting(_nb, shown=counts_of),
    ),
    Method(
        "nb-published",
        "Naive Bayes by Algorithm 1",
        "classifier",
        ("dpml.classifiers.BernoulliNB[published]",),
        "[antonova2016], Algorithm 1",
        "ε under add/remove",
        _published,
        editable=typed_published(),
    ),
    Method(
        "resampled-count",
        "Counts resampled until positive",
        "classifier",
        ("dpml.classifiers.naive_bayes.as_published.resampled_count",),
        "[vaidya2013], as described in [antonova2016], section 3.3.5",
        "ε for each count",
        _resampled,
        cost="ε + log(2 - e^-ε) for each count: 1.490 at ε = 1",
        true_epsilon=lambda epsilon: float(epsilon + np.log(2 - np.exp(-epsilon))),
        relations=("add-remove",),
    ),
    Method(
        "class-sums-by-width",
        "Class sums with noise for the width of the domain",
        "classifier",
        ("dpml.classifiers.naive_bayes.as_published.class_sums_by_width",),
        "a fault in a current library, described in docs/explanation/errata.md",
        "ε",
        _width,
        private=False,
        cost="201 times the claim for bounds (100, 101) when a label changes",
        true_epsilon=lambda epsilon: 201.0 * epsilon,
        relations=("replace-one",),
    ),
)
