"""Parts of the default classifier: places, bins, counts and weights against naive references, and its public rule."""

import math
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from observing import observing
from people import EQUAL, FEATURES, SCHEMA, THREE, checked, people
from scipy import optimize
from scipy.special import expit
from scipy.stats import multivariate_normal

from dpml.audit import recorded_cost
from dpml.classifiers import AutoClassifier
from dpml.classifiers.automatic import (
    Layout,
    Plan,
    default_plan,
    histograms,
    quantile_levels,
    release_histograms,
)
from dpml.classifiers.automatic.layout import (
    CLEAR,
    FEWEST_CELLS,
    MANY_ATTRIBUTES,
    MOST_CLASSES,
    MOST_GROUPS,
    WORTH,
    cell_edges,
    default_histograms,
    pruned,
    public_bins_stay,
    public_levels,
)
from dpml.classifiers.automatic.plan import (
    CELL_RECORDS,
    ENOUGH,
    ENOUGH_FOR_CLASSES,
    ENOUGH_FOR_LARGE,
    ENOUGH_FOR_PUBLIC,
    FEW_RECORDS,
    LEAST_LIFT,
    LIFT_SHARE,
    MANY_WORDS,
    MOST_BINARY,
    RECORDS_PER_WEIGHT,
    SHARE_FOR_CLASSES,
    SHARED_BINS_SHARE,
    SMALL_SHARE,
    columns_plan,
)
from dpml.classifiers.automatic.tables import (
    LEAST_RATIO,
    LOSS,
    MOST_MARGIN,
    TEMPER,
    VARIANCES,
    cells_of,
    columns_of_attributes,
    grid_margin,
    group_counts,
    other_attributes,
    release_bins,
    release_others,
    release_started,
    scores_of_counts,
    shrunken,
    shrunken_rates,
    slope_of_classes,
    started_lambda,
    started_table,
)
from dpml.classifiers.automatic.words import OUTSTANDING, SPREAD, shrunken_models
from dpml.classifiers.grid import NoisyGrid, cell_probabilities, grid_counts
from dpml.classifiers.linear import order_covariance
from dpml.counts import NoisyCounts, row_bounded_scales
from dpml.mechanisms import Laplace, OneHotNorm
from dpml.mechanisms.private import Private
from dpml.schema import Feature, Schema


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
    assert other_attributes(layout, grid) == (2, 3)


def test_scores_of_counts_are_naive_bayes_beside_the_grid():
    X, codes, layout = checked(n=3000)
    records, grid = released(layout, X, codes, (1, 1, 0, 0))
    groups = layout.groups(records.places)
    others = other_attributes(layout, grid)
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
def test_shrunken_rates_are_posterior_means(ordered):
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
def test_unknown_class_sizes_are_released_with_the_counts(secure):
    counts = np.array([[30.0, 10.0, 25.0, 10.0, 5.0], [5.0, 4.0, 0.0, 9.0, 0.0]])
    noise = {"secure": True} if secure else {"rng": np.random.default_rng(0)}
    with observing() as passed:
        noisy, _ = release_others(counts, (2, 3), None, 1e6, **noise)
    np.testing.assert_allclose(noisy, counts, atol=1e-2)
    # a record's class is one more attribute, of which it has one value
    assert passed[0][0].sizes == (2, 3, 2)
    assert noisy.shape == counts.shape


def test_released_class_sizes_have_the_stated_noise():
    # so far apart that nothing is shrunk: the deviation is that of a scalar of the norm
    counts = np.tile([[6e8, 3e8], [6e7, 4e7]], (4000, 1, 1))
    sizes = release_others(counts, (2,), None, 0.5, rng=np.random.default_rng(0))[0].sum(axis=-1)
    variance = OneHotNorm(0.5, (2,), n_scalars=1).scale ** 2 * 3 * 4 / 3
    np.testing.assert_allclose(sizes.var(axis=0), variance, rtol=0.15)
    np.testing.assert_allclose(sizes.mean(axis=0), [9e8, 1e8], rtol=1e-6)
    assert shrunken(np.array([90.0, 100.0, 110.0]), 200.0).tolist() == [100.0] * 3


