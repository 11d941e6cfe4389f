"""The histogram behind the private ROC curve: exact statistics, exact privacy, and what is refused."""

import itertools

import numpy as np
import pytest
from evaluated import scores
from scipy.special import expit
from sklearn.metrics import roc_auc_score, roc_curve

from dpml.budget import Budget
from dpml.evaluation import (
    area_between,
    private_roc_auc,
    private_roc_curve,
    roc_from_histogram,
    roc_histogram,
)
from dpml.exceptions import InvalidData, InvalidParameter

SENSITIVITY = {"add-remove": 1, "replace-one": 2}


# ---- statistics -----------------------------------------------------------------------------------------------------


def test_histogram_by_hand():
    # cells from the top: [0.8, 1], [0.3, 0.8), [0, 0.3); a score on a threshold belongs to the bin above it
    y = [1, 1, 0, 1, 0, 0]
    s = [1.0, 0.8, 0.79, 0.3, 0.0, 0.29]
    counts = roc_histogram(y, s, [np.inf, 0.8, 0.3, 0])
    np.testing.assert_array_equal(counts, [[0, 1, 2], [2, 1, 0]])
    fpr, tpr = roc_from_histogram(counts)
    np.testing.assert_allclose(fpr, [0, 0, 1 / 3, 1])
    np.testing.assert_allclose(tpr, [0, 2 / 3, 1, 1])


def test_the_positive_label_is_chosen_among_the_stated_classes():
    y, log_odds = scores()
    expected = roc_histogram(y, expit(log_odds))
    words = np.array(["spam", "ham"])[y]
    for classes in (("spam", "ham"), ("ham", "spam")):
        counts = roc_histogram(words, expit(log_odds), classes=classes, pos_label="ham")
        np.testing.assert_array_equal(counts, expected)
    np.testing.assert_array_equal(roc_histogram(y, expit(log_odds), pos_label=0), expected[::-1])


def test_log_odds_tell_apart_what_probabilities_round_together():
    y, log_odds = [0, 1], [40.0, 60.0]
    thresholds = [np.inf, 50, -np.inf]
    np.testing.assert_array_equal(expit(log_odds), [1, 1])
    np.testing.assert_array_equal(roc_histogram(y, log_odds, thresholds, score_scale="log-odds"), [[0, 1], [1, 0]])


def test_clipping_drops_what_has_no_place_and_moves_the_rest():
    y = [0, 1, 2, 1, 0, 1]
    s = [-3.0, 7.0, 0.5, np.nan, np.inf, 0.5]
    counts = roc_histogram(y, s, [np.inf, 0.6, 0.4, 0], on_invalid="clip")
    np.testing.assert_array_equal(counts, [[1, 0, 1], [1, 1, 0]])
    words = roc_histogram([0, 1], ["0.7", "high"], [np.inf, 0.6, 0.4, 0], on_invalid="clip")
    np.testing.assert_array_equal(words, [[1, 0, 0], [0, 0, 0]])


def test_each_entry_of_a_list_is_read_by_itself():
    """One text or one nested list among the records changes nothing for the others."""
    thresholds = [np.inf, 0.5, 0]
    base = roc_histogram([0, 1, 1], [0.2, 0.7, 0.9], thresholds, on_invalid="clip")
    for odd in ("text", [0.1, 0.2], None, {}, 10**400, object()):
        counts = roc_histogram([0, 1, 1, 7], [0.2, 0.7, 0.9, odd], thresholds, on_invalid="clip")
        np.testing.assert_array_equal(counts, base)
        counts = roc_histogram([0, 1, 1, odd], [0.2, 0.7, 0.9, 0.3], thresholds, on_invalid="clip")
        np.testing.assert_array_equal(counts, base)
    with pytest.raises(InvalidData, match="y_score has 2 dimensions"):
        roc_histogram([0, 1], [0.5, [0.5]], thresholds)


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_sensitivity_by_enumeration(relation):
    # every kind of record, invalid ones too, in every data set of at most two
    records = list(itertools.product([0, 1, 5], [0.0, 0.3, 0.5, 1.0, 1.7, np.nan]))

    def count(rows):
        y, s = ([r[i] for r in rows] for i in (0, 1))
        return roc_histogram(np.array(y, dtype=int), np.array(s, dtype=float), [np.inf, 0.5, 0.2, 0], on_invalid="clip")

    largest = 0
    for size in range(2):
        for rest in itertools.combinations_with_replacement(records, size):
            base = count(rest)
            tables = [count([*rest, record]) for record in records]
            if relation == "add-remove":
                distances = [np.abs(t - base).sum() for t in tables]
            else:
                distances = [np.abs(s - t).sum() for s, t in itertools.combinations(tables, 2)]
            largest = max(largest, *distances)
    assert largest == SENSITIVITY[relation]


