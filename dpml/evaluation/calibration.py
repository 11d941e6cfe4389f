"""The public probabilities that stand for the bins of a histogram of scores, and what they are compared with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from dpml._validate import check_number

__all__ = ["LOG_LOSS_CLIP", "CalibrationCurve", "bin_probabilities", "log_losses"]

FloatArray = NDArray[np.float64]

# Probabilities are kept this far from 0 and 1 in a log loss, so that one record loses at most 6.9.
LOG_LOSS_CLIP = 1e-3


class CalibrationCurve(NamedTuple):
    """How often each bin's records are positive; each array has one entry a bin, lowest scores first.

    Attributes
    ----------
    prob_true : ndarray of shape (..., B)
        Share of positives; NaN in a bin of which nothing is left after the noise is taken off.
    prob_pred : ndarray of shape (B,)
        The probability that stands for the bin, in its middle: public.
    n_records : ndarray of shape (..., B)
        Noisy number of records, negative where noise is.
    n_std : float
        Standard deviation of the noise in `n_records`.
    """

    prob_true: FloatArray
    prob_pred: FloatArray
    n_records: FloatArray
    n_std: float


def bin_probabilities(thresholds: FloatArray, score_scale: str) -> FloatArray:
    """Return the public probability that stands for each bin, shape (B,), highest scores first.

    The middle in log-odds; the outermost bins end at 1 and 0 and have their middle in probability.

    Parameters
    ----------
    thresholds : ndarray of shape (B + 1,)
        Ends of the bins, highest first.
    score_scale : {"probability", "log-odds"}

    Examples
    --------
    >>> bin_probabilities(np.array([np.inf, 0.8, 0.5, 0.2, 0.0]), "probability").round(3).tolist()
    [0.9, 0.667, 0.333, 0.1]
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
    """Return what a record of each class loses at each probability, (2, B), with both kept `clip` from 0 and 1."""
    clip = check_number(clip, "clip", 0.0, 0.5, open_lower=True, open_upper=True)
    p = np.clip(probabilities, clip, 1 - clip)
    return -np.log(np.stack([1 - p, p]))
