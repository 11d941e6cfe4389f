"""The search: power where ε is known, restraint where the claim is true, outputs of any kind, named errors."""

import math

import numpy as np
import pytest
from each_commit import others_in_full
from scipy import stats

from benchmarks.literature import LITERATURE
from dpml.audit import search
from dpml.audit.search import (
    Answers,
    Encoder,
    Neighbours,
    Pairs,
    SearchResult,
    SharedRecords,
    Values,
    classifiers,
    of_case,
)
from dpml.exceptions import InvalidParameter


def coin(epsilon):
    """Randomised response, which is tight: its ε is what it claims."""
    truth = np.exp(epsilon) / (1 + np.exp(epsilon))
    return lambda data, draws, rng: np.where(rng.random(draws) < truth, data, 1 - data)


def find(name, draws, seed=0, **options):
    found = LITERATURE[name](1.0)
    options |= {"seconds": None, "draws": draws, "rng": np.random.default_rng(seed)}
    return found.true_epsilon(), search(found.mechanism, found.neighbours, 1.0, **options)


# ---- power ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "draws", "share"),
    others_in_full(
        [
            ("noisy-max-1", 100_000, 0.85),
            ("noisy-max-3", 20_000, 0.75),
            ("truncated-geometric", 100_000, 0.85),
            ("noisy-histogram-1", 20_000, 0.75),
            ("sparse-vector-4", 40_000, 0.65),
        ],
        first=3,
    ),
)
def test_a_short_search_comes_close_to_a_finite_epsilon(name, draws, share):
    true, found = find(name, draws)
    assert math.isfinite(true)
    assert share * true < found.epsilon_lower <= 1.05 * true


@pytest.mark.parametrize("name", others_in_full(["noisy-max-4", "sparse-vector-5"], "sparse-vector-5"))
def test_an_infinite_epsilon_is_found_at_five_times_the_claim(name):
    true, found = find(name, 40_000)
    assert true == math.inf
    assert found.epsilon_lower > 5
    assert not found.passed
    assert found.misses < found.hits / 100


def test_the_search_finds_the_neighbours_with_the_largest_loss():
    """Only a change of the third answer shows."""

    def leaks(data, draws, rng):
        return np.stack([rng.laplace(size=draws), data[2] + rng.laplace(scale=0.25, size=draws)], axis=1)

    found = search(leaks, Answers(4, each=False), 1.0, seconds=None, draws=20_000, rng=np.random.default_rng(0))
    assert (found.data != found.neighbour).tolist() == [False, False, True, False]
    assert 3 < found.epsilon_lower < 4.2


def test_the_search_finds_neighbours_that_are_in_no_list():
    """The loss grows with the number of answers that equal a secret vector, which is no pattern."""
    secret = np.array([0, 2, 1, 0, 2, 1])

    def knows(data, draws, rng):
        return (data == secret).sum() + rng.laplace(scale=2.0, size=draws)

    domain = Answers(6, each=True)
    at_patterns = max(abs((a == secret).sum() - (b == secret).sum()) for a, b in domain.patterns())
    found = search(knows, domain, 1.0, seconds=None, draws=10_000, rng=np.random.default_rng(1))
    assert abs((found.data == secret).sum() - (found.neighbour == secret).sum()) > at_patterns


def test_a_search_of_stated_draws_depends_on_its_seed_alone():
    """A clock that gives another time to every reading changes nothing but the seconds told."""
    times = np.random.default_rng(0).uniform(0, 1e3, 100_000)
    one, two = (find("sparse-vector-1", 500, seed=3, **of)[1] for of in ({}, {"clock": iter(times).__next__}))
    assert (one.epsilon_lower, one.event, one.hits) == (two.epsilon_lower, two.event, two.hits)
    assert find("sparse-vector-1", 500, seed=4)[1].hits != one.hits


def test_time_ends_the_search():
    """A clock that moves on by a tenth of a second each time it is read: so many readings, and it is over."""
    ticks = iter(np.arange(0.0, 1e6, 0.1))
    found = search(coin(1.0), [(0, 1)], 1.0, seconds=30.0, rng=np.random.default_rng(0), clock=lambda: next(ticks))
    assert isinstance(found, SearchResult)
    assert found.draws > 0
    assert 25 < found.seconds < 40
    capped = search(coin(1.0), [(0, 1)], 1.0, seconds=1e6, draws=1_000, rng=np.random.default_rng(0))
    assert capped.draws == 1_000