# ---- model ----------------------------------------------------------------------------------------------------------


def test_soft_threshold_by_hand():
    fpr, tpr = roc_from_histogram([[1.5, -4, 5, 3], [9.0, 3, 0.5, -1]], noise_scale=2.0 / 0.75)
    np.testing.assert_allclose(fpr, [0, 0, 0, 0.75, 1])
    np.testing.assert_allclose(tpr, [0, 7 / 8, 1, 1, 1])


def test_a_class_of_which_nothing_is_left_is_spread_evenly():
    fpr, tpr = roc_from_histogram([[-1.0, 0.5, 0, 1], [0, 0, 0, 9]], noise_scale=1.0 / 0.75)
    np.testing.assert_allclose(fpr, [0, 0.25, 0.5, 0.75, 1])
    np.testing.assert_allclose(tpr, [0, 0, 0, 0, 1])


@pytest.mark.parametrize("n_bins", [4, 16, 200])
def test_a_large_epsilon_gives_the_binned_true_curve(n_bins):
    y, log_odds = scores()
    p = expit(log_odds)
    fpr, tpr, thresholds = private_roc_curve(y, p, 1e9, rng=np.random.default_rng(0), n_bins=n_bins)
    for k, threshold in enumerate(thresholds):
        assert fpr[k] == pytest.approx((p[y == 0] >= threshold).mean(), abs=1e-6)
        assert tpr[k] == pytest.approx((p[y == 1] >= threshold).mean(), abs=1e-6)


def test_auc_is_nearly_unbiased_on_many_records():
    y, log_odds = scores(20_000)
    areas = private_roc_auc(y, log_odds, 1.0, rng=np.random.default_rng(0), draws=400, score_scale="log-odds")
    assert areas.mean() == pytest.approx(roc_auc_score(y, log_odds), abs=0.005)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"epsilon": 1e-310}, "epsilon"),
        ({"rng": None}, "rng"),
        ({"n_bins": 1}, "n_bins"),
        ({"thresholds": [np.inf, 0.5, 0.5, 0]}, "thresholds"),
        ({"thresholds": [np.inf, 0.5, -np.inf]}, "thresholds"),
        ({"score_scale": "logit"}, "score_scale"),
        ({"classes": (0, 1, 2)}, "classes"),
        ({"pos_label": 2}, "pos_label"),
        ({"draws": 0}, "draws"),
        ({"on_invalid": "ignore"}, "on_invalid"),
        ({"y_score": [0.5, 1.25]}, "y_score has the value 1.25: it must be a number from 0 to 1"),
        ({"y_score": [np.nan, 0.5]}, "y_score has the value nan"),
        ({"y_score": [0.5]}, "different lengths"),
        ({"y_score": [[0.5, 0.5]]}, "y_score has 2 dimensions"),
        ({"y_true": [0, 3]}, "label 3"),
    ],
)
def test_what_is_invalid_is_named_and_costs_nothing(options, name):
    budget = Budget(1.0)
    good = {"y_true": [0, 1], "y_score": [0.2, 0.8], "epsilon": 1.0, "rng": np.random.default_rng(0), "budget": budget}
    with pytest.raises((InvalidParameter, InvalidData), match=name):
        private_roc_curve(**good | options)
    assert budget.spent == 0


@pytest.mark.data
def test_median_area_error_on_sms_spam(data_home):
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import BernoulliNB

    lines = (data_home / "SMSSpamCollection").read_text(encoding="utf-8").strip("\n").split("\n")
    labels, texts = zip(*(line.split("\t", 1) for line in lines), strict=True)
    y = np.array([label == "ham" for label in labels]).astype(int)
    X = CountVectorizer(binary=True, stop_words="english").fit_transform(texts)
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[:5016], order[5016:]
    p = BernoulliNB(alpha=1).fit(X[train], y[train]).predict_proba(X[test])[:, 1]
    true_fpr, true_tpr, _ = roc_curve(y[test], p)
    for epsilon, bound in [(1.0, 0.025), (0.5, 0.03), (0.25, 0.03), (0.1, 0.04)]:
        fpr, tpr, _ = private_roc_curve(y[test], p, epsilon, rng=np.random.default_rng(0), draws=100)
        assert np.median(area_between(true_fpr, true_tpr, fpr, tpr)) <= bound