def test_records_of_the_started_regression_are_in_the_unit_ball():
    X, _, layout = checked(n=100)
    groups = layout.groups(layout.places(X))
    table, norm, groups_of = started_table(groups, np.linspace(-1, 1, 100), layout)
    q = 7 / 8 + 2 / 3 + 1 / 2 + 1 / 2 + 2  # Σ(1 - 1/d) of 8, 3, 2 and 2 groups, the offset and the constant
    assert table.shape == (100, 7 + 2 + 1 + 1 + 2)
    assert norm.sizes == (8, 3, 2, 2)
    assert norm.sensitivity == pytest.approx(1 / np.sqrt(q))
    rows = table.toarray()
    lengths = (rows**2).sum(axis=1)
    assert lengths.max() == pytest.approx(1.0)
    np.testing.assert_allclose(norm.norm(rows), 1 / np.sqrt(q))
    np.testing.assert_allclose(rows[:, -1], 1 / np.sqrt(q))
    # the weights of the groups give a record the score of its row
    theta = np.random.default_rng(0).normal(size=13)
    weights = theta[:-2] @ groups_of
    found = weights[groups].sum(axis=1) + theta[-2] * np.linspace(-1, 1, 100) + theta[-1]
    np.testing.assert_allclose(found, rows @ theta * np.sqrt(q))


def test_without_noise_the_weights_minimise_the_clipped_loss():
    X, codes, layout = checked(EQUAL, n=2000)
    records, grid = released(layout, X, codes, (1, 1, 0, 0))
    p = cell_probabilities(grid)
    cell, groups = cells_of(grid, records.places), layout.groups(records.places)
    [model] = release_started(records, groups, cell, p, layout, 1e8, rng=np.random.default_rng(0))
    found = model.scores(cell, groups)[:, 0]
    table, norm, _ = started_table(groups, grid_margin(p[1])[cell], layout)
    table = table.toarray()
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


@pytest.mark.parametrize("classes", [2, 3])
def test_weights_start_where_they_trust_the_grid(classes):
    X, codes, layout = checked(EQUAL if classes == 2 else THREE, n=2000)
    records, grid = released(layout, X, codes, (1, 1, 0, 0))
    p = cell_probabilities(grid)
    parts = records, layout.groups(records.places), cells_of(grid, records.places), p, layout, 1e-5
    # the noise is that of one seed, and so large that the records say nothing
    whole, quarter = (release_started(*parts, rng=np.random.default_rng(0), trust=trust)[0] for trust in (1.0, 0.25))
    starts = (MOST_MARGIN * grid_margin(p[1]))[None] if classes == 2 else np.log(p) - np.log(p).mean(axis=0)
    np.testing.assert_allclose(whole.cells - quarter.cells, 0.75 * starts, rtol=1e-3, atol=1e-3)


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


def test_histograms_count_equal_and_growing_cells():
    X, _, layout = checked(n=200)
    X.loc[:9, "age"] = 0.0
    X.loc[10:19, "age"] = 0.001
    edges = sorted({*(10.0 * k for k in range(9)), *(80 * 2 ** (-2.5 * k) for k in range(1, 9))})
    expected, _ = np.histogram(X["age"], bins=edges)
    assert expected[0] == (X["age"] == 0).sum() >= 10  # 0 has a cell of its own
    np.testing.assert_array_equal(histograms(layout, X, layout.counted(1), 16)[0], expected)


@pytest.mark.parametrize(
    ("lower", "upper", "origin"),
    [(0, 1, 0), (-4, 9, 0), (-9, 0, 0), (18, 90, 18), (-90, -18, -18), (-1.7e308 / 2, 1.7e308 / 2, 0), (0, 6e-306, 0)],
)
def test_cells_grow_from_zero_or_the_bound_next_to_it(lower, upper, origin):
    edges = cell_edges(lower, upper, 128)
    assert (edges[0], edges[-1]) == (lower, upper)
    assert (np.diff(edges) > 0).all()
    assert 120 <= len(edges) <= 129
    width = upper - lower
    assert max(b / width - a / width for a, b in pairwise(edges)) <= 1 / 64 + 1e-9
    for end in {lower, upper} - {origin}:
        near = min(
            abs(edge - origin) for edge in edges if edge not in (origin, 0.0) and (edge > origin) == (end > origin)
        )
        assert near == pytest.approx(abs(end - origin) * 2.0**-20, rel=1e-6)
    for levels in (public_levels(lower, upper), quantile_levels(np.full(128, 9.0), 1e-9, lower, upper)):
        assert replace(SCHEMA.features[0], lower=lower, upper=upper, levels=levels).taxonomy.n_levels == 5


