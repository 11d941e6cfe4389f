"""Plain words beside the numbers of the Explore page. They claim what was computed and nothing more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml_app.text import RELATION_WORDS, certainty, factor, percent, points

__all__ = [
    "CAPTIONS",
    "accuracy_readout",
    "headline",
    "map_readout",
    "roc_readout",
]

METHOD_NAMES = {
    "row-bounded": "row-bounded naive Bayes",
    "published": "naive Bayes on all features",
    "count": "naive Bayes on features chosen by counts",
    "mutual_information": "naive Bayes on features chosen by mutual information",
    "logistic": "logistic regression",
}
SHORT_NAMES = {
    "row-bounded": "row-bounded",
    "published": "Algorithm 1 of the thesis, all features",
    "count": "by counts",
    "mutual_information": "by mutual information",
    "logistic": "logistic regression",
}
CAPTIONS = {
    "accuracy": (
        "Bands hold 90 % of the draws of the noise, lines are their means; dots and whiskers show the ε that is "
        "chosen, side by side. The first four are naive Bayes. Faded lines belong to the previous setting. "
        "The axis starts at 40 %. Click a name to hide it."
    ),
    "selection": (
        "Exact probabilities, no simulation: the exponential mechanism draws all T features at once. Shown are the "
        "features that score best on these data, by either score; the private choice does not know them."
    ),
    "roc": (
        "One row-bounded model, trained with ε, judged on the test records. Those are other people than the training "
        "records, so each person pays ε once: the model's for one, the curve's for the other."
    ),
    "map": (
        "Mean over draws of naive Bayes on T selected features. Darkest: no better than always guessing the larger "
        "class; brightest: as good as without privacy. The marked best is the best mean of those tried; near-ties may "
        "change from seed to seed."
    ),
}


def headline(values: Mapping[str, Any], facts: Mapping[str, Any], accuracies: Mapping[str, NDArray[np.float64]]) -> str:
    """Return, as HTML, what the ε that is chosen means and what it costs here."""
    epsilon = values["epsilon"]
    relation, secret = RELATION_WORDS[values["relation"]]
    text = (
        f"<p>At <b>ε = {epsilon:g}</b> ({relation}), whoever sees the result can raise the odds on {secret} by a "
        f"factor of at most <b>{factor(epsilon)}</b>: a coin toss becomes at most {certainty(epsilon)} sure.</p>"
    )
    if not accuracies:
        return text
    best = max(accuracies, key=lambda m: accuracies[m].mean())
    draws = accuracies[best]
    mean = float(draws.mean())
    low, high = np.quantile(draws, [0.05, 0.95])
    plain, floor = facts["non_private"], facts["majority"]
    text += (
        f"<p>Here the most accurate private method, {METHOD_NAMES[best]}, reaches <b>{percent(mean)}</b> "
        f"(90 % of draws: {percent(low)} to {percent(high)}). Naive Bayes without privacy reaches {percent(plain)}, "
        f"always guessing the larger class {percent(floor)}. "
    )
    cost = plain - mean
    if mean <= floor:
        text += "So at this ε no method shown is better than guessing the larger class."
    elif cost >= 0.0005:
        text += f"So privacy costs <b>{points(cost)}</b>."
    elif cost > -0.0005:
        text += "So privacy costs nothing that one could see."
    else:
        text += f"So it is {points(-cost)} better than naive Bayes without privacy: the comparison is of methods, too."
    return text + "</p>"


def accuracy_readout(epsilon: float, accuracies: Mapping[str, NDArray[np.float64]]) -> str:
    """Return the mean of each method at the ε that is chosen, best first."""
    means = sorted(((float(draws.mean()), method) for method, draws in accuracies.items()), reverse=True)
    listed = ", ".join(f"{SHORT_NAMES[method]} <b>{percent(mean)}</b>" for mean, method in means)
    return f"At ε = {epsilon:g}, mean over draws: {listed}."


def map_readout(values: Mapping[str, Any], best: Mapping[str, Any], now: NDArray[np.float64]) -> str:
    """Return the best feature count at the ε that is chosen, or at the one of the map that is nearest to it."""
    at = int(np.argmin(np.abs(np.log(np.asarray(best["epsilon"]) / values["epsilon"]))))
    where = f"ε = {best['epsilon'][at]:g}"
    return (
        f"At {where} the best of the counts tried is <b>T = {best['n_features'][at]}</b> with "
        f"{percent(best['accuracy'][at])}; your T = {values['n_features']} has {percent(float(now.mean()))} at "
        f"ε = {values['epsilon']:g}."
    )


def roc_readout(curves: Mapping[str, NDArray[np.float64]]) -> str:
    """Return both areas under the curve, the private one with its spread."""
    low, high = np.quantile(curves["auc"], [0.05, 0.95])
    return (
        f"Area under the curve: exact <b>{curves['exact_auc'][0]:.3f}</b>; private, mean over draws "
        f"<b>{curves['auc'].mean():.3f}</b> (90 % of draws: {low:.3f} to {high:.3f})."
    )
