"""Noisy moments of numbers: exact costs at class-moving neighbours for any bounds, noise as claimed, as published."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpml.audit.cases import AUDITED
from dpml.auditing import recorded_cost
from dpml.classifiers import MixedNB
from dpml.classifiers.naive_bayes.as_published import (
    class_sums_by_width,
    published_moments,
    resampled_count,
    vaidya_cost,
    vaidya_moments,
)
from dpml.classifiers.naive_bayes.cells import Design
from dpml.classifiers.naive_bayes.moments import (
    LEAST_VARIANCE,
    NOISES,
    class_statistics,
    default_trim,
    release_moments,
    scaled_statistics,
    shares,
    smooth_noise,
)
from dpml.counts import FACTOR
from dpml.mechanisms.smooth import Cauchy, local_sensitivity, smooth_sensitivity
from dpml.schema import Feature, Schema

RELATIONS = ("add-remove", "replace-one")
VALUES = (100.0, 100.25, 100.5, 101.0)
RECORDS = [([x, c, b], y) for x, c, b, y in itertools.product(VALUES, (0, 2), (0, 1), (0, 1))]


def as_table(rows):
    return np.array([r for r, _ in rows], float).reshape(-1, 3), np.array([c for _, c in rows], dtype=np.intp)


def one_number(lower, upper, n_classes=2):
    return Design(Schema((Feature("x", "numeric", lower=lower, upper=upper),), tuple(range(n_classes))))


def statistics_of(values, codes, lower=-1.0, upper=1.0):
    design = one_number(lower, upper)
    table = design.schema.check_features(np.reshape(values, (-1, 1)))[0]
    return design, class_statistics(design, table, np.asarray(codes, dtype=np.intp))


# ---- the public number of trimmed values ----------------------------------------------------------------------------


@pytest.mark.parametrize(("relation", "n_changed"), [("replace-one", 2), ("add-remove", 3)])
@pytest.mark.parametrize("epsilon", [1 / 15, 6 / 9, 1.0])
def test_default_trim_is_near_the_least_smooth_sensitivity(epsilon, relation, n_changed):
    """For a normal class in half of its domain: 1.00 to 1.15 times the least of all m, and 1.57 at ε = 2/3."""
    noise = smooth_noise("cauchy", epsilon)
    values = np.clip(stats.norm.ppf((np.arange(63) + 0.5) / 63) / 5, -1, 1)
    trim = default_trim(noise, 2 * 63 + 1, 2, n_changed)
    options = values, -1, 1, noise.beta, relation
    by_trim = [smooth_sensitivity("trimmed_mean", *options, m) for m in range(32)]
    assert (trim == 0) == (epsilon < 0.1)
    assert by_trim[trim] <= (1.6 if n_changed == 3 else 1.2) * min(by_trim) or trim == 0
    assert by_trim[trim] < by_trim[0] or trim == 0


@pytest.mark.parametrize("noise", NOISES)
def test_a_huge_epsilon_has_noise_too(noise):
    assert 0 < smooth_noise(noise, 1e300, 1e-5).scale < 1


def test_default_trim_is_what_makes_the_noise_small():
    noise = smooth_noise("cauchy", 2.0)
    trim = default_trim(noise, 1_000, 2, 3)
    sizes = [noise.tail_size(0.01) * np.exp(-noise.beta * m) / 500 for m in (trim, trim + 1)]
    assert trim > 0
    assert sizes[1] < 1 / 64 <= sizes[0]
    assert default_trim(noise, 1_000_000, 2, 3) == 0


def test_trim_is_that_of_the_rule_by_default():
    rng = np.random.default_rng(0)
    codes = np.arange(120) % 2
    frame = pd.DataFrame({"x": np.clip(rng.normal(codes - 0.5, 0.2), -1, 1)})
    options = {"schema": Schema([Feature("x", "numeric", lower=-1, upper=1)], n_lower=120), "random_state": 0}
    for method, n_changed in (("smooth", 3), ("bun-steinke", 3), ("published", 2)):
        calibration = "algorithm-1" if method == "published" else "exact"
        trim = default_trim(Cauchy(10 / 3, 10 / 18, calibration), 120, 2, n_changed)  # a third of ε
        variances = [
            MixedNB(epsilon=10.0, method=method, trim=m, **options).fit(frame, codes).var_["x"].tolist()
            for m in (None, trim, 0)
        ]
        assert variances[0] == variances[1] != variances[2]


@pytest.mark.parametrize("epsilon", [5.0, 20.0])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("method", ["smooth", "bun-steinke"])
def test_a_fit_that_trims_by_default_costs_at_most_epsilon(method, relation, epsilon):
    """A record at a bound is added to either class, or takes the place of one of the first class."""
    x, codes = np.tile([0.1, 0.2, 0.21, 0.3], 20), np.arange(80) % 2
    schema = Schema([Feature("x", "numeric", lower=-1, upper=1)], n_lower=80)
    model = MixedNB(epsilon=epsilon, method=method, relation=relation, schema=schema, random_state=0)
    share = epsilon / 3 / FACTOR[relation]
    assert default_trim(smooth_noise("cauchy", share), 80, 2, 3) > 0
    kept = slice(FACTOR[relation] - 1, None)
    others = [(np.append(x[kept], 1.0)[:, None], np.append(codes[kept], code)) for code in (0, 1)]
    costs = [recorded_cost(lambda data: model.fit(*data), (x[:, None], codes), other) for other in others]
    assert epsilon / 4 < max(costs) <= epsilon * (1 + 1e-9)


# ---- costs ----------------------------------------------------------------------------------------------------------


@settings(max_examples=50)
@given(
    st.lists(st.sampled_from(RECORDS), max_size=6),
    st.sampled_from(RECORDS),
    st.sampled_from(RECORDS),
    st.sampled_from(RELATIONS),
    st.sampled_from(["mixed-nb-global", "mixed-nb-smooth-cauchy", "mixed-nb-bun-steinke-cauchy", "mixed-nb-binned"]),
    st.sampled_from([0.1, 1.0, 8.0]),
)
def test_no_small_neighbours_cost_more_than_epsilon(base, record, other, relation, name, epsilon):
    """Exact costs on the domain [100, 101]: a record comes, changes its values, or moves to the other class."""
    before = base if relation == "add-remove" else [*base, other]
    case = AUDITED[name].case(epsilon, relation)
    loss = case.exact.privacy_loss(as_table(before), as_table([*base, record]))
    assert loss <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("bounds", [(100, 101), (-1, 1), (0, 1e6), (-1e300, 1e300)])
def test_the_units_of_a_column_change_nothing(bounds, relation):
    """The statistics are those of [-1, 1], so a label that moves costs the same for all bounds."""
    lower, upper = bounds
    z = np.array([-1.0, 0.5, 1.0, 1.0])
    design, exact = statistics_of(lower / 2 + upper / 2 + z * (upper / 2 - lower / 2), [0, 1, 1, 0], lower, upper)
    _, plain = statistics_of(z, [0, 1, 1, 0])
    for mine, theirs in zip(exact.numbers, plain.numbers, strict=True):
        np.testing.assert_allclose(mine[0], theirs[0], atol=1e-12)
    for kind in ("global", "smooth"):
        one, two = (
            release_moments(s, design, 1.0, kind, relation=relation, draws=3, rng=np.random.default_rng(0))
            for s in (exact, plain)
        )
        np.testing.assert_allclose(one.mean, two.mean, atol=1e-9)
        np.testing.assert_allclose(one.variance, two.variance, atol=1e-9)


@pytest.mark.parametrize("kind", ["trimmed_mean", "trimmed_variance"])
@pytest.mark.parametrize("squared", [False, True])
def test_smooth_bounds_hold_where_a_label_moves(kind, squared):
    """Both classes' bounds cover what the record does to them, and change by at most exp(β) each."""
    beta, rng = 0.3, np.random.default_rng(0)
    for _ in range(30):
        n = int(rng.integers(1, 9))
        z, codes = rng.choice([-1, -0.5, 0.3, 1], n), rng.integers(2, size=n)
        moved = codes.copy()
        moved[0] = 1 - moved[0]
        for trim in (0, 1):
            (a, s), (b, t) = (
                scaled_statistics(statistics_of(z, c)[1], kind, beta, trim, squared=squared) for c in (codes, moved)
            )
            assert (np.abs(a - b) <= np.minimum(s, t) + 1e-12).all()
            assert (np.abs(np.log(s / t)) <= beta + 1e-9).all()


