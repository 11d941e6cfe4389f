"""The attack on exact ROC curves, and its success against noisy ones (Stoddard et al. 2014, sec. 4.1).

An exact curve steps up at each positive and right at each negative, in the order of the scores. An attacker who knows
the scores reads the labels from the curve (`labels_from_curve`). An attacker who knows everything but one label draws
both possible curves and compares them with the published one (`recover_label`). Against a noisy histogram the best
attack compares the likelihoods of both labels, and its success probability is known (`best_attack_success`).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._arrays import FloatArray
from dpml._validate import check_epsilon, check_integer, check_relation, check_rng
from dpml.evaluation.histogram import SENSITIVITY, roc_histogram, roc_thresholds
from dpml.evaluation.private_evaluation import release_evaluation
from dpml.exceptions import InvalidParameter


def labels_from_curve(scores: Any, fpr: Any, tpr: Any, thresholds: Any = None) -> NDArray[np.intp]:
    """Recover all labels from an exact ROC curve with known scores.

    The step between two points of the curve belongs to the scores between their thresholds. If the step goes straight
    up, all of them are positives. If it goes straight right, all are negatives.

    Parameters
    ----------
    scores : array-like of shape (n,)
        Scores of all records, in any order.
    fpr : array-like of shape (n_points,)
        False positive rates from 0 to 1.
    tpr : array-like of shape (n_points,)
        True positive rates from 0 to 1.
    thresholds : array-like of shape (n_points,), optional
        Decreasing thresholds of the curve. None means that the curve has one point for each different score.

    Returns
    -------
    ndarray of int of shape (n,)
        Labels 1 and 0, or -1 for an unknown label among tied scores with different labels.

    Raises
    ------
    InvalidParameter
        If the number of points does not fit.

    See Also
    --------
    recover_label : Guess one label from a curve.

    Notes
    -----
    Privacy: no data is read. The attack shows that an exact curve is not private.

    References
    ----------
    Matthews and Harel (2013). Stoddard et al. (2014), section 4.1.

    Examples
    --------
    >>> labels_from_curve([0.9, 0.8, 0.4, 0.1], [0, 0, 0.5, 0.5, 1], [0, 0.5, 0.5, 1, 1])
    array([1, 0, 1, 0])
    """
    scores, fpr, tpr = (np.asarray(a, dtype=float) for a in (scores, fpr, tpr))
    if thresholds is None:
        thresholds = np.concatenate([[np.inf], np.unique(scores)[::-1]])
    thresholds = np.asarray(thresholds, dtype=float)
    if not (fpr.shape == tpr.shape == thresholds.shape):
        raise InvalidParameter("fpr", f"{fpr.shape[0]} points", f"{thresholds.shape[0]} points, one for each threshold")
    # step k holds the scores from thresholds[k + 1] up to thresholds[k]
    step = len(thresholds) - 1 - np.searchsorted(thresholds[:0:-1], scores, side="right")
    # a step of at least one record of a class is larger than this, as a class has at most n records
    least = 0.5 / max(len(scores), 1)
    right, up = np.diff(fpr) > least, np.diff(tpr) > least
    label = np.where(up & ~right, 1, np.where(right & ~up, 0, -1))
    inside = (step >= 0) & (step < len(label))
    return np.where(inside, label[np.clip(step, 0, len(label) - 1)], -1).astype(np.intp)


def recover_label(
    known_labels: Any, known_scores: Any, unknown_score: float, fpr: Any, tpr: Any, thresholds: Any
) -> int:
    """Guess one label from a published ROC curve and all other records: the label with the nearer curve.

    Parameters
    ----------
    known_labels : array-like of shape (n - 1,)
        Labels 0 or 1 of all other records.
    known_scores : array-like of shape (n - 1,)
        Their scores.
    unknown_score : float
        Score of the last record.
    fpr : array-like of shape (n_points,)
        Published false positive rates.
    tpr : array-like of shape (n_points,)
        Published true positive rates.
    thresholds : array-like of shape (n_points,)
        Decreasing thresholds. A score at least the threshold is a positive prediction.

    Returns
    -------
    int
        Guess 0 or 1. It is correct for every exact curve on which the two labels differ, and 1 if they do not differ.

    See Also
    --------
    labels_from_curve : Recover all labels from an exact curve.

    Notes
    -----
    Privacy: no data is read.

    Examples
    --------
    >>> from sklearn.metrics import roc_curve
    >>> y, s = np.array([0, 1, 1, 0]), np.array([0.1, 0.8, 0.4, 0.5])
    >>> recover_label(y[:3], s[:3], s[3], *roc_curve(y, s))
    0
    """
    labels = np.asarray(known_labels, dtype=int)
    scores = np.append(np.asarray(known_scores, dtype=float), float(unknown_score))
    seen = np.asarray(fpr, dtype=float), np.asarray(tpr, dtype=float)
    distances = []
    for guess in (0, 1):
        rates = _rates(np.append(labels, guess), scores, np.asarray(thresholds, dtype=float))
        distances.append(sum(np.abs(a - b).sum() for a, b in zip(rates, seen, strict=True)))
    return int(distances[1] <= distances[0])


def _rates(labels: NDArray, scores: FloatArray, thresholds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return fpr and tpr at the thresholds. 0 for a class that is empty."""
    rates = []
    for label in (0, 1):
        own = np.sort(scores[labels == label])
        above = len(own) - np.searchsorted(own, thresholds, side="left")
        rates.append(above / max(len(own), 1))
    return rates[0], rates[1]


