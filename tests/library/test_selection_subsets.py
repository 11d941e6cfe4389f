"""SubsetSelector: losses and the best sets against their definition, and the cost of top-R over all neighbours."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from dpml.audit import recorded_releases
from dpml.budget import Budget
from dpml.exceptions import InvalidParameter
from dpml.selection import SubsetSelector
from dpml.selection.subsets import SubsetDraw, best_supports, losses, round_sizes, support_at

RECORDS = [(x, y) for x in itertools.product((0, 1), repeat=3) for y in (0, 1)]
SETS = list(itertools.combinations(range(3), 2))


def table(rows, D=3):
    return np.array([x for x, _ in rows]).reshape(-1, D), np.array([y for _, y in rows], dtype=int)


def loss_of(X, y, n_classes, support, loss):
    """Return the loss by its definition, from the labels of each cell."""
    cells = {}
    for x, label in zip(X[:, support], y, strict=True):
        cells.setdefault(tuple(x), []).append(label)
    total = 0.0
    for labels in cells.values():
        share = np.bincount(labels, minlength=n_classes) / len(labels)
        for label in labels:
            if loss == "error":
                total += label != share.argmax()
            else:
                total += ((np.eye(n_classes)[label] - share) ** 2).sum() / 2
    return total


@pytest.mark.parametrize("loss", ["error", "squared"])
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("taken", [(), (1,), (0, 4)])
def test_losses_are_those_of_the_definition(loss, size, taken):
    rng = np.random.default_rng(0)
    X, y = rng.integers(2, size=(60, 6)), rng.integers(3, size=60)
    left = [i for i in range(6) if i not in taken]
    expected = [loss_of(X, y, 3, [*taken, *more], loss) for more in itertools.combinations(left, size)]
    found = np.concatenate(list(losses(X, y, 3, taken, size, loss)))
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("loss", ["error", "squared"])
def test_loss_of_a_record_is_at_most_one(loss):
    """One record more raises each loss by 0 to 1, and the squared one by 1 - 1/n in a cell of n others."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        rows = [RECORDS[i] for i in rng.integers(len(RECORDS), size=6)]
        before = np.concatenate(list(losses(*table(rows), 2, (), 2, loss)))
        for record in RECORDS:
            change = np.concatenate(list(losses(*table([*rows, record]), 2, (), 2, loss))) - before
            assert change.min() >= -1e-12
            assert change.max() <= 1 + 1e-12
    pure = [((1, 0, 0), 0)] * 99
    [[first, _, _]] = [np.concatenate(list(losses(*table([*pure, ((1, 0, 0), 1)]), 2, (), 1, loss)))]
    assert first == pytest.approx(1.0 if loss == "error" else 0.99)


def exact_log_probabilities(X, y, weight, n_best, loss):
    """Return log P of each set by the definition: the largest of its score and the (R+1)-th best."""
    scores = -np.array([loss_of(X, y, 2, list(support), loss) for support in SETS])
    if n_best < len(SETS):
        scores = np.maximum(scores, np.sort(scores)[::-1][n_best])
    logs = weight * scores
    return logs - np.logaddexp.reduce(logs)


@pytest.mark.parametrize("loss", ["error", "squared"])
@pytest.mark.parametrize("n_best", [1, 2, 3])
def test_top_sets_cost_no_more_than_all_sets(n_best, loss):
    """The largest log ratio over all neighbours of 30 tables is at most ε, and so is what the recorder compares."""
    rng, epsilon, worst = np.random.default_rng(2), 1.5, {1.0: 0.0, 2.0: 0.0}
    for _ in range(30):
        rows = [RECORDS[i] for i in rng.integers(len(RECORDS), size=rng.integers(1, 8))]
        more = [*rows, RECORDS[rng.integers(len(RECORDS))]]
        pairs = [(1.0, [*rows, record]) for record in RECORDS] + [(2.0, [*rows, record]) for record in RECORDS]
        for span, other in pairs:
            one = rows if span == 1.0 else more
            logs = [exact_log_probabilities(*table(side), epsilon / span, n_best, loss) for side in (one, other)]
            exact = np.abs(logs[0] - logs[1]).max()
            draw = SubsetDraw(len(SETS), epsilon / span)
            found = [best_supports(*table(side), 2, (), 2, loss, n_best) for side in (one, other)]
            assert draw._compare(found[0], draw, found[1]).pure == pytest.approx(exact, abs=1e-9)
            worst[span] = max(worst[span], exact)
    assert max(worst.values()) <= epsilon + 1e-9
    assert min(worst.values()) > 0.15 * epsilon or n_best == 1