# ---- restraint --------------------------------------------------------------------------------------------------


def test_an_honest_mechanism_is_seldom_accused():
    """15 searches at 95 %; the binomial's 0.999 quantile is the limit. Its ε is 1 to nine places."""
    bounds = [find("noisy-max-2", 1_000, seed)[1].epsilon_lower for seed in range(15)]
    assert sum(bound > 1.0 for bound in bounds) <= stats.binom.ppf(0.999, 15, 0.05)
    assert max(bounds) > 0.2


def test_delta_is_allowed_for():
    """A mechanism that gives everything away with probability 0.05, and nothing else."""

    def leaks(data, draws, rng):
        return np.where(rng.random(draws) < 0.05, data, -1)

    call = {"seconds": None, "draws": 20_000}
    assert not search(leaks, [(0, 1)], 1.0, rng=np.random.default_rng(0), **call).passed
    assert search(leaks, [(0, 1)], 1.0, delta=0.06, rng=np.random.default_rng(0), **call).passed


# ---- outputs of any kind ----------------------------------------------------------------------------------------


def test_words_and_unequal_lengths_are_read():
    def stops(data, draws, rng):
        """Answer "no" until a noisy query passes, then give its value: a list of its own length each."""
        answers = []
        for _ in range(draws):
            answer = []
            for value in data:
                noisy = value + rng.laplace(scale=0.2)
                answer.append("no" if noisy < 1 else noisy)
                if noisy >= 1:
                    break
            answers.append(answer)
        return answers

    found = search(stops, Answers(2, each=True), 1.0, seconds=None, draws=2_000, rng=np.random.default_rng(0))
    assert found.epsilon_lower > 2


def test_an_encoder_reads_each_kind_of_output():
    encoder = Encoder.from_outputs([["yes", 2.5], ["no"], [None, math.nan]])
    assert encoder([["no"], ["yes", 7.0]]).shape == (2, 4)
    rows = encoder([["no"], ["yes"], [None], ["yes", 1.0], ["yes", math.nan], ["never seen"]])
    assert len({tuple(row) for row in rows}) == 6
    assert np.isfinite(rows).all()
    numbers = Encoder.from_outputs(np.array([[1.0, np.nan], [2.0, 3.0]]))
    assert numbers(np.array([[5.0, np.inf], [5.0, -np.inf], [5.0, np.nan], [5.0, 0.0]])).tolist() == [
        [5.0, 0.0, 2.0],
        [5.0, 0.0, 3.0],
        [5.0, 0.0, 1.0],
        [5.0, 0.0, 0.0],
    ]
    # a batch reads alike whatever else is in it: by chance of equal lengths it is an array, or it is not
    ragged = Encoder.from_outputs([[1.0], [1.0, 2.0]])
    assert ragged([[1.0, 4.0]]).tolist() == ragged([[1.0, 4.0], [1.0]])[:1].tolist()
    assert Encoder.from_outputs(np.array([[1.0, 2.0]]))([[1.0], [3.0, 4.0]]).shape == (2, 2)
    assert np.isfinite(Encoder.from_outputs([10**400, 1])([10**400, 1])).all()


def test_classifiers_see_a_difference_of_columns():
    """Both columns share their noise: only their difference tells, which no column alone does."""
    rng = np.random.default_rng(0)
    shared = rng.normal(scale=50, size=(2, 4_000, 1))
    first, second = (shared[k] + np.stack([np.zeros(4_000), k + rng.normal(size=4_000)], axis=1) for k in (0, 1))
    gaps = {}
    for name, score in classifiers(first, second, slow=2_000):
        one, two = score(first), score(second)
        gaps[name] = abs(one.mean() - two.mean()) / np.sqrt((one.var() + two.var()) / 2)
    assert gaps["coordinate 0"] < 0.2
    assert gaps["logistic regression of bent outputs"] > 0.7
    assert gaps["gradient boosting of the output"] > 0.7