def recover_label_from_counts(
    known_counts: Any, unknown_bin: int | NDArray[np.intp], noisy_counts: Any, noise_scale: float
) -> FloatArray:
    """Return the probability of label 1, given a noisy histogram and equally likely labels.

    A guess by this probability is the best possible attack.

    Parameters
    ----------
    known_counts : array-like of shape (2, B)
        Exact counts of all other records.
    unknown_bin : int or ndarray of shape (draws,)
        Bin of the unknown record's score.
    noisy_counts : array-like of shape (..., 2, B)
        Released counts.
    noise_scale : float
        Scale of their Laplace noise, continuous or integer.

    Returns
    -------
    ndarray of shape (...)
        Probability of label 1.

    See Also
    --------
    best_attack_success : Compute the success of the best attack.

    Notes
    -----
    Privacy: no data is read.

    Examples
    --------
    >>> float(recover_label_from_counts([[3, 5], [4, 1]], 0, [[3.0, 5.0], [5.0, 1.0]], 1.0).round(2))
    0.88
    """
    known, noisy = np.asarray(known_counts, dtype=float), np.asarray(noisy_counts, dtype=float)
    where = np.broadcast_to(np.asarray(unknown_bin), noisy.shape[:-2])
    own = np.take_along_axis(noisy, where[..., None, None], axis=-1)[..., 0] - np.moveaxis(known[:, where], 0, -1)
    # if the label is c, the noise is `own`, minus 1 in row c
    shorter = np.abs(own[..., 1]) - np.abs(own[..., 1] - 1) + np.abs(own[..., 0] - 1) - np.abs(own[..., 0])
    return 1 / (1 + np.exp(-shorter / noise_scale))


def attack_bound(epsilon: float) -> float:
    """Return the largest probability of guessing a label from an ε-DP release.

    The bound is e^ε/(1 + e^ε), where both labels are equally likely.

    Parameters
    ----------
    epsilon : float
        Privacy loss ε between the two data sets.

    Returns
    -------
    float
        Probability in [0.5, 1].

    See Also
    --------
    best_attack_success : Compute the success of the best attack.

    Notes
    -----
    Privacy: no data is read. If two data sets are equally likely and cost ε, any guess is correct with at most this
    probability. Under replace-one, a changed label is one step. Under add/remove it is two steps, and the bound
    for a general mechanism is the one at 2ε. The histogram of `release_evaluation` stays below the bound at ε
    (`best_attack_success`).

    References
    ----------
    Antonova (2016), equations 2.3 to 2.7.

    Examples
    --------
    >>> round(attack_bound(1.0), 3)
    0.731
    """
    return float(1 / (1 + np.exp(-check_epsilon(epsilon))))


def best_attack_success(epsilon: float, relation: str = "add-remove", *, integer: bool = False) -> float:
    """Return the success probability of the best attack on a label in the noisy histogram.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε of the release.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Relation between neighbouring tables under which the noise gives ε.
    integer : bool, default=False
        Use integer Laplace noise, as with ``release=True``.

    Returns
    -------
    float
        Probability in [0.5, 1], where both labels are equally likely.

    See Also
    --------
    attack_bound : Bound the success of any attack.

    Notes
    -----
    Privacy: no data is read. A changed label takes 1 from one cell and adds 1 to another. Let a = 1/scale, which is ε
    under add/remove and ε/2 under replace-one.

    With continuous noise, the log likelihood ratio l of each cell is a with probability 1/2 and -a with probability
    e^-a/2. It has the density exp((l-a)/2)/4 between. The sum of two of them is positive with probability 1 - e^-a·(2 +
    a)/4, where ties count half.

    With integer noise, the ratio of a cell is a with probability e^a/(1 + e^a), and else -a. The sum of two cells is no
    better than one cell: e^a/(1 + e^a). Under add/remove this equals `attack_bound`.

    Examples
    --------
    >>> round(best_attack_success(1.0), 3), round(best_attack_success(1.0, "replace-one"), 3)
    (0.724, 0.621)
    """
    a = check_epsilon(epsilon) / SENSITIVITY[check_relation(relation)]
    if integer:
        return float(1 / (1 + np.exp(-a)))
    return float(1 - np.exp(-a) * (2 + a) / 4)


