"""The default classifier: its parts against naive references, its rule, and what its fit costs and says."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from observing import observing
from people import EQUAL, THREE, checked
from scipy import optimize, sparse
from scipy.special import expit
from scipy.stats import multivariate_normal

from dpml.classifiers.automatic import Layout
from dpml.classifiers.automatic.additive import (
    LOSS,
    MOST_MARGIN,
    columns_of_attributes,
    grid_margin,
    group_counts,
    others_of,
    release_others,
    release_started,
    scores_of_counts,
    started_lambda,
    started_table,
)
from dpml.classifiers.automatic.bins import release_histograms
from dpml.classifiers.automatic.layout import MOST_GROUPS, MOST_PRIVATE_GROUPS
from dpml.classifiers.automatic.shrinkage import LEAST_RATIO, VARIANCES, shrunken, shrunken_rates
from dpml.classifiers.automatic.tables import TableModel, cells_of, no_grid
from dpml.classifiers.automatic.words import OUTSTANDING, SPREAD, shrunken_models
from dpml.classifiers.grid import NoisyGrid, cell_probabilities, grid_counts
from dpml.classifiers.linear import order_covariance, release_objective
from dpml.classifiers.linear._classes import ClippedSoftmax
from dpml.counts import NoisyCounts, row_bounded_scales
from dpml.exceptions import InvalidParameter
from dpml.mechanisms import Laplace, OneHotNorm
from dpml.mechanisms.norms import contrasts
from dpml.mechanisms.secure_one_hot import SecureOneHot
from dpml.schema import Feature, Schema

# the age in bins of equal width, stated


def test_every_record_has_one_place_in_every_attribute():
    X, _, layout = checked(n=50)
    assert [attribute.feature.name for attribute in layout.attributes] == ["age", "job", "owner", "sex"]
    places = layout.places(X)
    growing = [80 / 2**power for power in (4, 6, 7, 8, 10, 12, 14, 20)]
    cuts = sorted({*growing, *(5.0 * k for k in range(1, 16))})
    assert places[0].tolist() == [sum(age >= cut for cut in cuts) for age in X["age"]]
    assert places[1].tolist() == [("none", "part", "full").index(job) for job in X["job"]]
    assert places[2].tolist() == X["owner"].astype(int).tolist()
    assert places[3].tolist() == [0 if f else 1 for f in X["sex=f"]]


def test_groups_are_columns_of_a_one_hot_table():
    X, codes, layout = checked(n=50)
    groups = layout.groups(layout.places(X))
    assert layout.sizes == (8, 3, 2, 2)
    cuts = (80 / 2**20, 80 / 2**10, 80 / 2**7, 5, 20, 40, 60)
    assert groups[:, 0].tolist() == [sum(age >= cut for cut in cuts) for age in X["age"]]
    one_hot = np.zeros((50, 15))
    for i, columns in enumerate(groups):
        one_hot[i, columns] = 1
    assert one_hot.sum(axis=1).tolist() == [4] * 50
    expected = [one_hot[codes == c].sum(axis=0) for c in (0, 1)]
    np.testing.assert_array_equal(group_counts(groups, codes, layout, 2), expected)


def test_binary_tables_dense_sparse_and_framed_have_the_same_places():
    schema = Schema((Feature("a"), *(Feature(f"c={v}", block="c", exhaustive=True) for v in "xyz")))
    X = np.array([[1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 1.0]])
    layout = Layout.of(schema)
    for table in (X, sparse.csr_array(X), pd.DataFrame(X, columns=schema.feature_names)):
        assert [place.tolist() for place in layout.places(table)] == [[1, 0, 1], [1, 0, 2]]


def test_noise_of_histograms_and_counts_follows_the_sensitivity():
    exact = np.zeros((3, 8))
    for relation, factor in (("add-remove", 1), ("replace-one", 2)):
        options = {"relation": relation, "rng": np.random.default_rng(0)}
        with observing() as passed:
            _, scale = release_histograms(exact, 3, 0.5, **options)
            release_others(exact, (2, 6), np.zeros(3), 0.5, **options)
        expected = [Laplace(0.5, 3 * factor), OneHotNorm(0.5, (2, 6), sensitivity=factor)]
        assert [mechanism for mechanism, _ in passed] == expected
        assert scale == expected[0].scale
        with observing() as passed:
            _, scale = release_others(exact, (2, 6), np.zeros(3), 0.5, relation=relation, secure=True)
        assert [mechanism for mechanism, _ in passed] == [SecureOneHot(0.5, (2, 6), factor)]
        assert scale == pytest.approx(expected[1].deviation / np.sqrt(2), rel=2e-3)


def test_released_contrasts_and_class_sizes_make_the_counts():
    counts = np.array([[3.0, 1.0, 2.0, 0.0, 2.0], [5.0, 4.0, 0.0, 9.0, 0.0]])
    noisy, scale = release_others(counts, (2, 3), np.array([4.0, 9.0]), 1e9, rng=np.random.default_rng(0))
    np.testing.assert_allclose(noisy, counts, atol=1e-6)
    drawn, scale = release_others(
        np.broadcast_to(counts, (4000, 2, 5)), (2, 3), np.array([4.0, 9.0]), 1.0, rng=np.random.default_rng(0)
    )
    noise = np.concatenate(
        [(drawn - counts)[..., :2] @ contrasts(2), (drawn - counts)[..., 2:] @ contrasts(3)], axis=-1
    )
    assert noise.std() / np.sqrt(2) == pytest.approx(scale, rel=0.03)


def released(layout, X, codes, levels, scale=1e-9):
    records = layout.records(X, codes)
    counts = grid_counts(records, levels).astype(float)
    return records, NoisyGrid(layout.taxonomies, levels, counts, scale, float(len(codes)), 1.0, 1)


def test_cells_are_those_of_the_grid():
    X, codes, layout = checked(EQUAL, n=300)
    records, grid = released(layout, X, codes, (1, 1, 0, 0))
    cell = cells_of(grid, records.places)
    assert cell.tolist() == [
        3 * int(age >= 40) + ("none", "part", "full").index(job) for age, job in zip(X["age"], X["job"], strict=True)
    ]
    assert others_of(layout, grid) == (2, 3)


def test_a_twin_has_the_bins_of_equal_width_and_no_column():
    X, codes, layout = checked(n=300)
    binned = layout.with_levels({0: [[10.0], [10.0, 20.0]]})
    assert [t.sizes for t in binned.taxonomies] == [(1, 2, 3), (1, 3), (1, 2), (1, 2), (1, 2, 4, 8, 16)]
    assert binned.sizes == (3, 3, 2, 2)
    assert len(binned.places(X)) == 5
    assert binned.groups(binned.places(X)).shape == (300, 4)
    for chosen, others in (((0, 0, 1, 0, 2), (1, 3)), ((1, 0, 0, 0, 0), (1, 2, 3))):
        assert others_of(binned, released(binned, X, codes, chosen)[1]) == others


def test_private_bins_have_more_groups_and_of_many_attributes_no_twin():
    features = [Feature(f"x{i}", "numeric", lower=0, upper=16) for i in range(8)]
    levels = [[8.0], [4.0, 8.0, 12.0], [2.0 * k for k in range(1, 8)], [1.0 * k for k in range(1, 16)]]
    for number, twins in ((4, 4), (5, 0)):
        layout = Layout.of(Schema(tuple(features[:number]))).with_levels(dict.fromkeys(range(number), levels))
        assert len(layout.twins) == twins
        assert layout.sizes == (MOST_PRIVATE_GROUPS,) * number
    assert Layout.of(Schema(tuple(features[:2]))).sizes == (MOST_GROUPS,) * 2
    assert replace(Layout.of(Schema(tuple(features[:2]))), most_groups=6).sizes == (6, 6)


def test_scores_of_counts_are_naive_bayes_beside_the_grid():
    X, codes, layout = checked(n=3000)
    records, grid = released(layout, X, codes, (1, 1, 0, 0))
    groups = layout.groups(records.places)
    others = others_of(layout, grid)
    exact = group_counts(groups, codes, layout, 2)[:, columns_of_attributes(layout, others)]
    log_cells = np.log(cell_probabilities(grid))
    model = scores_of_counts(exact, 3.0, layout, others, log_cells)
    found = model.scores(cells_of(grid, records.places)[:5], groups[:5])
    for i in range(5):
        for c in (0, 1):
            expected = log_cells[c, cells_of(grid, records.places)[i]]
            for k, a in enumerate(others):
                rates = shrunken_rates(exact[:, 2 * k : 2 * k + 2], 3.0, False)
                expected += np.log(rates[c, groups[i, a] - layout.starts[a]])
            assert found[i, c] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("ordered", [False, True])
def test_counts_move_from_the_pooled_rate_as_far_as_they_stand_out(ordered):
    counts = np.random.default_rng(0).normal([[30, 60, 90], [90, 20, 70], [40, 40, 10]], 4.0)
    b, n = 5.0, counts.sum(axis=1)
    pooled = counts.sum(axis=0) + np.sqrt(6) * b + 1
    E = np.outer(n, pooled / pooled.sum())
    share = n / n.sum()
    V = 2 * b * b * ((1 - share) ** 2 + 2 * share**2)[:, None] + E
    x = counts - E
    covariance = order_covariance(3) if ordered else np.eye(3)
    # the density of two differences of groups, which say all but the sum
    apart = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]])

    def likely(spread):
        parts = [spread * np.diag(E[c]) @ covariance @ np.diag(E[c]) + np.diag(V[c]) for c in range(3)]
        return sum(multivariate_normal.logpdf(apart @ x[c], cov=apart @ part @ apart.T) for c, part in enumerate(parts))

    spread = max(VARIANCES, key=likely)
    assert spread > 0
    expected = np.empty((3, 3))
    for c in range(3):
        prior = spread * np.diag(E[c]) @ covariance @ np.diag(E[c])
        expected[c] = E[c] + prior @ np.linalg.inv(prior + np.diag(V[c])) @ x[c]
    expected = np.maximum(expected, LEAST_RATIO * E)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shrunken_rates(counts, b, ordered), expected, rtol=1e-9)


@pytest.mark.parametrize("secure", [False, True])
def test_class_sizes_are_released_with_the_counts_where_nothing_tells_them(secure):
    counts = np.array([[30.0, 10.0, 25.0, 10.0, 5.0], [5.0, 4.0, 0.0, 9.0, 0.0]])
    noise = {"secure": True} if secure else {"rng": np.random.default_rng(0)}
    with observing() as passed:
        noisy, _ = release_others(counts, (2, 3), None, 1e6, **noise)
    np.testing.assert_allclose(noisy, counts, atol=1e-2)
    # a record's class is one more attribute, of which it has one value
    assert passed[0][0].sizes == (2, 3, 2)
    assert noisy.shape == counts.shape


def test_released_class_sizes_have_the_noise_that_they_are_shrunk_for():
    # so far apart that nothing is shrunk: the deviation is that of a scalar of the norm
    counts = np.tile([[6e8, 3e8], [6e7, 4e7]], (4000, 1, 1))
    sizes = release_others(counts, (2,), None, 0.5, rng=np.random.default_rng(0))[0].sum(axis=-1)
    variance = OneHotNorm(0.5, (2,), n_scalars=1).scale ** 2 * 3 * 4 / 3
    np.testing.assert_allclose(sizes.var(axis=0), variance, rtol=0.15)
    np.testing.assert_allclose(sizes.mean(axis=0), [9e8, 1e8], rtol=1e-6)
    assert shrunken(np.array([90.0, 100.0, 110.0]), 200.0).tolist() == [100.0] * 3


def test_noise_alone_adds_nothing():
    _, _, layout = checked(n=100)
    noisy = np.random.default_rng(0).laplace(scale=10, size=(2, 15))
    model = scores_of_counts(noisy, 1e7, layout, (0, 1, 2, 3), np.zeros((2, 1)))
    assert np.ptp(model.groups, axis=0).max() < 1e-4


def test_records_of_the_started_regression_are_in_the_unit_ball():
    X, _, layout = checked(n=100)
    groups = layout.groups(layout.places(X))
    table, norm, groups_of = started_table(groups, np.linspace(-1, 1, 100), layout)
    q = 7 / 8 + 2 / 3 + 1 / 2 + 1 / 2 + 2  # Σ(1 - 1/d) of 8, 3, 2 and 2 groups, the offset and the constant
    assert table.shape == (100, 7 + 2 + 1 + 1 + 2)
    assert norm.sizes == (8, 3, 2, 2)
    assert norm.sensitivity == pytest.approx(1 / np.sqrt(q))
    lengths = (table**2).sum(axis=1)
    assert lengths.max() == pytest.approx(1.0)
    np.testing.assert_allclose(norm.norm(table), 1 / np.sqrt(q))
    np.testing.assert_allclose(table[:, -1], 1 / np.sqrt(q))
    # the weights of the groups give a record the score of its row
    theta = np.random.default_rng(0).normal(size=13)
    weights = theta[:-2] @ groups_of
    found = weights[groups].sum(axis=1) + theta[-2] * np.linspace(-1, 1, 100) + theta[-1]
    np.testing.assert_allclose(found, table @ theta * np.sqrt(q))


def test_the_regulariser_is_a_deviation_of_the_noise():
    norm = OneHotNorm(1.0, (2, 2, 2), n_scalars=2, sensitivity=0.5)
    assert started_lambda(0.1, norm, "add-remove", 3.0) == pytest.approx(
        3 * OneHotNorm(0.1, (2, 2, 2), 2, 0.5).deviation
    )
    assert started_lambda(0.1, norm, "replace-one", 1.0) == pytest.approx(
        2 * started_lambda(0.1, norm, "add-remove", 1.0)
    )


def test_without_noise_the_weights_minimise_the_clipped_loss():
    X, codes, layout = checked(EQUAL, n=2000)
    records, grid = released(layout, X, codes, (1, 1, 0, 0))
    p = cell_probabilities(grid)
    cell, groups = cells_of(grid, records.places), layout.groups(records.places)
    [model] = release_started(records, groups, cell, p, layout, 1e8, rng=np.random.default_rng(0))
    found = model.scores(cell, groups)[:, 0]
    table, norm, _ = started_table(groups, grid_margin(p[1])[cell], layout)
    signs = np.where(codes == 1, 1.0, -1.0)
    centre = np.zeros(table.shape[1])
    centre[-2] = 4.0 / norm.sensitivity

    def objective(theta):
        return LOSS.value(signs * (table @ theta)).sum() + 0.005 * ((theta - centre) ** 2).sum()

    start = np.linalg.lstsq(table, found, rcond=None)[0]
    best = optimize.minimize(objective, start, method="L-BFGS-B")
    assert best.fun > objective(start) - 1e-3
    # and the scores state how often a record is of the class
    stated = expit(LOSS.log_odds(found))
    for low, high in ((0.0, 0.3), (0.3, 0.7), (0.7, 1.0)):
        some = (stated >= low) & (stated < high)
        assert stated[some].mean() == pytest.approx(codes[some].mean(), abs=0.06)


def started_by_noise(name, values):
    """Return models with each value of an option, and the probabilities of the cells.

    The noise is that of one seed, and so large that the records say nothing.
    """
    X, codes, layout = checked(EQUAL, n=2000)
    records, grid = released(layout, X, codes, (1, 1, 0, 0))
    p = cell_probabilities(grid)
    parts = records, layout.groups(records.places), cells_of(grid, records.places), p, layout, 1e-5
    return [release_started(*parts, rng=np.random.default_rng(0), **{name: value})[0] for value in values], p


def test_weights_start_where_they_trust_the_grid():
    (whole, quarter), p = started_by_noise("trust", (1.0, 0.25))
    expected = 0.75 * MOST_MARGIN * grid_margin(p[1])
    np.testing.assert_allclose((whole.cells - quarter.cells)[0], expected, rtol=1e-3)


def test_the_factor_of_the_regulariser_pulls_weights_to_the_grids_answer():
    (free, pulled), _ = started_by_noise("reg_factor", (1.0, 4.0))
    # the noise is less with the larger λ, which leaves it more of ε
    np.testing.assert_allclose(free.groups / pulled.groups, 4.5, atol=0.5)


def three_classes():
    X, codes, layout = checked(THREE, n=2000)
    records, grid = released(layout, X, codes, (1, 1, 0, 0))
    p = cell_probabilities(grid)
    return records, layout.groups(records.places), cells_of(grid, records.places), p, layout


def test_without_noise_the_weights_of_three_classes_balance_their_pulls():
    records, groups, cell, p, layout = three_classes()
    [model] = release_started(records, groups, cell, p, layout, 1e8, rng=np.random.default_rng(0))
    scores = model.scores(cell, groups)
    v = ClippedSoftmax(3).residual(scores, (records.codes, 0.0))
    # with a regulariser this small the pulls of 2000 records add up to almost nothing in each group
    sums = np.zeros((15, 3))
    for columns in groups.T:
        np.add.at(sums, columns, v)
    assert np.abs(sums).max() < 1.0
    # and the scores state how often a record is of the class
    stated = np.exp(TableModel(layout, no_grid(layout, 3), model).log_probabilities_at(cell, groups))
    np.testing.assert_allclose(stated.sum(axis=1), 1)
    assert (stated.argmax(axis=1) == scores.argmax(axis=1)).all()
    for c in range(3):
        some = stated[:, c] > 0.6
        assert stated[some, c].mean() == pytest.approx((records.codes[some] == c).mean(), abs=0.12)


def test_weights_of_three_classes_start_where_they_trust_the_grid():
    records, groups, cell, p, layout = three_classes()
    cells = []
    for trust in (1.5, 0.5):
        options = {"layout": layout, "epsilon": 1e-5, "rng": np.random.default_rng(0), "trust": trust}
        cells.append(release_started(records, groups, cell, p, **options)[0].cells)
    # the noise is the same, and so large that the records say nothing
    logs = np.log(p) - np.log(p).mean(axis=0)
    np.testing.assert_allclose(cells[0] - cells[1], logs, rtol=1e-3, atol=1e-3)


def test_ordered_groups_are_those_of_numbers():
    records, groups, cell, p, layout = three_classes()
    with observing() as passed:
        release_started(records, groups, cell, p, layout, 1.0, draws=2, rng=np.random.default_rng(0))
    perturbed = passed[0][0]
    assert perturbed.ordered == (True, False, False, False)
    q = 7 / 8 + 2 / 3 + 1 / 2 + 1 / 2 + 1
    assert perturbed.noise.sensitivity == pytest.approx(1 / np.sqrt(q))
    assert perturbed.noise.n_scalars == 1  # the grid's answer has no weight: a record is the same in every class


def test_no_grid_says_nothing():
    X, _, layout = checked(n=200)
    grid = no_grid(layout, 3)
    np.testing.assert_allclose(cell_probabilities(grid), 1 / 3)
    assert not cells_of(grid, layout.places(X)).any()
    assert others_of(layout, grid) == (0, 1, 2, 3)
    np.testing.assert_array_equal(grid_margin(np.array([0.5, 0.0, 1.0])), [0.0, -1.0, 1.0])


def test_a_centre_moves_the_regulariser():
    rng = np.random.default_rng(0)
    X = np.zeros((0, 3))
    centre = np.array([1.0, -2.0, 5.0])
    found = [
        release_objective(X, np.zeros(0), 1e6, 2.0, centre=c, rng=np.random.default_rng(0))[0] for c in (None, centre)
    ]
    np.testing.assert_allclose(found[1] - found[0], centre, atol=1e-6)
    with pytest.raises(InvalidParameter, match="centre"):
        release_objective(X, np.zeros(0), 1.0, 2.0, centre=np.zeros(2), rng=rng)


def naive_shrunken(noisy, b):
    """The formula of `shrunken_models`, one word of one class at a time, for one draw."""
    on, n = noisy.on[0], np.maximum(noisy.n[0], 1)
    C, D = on.shape
    raw = on.sum(axis=0)
    mean = max(raw.mean(), 1.0)
    noise = 2 * C * b * b
    coef, intercept = np.zeros((C, D)), np.log(n / n.sum())
    for j in range(D):
        signal = max(max(raw.var() - noise, 1e-9), raw[j] ** 2 - 2 * noise)
        pooled = max(signal / (signal + noise) * raw[j] + noise / (signal + noise) * mean, 0.25 * mean)
        rate = min(pooled / n.sum(), 0.95)
        for c in range(C):
            share = n[c] / n.sum()
            E, x = share * pooled, on[c, j] - share * raw[j]
            V = 2 * b * b * ((1 - share) ** 2 + (C - 1) * share**2) + E
            t = max(SPREAD**2, (x**2 - OUTSTANDING * V) / E**2)
            q = min(max(rate * (1 + t * E * x / (t * E**2 + V)), 0.05 * rate, 1e-6), 0.97)
            coef[c, j] = np.log(q / (1 - q))
            intercept[c] += np.log(1 - q)
    return coef, intercept


@pytest.mark.parametrize("C", [2, 3])
def test_shrunken_models_follow_the_formula(C):
    rng = np.random.default_rng(C)
    noisy = NoisyCounts(rng.normal(20, 30, (1, C, 12)), n=rng.uniform(100, 900, (1, C)))
    b, _ = row_bounded_scales(0.3, 2, relation="replace-one")
    models = shrunken_models(noisy, 0.3, 2, relation="replace-one")
    coef, intercept = naive_shrunken(noisy, b)
    if C == 2:
        coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
    np.testing.assert_allclose(models.coef[0], coef, rtol=1e-9)
    np.testing.assert_allclose(models.intercept[0], intercept, rtol=1e-9)