# ---- neighbours -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(("length", "lower", "upper"), [(1, 0, 5), (2, 0, 1), (6, -1, 2)])
def test_answers_propose_neighbours_and_nothing_else(each, whole, length, lower, upper):
    domain = Answers(length, lower, upper, each=each, whole=whole)
    assert isinstance(domain, Neighbours)
    rng = np.random.default_rng(0)
    pairs = list(domain.patterns())
    assert len({(a.tobytes(), b.tobytes()) for a, b in pairs}) == len(pairs) > 0
    for _ in range(300):
        pairs.append(domain.fresh(rng))
        pairs.append(domain.near(pairs[int(rng.integers(len(pairs)))], rng))
    for first, second in pairs:
        assert first.shape == second.shape == (length,)
        assert min(first.min(), second.min()) >= lower
        assert max(first.max(), second.max()) <= upper
        change = np.abs(first - second)
        assert 0 < change.max() <= 1 + 1e-12
        assert each or (change > 0).sum() == 1
        assert not whole or ((first % 1 == 0).all() and (second % 1 == 0).all())


def test_values_and_pairs_are_taken_as_they_are():
    rng = np.random.default_rng(0)
    values = Values("abcd")
    pairs = [*values.patterns(), *(values.fresh(rng) for _ in range(50))]
    assert all(a != b and a in "abcd" and b in "abcd" for a, b in pairs)
    # both ends of a pair can be exchanged, and never for each other
    near = [values.near(("a", "b"), rng) for _ in range(200)]
    assert {pair[0] for pair in near} | {pair[1] for pair in near} == set("abcd")
    assert all(a != b for a, b in near)
    listed = Pairs([([0], [1])])
    assert listed.fresh(rng) is listed.near(([0], [1]), rng) is None


@pytest.mark.parametrize("extra", [0, 1])
def test_shared_records_stay_neighbours(extra):
    rng = np.random.default_rng(0)
    X, y = np.arange(12.0).reshape(6, 2), np.arange(6)
    data, other = (X[: 5 + extra], y[: 5 + extra]), (np.vstack([X[:5], [[9.0, 9.0]]]), np.append(y[:5], 1))
    domain = of_case(data, other)
    assert isinstance(domain, SharedRecords)
    pair = domain.patterns()[0]
    for _ in range(20):
        pair = domain.near(pair, rng) if rng.random() < 0.5 else domain.fresh(rng)
        (a, b), (c, d) = pair
        assert (len(a), len(c)) == (5 + extra, 6)
        assert (a[:5] == c[:5]).all()
        assert (b[:5] == d[:5]).all()
        assert (c[5] == 9).all()
        # each shared record is one that the table had, with its own label
        assert (a[:5, 0] == 2 * b[:5]).all()
    assert isinstance(of_case(np.zeros(3), np.ones(3)), Pairs)
    assert isinstance(of_case(data, (other[0][::-1], other[1][::-1])), Pairs)


# ---- errors -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epsilon": math.nan}, "`epsilon` must be .*Got nan"),
        ({"seconds": 0.0}, "`seconds` must be .*Got 0.0"),
        ({"draws": 5}, "`draws` must be .*Got 5"),
        ({"seconds": None}, "`draws` must be .*Got None"),
        ({"confidence": 1.0}, "`confidence` must be .*Got 1.0"),
        ({"delta": 1.0}, "`delta` must be .*Got 1.0"),
        ({"rng": 0}, "`rng` must be .*Got 0"),
        ({"neighbours": []}, "`neighbours` must be "),
        ({"mechanism": 3}, "`mechanism` must be .*Got 3"),
        ({"mechanism": lambda data, draws, rng: np.zeros(7)}, "`mechanism` must be .*Got '7 outputs'"),
        ({"mechanism": lambda data, draws, rng: 0.5}, "`mechanism` must be .*Got 'float'"),
    ],
)
def test_bad_searches_are_named(change, message):
    call = {"mechanism": coin(1.0), "neighbours": [(0, 1)], "epsilon": 1.0, "rng": np.random.default_rng(0)} | change
    with pytest.raises(InvalidParameter, match=message):
        search(call.pop("mechanism"), call.pop("neighbours"), call.pop("epsilon"), **call)