@dataclass(frozen=True)
class AttackResult:
    """Share of correct guesses of an attacker.

    Attributes
    ----------
    success : float
        Share of correct guesses.
    standard_error : float
        Its standard error.
    trials : int
        Number of guesses.
    bound : float
        `attack_bound`, or 1 for exact curves.
    best : float
        `best_attack_success`, or 1 for exact curves.
    """

    success: float
    standard_error: float
    trials: int
    bound: float
    best: float


def attack_success(
    y_true: Any,
    y_score: Any,
    epsilon: float | None,
    *,
    rng: np.random.Generator,
    trials: int = 1000,
    relation: str = "add-remove",
    n_bins: int = 16,
    score_scale: str = "probability",
) -> AttackResult:
    """Simulate an attacker who knows all but one label, and guesses it.

    In each trial, a random record gets label 0 or 1 with equal probability, and the release is made. The attacker
    guesses the likelier label from the noisy histogram, or the label with the nearer curve if the curve is exact.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 or 1.
    y_score : array-like of shape (n,)
        Scores.
    epsilon : float or None
        Privacy parameter of the release. None publishes the exact curve of all scores.
    rng : numpy.random.Generator
        Source of all randomness.
    trials : int, default=1000
        Number of trials.
    relation : {"add-remove", "replace-one"}, default="add-remove"
        Relation between neighbouring tables under which ε holds.
    n_bins : int, default=16
        Number of public bins of the score, from 2 to 10,000.
    score_scale : {"probability", "log-odds"}
        Scale of the scores.

    Returns
    -------
    AttackResult
        Share of correct guesses, its standard error, and bounds.

    See Also
    --------
    best_attack_success : Compute the success of the best attack.

    Notes
    -----
    Privacy: ε = inf, because the attack is simulated on the caller's own records and its result is exact. δ = 0.
    Relation: none. Sensitivity: not bounded. Each trial uses the release of `release_evaluation`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y, scores = rng.integers(2, size=200), rng.random(200)
    >>> attack_success(y, scores, None, rng=rng, trials=50).success
    1.0
    >>> attack_success(y, scores, 1.0, rng=rng).success < 0.78
    True
    """
    rng = check_rng(rng)
    trials = check_integer(trials, "trials", 1)
    labels, scores = np.array(y_true, dtype=int), np.asarray(y_score, dtype=float)
    victims = rng.integers(len(labels), size=trials)
    coins = rng.integers(2, size=trials)
    if epsilon is None:
        guesses = np.array([_exact_trial(labels, scores, v, c) for v, c in zip(victims, coins, strict=True)])
        bound = best = 1.0
    else:
        bound, best = attack_bound(epsilon), best_attack_success(epsilon, relation)
        thresholds = roc_thresholds(n_bins, score_scale)
        counts = roc_histogram(labels, scores, thresholds, score_scale=score_scale)
        bins = len(thresholds) - 2 - np.searchsorted(thresholds[-2:0:-1], scores[victims], side="right")
        # a release of an empty table gives the noise of each trial
        how: dict[str, Any] = {"relation": relation, "n_bins": n_bins, "score_scale": score_scale, "draws": trials}
        noise = release_evaluation(labels[:0], scores[:0], epsilon, rng=rng, **how)
        rows = np.arange(trials)
        known = np.repeat(counts[None], trials, axis=0).astype(float)
        known[rows, labels[victims], bins] -= 1
        true = known.copy()
        true[rows, coins, bins] += 1
        noisy = true + noise.counts
        own = np.stack([noisy[rows, c, bins] - known[rows, c, bins] for c in (0, 1)], axis=-1)
        nothing = np.zeros((2, 1)), np.zeros(trials, dtype=int)
        probability = recover_label_from_counts(*nothing, own[..., None], noise.noise_scale)
        guesses = np.where(np.abs(probability - 0.5) < 1e-9, rng.integers(2, size=trials), probability > 0.5)
    success = float(np.mean(guesses == coins))
    return AttackResult(success, float(np.sqrt(success * (1 - success) / trials)), trials, bound, best)


def _exact_trial(labels: NDArray, scores: FloatArray, victim: int, coin: int) -> int:
    published = labels.copy()
    published[victim] = coin
    thresholds = np.concatenate([[np.inf], np.unique(scores)[::-1]])
    others = np.arange(len(labels)) != victim
    curve = _rates(published, scores, thresholds)
    return recover_label(labels[others], scores[others], scores[victim], *curve, thresholds)
