"""Records as integer codes: the same numbers as the dense table, and no dense table in a fit."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from dpml.classifiers import AutoClassifier
from dpml.classifiers.linear import ClippedLogistic, coded, minimiser, release_classes, release_objective, solver
from dpml.classifiers.linear.classes import ClippedSoftmax, minimise_classes
from dpml.classifiers.linear.coded import CodedRows
from dpml.classifiers.linear.perturbation import check_rows, different_records
from dpml.exceptions import InvalidData
from dpml.mechanisms.norms import OneHotNorm, contrasts
from dpml.mechanisms.private import Private, opened
from dpml.schema import Feature, Schema

SIZES = ((3, 2, 5, 4), (2,) * 12, (40, 3, 30), (6,), ())


def tables(n, sizes, seed=0, scalars=2):
    """Return records in the unit ball, coded and dense, and the norm that bounds them."""
    rng = np.random.default_rng(seed)
    length = np.sqrt(sum(1 - 1 / d for d in sizes) + scalars)
    codes = [rng.integers(d, size=n) for d in sizes]
    parts = [contrasts(d) / length for d in sizes]
    scalar = rng.uniform(-1, 1, (n, scalars)) / length
    dense = np.hstack([*(part[code] for part, code in zip(parts, codes, strict=True)), scalar])
    norm = OneHotNorm(1.0, sizes, n_scalars=scalars, sensitivity=1 / length)
    return CodedRows.merged(codes, parts, scalar), dense, norm


@pytest.fixture(params=["whole", "small blocks"])
def blocks(request, monkeypatch):
    if request.param == "small blocks":
        monkeypatch.setattr(coded, "BLOCK", 7)
        monkeypatch.setattr(coded, "PAIR_BLOCK", 11)


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("n", [0, 1, 60, 400])
def test_operations_are_those_of_the_dense_table(n, sizes):
    X, dense, _ = tables(n, sizes)
    rng = np.random.default_rng(1)
    theta, values = rng.normal(size=(dense.shape[1], 3)), rng.normal(size=(n, 3))
    weights = np.maximum(rng.normal(size=n), 0.0)
    np.testing.assert_array_equal(X.toarray(), dense)
    assert X.shape == dense.shape
    np.testing.assert_allclose(X @ theta, dense @ theta, atol=1e-13)
    np.testing.assert_allclose(X @ theta.astype(np.float32), dense @ theta, atol=1e-5)
    assert (X @ theta.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(X.sums(values).astype(float), values.T @ dense, atol=1e-12)
    through = X.through(theta, lambda rows, product: np.tanh(product) * values[rows])
    np.testing.assert_allclose(through, (np.tanh(dense @ theta) * values).T @ dense, atol=1e-12)
    np.testing.assert_allclose(X.square(weights), dense.T @ (weights[:, None] * dense), atol=1e-12)
    np.testing.assert_allclose(X.squares(weights), weights @ dense**2, atol=1e-12)


def test_neighbouring_attributes_are_merged():
    X, _, _ = tables(400, (2,) * 12)
    assert [len(part) for part in X.parts] == [16, 16, 16]  # two of them have 256 pairs of values, at most 400
    assert X.codes.dtype == np.uint8
    large, _, _ = tables(70_000, (2,) * 12)
    assert [len(part) for part in large.parts] == [256, 16]


def test_sums_lose_few_digits():
    # 300,000 records of one class and then of the other, nearly all of one value
    n = 300_000
    values = np.where(np.arange(n) < n // 2, 1.0, -1.0) * np.random.default_rng(0).random(n)
    code = np.zeros(n, dtype=int)
    code[:10] = 1
    X = CodedRows.merged([code], [contrasts(2)], np.ones((n, 1)))
    exact = values.astype(np.longdouble)
    expected = [contrasts(2)[0, 0] * (exact[10:].sum() - exact[:10].sum()), exact.sum()]
    np.testing.assert_allclose(X.sums(values[:, None])[0].astype(float), np.array(expected, dtype=float), atol=1e-10)


@pytest.mark.parametrize("columns", [1500, 4])
def test_minimum_is_that_of_the_dense_table(columns, monkeypatch):
    monkeypatch.setattr(solver, "FACTOR_COLUMNS", columns)
    X, dense, _ = tables(500, (3, 2, 5, 4))
    signs = np.random.default_rng(2).choice([-1.0, 1.0], 500)
    for b in (np.zeros(dense.shape[1]), np.random.default_rng(3).normal(size=(4, dense.shape[1]))):
        found, expected = (minimiser(each, signs, 0.5, linear=b, loss=ClippedLogistic()) for each in (X, dense))
        np.testing.assert_allclose(found, expected, atol=4e-8)


def test_minimum_of_classes_is_that_of_the_dense_table():
    X, dense, _ = tables(400, (3, 2, 5, 4), scalars=1)
    rng = np.random.default_rng(4)
    codes, starts = rng.integers(3, size=400), rng.normal(size=(400, 3))
    b = rng.normal(size=(2, 3, dense.shape[1]))
    b -= b.mean(axis=1, keepdims=True)
    found, expected = (minimise_classes(each, codes, starts, 0.5, 1e-8, b, ClippedSoftmax(3)) for each in (X, dense))
    np.testing.assert_allclose(found, expected, atol=4e-8)


@pytest.mark.parametrize("secure", [False, True])
def test_releases_are_those_of_the_dense_table(secure):
    if secure:
        pytest.importorskip("opendp")
    X, dense, norm = tables(300, (3, 2, 5))
    signs = np.random.default_rng(5).choice([-1.0, 1.0], 300)
    released = []
    for each in (X, dense):
        noise = {"secure": True} if secure else {"rng": np.random.default_rng(6)}
        epsilon = 1e7 if secure else 1.0
        released.append(release_objective(Private(each), Private(signs), epsilon, 2.0, norm=norm, **noise))
    np.testing.assert_allclose(*released, atol=1e-4 if secure else 1e-7)


def test_releases_of_ordered_classes_are_those_of_the_dense_table():
    X, dense, norm = tables(300, (3, 2, 5), scalars=1)
    rng = np.random.default_rng(7)
    codes, starts = rng.integers(3, size=300), rng.normal(size=(300, 3))
    options = {"n_classes": 3, "norm": norm, "ordered": (True, False, True)}
    found, expected = (
        release_classes(
            Private(each), Private(codes), Private(starts), 1.0, 2.0, rng=np.random.default_rng(8), **options
        )
        for each in (X, dense)
    )
    np.testing.assert_allclose(found, expected, atol=1e-7)


@pytest.mark.parametrize("fault", ["scalar", "attribute"])
def test_longer_records_are_refused_or_count_as_zero(fault):
    X, dense, norm = tables(50, (3, 2, 5))
    assert check_rows(X, norm, 1.0) is X
    assert opened(check_rows(Private(X), norm, 1.0)) is X
    if fault == "scalar":
        X.dense[3] = dense[3, -2:] = 0.9
        long = np.arange(50) == 3
    else:  # a value of the last attribute that is too long
        part = X.parts[-1].copy()
        part[0] *= 3
        X = CodedRows(X.codes, (*X.parts[:-1], part), X.dense)
        dense = X.toarray()
        long = X.codes[-1] == 0
    with pytest.raises(InvalidData, match="longer than its bound"):
        check_rows(X, norm, 1.0)
    kept = opened(check_rows(Private(X), norm, 1.0))
    np.testing.assert_array_equal(kept, np.where(long[:, None], 0.0, dense))


def test_neighbours_differ_in_one_record():
    rng = np.random.default_rng(9)
    codes, parts, scalar = [rng.integers(d, size=36) for d in (2, 3)], [contrasts(2), contrasts(3)], np.ones((36, 1))
    signs = rng.choice([-1.0, 1.0], 36)
    whole = CodedRows.merged(codes, parts, scalar)
    smaller = CodedRows.merged([code[:35] for code in codes], parts, scalar[:35])
    assert (len(whole.parts), len(smaller.parts)) == (1, 2)  # merged differently, but equal records have equal bytes
    gone, come = different_records((whole, signs), (smaller, signs[:35]))
    assert not come
    np.testing.assert_array_equal(gone, [whole.toarray()[35] * signs[35]])


def numeric_table(n):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"x{j}": rng.normal(50, 15, n).clip(0, 100) for j in range(20)})
    y = (X["x0"] - X["x1"] + rng.normal(0, 20, n) > 0).to_numpy().astype(int)
    features = [Feature(name, "numeric", lower=0, upper=100) for name in X]
    return X, y, Schema(tuple(features), n_lower=n)


@pytest.mark.parametrize("classes", [2, 3])
def test_fit_makes_no_dense_one_hot_table(classes):
    n = 30_000
    X, y, schema = numeric_table(n)
    if classes == 3:
        y = y + (X["x2"] > 60).to_numpy()
        schema = Schema(schema.features, (0, 1, 2), n_lower=n)
    tracemalloc.start()
    model = AutoClassifier(1.0, schema=schema, random_state=0).fit(X, y)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert model.method_ == "grid and weights"
    columns = sum(model._model_of_table.layout.sizes)
    assert most < n * columns * 8 / 2
