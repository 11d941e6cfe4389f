"""Parts of an ε add up to at most it: exactly, as rationals."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpml.budget.shares import divide_epsilon, equal_share, rest_of, split_epsilon
from dpml.classifiers.local_search.search import epsilon_share
from dpml.classifiers.naive_bayes import moments
from dpml.mechanisms import SparseVector
from dpml.tuning import search_costs

epsilons = st.floats(1e-6, 1e6)


@given(epsilons, st.floats(0.001, 0.999))
def test_two_parts_add_up_to_epsilon(epsilon, share):
    first, rest = split_epsilon(epsilon, share)
    assert Fraction(first) + Fraction(rest) <= Fraction(epsilon)
    assert first + rest == pytest.approx(epsilon, rel=1e-14)
    assert Fraction(first) + Fraction(rest_of(epsilon, first)) <= Fraction(epsilon)


@given(epsilons, st.integers(1, 1000))
def test_equal_parts_add_up_to_epsilon(epsilon, parts):
    for share in (equal_share(epsilon, parts), epsilon_share(epsilon, parts)):
        assert parts * Fraction(share) <= Fraction(epsilon)
        assert parts * share == pytest.approx(epsilon, rel=1e-14)


@given(epsilons, st.integers(0, 20), st.integers(0, 20), st.sampled_from([1, 2]))
def test_parts_of_several_kinds_add_up_to_epsilon(epsilon, numbers, attributes, power):
    shares = moments.shares(numbers, attributes, (2.0, 1.0))
    counts = (1, attributes, 2 * numbers)
    parts = divide_epsilon(epsilon, [share ** (1 / power) for share in shares], counts, power=power)
    spent = sum(count * Fraction(part) ** power for count, part in zip(counts, parts, strict=True))
    assert spent <= Fraction(epsilon) ** power
    assert float(spent) == pytest.approx(epsilon**power, rel=1e-12)


@given(epsilons, st.integers(1, 50), st.sampled_from([None, 0.1, 0.3, 0.7]))
def test_sparse_vector(epsilon, cutoff, share):
    """Each scale is a sensitivity over a part of ε; the parts are read off a division's rounding, within 2^-52."""
    threshold, query = SparseVector(epsilon, cutoff, threshold_share=share).scales
    parts = 1 / Fraction(threshold) + Fraction(2 * cutoff) / Fraction(query)
    assert parts <= Fraction(epsilon) * (1 + Fraction(1, 2**52))


@given(epsilons, st.integers(1, 30), st.sampled_from([0.0, 0.3, 0.5]))
def test_steps_of_a_search_add_up_to_epsilon(epsilon, n_candidates, retrain):
    costs = search_costs(epsilon, n_candidates, retrain_share=retrain)
    for step in (n_candidates * Fraction(costs["train"]), Fraction(costs["select"])):
        assert step + Fraction(costs["retrain"]) <= Fraction(epsilon)