@pytest.mark.parametrize("n_best", [1, 4, 9, 10])
def test_draws_follow_the_stated_distribution(n_best):
    """Of 10 sets, with the best R by their own scores. False alarm: 0.1%."""
    scores = np.array([3.0, 1.0, 4.0, 1.5, 5.0, 9.0, 2.0, 6.0, 5.5, 3.5])
    order = np.argsort(-scores)
    floor = scores[order[n_best]] if n_best < 10 else -np.inf
    expected = np.exp(0.4 * np.maximum(scores, floor))
    drawn = SubsetDraw(10, 0.4, 40_000)._sample(
        (order[:n_best], scores[order[:n_best]], floor), np.random.default_rng(3)
    )
    seen = np.bincount(drawn, minlength=10)
    assert stats.chisquare(seen, 40_000 * expected / expected.sum()).pvalue > 1e-3


def test_best_sets_are_kept_over_many_parts():
    rng = np.random.default_rng(4)
    X, y = rng.integers(2, size=(80, 12)), rng.integers(2, size=80)
    scores = -np.concatenate(list(losses(X, y, 2, (), 3, "squared")))
    for n_best in (1, 7, 50, 219):
        ranks, kept, floor = best_supports(X, y, 2, (), 3, "squared", n_best)
        best = np.sort(scores)[::-1]
        assert np.sort(kept)[::-1] == pytest.approx(best[:n_best])
        assert scores[ranks] == pytest.approx(kept)
        assert floor == pytest.approx(best[n_best])
    ranks, kept, floor = best_supports(X, y, 2, (), 3, "squared", 220)
    assert (len(ranks), floor) == (220, -np.inf)


@pytest.mark.parametrize(("n_total", "size"), [(7, 1), (7, 3), (7, 7)])
def test_place_in_lexicographic_order(n_total, size):
    found = [support_at(rank, n_total, size) for rank in range(math.comb(n_total, size))]
    assert found == [list(support) for support in itertools.combinations(range(n_total), size)]


def test_rounds_are_few_and_even():
    assert round_sizes(2, 8_000) == [2]
    assert round_sizes(3, 126) == [3]
    assert round_sizes(5, 126) == [3, 2]
    assert round_sizes(4, 126) == [2, 2]
    assert round_sizes(3, 20_000) == [1, 1, 1]


@pytest.mark.parametrize(("relation", "span"), [("add-remove", 1), ("replace-one", 2)])
def test_rounds_and_charges_add_up_to_epsilon(relation, span):
    """Each round costs its weight times the range of a score, and two rounds select four of 150 features."""
    table = np.eye(150)[:40], np.arange(40) % 2
    budget = Budget(10.0, relation=relation)
    model = SubsetSelector(0.8, 4, relation=relation, budget=budget, random_state=0).fit(*table)
    assert budget.ledger["epsilon"].tolist() == [0.8]
    model.set_params(budget=None)
    releases = recorded_releases(lambda data: model.fit(*data), table, table)
    assert [release.mechanism.n_supports for release in releases] == [math.comb(150, 2), math.comb(148, 2)]
    assert sum(span * release.mechanism.weight for release in releases) == pytest.approx(0.8)


def test_features_that_count_only_together_are_found():
    """The class is the parity of two features, of which each alone says nothing. Later rounds use earlier ones."""
    rng = np.random.default_rng(5)
    X = rng.integers(2, size=(3_000, 150))
    y = X[:, 20] ^ X[:, 90]
    assert round_sizes(4, 150) == [2, 2]
    chosen = SubsetSelector(2.0, 4, random_state=0).fit(X, y)
    assert {20, 90} < set(chosen.get_support(indices=True))
    assert chosen.transform(X).shape == (3_000, 4)


def test_bad_parameters_are_named():
    X, y = [[0, 1], [1, 0]], [0, 1]
    for options, name in (
        ({"n_features": 3}, "n_features"),
        ({"n_features": 11}, "n_features"),
        ({"n_features": 1, "loss": "hinge"}, "loss"),
        ({"n_features": 1, "n_best": 0}, "n_best"),
    ):
        with pytest.raises(InvalidParameter, match=f"`{name}` must be "):
            SubsetSelector(1.0, **options).fit(X, y)
