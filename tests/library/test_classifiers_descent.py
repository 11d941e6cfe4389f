"""The (ε, δ) methods of linear classifiers: Gaussian noise in the objective, and noisy gradient descent."""

import math
import sys

import numpy as np
import pytest
from each_commit import others_in_full
from scipy import stats

from dpml.classifiers import LinearSVC, LogisticRegression
from dpml.classifiers.linear import minimiser
from dpml.classifiers.linear.descent import (
    _gradient_sums,
    default_iterations,
    descent_noise,
    gaussian_objective_noise,
    release_approximate_minima,
    release_descent,
)
from dpml.classifiers.linear.solver import LOGISTIC, HuberHinge
from dpml.encoding import unit_scale
from dpml.exceptions import InvalidParameter, MissingExtra
from dpml.mechanisms.noise import gaussian_delta, gaussian_sigma
from dpml.schema import Schema

RELATIONS = ["add-remove", "replace-one"]
LOSSES = {"logistic": LOGISTIC, "hinge": HuberHinge(0.5)}


def table(n=400, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=n)
    X = (rng.random((n, 5)) < np.where(np.arange(5) % classes == y[:, None], 0.7, 0.3)).astype(int)
    return unit_scale(X, 5), y


def log_density(X, signs, counts, theta, sigma, reg_lambda, loss):
    """Log density of the exact minimiser, by change of variables, from the losses' definitions."""
    u = signs[:, None] * X
    z = theta @ u.T
    if loss is LOGISTIC:
        pull = 1 / (1 + np.exp(np.clip(z, -700, 700)))
        bend = pull * (1 - pull)
    else:
        h = loss.half_width
        pull, bend = np.clip((1 + h - z) / (2 * h), 0, 1), (np.abs(1 - z) < h) / (2 * h)
    b = (counts * pull) @ u - reg_lambda * theta
    H = np.einsum("kn,ni,nj->kij", counts * bend, u, u) + reg_lambda * np.eye(X.shape[1])
    return stats.norm(scale=sigma).logpdf(b).sum(axis=1) + np.linalg.slogdet(H)[1]


def exact_delta(one, two, epsilon, sigma, reg_lambda, loss, D):
    """The hockey-stick divergence both ways, by summation over a grid of θ."""
    reach = (7 * sigma + max(one[2].sum(), two[2].sum())) / reg_lambda
    side = np.linspace(-reach, reach, 100_001 if D == 1 else 401)
    theta = side[:, None] if D == 1 else np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    cell = (side[1] - side[0]) ** D
    p, q = (log_density(*data, theta, sigma, reg_lambda, loss) for data in (one, two))
    assert np.exp(p).sum() * cell == pytest.approx(1, abs=0.03 if D == 2 else 3e-3)
    return max(np.clip(np.exp(a) - np.exp(epsilon + b), 0, None).sum() * cell for a, b in ((p, q), (q, p)))


# ---- approximate minima ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(
    ("epsilon", "delta", "reg_lambda"),
    others_in_full([(1.0, 1e-3, 0.3), (0.3, 0.02, 3.0), (2.0, 0.1, 0.5)], first=1),
)
def test_delta_of_the_exact_density_is_at_most_what_is_stated(epsilon, delta, reg_lambda, relation, name):
    loss = LOSSES[name]
    sigma, raised = gaussian_objective_noise(epsilon, delta, reg_lambda, relation=relation, loss=loss)
    assert raised >= reg_lambda
    rng = np.random.default_rng(1)
    largest = 0.0
    for trial in range(6):
        D = 1 if trial % 4 else 2
        X = rng.normal(size=(4, D))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        signs, counts = rng.choice([-1.0, 1.0], 4), np.append(rng.choice([0, 1, 8], 2), [1, 1])
        one = np.array([0, 1, 2])
        two = one[:2] if relation == "add-remove" else np.array([0, 1, 3])
        sides = [(X[rows], signs[rows], counts[rows]) for rows in (one, two)]
        largest = max(largest, exact_delta(*sides, epsilon, sigma, raised, loss, D))
    assert 0 < largest <= delta * 1.003


