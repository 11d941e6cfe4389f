"""A fit without noise: what it releases is exact, its settings are those of its ε, and it refuses a true release."""

import numpy as np
import pytest

from dpml.classifiers import AutoClassifier, BernoulliNB, LinearClassifier
from dpml.datasets import load
from dpml.exceptions import InvalidParameter, NotPrivate
from dpml.mechanisms import ExponentialMechanism, Geometric, Laplace, NormGamma, ReportNoisyMax
from dpml.mechanisms.secure import integer_laplace
from dpml.mechanisms.smooth import Cauchy
from dpml.selection.top import one_shot, peel, sample_joint
from dpml.studies import without_noise

VALUES = np.array([3.0, 7.0, 5.0])


@pytest.mark.parametrize("mechanism", [Laplace(0.01), Geometric(0.01), NormGamma(0.01, 1.0, 3)], ids=repr)
def test_what_is_released_is_exact(mechanism):
    with without_noise():
        found = mechanism.release(VALUES, rng=np.random.default_rng(0), draws=4)
    np.testing.assert_allclose(found, np.broadcast_to(VALUES, (4, 3)), atol=1e-9)
    # noise is back after the block
    assert np.abs(mechanism.release(VALUES, rng=np.random.default_rng(0)) - VALUES).max() > 1


@pytest.mark.parametrize("mechanism", [ExponentialMechanism(1e-6, 1.0), ReportNoisyMax(1e-6, 1.0)], ids=repr)
def test_the_best_candidate_is_chosen(mechanism):
    with without_noise():
        assert (mechanism.release(VALUES, rng=np.random.default_rng(0), draws=20) == 1).all()


@pytest.mark.parametrize("choose", [one_shot, peel, sample_joint])
def test_the_best_features_are_chosen(choose):
    with without_noise():
        masks = choose(VALUES, 1e-6, 2, 1.0, draws=10, rng=np.random.default_rng(0))
    assert (masks == [False, True, True]).all()


@pytest.mark.parametrize("kind", [BernoulliNB, LinearClassifier, AutoClassifier])
def test_a_fit_no_longer_depends_on_its_seed(kind):
    data = load("toy")
    scores = []
    for seed in (0, 1):
        with without_noise():
            model = kind(0.5, schema=data.schema, random_state=seed).fit(data.X_train, data.y_train)
        scores.append(model.predict_proba(data.X_test))
    np.testing.assert_allclose(*scores, atol=1e-5)


def test_a_release_and_an_unknown_mechanism_are_refused():
    with without_noise():
        with pytest.raises(NotPrivate):
            integer_laplace([3], scale=1.0)
        with pytest.raises(InvalidParameter, match="mechanism"):
            Cauchy(1.0, 0.1).release(VALUES, 1.0, rng=np.random.default_rng(0))
