"""ROC curves as Stoddard et al. publish them: what each part is paid, valid curves, and what is refused."""

import itertools

import numpy as np
import pytest
from evaluated import assert_valid
from observing import observing
from sklearn.isotonic import isotonic_regression

from dpml.budget import Budget
from dpml.evaluation import published_roc_curve, published_roc_is_private, recursive_medians, roc_from_sums
from dpml.evaluation.roc import as_published as module
from dpml.exceptions import InvalidData, InvalidParameter, NotPrivate
from dpml.mechanisms import Laplace, Privelet


def data(n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return y, rng.beta(1 + 2 * y, 3 - 2 * y)


def assert_valid_at(fpr, tpr, thresholds):
    assert fpr.shape == tpr.shape == thresholds.shape
    assert_valid(fpr, tpr)
    assert (thresholds[..., 0] == np.inf).all()
    assert (thresholds[..., 1:-1] >= thresholds[..., 2:]).all()


# ---- model ----------------------------------------------------------------------------------------------------------


def test_sums_by_hand_and_by_scikit_learn():
    fpr, tpr = roc_from_sums([[-1, 1, 3, 4], [6, 2, 8, 8]])
    np.testing.assert_allclose(fpr, [0, 0, 0.25, 0.75, 1])
    np.testing.assert_allclose(tpr, [0, 0.5, 0.5, 1, 1])
    noisy = np.random.default_rng(0).normal(np.arange(12), 5, (20, 2, 12)) + 3
    fpr, tpr = roc_from_sums(noisy)
    for i, rates in itertools.product(range(20), (0, 1)):
        expected = np.maximum(isotonic_regression(noisy[i, rates]), 0)
        np.testing.assert_allclose((fpr, tpr)[rates][i, 1:], expected / expected[-1], atol=1e-12)


def test_a_label_of_which_nothing_is_left_rises_evenly():
    fpr, tpr = roc_from_sums([[-1.0, -3, -2, -1], [0, 0, 0, 0]])
    np.testing.assert_allclose(fpr, [0, 0.25, 0.5, 0.75, 1])
    np.testing.assert_allclose(tpr, [0, 0.25, 0.5, 0.75, 1])
    huge = roc_from_sums(np.full((2, 5), 1.7e308))
    np.testing.assert_allclose(huge, [[0, 1, 1, 1, 1, 1]] * 2)


# ---- release --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("halves", [True, False])
@pytest.mark.parametrize(("method", "first"), [("recursive-medians", 0.3), ("quantiles", 0.3), ("fixed-space", 0.0)])
def test_what_each_part_is_paid(monkeypatch, method, first, halves, relation):
    paid = {}

    def spy(name, function):
        def call(scores, epsilon, *args, **options):
            paid[name] = (epsilon, options["relation"])
            return function(scores, epsilon, *args, **options)

        return call

    for name in ("recursive_medians", "quantile_thresholds"):
        monkeypatch.setattr(module, name, spy(name, getattr(module, name)))
    options = {"n_thresholds": 8} if method == "fixed-space" else {"k": 3}
    options |= {"method": method, "split": 0.3, "halves": halves, "relation": relation}
    with observing() as passed:
        published_roc_curve(*data(), 2.0, rng=np.random.default_rng(0), **options)
    second = 2.0 * (1 - first)
    expected = Privelet(second / 2 if halves else second, 8, relation, 2)
    sums = passed.of(Laplace)[-1]
    assert (sums.epsilon, sums.sensitivity) == pytest.approx((expected.epsilon, expected.sensitivity))
    if first:
        [(epsilon, stated)] = paid.values()
        assert epsilon == pytest.approx(2.0 * first)
        assert stated == relation
    else:
        assert not paid


@pytest.mark.parametrize(
    ("halves", "relation", "sensitivity"),
    [(True, "add-remove", 21), (False, "add-remove", 11), (True, "replace-one", 42), (False, "replace-one", 22)],
)
@pytest.mark.parametrize("method", ["laplace", "laplace-fixed"])
def test_the_baselines_noise(method, halves, relation, sensitivity):
    with observing() as passed:
        curve = published_roc_curve(
            *data(), 0.5, rng=np.random.default_rng(0), method=method, halves=halves, relation=relation
        )
    assert [mechanism for mechanism, _ in passed] == [Laplace(0.5, sensitivity)]
    assert curve[2].shape == (12,)


def test_the_baselines_sensitivity_by_enumeration():
    thresholds = np.array([np.inf, 0.75, 0.5, 0.25, 0.0])
    records = list(itertools.product((0, 1), (0.0, 0.3, 0.6, 1.0)))

    def sums(rows):
        labels, scores = (np.array([r[i] for r in rows]) for i in (0, 1))
        return module._records_above(scores, labels, thresholds)

    added = max(np.abs(sums([*rest, r]) - sums(rest)).sum() for r in records for rest in itertools.product(records))
    moved = max(np.abs(sums([a]) - sums([b])).sum() for a, b in itertools.product(records, repeat=2))
    assert added == 4
    assert moved == 8


def test_sums_count_what_is_at_or_above_each_threshold():
    y, s = data(60)
    thresholds = np.sort(np.random.default_rng(1).choice(s, (3, 5)))[:, ::-1]
    thresholds = np.concatenate([np.full((3, 1), np.inf), thresholds, np.zeros((3, 1))], axis=1)
    found = module._records_above(s, y, thresholds)
    for row, label, k in itertools.product(range(3), (0, 1), range(6)):
        assert found[row, label, k] == np.sum((s >= thresholds[row, k + 1]) & (y == label))


@pytest.mark.parametrize("ranges", ["privelet", "hierarchy", "identity"])
@pytest.mark.parametrize("method", module.METHODS)
def test_a_large_epsilon_gives_the_true_rates_at_the_thresholds(method, ranges):
    y, s = data()
    fpr, tpr, thresholds = published_roc_curve(
        y, s, 1e7, rng=np.random.default_rng(0), method=method, ranges=ranges, k=4, draws=3
    )
    assert_valid_at(fpr, tpr, thresholds)
    for row, k in itertools.product(range(3), range(1, fpr.shape[1])):
        assert fpr[row, k] == pytest.approx(np.mean(s[y == 0] >= thresholds[row, k]), abs=1e-3)
        assert tpr[row, k] == pytest.approx(np.mean(s[y == 1] >= thresholds[row, k]), abs=1e-3)


def test_the_data_thresholds_are_quantiles_of_the_scores():
    y, s = data(99)
    thresholds = published_roc_curve(y, s, 1.0, rng=np.random.default_rng(0), method="laplace", n_thresholds=4)[2]
    assert set(thresholds[1:-1]) <= set(s)
    np.testing.assert_allclose([np.mean(s >= t) for t in thresholds[1:-1]], [0.2, 0.4, 0.6, 0.8], atol=0.02)


def test_two_releases_of_one_generator():
    """Thresholds first: with the same seed they are those of `recursive_medians` at the split's ε."""
    y, s = data()
    curve = published_roc_curve(y, s, 1.0, rng=np.random.default_rng(2), k=3, draws=4, split=0.25)
    alone = recursive_medians(s, 0.25, 3, rng=np.random.default_rng(2), calibration="published", draws=4)
    np.testing.assert_array_equal(curve[2], alone)


@pytest.mark.parametrize("method", module.METHODS)
def test_shapes_and_seeds(method):
    y, s = data(50)
    one = published_roc_curve(y, s, 0.5, rng=np.random.default_rng(3), method=method, k=3)
    many = published_roc_curve(y, s, 0.5, rng=np.random.default_rng(3), method=method, k=3, draws=5)
    again = published_roc_curve(y, s, 0.5, rng=np.random.default_rng(3), method=method, k=3, draws=5)
    width = {"fixed-space": 51, "laplace": 12, "laplace-fixed": 12}.get(method, 9)
    assert one[0].shape == (width,)
    assert many[0].shape == (5, width)
    for a, b in zip(many, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert len({tuple(row) for row in many[1]}) > 1


DEGENERATE = (
    ([], []),
    ([0], [0.2]),
    ([1] * 30, np.linspace(0, 1, 30)),
    ([0] * 30, np.linspace(0, 1, 30)),
    ([0, 1] * 20, [0.5] * 40),
    ([0, 1] * 20, [1.0] * 40),
    ([0, 1] * 20, [0.0] * 40),
)


@pytest.mark.parametrize("method", module.METHODS)
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_any_data_give_valid_curves(method, relation):
    for (y, s), epsilon in itertools.product(DEGENERATE, (1e-3, 1.0, 1e9)):
        curve = published_roc_curve(
            y, s, epsilon, rng=np.random.default_rng(0), method=method, relation=relation, k=3, draws=20
        )
        assert_valid_at(*curve)


def test_clipping_never_raises():
    y = [0, 1, 7, None, 1, "ham", 0]
    s = [np.nan, 2.0, 0.3, 0.4, "0.9", 0.1, 0.2]
    for method in module.METHODS:
        # as many thresholds on both sides: "fixed-space" counts the records that were dropped too
        stated = {"k": 2} if method in ("recursive-medians", "quantiles") else {"n_thresholds": 4}
        options = {"method": method, **stated}
        curve = published_roc_curve(y, s, 1.0, rng=np.random.default_rng(0), on_invalid="clip", **options)
        assert_valid_at(*curve)
        clean = published_roc_curve([1, 1, 0], [1.0, 0.9, 0.2], 1.0, rng=np.random.default_rng(0), **options)
        np.testing.assert_array_equal(curve[1], clean[1])


def test_the_positive_label_and_log_odds():
    y, s = data()
    words = np.array(["spam", "ham"])[y]
    options = {"k": 3, "draws": 2}
    expected = published_roc_curve(y, s, 1.0, rng=np.random.default_rng(0), **options)
    for classes in (("spam", "ham"), ("ham", "spam")):
        found = published_roc_curve(
            words, s, 1.0, rng=np.random.default_rng(0), classes=classes, pos_label="ham", **options
        )
        for a, b in zip(expected, found, strict=True):
            np.testing.assert_array_equal(a, b)
    curve = published_roc_curve(
        y, np.log(s / (1 - s)), 1e7, rng=np.random.default_rng(0), score_scale="log-odds", **options
    )
    assert_valid_at(*curve)
    assert curve[2][0, -1] == -np.inf


# ---- privacy --------------------------------------------------------------------------------------------------------


def test_which_are_private():
    assert not published_roc_is_private("laplace", 10, "replace-one")
    assert not published_roc_is_private("fixed-space")
    assert published_roc_is_private("fixed-space", relation="replace-one")
    for method in ("recursive-medians", "quantiles", "laplace-fixed"):
        assert published_roc_is_private(method)


def test_a_budget_is_charged_once_and_refuses_what_is_not_private():
    y, s = data(50)
    budget, generator = Budget(1.0), np.random.default_rng(0)
    published_roc_curve(y, s, 0.2, rng=generator, k=2, draws=3, budget=budget)
    assert budget.ledger["epsilon"].tolist() == pytest.approx([0.6])
    state = generator.bit_generator.state
    for method in ("laplace", "fixed-space"):
        with pytest.raises(NotPrivate, match="it takes no budget"):
            published_roc_curve(y, s, 0.1, rng=generator, method=method, budget=budget)
    assert generator.bit_generator.state == state
    published_roc_curve(y, s, 0.1, rng=generator, method="fixed-space", n_thresholds=9, budget=budget)
    assert budget.ledger["epsilon"].sum() == pytest.approx(0.7)


def test_bad_input():
    y, s = data(20)
    rng = np.random.default_rng(0)
    for name, value in (
        ("method", "median"),
        ("calibration", "loose"),
        ("ranges", "wavelet"),
        ("halves", "yes"),
        ("split", 1.0),
        ("k", 0),
        ("alpha", 0.0),
        ("relation", "swap"),
        ("draws", 0),
        ("score_scale", "percent"),
        ("classes", (1, 1)),
        ("pos_label", 3),
        ("n_thresholds", 8),
    ):
        with pytest.raises(InvalidParameter, match=name):
            published_roc_curve(y, s, 1.0, rng=rng, **{name: value})
    for epsilon in (0, -1.0, np.inf, 1e-300):
        with pytest.raises(InvalidParameter, match="`epsilon` must be "):
            published_roc_curve(y, s, epsilon, rng=rng)
    with pytest.raises(InvalidParameter, match=r"`rng` must be .*Got None"):
        published_roc_curve(y, s, 1.0, rng=None)
    with pytest.raises(InvalidData, match="different lengths"):
        published_roc_curve(y, s[1:], 1.0, rng=rng)
    with pytest.raises(InvalidData, match="y has the label"):
        published_roc_curve(y + 1, s, 1.0, rng=rng)
    with pytest.raises(InvalidData, match="y_score has the value"):
        published_roc_curve(y, s + 1, 1.0, rng=rng)
    with pytest.raises(InvalidParameter, match="sums"):
        roc_from_sums([[1.0, np.nan], [0, 1]])