def test_delta_is_nearly_reached_by_a_saturated_record():
    # a crowd along the axis without curvature puts θ where the other record has a pull of almost 1
    epsilon, delta = 0.5, 0.01
    sigma, raised = gaussian_objective_noise(epsilon, delta, 2.0)
    crowd = (np.array([[1.0]]), np.ones(1), np.array([3000.0]))
    more = (np.array([[1.0], [1.0]]), np.array([1.0, -1.0]), np.array([3000.0, 1.0]))
    found = exact_delta(crowd, more, epsilon, sigma, raised, LOGISTIC, 1)
    assert 0.8 * delta < found <= delta
    half = exact_delta(crowd, more, epsilon, sigma / 2, raised, LOGISTIC, 1)
    assert half > 3 * delta


@pytest.mark.parametrize("reg_lambda", [0.01, 5.0])
@pytest.mark.parametrize("delta", [1e-8, 1e-2])
def test_the_corners_of_a_replacement_add_up_to_delta(delta, reg_lambda):
    sigma, raised = gaussian_objective_noise(1.0, delta, reg_lambda, relation="replace-one")
    left = 1.0 - math.log1p(0.25 / raised)
    assert left >= 0.5 - 1e-12
    total = gaussian_delta(left, sigma, 2.0) + 2 * gaussian_delta(left, sigma)
    assert total == pytest.approx(delta, rel=1e-6)
    assert total <= delta


@pytest.mark.parametrize("name", LOSSES)
def test_gaussian_noise_in_the_objective_has_its_scale(name):
    X, y = table()
    signs, loss, centre = 2.0 * y - 1, LOSSES[name], np.arange(6) / 2
    options = {"loss": loss, "centre": centre, "draws": 1500, "rng": np.random.default_rng(2)}
    theta = release_approximate_minima(X, signs, 1.0, 1e-5, 3.0, **options)
    sigma, raised = gaussian_objective_noise(0.999, 0.999e-5, 3.0, loss=loss)
    residual = loss.residual(X @ theta.T, y.astype(float))
    b = -(X.T @ residual).T - raised * (theta - centre)
    assert stats.kstest(b.ravel(), stats.norm(scale=sigma).cdf).pvalue > 0.01
    assert stats.kstest(b.ravel(), stats.norm(scale=1.05 * sigma).cdf).pvalue < 0.01


# ---- noisy descent: the cost -----------------------------------------------------------------------------------------


def dp_accounting_delta(epsilon, sigma, steps, rate, count_sigma):
    import dp_accounting as accounting
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant(value_discretization_interval=1e-4)
    step = accounting.GaussianDpEvent(sigma)
    if rate < 1:
        step = accounting.PoissonSampledDpEvent(rate, step)
    accountant.compose(accounting.SelfComposedDpEvent(step, steps))
    if count_sigma:
        accountant.compose(accounting.GaussianDpEvent(count_sigma))
    return accountant.get_delta(epsilon)


@pytest.mark.parametrize(("epsilon", "count"), [(0.1, True), (1.0, False), (4.0, True)])
def test_dp_accounting_agrees_on_all_steps_together(epsilon, count):
    sigma, count_sigma = descent_noise(epsilon, 1e-5, 40, count=count)
    assert dp_accounting_delta(epsilon, sigma, 40, 1.0, count_sigma) == pytest.approx(1e-5, rel=0.01)
    assert bool(count_sigma) == count


@pytest.mark.parametrize(("epsilon", "rate"), others_in_full([(1.0, 0.05), (0.2, 0.3)], first=1))
def test_sampled_steps_cost_less_than_all_records(epsilon, rate):
    sigma, count_sigma = descent_noise(epsilon, 1e-5, 40, sampling_rate=rate)
    delta = dp_accounting_delta(epsilon, sigma, 40, rate, count_sigma)
    assert delta <= 1e-5
    assert delta > 0.97e-5
    full, _ = descent_noise(epsilon, 1e-5, 40)
    assert sigma < full
    assert sigma / rate > full * 0.9  # what a step gains in noise it loses in records


def test_reach_of_relation_and_classes():
    one, _ = descent_noise(1.0, 1e-5, 9, count=False)
    assert one == pytest.approx(3 * gaussian_sigma(1.0, 1e-5))
    assert descent_noise(1.0, 1e-5, 9, relation="replace-one", count=False)[0] == pytest.approx(2 * one)
    assert descent_noise(1.0, 1e-5, 9, n_outputs=4, count=False)[0] == pytest.approx(2 * one)


