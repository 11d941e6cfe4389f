"""Fits of naive Bayes and of local search hold exact values as private ones, from the records to the draw."""

import numpy as np
import pandas as pd
import pytest
from observing import assert_function_of_releases
from scipy import sparse
from sklearn.base import clone

from dpml.classifiers import BernoulliNB, MixedNB, PrivatePredictionNB, PrivGene, PrivLocal
from dpml.classifiers.local_search import Records, release_genetic_search, release_local_search
from dpml.classifiers.private_prediction import label_scores, release_labels
from dpml.mechanisms import boundary
from dpml.mechanisms.private import Private, is_private, opened
from dpml.parquet import ParquetTable
from dpml.schema import Feature, Schema

BINARY = Schema.binary(6, n_lower=150)
FEW = Schema.binary(6, n_lower=4000)  # by which the private look decides whether few features are enough
MIXED = Schema([Feature("c", "categorical", (0, 1, 2)), Feature("b"), Feature("z", "numeric", lower=-1, upper=3)])
SCALED = Schema([Feature("b"), Feature("z", "numeric", lower=-1, upper=3)], n_lower=150)
SEED, SECURE = {"random_state": 0}, {"release": True}


def records(n=200, seed=0):
    """Return binary records, records of every kind, and labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    X = (rng.random((n, 6)) < np.where(y, 0.7, 0.2)[:, None]).astype(float)
    frame = {"c": rng.integers(3, size=n), "b": X[:, 0], "z": np.clip(rng.normal(y, 0.5), -1, 3)}
    return X, pd.DataFrame(frame), y


X, FRAME, Y = records()


def from_parquet(X, y, folder, **options):
    names = [f"x{j}" for j in range(6)]
    pd.DataFrame(X.astype(int), columns=names).assign(y=y).to_parquet(folder / "records.parquet")
    table = ParquetTable(folder, "y", Schema.binary(6, names, n_lower=150))
    return BernoulliNB(1.0, **options, **SEED).fit_parquet(table)


def binary(model, kind=np.asarray):
    return lambda X, frame, y, folder: clone(model).fit(kind(X), y)


def mixed(model, columns=("c", "b", "z")):
    return lambda X, frame, y, folder: clone(model).fit(frame[list(columns)], y)


# what tests/library/test_wholes_estimators.py fits in no such way
FITS = {
    "BernoulliNB[sparse]": binary(BernoulliNB(1.0, schema=BINARY, selection="none", **SEED), sparse.csr_array),
    "BernoulliNB[auto]": binary(BernoulliNB(9.0, schema=FEW, on_invalid="clip", **SEED)),
    "BernoulliNB[Parquet]": lambda X, frame, y, folder: from_parquet(X, y, folder, selection="none"),
    "BernoulliNB[Parquet, published]": lambda X, frame, y, folder: from_parquet(X, y, folder, method="published"),
    **{f"MixedNB[{m}]": mixed(MixedNB(1.0, method=m, schema=MIXED, **SEED)) for m in ("vaidya", "published")},
    **{f"{k.__name__}[published]": binary(k(1.0, calibration="published", schema=BINARY, **SEED))
       for k in (PrivLocal, PrivGene)},
    "PrivGene[numbers]": mixed(PrivGene(1.0, schema=SCALED, **SEED), ("b", "z")),
}  # fmt: skip
pytestmark = pytest.mark.filterwarnings("ignore::dpml.exceptions.FactWarning")


@pytest.fixture(params=FITS)
def fit(request, tmp_path):
    return lambda *data: FITS[request.param](*data, tmp_path)


def test_every_statistic_that_a_fit_releases_is_private(monkeypatch, fit):
    release, private = boundary.release, []

    def noted(mechanism, statistic, rng):
        private.append(is_private(statistic))
        return release(mechanism, statistic, rng)

    monkeypatch.setattr(boundary, "release", noted)
    fit(X, FRAME, Y)
    assert private
    assert all(private)


def test_a_fit_depends_on_the_records_through_releases_alone(fit):
    # as many records, because in "partitioned" each is assigned a feature by public randomness
    assert_function_of_releases(lambda data: fit(*data), (X, FRAME, Y), records(seed=1))


def test_what_predicts_labels_holds_its_counts_as_private_values():
    model = PrivatePredictionNB(1.0, schema=MIXED, **SEED).fit(FRAME, Y)
    assert type(model._counts.on) is type(model._counts.n) is Private
    arrays = {name for name, value in vars(model).items() if isinstance(value, np.ndarray)}
    assert arrays == {"classes_", "feature_names_in_"}
    with pytest.raises(TypeError, match="Private"):
        release_labels(label_scores(model._counts, model._design, FRAME, 1.0), 1.0, 1.0, rng=np.random.default_rng(0))


def same(private, plain):
    assert is_private(private)
    assert not is_private(plain)
    np.testing.assert_array_equal(opened(private), plain)


@pytest.mark.parametrize("table", [X, sparse.csr_array(X)], ids=["dense", "sparse"])
def test_private_records_are_searched_like_plain_ones_and_tell_public_facts_only(table):
    plain = Records(table, 2.0 * Y - 1, 6)
    private = Records(Private(table), Private(2.0 * Y - 1), 6)
    assert (private.dimension, private.n_ones, private.intercept) == (plain.dimension, 6, True)
    theta = np.random.default_rng(1).normal(size=(2, 7))
    margins = plain.margins(theta)
    same(private.margins(theta), margins)
    moved = private.moved(private.margins(theta), np.array([0, 6]), np.array([0.5, -1.0]))
    same(moved, plain.moved(margins, np.array([0, 6]), np.array([0.5, -1.0])))
    same(private.gains(moved, 0.5, "hinge"), plain.gains(opened(moved), 0.5, "hinge"))
    same(private.objective(theta, "logistic"), plain.objective(theta, "logistic"))
    for search in (release_local_search, release_genetic_search):
        one, other = (search(r, 2.0, n_iterations=3, rng=np.random.default_rng(2)) for r in (private, plain))
        np.testing.assert_array_equal(one, other)
        assert search(private, 2.0, n_iterations=2, draws=3, rng=np.random.default_rng(2)).shape == (3, 7)
    for unknown in (lambda r: len(r.signs), lambda r: r.n > 100, lambda r: np.zeros(r.n), lambda r: r.signs.sum()):
        with pytest.raises((TypeError, AttributeError), match=r"[Pp]rivate"):
            unknown(private)


@pytest.mark.parametrize("n", [0, 200])
def test_counts_from_parquet_are_private_where_a_fit_asks(tmp_path, n):
    names = list("abcdef")
    pd.DataFrame(X.astype(int), columns=names).assign(y=Y)[:n].to_parquet(tmp_path / "records.parquet")
    plain, private = (ParquetTable(tmp_path, "y", memory=1, private=private) for private in (False, True))
    mask = np.arange(6) < 4
    for one, other in (
        (private.counts(), plain.counts()),
        (private.shared_counts(2, mask), plain.shared_counts(2, mask)),
    ):
        same(one.on, other.on)
        same(one.n, other.n)