def test_statistics_are_the_naive_ones():
    z = np.array([-1.0, -0.2, 0.1, 0.4, 0.9])
    _, exact = statistics_of(z, np.ones(5))
    for squared, values, lower in ((False, z, -1.0), (True, z**2, 0.0)):
        for trim in (0, 1, 2):
            kept = np.sort(values)[trim : 5 - trim]
            mean, smooth = scaled_statistics(exact, "trimmed_mean", 0.5, trim, squared=squared)
            variance, _ = scaled_statistics(exact, "trimmed_variance", 0.5, trim, squared=squared)
            assert mean[1, 0] == pytest.approx(kept.mean())
            assert variance[1, 0] == pytest.approx(kept.var(), abs=1e-12)
            local = local_sensitivity("trimmed_mean", values, lower, 1.0, "add-remove", trim)
            assert smooth[1, 0] >= local - 1e-12
        assert mean[0, 0] == pytest.approx((1 + lower) / 2)  # of no values, the middle


# ---- noise as it is claimed -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", RELATIONS)
def test_sums_get_noise_for_their_sensitivities(relation):
    """Standard deviations of 20,000 draws, within 4 %: the standard error of each is below 0.9 %."""
    z, codes = np.linspace(-0.5, 0.5, 4000), np.repeat([0, 1], 2000)
    design, exact = statistics_of(z, codes)
    noisy = release_moments(exact, design, 3.0, "global", relation=relation, draws=20_000, rng=np.random.default_rng(0))
    inner = 3.0 / FACTOR[relation]
    class_share, _, number_share = shares(1, 0)
    assert noisy.n.std(axis=0) == pytest.approx(math.sqrt(2) / (inner * class_share), rel=0.04)
    # beside the noise on the sum, that on n counts for |mean|/n only, and the means lie at ±¼
    expected = math.sqrt(2) / 2000 * math.hypot(1 / (inner * number_share), 0.25 / (inner * class_share))
    assert noisy.mean.std(axis=0).ravel() == pytest.approx(expected, rel=0.04)


