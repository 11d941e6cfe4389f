"""Stoddard et al.'s attack on a curve (sec. 4.1) on the Evaluate page: one label is guessed from all other records."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_curve

from dpml.evaluation import (
    PrivateEvaluation,
    attack_bound,
    attack_success,
    best_attack_success,
    recover_label,
    recover_label_from_counts,
)
from dpml_app.pages.evaluate.compute import SCALE, exact_counts, labels, scores
from dpml_app.work.cache import kept

Floats = NDArray[np.float64]
# records that are attacked one by one; simulated attacks a draw, and groups of them
ATTACKED, TRIALS, GROUPS = 30, 40, 20
VIEWS = ("counts", "curve")


@kept(16)
def victims(name: str, kind: str, weakened: str) -> NDArray[np.intp]:
    """Return the records that are attacked, by score, half of each class: blind guesses are right half of the time.

    Within a class they are spread over all scores.
    """
    y, s = labels(name), scores(name, kind, weakened)
    chosen = []
    for c in (0, 1):
        own = np.flatnonzero(y == c)
        own = own[np.argsort(s[own], kind="stable")]
        chosen.append(own[np.unique(np.linspace(0, len(own) - 1, ATTACKED // 2).round().astype(int))])
    both = np.concatenate(chosen)
    return both[np.argsort(s[both], kind="stable")]


@kept(16)
def exact_attack(name: str, kind: str, weakened: str) -> NDArray[np.intp]:
    """Return each attacked record's label as it is recovered from the exact curve and all other records."""
    y, s = labels(name), scores(name, kind, weakened)
    curve = roc_curve(y, s, drop_intermediate=False)
    guesses = []
    for v in victims(name, kind, weakened):
        others = np.arange(len(y)) != v
        guesses.append(recover_label(y[others], s[others], s[v], *curve))
    return np.array(guesses)


def private_attack(released: PrivateEvaluation, name: str, kind: str, weakened: str, seed: int) -> NDArray[np.intp]:
    """Return the likelier label of each attacked record, shape (draws, n), from the noisy tables.

    Each attack is by someone who knows all other records; all of them see the same releases. Where both labels are as
    likely, which is often, a coin is tossed.
    """
    rng = np.random.default_rng([seed, 2])
    y, s, exact = labels(name), scores(name, kind, weakened), exact_counts(name, kind, weakened)
    ascending = released.thresholds[-2:0:-1]
    guesses = []
    for v in victims(name, kind, weakened):
        own = released.n_bins - 1 - int(np.searchsorted(ascending, s[v], side="right"))
        known = exact.astype(float)
        known[y[v], own] -= 1
        probability = recover_label_from_counts(known, own, released.counts, released.noise_scale)
        coin = rng.integers(2, size=len(probability)) == 1
        # rounding of large counts must not decide
        guesses.append(np.where(np.abs(probability - 0.5) < 1e-9, coin, probability > 0.5))
    return np.array(guesses, dtype=np.intp).T


def attack(
    view: str, name: str, kind: str, weakened: str, relation: str, epsilon: float, draws: int, seed: int
) -> Floats:
    """Return shares of right guesses in simulated attacks, one share for each of `GROUPS` groups of them."""
    y, s = labels(name), scores(name, kind, weakened)
    rng = np.random.default_rng([seed, VIEWS.index(view)])
    common: dict[str, Any] = {"rng": rng, "view": view, "relation": relation, "trials": TRIALS * draws // GROUPS}
    return np.array([attack_success(y, s, epsilon, **SCALE, **common).success for _ in range(GROUPS)])


def attack_lines(relation: str, epsilons: Sequence[float]) -> dict[str, Floats]:
    """Return the bound and the best attack's success at each ε."""
    return {
        "bound": np.array([attack_bound(epsilon) for epsilon in epsilons]),
        "best": np.array([best_attack_success(epsilon, relation) for epsilon in epsilons]),
    }
