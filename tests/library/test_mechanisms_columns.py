"""Private facts of a column: cells and scores by their definition, all neighbours of small columns, what is found."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from dpml.audit import recorded_cost, recorded_releases
from dpml.budget import Budget
from dpml.exceptions import BudgetExceeded, InvalidData, InvalidParameter
from dpml.mechanisms import private_bounds, private_categories, private_facts, private_quantiles
from dpml.mechanisms.columns.categories import ThresholdedCounts
from dpml.mechanisms.columns.numbers import (
    EDGES,
    LARGEST,
    N_CELLS,
    N_FINER,
    POWERS,
    SECOND_LOOK,
    ZERO,
    bounds_of,
    clear_of,
    count_between,
    count_cells,
    finer_bounds,
    most_certain,
    quantile_range,
    quantile_scores,
)
from dpml.mechanisms.private import Private

RELATIONS = ("add-remove", "replace-one")


def rng(seed=0):
    return np.random.default_rng(seed)


def neighbours(values, relation):
    """Return all pairs of columns of three such values, or two and three."""
    for common in itertools.combinations_with_replacement(values, 2):
        for value in values:
            if relation == "add-remove":
                yield [*common], [*common, value]
            else:
                yield from (([*common, other], [*common, value]) for other in values)


# ---- bounds ----------------------------------------------------------------------------------------------------------


# from each cell, and from the numbers that none of them has a place for
NUMBERS = (-np.inf, -1e300, -3e15, -3.0, -1e-12, -1e-18, 0.0, 1e-18, 1e-12, 0.7, 2.0, 1e9, 1.7e12, 1e15, 1e300, np.nan)


def test_a_number_is_counted_between_the_powers_of_two_around_it():
    numbers = [*NUMBERS, 1.0, 1.5, 2.0, -1.5, -2.0, POWERS[0] / 2, -POWERS[0] / 2, LARGEST, -LARGEST]
    counts = count_cells(np.array(numbers))
    assert counts.sum() == len(numbers) - 1
    edges = [-np.inf, *EDGES, np.inf]
    expected = {}
    for x in numbers:
        if not np.isnan(x):
            [inside] = [k for k in range(N_CELLS) if edges[k] <= x and (x < edges[k + 1] or k == N_CELLS - 1)]
            expected[inside] = expected.get(inside, 0) + 1
    assert expected == {k: counts[k] for k in np.flatnonzero(counts)}
    assert counts[ZERO] == 5
    assert set(np.log2(EDGES[ZERO:])) == set(range(-50, 62))


def test_a_number_is_counted_in_the_finer_cell_around_it():
    low, high = 2.0**40, 2.0**41
    edges = np.linspace(low, high, N_FINER + 1)
    numbers = [*NUMBERS, low, high, *edges[[1, 5, 5, -2]], (edges[3] + edges[4]) / 2]
    expected = [sum(edges[k] <= x < edges[k + 1] for x in numbers) for k in range(N_FINER)]
    assert count_between(np.array(numbers), low, high).tolist() == expected
    assert sum(expected) == 7


@pytest.mark.parametrize(("relation", "sensitivity"), [("add-remove", 1), ("replace-one", 2)])
@pytest.mark.parametrize("count", [count_cells, lambda x: count_between(x, 1.0, 3.0)], ids=["cells", "finer"])
def test_the_sensitivity_of_the_cells_is_what_brute_force_finds(relation, sensitivity, count):
    values = (-3.0, 0.0, 1e-9, 1.1, 2.0, 1e9, np.nan)
    moved = [np.abs(count(np.array(a)) - count(np.array(b))).sum() for a, b in neighbours(values, relation)]
    assert max(moved) == sensitivity


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("second_look", [0.0, SECOND_LOOK])
def test_no_neighbours_cost_bounds_more_than_epsilon(relation, second_look):
    def call(data):
        narrow = [*np.linspace(1.2, 1.3, 99), *data]
        options = {"relation": relation, "second_look": second_look, "on_invalid": "clip", "rng": rng()}
        return private_bounds(narrow, 2.0, **options)

    worst = 0.0
    for a, b in neighbours((-1e300, 1.21, 1.9, np.nan), relation):
        worst = max(worst, recorded_cost(call, a, b, pasts=1))
        assert len(recorded_releases(call, a, b)) == (2 if second_look else 1)
    # a record that moves into the finer cells from elsewhere changes one of them, and not two
    assert worst == pytest.approx(2 - SECOND_LOOK if second_look and relation == "replace-one" else 2.0)


def test_bounds_with_little_noise_are_quantiles_of_cells():
    values = rng().normal(3.0, 20.0, 4_000)
    bounds = private_bounds(values, 1e6, quantiles=(0.2, 0.7), rng=rng())
    counts = count_cells(values)
    for share, bound in ((0.2, bounds.lower), (0.7, bounds.upper)):
        k = int(np.searchsorted(np.cumsum(counts), share * len(values)))
        inside = (share * len(values) - counts[:k].sum()) / counts[k]
        # cell k ends at edge k
        assert 1 / 8 < inside < 7 / 8
        assert bound == pytest.approx(EDGES[k - 1] + inside * (EDGES[k] - EDGES[k - 1]), rel=3e-3)


def test_cells_beside_large_ones_are_kept():
    noisy = np.zeros(N_CELLS)
    one = int(np.searchsorted(EDGES, 1.0, side="right"))
    noisy[one] = 100.0  # [1, 2)
    noisy[one + 1] = 3.0  # [2, 4)
    noisy[one + 4] = clear_of(1.0) - 0.1  # [16, 32), too little for a cell that stands alone
    assert bounds_of(noisy, 1.0, 0.0, 1.0) == (1.0, 4.0)
    noisy[one + 1] = 2.4
    assert bounds_of(noisy, 1.0, 0.0, 1.0) == (1.0, 2.0)
    noisy[one + 4] = clear_of(1.0) + 0.1
    assert bounds_of(noisy, 1.0, 0.0, 1.0) == (1.0, 32.0)
    noisy[ZERO - (one - ZERO)] = 11.0  # [-2, -1)
    assert bounds_of(noisy, 1.0, 0.0, 1.0) == (-2.0, 32.0)


def test_a_bound_near_the_outer_end_of_its_cell_is_at_that_end():
    noisy = np.zeros(N_CELLS)
    noisy[np.searchsorted(EDGES, [4.0, 8.0], side="right")] = 100.0
    assert bounds_of(noisy, 1.0, 0.06, 0.94) == (4.0, 16.0)
    assert bounds_of(noisy, 1.0, 0.08, 0.9) == pytest.approx((4.0 + 4 * 0.16, 16.0 - 8 * 0.2))
    assert private_bounds(np.full(900, 4.0), 1.0, rng=rng()).lower == 4.0


def test_one_of_all_empty_cells_stands_out_as_rarely_as_is_said():
    noisy = rng().laplace(scale=10.0, size=(4_000, N_CELLS))
    # .2 % of 4,000 is 8; a binomial number exceeds 20 with probability 1e-4
    assert (noisy > clear_of(10.0)).any(axis=1).sum() <= 20
    assert (noisy > 0.7 * clear_of(10.0)).any(axis=1).sum() > 20


@pytest.mark.parametrize("values", [[], [0.0] * 50, [np.nan] * 3, [7.0]], ids=["none", "zeros", "gaps", "one"])
def test_bounds_are_in_order_whatever_the_column_holds(values):
    for seed in range(20):
        bounds = private_bounds(values, 0.5, on_invalid="clip", rng=rng(seed))
        assert math.isfinite(bounds.lower)
        assert math.isfinite(bounds.upper)
        assert bounds.lower < bounds.upper
    assert private_bounds([0.0] * 500, 1.0, rng=rng()).found
    zeros = private_bounds([0.0] * 500, 1.0, rng=rng())
    assert (zeros.lower, zeros.only_zero) == (-(2.0**-50), True)


SHAPES = {
    "lognormal": lambda draw, n: draw.lognormal(size=n),
    "both signs": lambda draw, n: draw.normal(size=n),
    "far from zero": lambda draw, n: -draw.normal(1.97, 0.02, n),
    "narrow": lambda draw, n: draw.uniform(1.70, 1.73, n),
    "one octave": lambda draw, n: draw.uniform(1.0, 2.0, n),
    "constant": lambda draw, n: np.ones(n),
    "half zero": lambda draw, n: np.where(draw.random(n) < 0.5, 0.0, draw.lognormal(size=n)),
}


@pytest.mark.parametrize("second_look", [0.0, SECOND_LOOK])
@pytest.mark.parametrize("shape", SHAPES)
def test_bounds_that_are_found_hold_the_records_at_every_scale(shape, second_look):
    held, found, runs = [], 0, 0
    for exponent in range(-12, 16, 9):
        for n, epsilon in ((2_000, 0.3), (2_000, 1.0), (20_000, 0.1)):
            draw = rng((exponent + 12, n))
            values = SHAPES[shape](draw, n) * 10.0**exponent
            bounds = private_bounds(values, epsilon, second_look=second_look, rng=draw)
            runs, found = runs + 1, found + bounds.found
            if bounds.found:
                held.append(np.mean((bounds.lower <= values) & (values <= bounds.upper)))
    assert found == runs
    assert np.min(held) >= 0.9
    assert np.mean(held) >= 0.97


@pytest.mark.parametrize("release", [False, True])
@pytest.mark.parametrize("second_look", [0.0, SECOND_LOOK])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_bound_beyond_the_outermost_edge_is_not_found(sign, second_look, release):
    if release:
        pytest.importorskip("opendp", reason="the extra release is not installed")
    how = {"second_look": second_look, "release": release, "on_invalid": "clip", "rng": None if release else rng()}
    for scale in (1e20, 1e300, np.inf):
        values = sign * np.append(np.full(900, 7.0), np.full(100, scale))
        bounds = private_bounds(values, 1.0, **how)
        assert (bounds.lower_found, bounds.upper_found) == (sign > 0, sign < 0)
        assert not bounds.found
        assert not bounds.hidden
        beyond = private_bounds(sign * np.full(500, scale), 1.0, **how)
        assert not beyond.lower_found
        assert not beyond.upper_found
        assert math.isfinite(beyond.lower)
        assert beyond.lower < beyond.upper


def test_a_second_look_finds_a_narrow_range():
    values = rng().uniform(1.70e12, 1.73e12, 2_000)
    for seed in range(20):
        once, twice = (private_bounds(values, 0.3, second_look=share, rng=rng(seed)) for share in (0.0, SECOND_LOOK))
        assert once.upper - once.lower > 1e12
        assert 1.64e12 < twice.lower <= 1.7005e12
        assert 1.7295e12 <= twice.upper < 1.79e12
    with pytest.raises(InvalidParameter, match="second_look"):
        private_bounds(values, 1.0, second_look=1.0, rng=rng())


def test_a_second_look_that_sees_few_of_the_records_is_dropped():
    noisy = np.zeros(N_FINER)
    noisy[20:23] = 10.0, 20.0, 3.0
    width = 1 / N_FINER
    # half of the width of the kept cells is added on each side
    expected = pytest.approx((1 + 18.5 * width, 1 + 24.5 * width))
    assert finer_bounds(noisy, 1.0, 1.0, 2.0, n_records=40.0) == expected
    assert finer_bounds(noisy, 1.0, 1.0, 2.0, n_records=50.0) is None
    assert finer_bounds(np.full(N_FINER, 9.0), 1.0, 1.0, 2.0, n_records=500.0) is None
    noisy[0] = 20.0
    assert finer_bounds(noisy, 1.0, 1.0, 2.0, n_records=50.0)[0] == 1.0


def test_no_method_can_be_surer_than_two_data_sets_allow():
    # by the definition: p on the first, and exp(-kε)·p <= 1 - p on the second
    for epsilon, k in ((0.1, 8), (0.1, 30), (1.0, 3)):
        p = most_certain(epsilon, k)
        assert math.exp(-k * epsilon) * p == pytest.approx(1 - p)
    assert most_certain(0.1, 29) < 0.95 < most_certain(0.1, 30)


@pytest.mark.parametrize("quantiles", [(0.9, 0.1), (0.5, 0.5), (-0.1, 1.0), (0.0, 1.1), (0.5,), None])
def test_two_shares_in_order_are_asked_for(quantiles):
    with pytest.raises(InvalidParameter, match="quantiles"):
        private_bounds([1.0], 1.0, quantiles=quantiles, rng=rng())


# ---- quantiles -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("q", [0.0, 0.01, 0.5, 0.9])
def test_the_range_of_the_scores_is_what_brute_force_finds(q, relation):
    points = np.linspace(0.0, 1.0, 5)
    values = (0.0, 0.1, 0.4, 0.6, 0.9, 1.0, 7.0, np.nan)
    ranges = []
    for a, b in neighbours(values, relation):
        change = quantile_scores(np.array(a), points, q) - quantile_scores(np.array(b), points, q)
        ranges.append(np.ptp(change))
    assert max(ranges) <= quantile_range(q, relation) + 1e-12
    if q == 0.5 and relation == "add-remove":
        assert max(ranges) == pytest.approx(1.0)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("quantiles", [(0.5,) * 4, (0.1, 0.5, 0.5), (0.0, 0.5, 1.0)])
def test_no_neighbours_cost_quantiles_more_than_epsilon(quantiles, relation):
    """Equal quantiles are choices of their own: if they shared one part of ε, four would cost 3.99 at a charge of 1."""

    def call(data):
        # the point in the middle is chosen almost always, so that a change of its score alone costs all of its share
        column = [0.2] * 400 + [0.8] * 400 + list(data)
        options = {"lower": 0.0, "upper": 1.0, "n_cells": 2, "relation": relation, "rng": rng()}
        return private_quantiles(column, quantiles, 1.0, on_invalid="clip", **options)

    costs = [recorded_cost(call, a, b, pasts=1) for a, b in neighbours((0.2, 0.6, np.nan), relation)]
    assert max(costs) <= 1.0 + 1e-9
    assert max(costs) >= (0.9 if set(quantiles) == {0.5} and relation == "add-remove" else 0.2)
    # the choices of equal quantiles have noise of their own, too
    drawn = [private_quantiles([0.3], (0.5, 0.5), 0.1, lower=0, upper=1, rng=rng(seed)) for seed in range(20)]
    assert any(first != second for first, second in drawn)


def test_quantiles_are_in_order_and_within_the_bounds():
    values, shares = [3.0, 9.0, -np.inf], (0.4, 0.5, 0.6)
    released = private_quantiles(values, shares, 0.1, lower=2, upper=4, on_invalid="clip", rng=rng())
    assert (np.diff(released) >= 0).all()
    assert released.min() >= 2
    assert released.max() <= 4
    # a number beyond a bound counts as the bound
    assert private_quantiles([-5.0] * 200, (0.0,), 10.0, lower=0, upper=1, rng=rng()) == [0.0]
    with pytest.raises(InvalidParameter, match="quantiles"):
        private_quantiles([1.0], (0.5, 0.1), 1.0, lower=0, upper=1, rng=rng())


# ---- categories ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1.0, 1e-3), (3.0, 1e-9), (1.0, 0.4)])
def test_a_lone_category_is_released_with_delta_at_most(epsilon, delta, relation):
    mechanism = ThresholdedCounts(epsilon, delta, relation)
    a = math.exp(-1 / mechanism.scale)
    # P(1 + noise >= T), summed over the two-sided geometric distribution of the noise
    k = np.arange(max(mechanism.threshold - 1, 0), mechanism.threshold + int(60 * mechanism.scale) + 1)
    reached = float(((1 - a) / (1 + a) * a**k).sum())
    assert mechanism.threshold >= 2
    assert reached <= delta
    assert reached == pytest.approx(mechanism.reached(1), rel=1e-6)
    # one less would be too often
    assert reached / a > delta


@pytest.mark.parametrize("relation", RELATIONS)
def test_no_neighbours_cost_categories_more_than_claimed(relation):
    delta, worst = 1e-3, 0.0
    for a, b in neighbours(("x", "x", "y", "z", None), relation):

        def call(data):
            return private_categories(["x"] * 20 + data, 0.5, delta, relation=relation, on_invalid="clip", rng=rng())

        worst = max(worst, recorded_cost(call, a, b, delta=delta, pasts=1))
        for found in recorded_releases(call, a, b):
            assert all(profile(0.0) <= delta for profile in found.loss.profiles)
    assert worst <= 0.5 + 1e-9
    assert worst >= (0.49 if relation == "add-remove" else 0.24)


def test_common_categories_are_released_and_gaps_are_none():
    column = pd.Series(["cat"] * 80 + ["dog, large"] * 60 + ["rare"] + [None] * 50 + ["line\nbreak"] * 99)
    released = private_categories(column, 1.0, 1e-6, on_invalid="clip", rng=rng())
    assert released.categories == ("cat", "dog, large")
    assert min(released.counts.values()) >= released.threshold
    assert private_categories(pd.Series([1, 1, 2] * 40), 1.0, 1e-6, rng=rng()).categories == ("1", "2")
    assert private_categories([], 1.0, 1e-6, rng=rng()).categories == ()


@pytest.mark.parametrize("dtype", [None, "category", object])
@pytest.mark.parametrize("odd", [[], [None], [0.5], [10**5_000]], ids=["none", "gap", "half", "huge"])
def test_one_odd_cell_changes_the_text_of_no_other(odd, dtype):
    column = pd.Series([1, 2, 2**53 + 2] * 80 + odd, dtype=dtype)
    released = private_categories(column, 1.0, 1e-6, on_invalid="clip", rng=rng())
    assert released.categories == ("1", "2", "9007199254740994.0")


def test_a_date_is_no_category_whatever_the_type_of_its_column():
    dates = pd.Series(pd.to_datetime(["2020-01-01"] * 90)).astype("datetime64[ns]")
    for column in (dates, dates.astype(object), dates - dates):
        assert private_categories(column, 1.0, 1e-6, on_invalid="clip", rng=rng()).categories == ()


# ---- all three -------------------------------------------------------------------------------------------------------

CALLS = {
    "bounds": lambda values, **options: private_bounds(values, 0.5, **options),
    "quantiles": lambda values, **options: private_quantiles(values, (0.5,), 0.5, lower=0, upper=9, **options),
    "categories": lambda values, **options: private_categories(values, 0.5, 1e-6, **options),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_cell_that_says_nothing_is_an_error_or_left_out(name):
    values = [1.0, None, 2.0]
    with pytest.raises(InvalidData, match="leave it out"):
        CALLS[name](values, rng=rng())
    with pytest.raises(InvalidData, match="leave it out"):
        CALLS[name](Private(values), rng=rng())
    seen = CALLS[name](Private(values), on_invalid="clip", rng=rng())
    alone = CALLS[name]([1.0, 2.0], rng=rng())
    assert repr(vars(seen) if name != "quantiles" else seen) == repr(vars(alone) if name != "quantiles" else alone)
    with pytest.raises(InvalidData, match="2 dimensions"):
        CALLS[name](np.ones((2, 2)), rng=rng())


@pytest.mark.parametrize("name", CALLS)
def test_a_budget_is_charged_before_anything_is_drawn(name):
    budget = Budget(0.7, 1e-5, relation="replace-one")
    CALLS[name]([1.0, 2.0], relation="replace-one", rng=rng(), budget=budget, label="bounds of 'age'")
    assert budget.ledger[["label", "epsilon"]].to_numpy().tolist() == [["bounds of 'age'", 0.5]]
    assert budget.ledger["delta"].tolist() == [1e-6 if name == "categories" else 0.0]
    with pytest.raises(BudgetExceeded):
        CALLS[name]([1.0, 2.0], relation="replace-one", rng=rng(), budget=budget)


@pytest.mark.parametrize("name", CALLS)
def test_a_release_takes_no_seed_and_any_data(name):
    pytest.importorskip("opendp", reason="the extra release is not installed")
    with pytest.raises(InvalidParameter, match="rng"):
        CALLS[name]([1.0], release=True, rng=rng())
    for values in ([], [object(), math.nan, "x", -math.inf], [5.0] * 200):
        CALLS[name](values, release=True)
    if name == "bounds":
        bounds = private_bounds([5.0] * 400, 1.0, release=True)
        # noise in an empty cell can only make the bounds wider
        assert bounds.found
        assert bounds.lower <= 4.0
        assert bounds.upper >= 8.0
        assert (bounds.counts == np.rint(bounds.counts)).all()
    if name == "categories":
        assert CALLS[name](["x"] * 200, release=True).categories == ("x",)


def test_several_columns_share_what_one_would_have():
    budgets = []

    def call(data):
        budgets.append(Budget(1.0, 1e-5))
        numbers, texts = {"x": data[:, 0], "y": data[:, 0]}, {"s": data[:, 1], "t": data[:, 1]}
        return private_facts(numbers, texts, 0.8, 1e-6, rng=rng(), budget=budgets[-1])

    data = np.array([[1.0, "a"]] * 9, dtype=object)
    releases = recorded_releases(call, data, data[:-1])
    assert sum(each.loss.pure for each in releases) == pytest.approx(0.8)
    assert sum(getattr(each.mechanism, "delta", 0.0) for each in releases) == pytest.approx(1e-6)
    assert budgets[0].ledger[["label", "epsilon", "delta"]].to_numpy().tolist() == [
        ["facts of 'x', 'y', 's', 't'", 0.8, 1e-6]
    ]


def test_a_column_of_two_kinds_is_refused_uncharged():
    budget = Budget(1.0, 1e-3)
    columns = {"age": ["1", "2"]}
    with pytest.raises(InvalidParameter, match="age"):
        private_facts(columns, columns, 1.0, 1e-6, rng=np.random.default_rng(0), budget=budget)
    assert len(budget.ledger) == 0
