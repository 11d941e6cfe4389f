"""A mechanism's comparison of two statistics states the privacy loss between them: worked by hand from its density."""

import math

import numpy as np
import pytest

from dpml.classifiers.linear.perturbation import _Cover
from dpml.classifiers.naive_bayes.as_published import _LaplaceOfScales
from dpml.evaluation.as_published import _ExponentialCut
from dpml.mechanisms import NormGamma, ReportNoisyMax
from dpml.mechanisms.columns.categories import ThresholdedCounts
from dpml.mechanisms.gaussian import NormalNoise
from dpml.mechanisms.smooth.pure_noise import ScaledCauchy
from dpml.publishing.density_ratio import _Cover as CoverOfRatio
from dpml.selection.ranking import _BestOfNoisy


def one(*values):
    return np.array(values, float)


NODE = one(0.0), one(1.0), np.array([0]), np.array([2]), one(0.5), one(1.5)  # the two scores from 0 to 1
RECORD = np.ones((1, 1)), np.ones(1)
STEPS = np.arange(65.0)  # more candidates than are compared exactly
# a mechanism, its statistic on two data sets, and what it costs between them: the largest log ratio, or μ²
LOSSES = {
    "ScaledCauchy": (ScaledCauchy(), (one(1), one(2)), (one(3), one(4)), math.acosh(1 + (2**2 + 2**2) / (2 * 2 * 4))),
    "_LaplaceOfScales": (_LaplaceOfScales(), (one(1), one(2)), (one(4), one(2)), 3 / 2),
    # two draws, and a median change of 1
    "_BestOfNoisy": (_BestOfNoisy(1, 2, 0.5), one(0, 1, 2), one(1, 2, 6), 2 * 3 / 0.5),
    # between .5 and .75 the first density is exp(-w)/(.25 + .75·exp(-w)), the second 1/(.5 + .5·exp(-w)), with w = 1.5
    "_ExponentialCut": (
        _ExponentialCut(),
        (one(0.25, 0.5), *NODE),
        (one(0.25, 0.75), *NODE),
        1.5 + math.log((0.25 + 0.75 * math.exp(-1.5)) / (0.5 + 0.5 * math.exp(-1.5))),
    ),
    # two apart, and the solver's error of 1 besides
    "_Cover Gaussian": (
        _Cover(NormalNoise(2.0), 1.0),
        (one([3]), *RECORD),
        (one([5]), 2 * RECORD[0], RECORD[1]),
        9 / 4,
    ),
    "_Cover of a ratio": (
        CoverOfRatio(NormGamma(0.5, 1.0, 1), 1.0),
        (one([3]), RECORD[0]),
        (one([5]), 2 * RECORD[0]),
        3 / 2,
    ),
    # of the texts of both data sets; that of one alone has a δ
    "ThresholdedCounts": (ThresholdedCounts(0.5, 1e-3), {"a": 9, "b": 4}, {"a": 8, "b": 4, "c": 1}, 0.5),
    "ReportNoisyMax": (ReportNoisyMax(1.0, 1.0), STEPS[None], (STEPS + STEPS % 4)[None], 3),
}


@pytest.mark.parametrize("name", LOSSES)
def test_a_comparison_states_the_loss_between_two_statistics(name):
    mechanism, statistic, other, cost = LOSSES[name]
    loss = mechanism._compare(statistic, mechanism, other)
    assert loss.pure + loss.gaussian == pytest.approx(cost)
