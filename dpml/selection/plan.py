"""How many features to keep, where nobody says: by public rules, and one private look where they leave it open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_epsilon, check_relation
from dpml.budget.shares import rest_of, split_epsilon
from dpml.counts import FACTOR, Contingency, contingency
from dpml.mechanisms import PermuteAndFlip
from dpml.mechanisms.secure import noisy_max
from dpml.schema import Schema
from dpml.selection.top import TopSelector

__all__ = ["Choice", "Plan", "best_single_feature", "choose_features", "plan"]

# A look at the data asks whether the best single feature gets this share of the records right beyond the largest class
LIFT = 0.2
# and spends what makes a lift of 0 look like one with probability e^-10 / 2 (e^-5 / 2), but at most this share of ε: a
# wrong answer costs more on words, whose signal is spread; attributes in one-hot columns often say the same twice
LOOK = {"open": (10.0, 0.06), "one-hot": (5.0, 0.1)}
# With this many records a feature words are not asked about: their signal is spread
ENOUGH = 10
# From this many records times ε per unit of the range on, the joint mechanism finds few features better than one shot
JOINT = 1000.0


@dataclass(frozen=True)
class Plan:
    """What is done with ε, from public facts only.

    Attributes
    ----------
    epsilon_look : float
        ε for asking whether few features are enough; 0 where public facts decide.
    few : bool or None
        The decision where public facts make it, else None.
    n_features : int
        T, if few features are kept.
    method : {"joint", "one-shot"}
        How they are chosen, see `dpml.selection.TopSelector`.
    selection_share : float
        Share for choosing them of what is left after the look.
    """

    epsilon_look: float
    few: bool | None
    n_features: int
    method: str
    selection_share: float = 0.5


def plan(schema: Schema, epsilon: float, relation: str = "add-remove") -> Plan:
    """Return the public rule: look at the data or not, and how many features to keep if few are kept.

    Two situations: naive Bayes with all features wins where the signal is spread over many of them and there are
    records enough; a few features win where one of them alone tells much, or where the noise on all counts drowns
    them. Which one it is, is asked privately where that costs a small part of ε (`LIFT`, `LOOK`) and the answer is open
    (`ENOUGH`); else few are kept if ε times the number of records (half of it under replace-one) is at most the number
    of features. Where the schema does not say how many records there are at least, all features are kept.
    docs/decisions/0005 has the search.

    Parameters
    ----------
    schema : Schema
    epsilon : float
    relation : {"add-remove", "replace-one"}

    Examples
    --------
    >>> plan(Schema.binary(600, n_lower=900), 0.1)
    Plan(epsilon_look=0.0, few=True, n_features=1, method='one-shot', selection_share=0.5)
    >>> plan(Schema.binary(100, n_lower=5000), 0.1)
    Plan(epsilon_look=0.0, few=False, n_features=3, method='one-shot', selection_share=0.5)
    """
    epsilon = check_epsilon(epsilon)
    factor = FACTOR[check_relation(relation)]
    D, R, n = schema.n_features, schema.row_bound, schema.n_lower
    assert R is not None
    assert n is not None
    if n == 1:
        # nothing is known of the number of records: there is no rule to go by
        return Plan(0.0, False, 1, "one-shot")
    kind = "one-hot" if R < D else "open"
    nats, most = LOOK[kind]
    look, few = nats * factor / (LIFT * n), None
    if kind == "one-hot":
        look = min(look, most * epsilon)
    elif n >= ENOUGH * D or look > most * epsilon:
        look, few = 0.0, epsilon * n / factor <= D
    strength = (epsilon - look) / 2 * n / factor
    T = min(0.7 * np.sqrt(strength), R // 3) if kind == "one-hot" else 0.25 * np.sqrt(strength)
    return Plan(look, few, int(np.clip(T, 1, D)), "joint" if strength >= JOINT else "one-shot")


def best_single_feature(counts: Contingency) -> int:
    """Return how many records the best single feature gets right beyond the largest class. A private statistic.

    Predicting for each value of feature j its largest class gets the sum over values v of max over c of n_cv right. A
    record that is added raises one of these maxima by 0 or 1, and the largest class's size by 0 or 1: the statistic
    changes by -1, 0 or 1, and by up to 2 when a record is replaced.
    """
    right = counts.on.max(axis=-2) + counts.off.max(axis=-2)
    return int(right.max(initial=0) - counts.n.max())


@dataclass(frozen=True)
class Choice:
    """What was chosen, and what is left for the classifier.

    Attributes
    ----------
    mask : ndarray of bool, shape (D,)
    few : bool
        Whether few features are kept.
    epsilon_left : float
        ε less what the look and the choice have cost.
    plan : Plan
    """

    mask: NDArray[np.bool_]
    few: bool
    epsilon_left: float
    plan: Plan


def choose_features(
    X: Any,
    codes: NDArray[np.intp],
    schema: Schema,
    epsilon: float,
    *,
    relation: str = "add-remove",
    rng: np.random.Generator | None = None,
) -> Choice:
    """Choose the features that a classifier is to be trained on with what is left of ε.

    Released: the decision whether few features are enough, and then which.

    Privacy: `epsilon` less `Choice.epsilon_left`, for `relation`, by composition. The look is permute-and-flip between
    `best_single_feature` and a public bound, whose difference changes by at most 1 (2 under replace-one). The choice is
    `TopSelector` on the count heuristic, which needs no bound on a record's ones.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, D)
        Checked binary records, not cut.
    codes : ndarray of int, shape (n,)
        Their classes.
    schema : Schema
    epsilon : float
        For selection and training together.
    relation : {"add-remove", "replace-one"}
    rng : numpy.random.Generator, optional
        None: secure noise.

    Returns
    -------
    Choice
    """
    steps = plan(schema, epsilon, relation)
    everything = np.ones(schema.n_features, dtype=bool)
    if steps.few is False:
        return Choice(everything, False, epsilon, steps)
    counts = contingency(X, codes, schema.n_classes)
    few = True
    if steps.few is None:
        assert schema.n_lower is not None
        # the second candidate wins where one feature tells more than the bound
        statistics = [round(LIFT * schema.n_lower), best_single_feature(counts)]
        if rng is None:
            few = bool(noisy_max(statistics, steps.epsilon_look, FACTOR[relation]))
        else:
            few = bool(PermuteAndFlip(steps.epsilon_look, FACTOR[relation]).release(statistics, rng=rng))
    left = rest_of(epsilon, steps.epsilon_look)
    if not few or steps.n_features == schema.n_features:
        return Choice(everything, few, left, steps)
    method = "permute-and-flip" if rng is None else steps.method
    choice, left = split_epsilon(left, steps.selection_share)
    selector = TopSelector(choice, steps.n_features, method=method, relation=relation, release=rng is None)
    return Choice(selector.masks(counts, schema, rng=rng)[0], few, left, steps)
