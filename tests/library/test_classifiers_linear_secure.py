"""The secure release of weights: what it costs, how far its values may be from the ideal ones, and its grid."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from dpml.auditing import recorded_cost
from dpml.classifiers.linear import ClippedLogistic, _secure_minimum, release_objective
from dpml.classifiers.linear._minimum import PerturbedMinimum
from dpml.classifiers.linear._newton import gradient, minimise
from dpml.classifiers.linear._secure_minimum import MARGIN, ROUNDED, SecureMinimum
from dpml.exceptions import NoSecureSampler
from dpml.mechanisms import OneHotNorm
from dpml.mechanisms.norms import contrasts
from dpml.mechanisms.secure_one_hot import noise_distance

LENGTH = 1 / np.sqrt(0.5 + 2 / 3 + 1)
NORM = OneHotNorm(1.0, (2, 3), n_scalars=1, sensitivity=LENGTH)
# each record that two attributes of two and three values can have, in the unit ball
ROWS = np.array([[*contrasts(2)[i], *contrasts(3)[j], 1.0] for i in range(2) for j in range(3)]) * LENGTH
LOSS = ClippedLogistic()


def released(data, epsilon=0.8, reg_lambda=2.0, **options):
    X, y = data
    signs = np.where(np.asarray(y) == 1, 1.0, -1.0)
    return release_objective(X, signs, epsilon, reg_lambda, norm=NORM, loss=LOSS, secure=True, **options)


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_no_neighbour_of_a_small_table_costs_more_than_epsilon(relation):
    X, y = ROWS[[0, 1, 3, 4]], np.array([0, 1, 0, 1])
    costs = []
    for row in ROWS:
        for label in (0, 1):
            more = np.vstack([X, row]), np.append(y, label)
            before = (X, y) if relation == "add-remove" else (np.vstack([X, ROWS[5]]), np.append(y, 0))
            costs.append(recorded_cost(lambda data: released(data, relation=relation), before, more, pasts=1))
    assert max(costs) <= 0.8
    # under replace-one the derivation adds up two records that can seldom be so different
    assert max(costs) == pytest.approx(0.8, rel=1e-6 if relation == "add-remove" else 0.3)


@pytest.mark.parametrize("draws", [1, 3])
def test_the_parts_add_up_to_epsilon(draws, monkeypatch):
    kept = []
    monkeypatch.setattr(SecureMinimum, "_sample", lambda self, statistic, rng: kept.append(self))
    released((ROWS, np.array([0, 1, 0, 1, 0, 1])), epsilon=0.3, draws=draws)
    (mechanism,) = kept
    perturbed = mechanism.perturbed
    assert perturbed.draws == draws
    # the rate costs as much as the weights of a record that is longer by ROUNDED, and of its determinant
    weights = LOSS.largest_ratio(perturbed.noise.epsilon / (1 - ROUNDED), perturbed.reg_lambda)
    assert weights + mechanism.cover_epsilon == pytest.approx(0.3, rel=1e-12)
    assert perturbed.noise.epsilon * (1 + 0.9 * ROUNDED) < weights
    # a record has the norm 1/√q, which is the sensitivity of the noise
    assert perturbed.noise.sensitivity == NORM.sensitivity


def test_equal_ideal_minima_lead_to_values_that_the_cover_protects(monkeypatch):
    """Neighbours, the noise that leads both to one θ*, rounding and a solver's error as large as is stated."""
    rng = np.random.default_rng(0)
    reg_lambda, tolerance = 0.5, 1e-5
    mechanism = SecureMinimum(PerturbedMinimum(NORM, 1, reg_lambda, tolerance, LOSS), cover_epsilon=0.01)
    bound = MARGIN * tolerance + noise_distance(NORM)
    assert mechanism.cover.distance == pytest.approx(2 * bound / reg_lambda)
    X, signs = ROWS[rng.integers(6, size=50)], rng.choice([-1.0, 1.0], 50)
    farthest = most = 0.0
    for row in ROWS:
        ideal, values = rng.normal(size=(1, 4)) * 3, []
        away = rng.normal(size=4)
        for table, sign, error in ((X, signs, away), (np.vstack([X, row]), np.append(signs, 1.0), -away)):
            # noise that leads to θ* has a gradient of 0 there; all that is off acts as more of it
            g, _ = gradient(table, (sign + 1) / 2, LOSS, reg_lambda, np.zeros((1, 4)), ideal)
            noise = -g[0] + bound * (1 - 1e-4) * error / np.linalg.norm(error)
            monkeypatch.setattr(_secure_minimum, "noise_vector", lambda of, noise=noise: noise)
            kept = []
            monkeypatch.setattr(type(mechanism.cover), "noisy", lambda self, theta, kept=kept: kept.append(theta))
            exact = replace(mechanism, perturbed=replace(mechanism.perturbed, tolerance=1e-10))
            exact._sample((table, sign), None)
            values.append(kept[0][0])
        farthest = max(farthest, np.linalg.norm(values[0] - values[1]))
        steps = [np.rint(v / mechanism.cover.step) for v in values]
        most = max(most, np.abs(steps[0] - steps[1]).sum())
    assert 0.1 * mechanism.cover.distance < farthest <= mechanism.cover.distance
    assert most <= mechanism.cover.reach


def test_what_is_released_are_multiples_of_the_step_near_the_study():
    rng = np.random.default_rng(1)
    codes = rng.integers(6, size=3_000)
    y = rng.random(3_000) < np.linspace(0.1, 0.9, 6)[codes]
    data, signs = (ROWS[codes], y), np.where(y, 1.0, -1.0)
    secure = released(data, epsilon=1.0, draws=400)
    study = release_objective(*(ROWS[codes], signs), 1.0, 2.0, norm=NORM, loss=LOSS, draws=400, rng=rng)
    exact = minimise(ROWS[codes], signs, 2.0, 1e-8, np.zeros((1, 4)), LOSS)
    for k in range(4):
        assert stats.ks_2samp(secure[:, k] - exact[0, k], study[:, k] - exact[0, k]).pvalue > 1e-9
    kept = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SecureMinimum, "_sample", lambda self, statistic, rng: kept.append(self))
        released(data, epsilon=1.0)
    steps = secure / kept[0].cover.step
    assert (steps == np.rint(steps)).all()
    assert kept[0].cover.scale * kept[0].cover.step < 0.05 * study.std(axis=0).min()


def test_only_the_noise_that_has_a_secure_sampler_is_taken():
    X, signs = ROWS, np.ones(6)
    with pytest.raises(NoSecureSampler, match="OneHotNorm"):
        release_objective(X, signs, 1.0, 1.0, secure=True)
    with pytest.raises(NoSecureSampler, match="rng"):
        released((X, signs), rng=np.random.default_rng(0))