@pytest.mark.parametrize("kind", ["global", "smooth", "bun-steinke", "as published"])
def test_means_stay_in_their_domain(kind):
    """However much noise: where a mean is at an end, noise beyond it makes no variance the least one."""
    design, exact = statistics_of(np.linspace(-0.5, 0.5, 40), np.arange(40) % 2)
    options = {"draws": 2000, "rng": np.random.default_rng(0)}
    if kind == "as published":
        noisy = published_moments(exact, design, 0.01, **options)
    else:
        noisy = release_moments(exact, design, 0.01, kind, **options)
    assert np.abs(noisy.mean).max() == 1
    at_an_end = noisy.variance[np.abs(noisy.mean) == 1]
    assert (at_an_end > LEAST_VARIANCE).mean() > 0.25


# ---- as published ---------------------------------------------------------------------------------------------------


def test_published_noise_on_a_deviation_is_that_of_a_variance():
    """1,000 equal values: the variance's sensitivity is of the order 1/n, that of the deviation of 1/√n."""
    design, exact = statistics_of(np.full(1000, -0.5), np.zeros(1000))
    noisy = published_moments(exact, design, 3.0, draws=500, rng=np.random.default_rng(0))
    # ε' = 1: Cauchy noise of scale √2·S, S the replace-one smooth sensitivity, and half of it below one scale
    deviation = np.sqrt(noisy.variance[:, 0, 0])
    assert np.quantile(deviation, 0.75) < 0.02
    one_more = np.sqrt(np.append(np.full(999, -0.5), 1.0).var())
    assert one_more > 0.04


def test_vaidya_costs_what_is_said_and_its_scale_tells_the_size():
    assert vaidya_cost(0.5, 4) == 3.0
    assert vaidya_cost(0.5, 4, "replace-one") == 6.0
    spread = []
    for n in (2, 20):
        design, exact = statistics_of(np.zeros(n), np.zeros(n))
        noisy = vaidya_moments(exact, design, 10.0, draws=4000, rng=np.random.default_rng(0))
        spread.append(np.abs(noisy.mean[:, 0, 0]).mean())
    assert spread[0] / spread[1] == pytest.approx(21 / 3, rel=0.1)


def test_a_count_is_drawn_again_until_it_is_positive():
    law = stats.laplace(1.0, 2.0)
    noisy = resampled_count(np.float64(1.0), 0.5, draws=4000, rng=np.random.default_rng(0))
    assert noisy.shape == (4000,)
    assert stats.kstest(noisy, lambda x: 1 - law.sf(x) / law.sf(0)).pvalue > 1e-3


def test_sums_by_width_have_noise_for_the_width():
    noisy = class_sums_by_width(
        [9, 0.5, -3], [0, 0, 0], -1, 3, 0.5, n_classes=1, draws=4000, rng=np.random.default_rng(0)
    )
    assert stats.kstest(noisy[:, 0], stats.laplace(3 + 0.5 - 1, 4 / 0.5).cdf).pvalue > 1e-3


@pytest.mark.parametrize("noise", NOISES)
def test_replace_one_runs_at_half(noise):
    """The spread of replace-one at 2ε is that of add/remove at ε (δ aside), draw by draw."""
    z, codes = np.random.default_rng(1).uniform(-1, 1, 60), np.arange(60) % 2
    design, exact = statistics_of(z, codes)
    delta = 1e-5 if noise in ("laplace", "gaussian") else 0.0
    options = {"noise": noise, "draws": 50}
    one = release_moments(exact, design, 0.8, "smooth", delta=delta, rng=np.random.default_rng(0), **options)
    both = release_moments(
        exact,
        design,
        1.6,
        "smooth",
        delta=delta * (1 + math.exp(0.8)),
        relation="replace-one",
        rng=np.random.default_rng(0),
        **options,
    )
    np.testing.assert_allclose(both.mean, one.mean, rtol=1e-9)
    np.testing.assert_allclose(both.n, one.n, rtol=1e-9)