def test_sampling_without_the_extra_is_refused_uncharged(monkeypatch):
    from dpml.budget import Budget

    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    X, y = np.eye(4, dtype=int), [0, 1, 0, 1]
    budget = Budget(1.0, 1e-4)
    model = LogisticRegression(0.77, method="noisy-descent", sampling_rate=0.5, budget=budget)
    with pytest.raises(MissingExtra, match="accounting"):
        model.fit(X, y)
    assert budget.spent == 0
    LogisticRegression(0.77, method="noisy-descent", budget=budget).fit(X, y)
    assert budget.spent == 0.77


# ---- noisy descent: the steps ----------------------------------------------------------------------------------------


def naive_descent(X, y, sigma, reg_lambda, n, steps, rng, loss):
    theta = before = np.zeros(X.shape[1])
    later = []
    for t in range(steps):
        at = theta + 0.9 * (theta - before)
        g = np.zeros(X.shape[1])
        for x, label in zip(X, y, strict=True):
            s = 2 * label - 1
            z = s * (x @ at)
            pull = 1 / (1 + math.exp(z)) if loss is LOGISTIC else min(max(1.5 - z, 0.0), 1.0)
            g -= s * pull * x
        noise = rng.normal(scale=sigma, size=X.shape[1])
        before, theta = theta, at - (g + noise + reg_lambda * at) / (loss.curvature * n + reg_lambda)
        if t >= steps // 2:
            later.append(theta)
    return np.mean(later, axis=0)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("steps", [1, 7, 12])
def test_descent_is_the_naive_loop(name, steps):
    X, y = table(60)
    loss = LOSSES[name]
    options = {"n_iterations": steps, "n_records": 60, "loss": loss}
    theta = release_descent(X, y, 2, 1.0, 1e-5, 2.0, rng=np.random.default_rng(4), **options)
    sigma, _ = descent_noise(1.0, 1e-5, steps, count=False)
    expected = naive_descent(X, y, sigma, 2.0, 60, steps, np.random.default_rng(4), loss)
    np.testing.assert_allclose(theta[0, 0], expected, rtol=1e-9)


def test_a_sample_is_the_same_for_all_classes():
    X = np.eye(50)
    targets = [np.zeros(50), np.zeros(50)]
    rng = np.random.default_rng(8)
    sums = _gradient_sums(X, targets, np.zeros((2000, 2, 50)), LOGISTIC, lambda shape: rng.random(shape) < 0.3)
    np.testing.assert_array_equal(sums[:, 0], sums[:, 1])
    present = sums[:, 0] == 0.5  # a record's gradient at 0 is x/2
    assert ((sums[:, 0] == 0) | present).all()
    # 100,000 coin tosses: 5 standard errors
    assert present.mean() == pytest.approx(0.3, abs=5 * math.sqrt(0.21 / 100_000))
    assert abs(np.corrcoef(present[:, 0], present[:, 1])[0, 1]) < 5 / math.sqrt(2000)


def test_sampling_is_refused_under_replace_one():
    model = LinearSVC(1.0, method="noisy-descent", sampling_rate=0.5, relation="replace-one")
    with pytest.raises(InvalidParameter, match="sampling_rate"):
        model.fit(np.eye(4, dtype=int), [0, 1, 0, 1])


def test_a_sampled_descent_learns():
    X, y = table(4000)
    theta = release_descent(
        X, y, 2, 2.0, 1e-5, 1.0, sampling_rate=0.1, n_iterations=60, draws=5, rng=np.random.default_rng(9)
    )
    best = minimiser(X, 2.0 * y - 1, 1.0)
    cosine = theta[:, 0] @ best / np.linalg.norm(theta[:, 0], axis=1) / np.linalg.norm(best)
    assert cosine.min() > 0.8


def test_public_rule_and_stated_number_of_records():
    assert [default_iterations(e) for e in (1e-9, 0.25, 1e9)] == [10, 50, 300]
    X, y = np.eye(6, dtype=int), np.array([0, 1] * 3)
    options = {"method": "noisy-descent", "random_state": 0, "n_iterations": 3, "reg_lambda": 1.0}
    stated = LogisticRegression(1.0, schema=Schema.binary(6, row_bound=6, n_rows=6), **options).fit(X, y)
    theta = release_descent(
        unit_scale(X, 6), y, 2, 1.0, 1e-5, 1.0, n_iterations=3, n_records=6, rng=np.random.default_rng(0)
    )
    np.testing.assert_allclose(stated.coef_[0], theta[0, 0, :-1] / math.sqrt(7))
    counted = LogisticRegression(1.0, schema=Schema.binary(6, row_bound=6), **options).fit(X, y)
    assert np.abs(counted.coef_ - stated.coef_).max() > 1e-6
