"""Draws of each method of the catalogue follow the distribution that its exact audit relies on.

A secure sampler has no seed. The laws are refused with probability 1e-9 at most if they hold.
"""

import numpy as np
import pytest
from each_commit import others_in_full
from scipy import stats

from dpml.__main__ import main
from dpml.audit import check_law, check_noise
from dpml.audit.cases import AUDITED
from dpml.audit.cases.columns import _lone
from dpml.audit.exact import check_sizes
from dpml.exceptions import InvalidParameter, MissingExtra
from dpml.mechanisms import Geometric, Laplace, secure
from dpml.mechanisms.choice import ExponentialMechanism
from dpml.mechanisms.columns.categories import ThresholdedCounts
from dpml.mechanisms.secure import _IntegerNoise

LAWS = [
    (name, relation)
    for name, entry in AUDITED.items()
    for relation in entry.relations
    if any(case.law for case in entry.case(1.0, relation).all_cases)
]


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.system_noise
@pytest.mark.parametrize(("name", "relation"), others_in_full(LAWS, *dict(LAWS).items()))
def test_draws_follow_the_law_of_the_exact_audit(name, relation):
    for law in AUDITED[name].check_laws(1.0, relation, rng=rng()):
        assert law.passed, str(law)


def halved(sample):
    """Return a sampler whose noise is half of another's."""

    def half(self, statistic, rng):
        return statistic + (sample(self, np.asarray(statistic), rng) - statistic) / 2

    return half


def never_at_zero(sample):
    """Return a sampler that adds no noise to a statistic of zeros."""
    return lambda self, statistic, rng: sample(self, statistic, rng) if np.any(statistic) else np.array(statistic)


def cut(sample):
    """Return a sampler of integer noise that is cut at ten scales."""

    def short(self, statistic, rng):
        far = int(10 * self.scale)
        return np.clip(sample(self, statistic, rng), statistic - far, statistic + far)

    return short


def below(sample):
    """Return a sampler of categories whose threshold is lower by a few than the one that is stated."""
    return lambda self, statistic, rng: sample(ThresholdedCounts(self.epsilon, 8 * self.delta), statistic, rng)


def by_count(sample):
    """Return a sampler of categories that releases the most frequent first."""

    def ordered(self, statistic, rng):
        released = sample(self, statistic, rng)
        return {text: released[text] for text in sorted(released, key=lambda text: -statistic[text])}

    return ordered


def likeliest(sample):
    """Return a sampler that chooses by half the noise."""
    return lambda self, statistic, rng: sample(self, 2 * statistic, rng)


@pytest.mark.parametrize(
    ("name", "mechanism", "fault"),
    [
        ("laplace", Laplace, halved),
        ("exponential", ExponentialMechanism, likeliest),
        ("private-bounds", Laplace, never_at_zero),
        ("private-categories", ThresholdedCounts, below),
        ("private-categories", ThresholdedCounts, by_count),
        ("secure-integer-laplace", _IntegerNoise, cut),
    ],
)
def test_a_fault_of_a_sampler_is_seen(name, mechanism, fault, monkeypatch):
    monkeypatch.setattr(mechanism, "_sample", fault(mechanism._sample))
    # what the exact audit does not see
    assert AUDITED[name].audit(1.0).passed
    assert not all(law.passed for law in AUDITED[name].check_laws(1.0, rng=rng()))


def test_a_threshold_for_more_than_delta_is_seen(monkeypatch):
    too_low = property(lambda self: int(self.noise.tail_size(2 * self.delta)))
    monkeypatch.setattr(ThresholdedCounts, "threshold", too_low)
    assert not _lone(1.0, "add-remove")(rng()).passed


def test_check_law_multiplies_by_the_number_of_outcomes():
    # by the definition: nine or ten of ten heads have probability 11/1024
    law = check_law([9, 5], [0.5, 0.5], 10, "ab")
    assert (law.outcome, law.expected, law.count, law.draws) == ("a", 5.0, 9, 10)
    assert law.p_value == pytest.approx(2 * 2 * 11 / 1024)
    with pytest.raises(InvalidParameter, match="probabilities"):
        check_law([1, 2], [1.0], 3)


@pytest.mark.parametrize("seed", range(3))
def test_true_laws_are_not_refused(seed):
    draws = rng(seed).laplace(size=200_000)
    assert check_noise(Laplace(1.0), draws).p_value > 1e-4
    integers = Geometric(0.7).release(np.zeros(200_000, dtype=int), rng=rng(seed))
    assert check_noise(Geometric(0.7), integers).p_value > 1e-4


def test_noise_of_one_sign_is_refused():
    draws = np.abs(rng().laplace(size=1_000))
    law = check_noise(Laplace(1.0), draws)
    assert not law.passed
    assert law.outcome == "above 0"


def test_sizes_of_another_shape_are_refused():
    assert check_sizes(stats.gamma(3), rng().gamma(3, size=20_000)).passed
    assert not check_sizes(stats.gamma(3), rng().gamma(2.5, size=20_000)).passed


def test_the_command_says_which_draws_are_not_what_is_stated(monkeypatch, capsys):
    assert main(["audit", "laplace", "private-categories"]) == 0
    printed = capsys.readouterr().out
    assert "ε = 1 and δ = 1e-05 holds" in printed
    assert "(δ is 4.49e-06 at ε = 1)" in printed
    monkeypatch.setattr(Laplace, "_sample", halved(Laplace._sample))
    assert main(["audit", "laplace"]) == 1
    assert "laplace, add-remove: draws do not follow the stated distribution: " in capsys.readouterr().out


def test_without_the_extra_the_exact_audit_remains(monkeypatch, capsys):
    def missing():
        raise MissingExtra("This law", "OpenDP", "release")

    monkeypatch.setattr(secure, "_opendp", missing)
    assert main(["audit", "secure-integer-laplace"]) == 0
    printed = capsys.readouterr().out
    assert "secure-integer-laplace, add-remove: a claim of ε = 1 holds" in printed
    assert "its draws were not tested: This law needs OpenDP" in printed