def test_public_bins_double_on_both_sides_of_zero():
    levels = public_levels(-8.0, 4.0)
    assert levels[:2] == ((0.0,), (-4.0, 0.0, 2.0))
    assert levels[2] == (-4.0, -2.0, -1.0, 0.0, 0.5, 1.0, 2.0)
    assert len(levels[2]) + 1 == MOST_GROUPS
    # values of 0 are apart from positive ones
    assert {0.0, 4 * 2.0**-20} < {*levels[3]}


def test_a_domain_of_a_few_floats_has_fewer_cells():
    lower, upper = 1e16, 1e16 + 6
    edges = cell_edges(lower, upper, 128)
    assert edges == [lower, lower + 2, lower + 4, upper]
    layout = Layout.from_schema(Schema((Feature("x", "numeric", lower=lower, upper=upper),)))
    counts = histograms(layout, np.array([[lower], [lower + 4], [upper]]), [(0,)], 128)[0]
    assert counts.tolist() == [1.0, 0.0, 2.0, *[0.0] * 125]
    assert public_levels(lower, upper)[-1] == (lower + 2, lower + 4)
    assert quantile_levels(np.full(128, 9.0), 1e-9, lower, upper)[-1] == [lower + 2, lower + 4]


def test_cut_points_share_the_mass_and_refine():
    rng = np.random.default_rng(0)
    values = np.clip(rng.lognormal(3, 1, 100_000), 0, 255)
    counts, _ = np.histogram(values, bins=cell_edges(0, 256, 256))
    levels = quantile_levels(counts.astype(float), 1e-9, 0.0, 256.0)
    assert [len(level) for level in levels] == [1, 3, 7, 15]
    for above, level in pairwise(levels):
        assert set(above) <= set(level)
    shares = np.histogram(values, bins=[0, *levels[2], 256])[0] / 100_000
    assert shares.max() < 0.16  # eight bins, and cells of width 2 or less
    assert shares.min() > 0.09
    # with few cells there are no bins that these could not tell apart
    few, _ = np.histogram(values, bins=cell_edges(0, 256, 32))
    padded = np.append(few, np.zeros(32 - len(few)))
    assert [len(level) for level in quantile_levels(padded, 1e-9, 0.0, 256.0)] == [1, 3, 7]


def test_regulariser_follows_the_noise_of_the_relation():
    of = partial(started_lambda, 0.5, OneHotNorm(1.0, (3, 4), sensitivity=1.5), deviations=2.0)
    noise = OneHotNorm(0.5, (3, 4), sensitivity=1.5)
    assert of(relation="add-remove") == pytest.approx(2 * noise.deviation)
    assert of(relation="replace-one") == pytest.approx(4 * noise.deviation)


def test_margins_of_cells_stay_within_the_bound_of_a_record():
    margin = grid_margin(np.array([0.0, 1e-300, 0.5, 1 - 1e-16, 1.0]))
    assert margin.tolist() == [-1.0, -1.0, 0.0, 1.0, 1.0]


@pytest.mark.parametrize(("relation", "scale"), [("add-remove", 6.0), ("replace-one", 12.0)])
def test_histograms_have_the_noise_that_they_state(relation, scale):
    rng = np.random.default_rng(0)
    exact = Private(np.zeros((3, 4000)))
    noisy, stated = release_histograms(exact, 3, 0.5, relation=relation, rng=rng)
    assert stated == scale
    # the mean size of Laplace noise is its scale; four standard errors of 12,000 draws
    assert np.abs(noisy).mean() == pytest.approx(scale, rel=4 / np.sqrt(12_000))


