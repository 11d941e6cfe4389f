"""Public probabilities that represent the bins of a histogram of scores, their calibration curve and their log loss."""

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from dpml._arrays import FloatArray
from dpml._validate import check_number

# Probabilities are kept this far from 0 and 1 in a log loss, so that one record loses at most 6.9.
LOG_LOSS_CLIP = 1e-3


class CalibrationCurve(NamedTuple):
    """The share of positive records in each bin. Each array has one entry for each bin, lowest scores first.

    `prob_true`, ndarray of shape (..., B): share of positives. NaN in a bin that is empty after the counts are lowered
    by the noise.
    `prob_pred`, ndarray of shape (B,): the public probability that represents the bin, in its middle.
    `n_records`, ndarray of shape (..., B): noisy number of records. It may be negative.
    `n_std`: standard deviation of the noise in `n_records`.
    """

    prob_true: FloatArray
    prob_pred: FloatArray
    n_records: FloatArray
    n_std: float


def bin_probabilities(thresholds: FloatArray, score_scale: str) -> FloatArray:
    """Return the public probability that represents each bin, shape (B,), highest scores first, as its B + 1 ends are.

    It is the middle of the bin in log-odds. For the two outermost bins, which end at 1 and 0, it is the middle in
    probability.
    """
    inner = np.clip(thresholds[1:-1], *((0.0, 1.0) if score_scale == "probability" else (None, None)))
    log_odds = logit(inner) if score_scale == "probability" else inner
    probability = np.concatenate([[1.0], expit(log_odds), [0.0]])
    middle = (probability[1:] + probability[:-1]) / 2
    with np.errstate(invalid="ignore"):
        halfway = (log_odds[1:] + log_odds[:-1]) / 2
    finite = np.isfinite(halfway)
    middle[1:-1][finite] = expit(halfway[finite])
    return middle


def log_losses(probabilities: FloatArray, clip: float) -> FloatArray:
    """Return the log loss of each class at each probability, (2, B), with probabilities in [clip, 1 - clip]."""
    clip = check_number(clip, "clip", 0.0, 0.5, open_lower=True, open_upper=True)
    p = np.clip(probabilities, clip, 1 - clip)
    return -np.log(np.stack([1 - p, p]))