def test_common_values_get_a_bin_and_noise_is_cut_in_the_middle():
    counts, edges = np.zeros(64), cell_edges(0, 64, 64)
    counts[0], counts[40] = 900.0, 100.0
    assert quantile_levels(counts, 1e-9, 0.0, 64.0)[0] == [edges[1]] == [64 * 2.0**-20]
    # nothing stands out of this noise, so the bins have equal numbers of cells
    cells = len(edges) - 1
    assert quantile_levels(counts, 1e6, 0.0, 64.0)[1] == [edges[k] for k in (cells // 4, cells // 2, cells * 3 // 4)]
    # one cell is left when the noise has hidden the other
    for scale, first in ((999.0 / CLEAR / np.sqrt(2), edges[1]), (1001.0 / CLEAR / np.sqrt(2), edges[cells // 2])):
        assert quantile_levels(counts, scale, 0.0, 64.0)[0] == [first]


def test_empty_parts_are_empty_and_the_rest_adds_up():
    rng = np.random.default_rng(0)
    counts = np.zeros(256)
    counts[8:24] = 500.0
    noisy = counts + rng.laplace(scale=20, size=256)
    found = pruned(noisy, 20.0)
    assert found.sum() == pytest.approx(noisy.sum())
    assert found[128:].sum() == 0
    assert np.abs(np.cumsum(found) - np.cumsum(counts)).max() < np.abs(np.cumsum(noisy) - np.cumsum(counts)).max()
    np.testing.assert_allclose(pruned(counts, 1e-12), counts, atol=1e-8)


def test_the_rule_tells_words_from_attributes():
    assert default_plan(Schema.binary(MOST_BINARY, n_lower=5000), 1.0).kind == "table"
    assert default_plan(Schema.binary(MOST_BINARY + 1, n_lower=5000), 1.0) == Plan("words", look=True)
    assert default_plan(Schema.binary(1000, n_lower=2000), 1.0) == Plan("words")
    assert default_plan(Schema.binary(1000, n_lower=1999), 1.0) == Plan("words", look=True)
    blocks = [Feature(f"{a}={v}", block=f"a{a}", exhaustive=True) for a in range(30) for v in range(4)]
    assert default_plan(Schema(tuple(blocks), n_lower=5000), 1.0).kind == "table"


def test_the_rule_counts_records_for_each_weight():
    schema = Schema([Feature(c, "categorical", tuple("uvwxy")) for c in "abcd"], (0, 1), n_lower=1000)

    def chosen(epsilon, *more, of=schema, **options):
        plan = default_plan(of, epsilon, *more, **options)
        return plan.addition, plan.grid_share > 0

    grid, alone, both = ("none", True), ("weights", False), ("weights", True)
    # four attributes of four weights
    edge = ENOUGH * 16 / 1000
    assert [chosen(e) for e in (edge, 1.01 * edge)] == [grid, both]
    assert chosen(1.5 * edge, relation="replace-one") == grid
    assert chosen(1.01 * edge, 500) == grid
    three, few, edge = replace(schema, classes=(0, 1, 2)), FEW_RECORDS / 1000, ENOUGH_FOR_CLASSES * 16 / 1000
    assert [chosen(e, of=three) for e in (few - 0.01, few, 0.99 * edge, edge)] == [grid, *2 * [("counts", True)], both]
    assert default_plan(three, edge).grid_share == SHARE_FOR_CLASSES
    # beside weights of many classes the cells of a grid stay large, and only there
    assert [default_plan(three, e).cell_records for e in (few, edge)] == [0, CELL_RECORDS]
    assert default_plan(schema, 10.0).cell_records == 0
    # beside what is added for many classes a grid has too few cells
    many = replace(three, classes=tuple(range(MOST_CLASSES + 1)))
    assert [chosen(e, of=many) for e in (few - 0.01, few, edge)] == [grid, ("counts", False), alone]
    assert chosen(1.0, of=Schema((Feature("a", "categorical", ("u",)),), n_lower=1000)) == both


@pytest.mark.parametrize(
    ("n_lower", "epsilon", "relation"),
    [(3000, 5.0, "replace-one"), (3000, 0.02, "add-remove"), (None, 2.0, "add-remove")],
)
def test_the_map_of_a_fit_adds_up_and_names_what_was_done(n_lower, epsilon, relation):
    table, y = people()
    facts = {"n_rows": 4000} if relation == "replace-one" else {}
    schema = Schema(FEATURES, ("no", "yes"), n_lower=n_lower, **facts)
    with observing() as passed:
        model = AutoClassifier(epsilon, schema=schema, relation=relation, random_state=0).fit(table, y)
    parts = model.explain().set_index("part")
    assert parts["epsilon"].sum() == pytest.approx(epsilon)
    assert parts["share"].sum() == pytest.approx(1.0)
    scales = [mechanism.scale for mechanism, _ in passed if isinstance(mechanism, Laplace)]
    stated = parts["noise_scale"].dropna()
    assert all(any(scale == pytest.approx(other) for other in scales) for scale in stated)
    assert ("number of records" in parts.index) == (n_lower is None)
    if "histograms" in parts.index:
        assert parts.loc["histograms", "columns"] == "age"
    grid = model._model_of_table.grid
    named = [model._model_of_table.layout.everything[a].feature.name for a in grid.attributes]
    assert [each.split(" (")[0] for each in parts.loc["grid", "columns"].split(", ")] == named


def numbers(n_numbers, classes=2, n_lower=1000, upper=8.0):
    features = [Feature(f"x{i}", "numeric", lower=0, upper=upper) for i in range(n_numbers)]
    return Schema(features, tuple(range(classes)), n_lower=n_lower)


def test_counts_have_more_groups_under_less_noise():
    def sizes(records, n_numbers=20, classes=30):
        schema = numbers(n_numbers, classes)
        plan = default_plan(schema, records / 1000)
        assert plan.addition == "counts"
        return {*replace(Layout.from_schema(schema), most_weights=plan.most_weights).sizes}

    # twenty attributes: half of so many counts of each class as there are records times ε for it
    assert [sizes(30 * each) for each in (39, 40, 79, 80)] == [{2}, {4}, {4}, {8}]
    # the errors of more attributes add up
    assert sizes(30 * 159, MANY_ATTRIBUTES) == {2}
    assert default_plan(numbers(20, 4), FEW_RECORDS / 1000 - 0.001).addition == "none"


def test_many_attributes_have_weights_early_and_few_groups():
    def chosen(records, n_numbers=MANY_ATTRIBUTES):
        schema = numbers(n_numbers, 6)
        plan = default_plan(schema, 1.0, records / (1 - SHARED_BINS_SHARE))
        return plan.addition, replace(Layout.from_schema(schema), most_weights=plan.most_weights).sizes[0]

    pairs = ENOUGH_FOR_CLASSES * 15
    assert [chosen(pairs + k)[0] for k in (-1, 1)] == ["counts", "weights"]
    assert chosen(pairs + 1, MANY_ATTRIBUTES - 1)[0] == "counts"
    # public bins have levels of 3, 6 and 8 groups
    edge = RECORDS_PER_WEIGHT * MANY_ATTRIBUTES
    assert [chosen(edge * each + k)[1] for each in (5, 7) for k in (-1, 1)] == [3, 6, 6, 8]


def test_weights_of_two_classes_limit_shared_bins():
    def most(n_lower, epsilon=1.0):
        plan = default_plan(numbers(5, n_lower=n_lower), epsilon)
        assert plan.addition == "weights"
        return plan.least_numbers, plan.most_weights

    known = 3000 * (1 - SHARED_BINS_SHARE)
    assert most(3000) == (5, pytest.approx(known / RECORDS_PER_WEIGHT))
    # never coarser than public bins of eight groups
    assert most(800) == (5, 35)
    # of a larger ε, the sample limits them
    assert most(3000, 2.0) == (5, pytest.approx(3000 / RECORDS_PER_WEIGHT))
    assert most(16_000) == (1, math.inf)
    assert default_plan(numbers(MANY_ATTRIBUTES, 6), 9.0).most_weights == pytest.approx(2000 / RECORDS_PER_WEIGHT)


def test_public_bins_of_two_classes_get_six_groups_under_noise():
    def sizes(records, schema):
        plan = default_plan(schema, records / schema.n_lower)
        assert (plan.addition, plan.n_cells) == ("weights", 0)
        return {*replace(Layout.from_schema(schema), most_weights=plan.most_weights).sizes}

    # three numbers of domains of their own, too few records for a histogram
    features = [Feature(f"x{i}", "numeric", lower=0, upper=8 + i) for i in range(3)]
    schema = Schema(features, (0, 1), n_lower=1000)
    edge = RECORDS_PER_WEIGHT * 21
    assert [sizes(edge + k, schema) for k in (-1, 1)] == [{6}, {8}]
    first = ENOUGH_FOR_PUBLIC * 15
    assert sizes(first, schema) == {6}
    assert default_plan(schema, (first - 1) / 1000).addition == "none"
    # the grid's share falls to the one that it tends to
    assert default_plan(schema, first / 1000).grid_share == pytest.approx(1.5 * SMALL_SHARE)
    assert default_plan(schema, 0.01, 1e5).grid_share == pytest.approx(SMALL_SHARE, rel=0.02)
    # domains of both signs have eight groups or two to four
    signed = Schema([replace(each, lower=-8) for each in features], (0, 1), n_lower=1000)
    assert sizes(ENOUGH_FOR_PUBLIC * 21 + 1, signed) == {8}


def test_categories_with_far_more_weights_are_left_to_the_grid():
    def layout(n_large, records):
        features = [Feature(c, "categorical", tuple("uv")) for c in "abcdefghi"]
        features.append(Feature("z", "categorical", tuple(range(n_large))))
        schema = Schema(features, (0, 1), n_lower=1000)
        return replace(Layout.from_schema(schema), large=default_plan(schema, records / 1000).large)

    # ten attributes: 4·(9 + d - 1)/10 weights
    assert [len(layout(d, 500).divided) for d in (7, 8)] == [10, 9]
    assert layout(8, 500).n_weights == 9
    assert layout(8, ENOUGH_FOR_LARGE * 16).n_weights == 16
    left = layout(8, 500)
    assert left.taxonomies[9].sizes[-1] == 8  # the grid may select it
    X = pd.DataFrame({c: ["u", "v"] for c in "abcdefghi"} | {"z": [0, 7]})
    assert left.groups(left.places(X)).max() == sum(left.sizes) - 1


def test_columns_are_selected_first_where_nothing_bounds_ones():
    n, D = 4000, MANY_WORDS + 100
    assert columns_plan(Schema.binary(D, n_lower=n, row_bound=D - 1), 1.0) is None
    assert columns_plan(Schema.binary(MANY_WORDS, n_lower=n), 1.0) is None
    assert columns_plan(Schema.binary(D, n_lower=2 * D - 1), 1.0) is None
    schema = Schema.binary(D, n_lower=n)
    # with fewer records times ε than columns there is no test
    few = columns_plan(schema, D / n)
    assert (few.epsilon_look, few.few, few.n_features) == (0.0, True, 3)
    steps = columns_plan(schema, 1.0)
    assert (steps.few, steps.lift, steps.epsilon_look) == (None, LEAST_LIFT, pytest.approx(0.03125))
    dear = columns_plan(schema, 0.2)
    assert dear.epsilon_look == pytest.approx(LIFT_SHARE * 0.2)
    assert dear.lift == pytest.approx(10 / (LIFT_SHARE * 0.2 * n))
    twice = columns_plan(schema, 2.0, "replace-one")
    assert (twice.lift, twice.epsilon_look) == (LEAST_LIFT, pytest.approx(0.0625))
    assert twice.n_features == steps.n_features


def test_numbers_of_one_domain_share_a_histogram():
    worth = FEWEST_CELLS * WORTH
    odd = Feature("odd", "numeric", lower=0, upper=9)
    five = Layout.from_schema(numbers(5))
    six = Layout.from_schema(Schema((*five.schema.features, odd), n_lower=1000))
    # one of five numbers counts five values of a record, and has cells of its own once these are as many
    assert default_histograms(five, 4 * worth, 1.0) == (4 * FEWEST_CELLS, 5)
    assert default_histograms(five, 19 * worth, 1.0) == (4 * FEWEST_CELLS, 5)
    assert default_histograms(five, 20 * worth, 1.0) == (4 * FEWEST_CELLS, 1)
    assert default_histograms(five, worth, 1.0) == (FEWEST_CELLS, 5)
    assert default_histograms(five, worth - 1, 1.0) == (0, 1)
    assert default_histograms(five, 2 * worth, 1.0, "replace-one") == (FEWEST_CELLS, 5)
    # a domain of its own is left out, and adds no noise
    assert default_histograms(six, worth, 1.0) == (FEWEST_CELLS, 5)
    assert default_histograms(six, 6 * worth, 1.0) == (FEWEST_CELLS, 1)
    assert six.counted(5) == ((0, 1, 2, 3, 4),)
    assert len(six.counted(1)) == 6
    # few numbers of many classes have bins of equal width
    assert default_histograms(Layout.from_schema(numbers(5, MOST_CLASSES + 1)), 4 * worth, 1.0) == (0, 1)
    X = np.array([[0.0, 1.0, 8.0, 8.0, 8.0, 8.0], [2.0, 2.0, 2.0, 2.0, 8.0, 1.0]])
    edges = cell_edges(0, 8, 16)
    expected, _ = np.histogram(X[:, :5], bins=edges)
    np.testing.assert_array_equal(histograms(six, X, six.counted(5), 16)[0, : len(expected)], expected)


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_a_shared_histogram_costs_its_epsilon(relation):
    # two domains of two and three numbers, and a number that is left out
    uppers = (8, 8, 9, 9, 9, 10)
    layout = Layout.from_schema(Schema([Feature(f"x{i}", "numeric", lower=0, upper=u) for i, u in enumerate(uppers)]))
    plan = Plan("table", n_cells=FEWEST_CELLS, least_numbers=2)
    X, y = np.zeros((5, 6)), np.zeros(5)
    # all numbers of a record leave one count, and all enter another
    changed = np.vstack([X[:4], uppers])
    first, second = (X, changed) if relation == "replace-one" else (X[:4], X)

    def call(data):
        return release_bins(layout, data[0], plan, 0.5, relation=relation, rng=np.random.default_rng(0))

    cost = recorded_cost(call, (first, y[: len(first)]), (second, y))
    assert cost == pytest.approx(0.5, abs=1e-9)


def test_public_bins_stay_if_they_separate_values():
    layout = Layout.from_schema(numbers(3, upper=1024.0))
    edges = np.array(cell_edges(0, 1024, 128))
    tails = np.append(np.zeros(900), np.geomspace(0.1, 1000, 100))
    for values, stay in ((np.linspace(700, 800, 1000), False), (tails, True)):
        counts = np.append(np.histogram(values, bins=edges)[0].astype(float), np.zeros(129 - len(edges)))
        cuts = quantile_levels(counts, 1e-9, 0.0, 1024.0)[-1]
        assert public_bins_stay(layout, 0, cuts, counts, 1e-9) == stay
    # neither those of many classes nor those of both signs separate small values
    many = Layout.from_schema(numbers(3, MOST_CLASSES + 1, upper=1024.0))
    signed = Layout.from_schema(Schema((Feature("x", "numeric", lower=-1, upper=1024.0),)))
    assert not any(public_bins_stay(each, 0, cuts, counts, 1e-9) for each in (many, signed))


def test_many_attributes_state_smaller_log_odds():
    for n_numbers, factor in ((MANY_ATTRIBUTES - 1, 1.0), (MANY_ATTRIBUTES, TEMPER)):
        layout = Layout.from_schema(numbers(n_numbers, 3))
        counts = np.ones((3, sum(layout.sizes)))
        for others in (range(n_numbers), range(2, n_numbers)):  # with a grid of two, or none
            assert scores_of_counts(counts, 1.0, layout, others, np.zeros((3, 1))).slope == factor


def test_the_slope_of_classes_follows_the_formula():
    layout = Layout.from_schema(numbers(2, 10))
    # eight groups each: the squared length of a record is 2·7/8 and 1 for the constant
    square = (14 / 8) / (14 * (14 / 8 + 1))
    assert slope_of_classes(3.0, layout) == pytest.approx(np.sqrt(1 + 3.0 * 10 / (1000 * square)))
