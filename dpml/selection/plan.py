"""Default number of features to keep: by public rules, or by one noisy test where they do not decide."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_epsilon, check_relation
from dpml.budget.shares import rest_of, split_epsilon
from dpml.counts import FACTOR, Contingency, contingency
from dpml.mechanisms import PermuteAndFlip
from dpml.mechanisms.private import statistic
from dpml.mechanisms.secure import noisy_max
from dpml.schema import Schema
from dpml.selection.top import TopSelector

# The noisy test asks whether the best single feature predicts this share of records more than the largest class does
LIFT = 0.2
# and with one-hot attributes, whether it also removes 13 of 20 of the largest class' errors: what one attribute lifts
# says nothing of what the others add
REMOVED, OF = 13, 20
# (nats, share): a lift of 0 passes with probability e^-nats / 2, and the test costs at most this share of ε. A
# wrong answer costs more with words, whose signal is spread, than with one-hot attributes, which are often correlated.
TEST = {"open": (10.0, 0.06), "one-hot": (10.0, 0.1)}
# With this many records per feature there is no test for words, because their signal is spread
ENOUGH = 10
# From this many records times ε per unit of the range, the joint mechanism chooses better than one-shot noise
JOINT = 1000.0


@dataclass(frozen=True)
class Plan:
    """Division of ε for a feature selection, decided from public metadata only.

    Attributes
    ----------
    epsilon_look : float
        ε for the noisy test whether few features are enough, 0 where public metadata decides.
    few : bool or None
        True to keep few features, False to keep all, None where the noisy test decides.
    n_features : int
        Number T of features, if few are kept.
    method : {"joint", "one-shot"}
        Method of `dpml.selection.TopSelector` that selects them.
    selection_share : float
        Share for this selection of the ε that is left after the noisy test.
    lift : float
        Share of records that the noisy test asks for (`LIFT`).

    See Also
    --------
    plan : Make a plan by the public rule.
    """

    epsilon_look: float
    few: bool | None
    n_features: int
    method: str
    selection_share: float = 0.5
    lift: float = field(default=LIFT, repr=False)


def _is_one_hot(schema: Schema) -> bool:
    assert schema.row_bound is not None
    return schema.row_bound < schema.n_features


def plan(schema: Schema, epsilon: float, relation: str = "add-remove") -> Plan:
    """Return the plan of the public rule: how many features to keep, or a noisy test that decides.

    Parameters
    ----------
    schema : Schema
        Public metadata of the table: columns, domains and classes.
    epsilon : float
        Privacy parameter ε of selection and training together, above 0.
    relation : {"add-remove", "replace-one"}, default "add-remove"
        Neighbouring relation.

    Returns
    -------
    Plan
        Division of ε, and the number of features if few are kept.

    See Also
    --------
    choose_features : Select features by this plan.

    Notes
    -----
    Privacy: no data is read.

    Naive Bayes with all features is better if the signal is spread over many features and there are enough records. A
    few features are better if one feature alone predicts well, or if noise on all counts dominates them. A noisy test
    decides between the two if it costs a small part of ε (`LIFT`, `TEST`) and the answer is open (`ENOUGH`). Otherwise
    few are kept if ε·n_lower (half of it under replace-one) is at most the number of features. If the schema states no
    `n_lower`, all features are kept. docs/decisions/0005 has the search.

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
        # the number of records is unknown, so no rule applies
        return Plan(0.0, False, 1, "one-shot")
    kind = "one-hot" if _is_one_hot(schema) else "open"
    nats, share = TEST[kind]
    look, few = nats * factor / (LIFT * n), None
    if kind == "one-hot":
        look = min(look, share * epsilon)
    elif n >= ENOUGH * D or look > share * epsilon:
        look, few = 0.0, epsilon * n / factor <= D
    strength = (epsilon - look) / 2 * n / factor
    T = min(0.7 * np.sqrt(strength), R // 3) if kind == "one-hot" else 0.25 * np.sqrt(strength)
    return Plan(look, few, int(np.clip(T, 1, D)), "joint" if strength >= JOINT else "one-shot")


def best_single_feature(counts: Contingency) -> Any:
    """Return the lift of the best single feature over the majority-class baseline, a private statistic.

    Predicting the largest class for each value of feature j is correct for the sum over values v of max over c of n_cv
    records. Adding a record raises one of these maxima by 0 or 1, and the size of the largest class by 0 or 1. So the
    statistic changes by -1, 0 or 1, and by at most 2 when a record is replaced.
    """
    return _lift(counts.on, counts.off, counts.n)


@statistic
def _lift(on: Any, off: Any, n: Any) -> int:
    right = on.max(axis=-2) + off.max(axis=-2)
    return int(right.max(initial=0) - n.max())


def few_statistic(counts: Contingency, n_lower: int) -> Any:
    """Return a private statistic of one-hot attributes that is above 0 if one attribute is enough.

    With the lift l of `best_single_feature` and the errors e of the largest class it is the smaller one of `OF`·(l -
    `LIFT`·n_lower) and `OF`·l - `REMOVED`·e. Adding a record of the largest class changes l by -1 or 0 and leaves e
    unchanged. Adding another record changes l by 0 or 1 and raises e by 1. So each of the two changes by at most `OF`,
    and so does the smaller one. When a record is replaced, it changes by at most twice that.
    """
    return _one_is_enough(best_single_feature(counts), counts.n, n_lower)


@statistic
def _one_is_enough(lift: int, n: Any, n_lower: int) -> int:
    errors = int(n.sum() - n.max())
    return min(OF * (lift - round(LIFT * n_lower)), OF * lift - REMOVED * errors)


@dataclass(frozen=True)
class Choice:
    """Selected features, and the ε that is left for the classifier.

    Attributes
    ----------
    mask : ndarray of bool, shape (D,)
        True for the selected features.
    few : bool
        True if few features are kept.
    epsilon_left : float
        ε minus the cost of the noisy test and of the selection.
    plan : Plan
        Plan of the selection.

    See Also
    --------
    choose_features : Make such a selection.
    """

    mask: NDArray[np.bool_]
    few: bool
    epsilon_left: float
    plan: Plan


def choose_features(
    X: Any,
    codes: Any,
    schema: Schema,
    epsilon: float,
    *,
    relation: str = "add-remove",
    rng: np.random.Generator | None = None,
    counted: Callable[[], Contingency] | None = None,
    steps: Plan | None = None,
) -> Choice:
    """Select the features for a classifier, which is trained with the rest of ε.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, D), or Private
        Checked binary records, not cut.
    codes : ndarray of int, shape (n,), or Private
        Their classes.
    schema : Schema
        Public metadata of the table: columns, domains and classes.
    epsilon : float
        Privacy parameter ε of selection and training together, above 0.
    relation : {"add-remove", "replace-one"}, default "add-remove"
        Neighbouring relation.
    rng : numpy.random.Generator, optional
        Source of the noise, for simulations. By default the noise is secure.
    counted : callable, optional
        Function that returns the exact counts of the records, plain or private. It is called where they are needed, and
        X and codes are then not used.
    steps : Plan, optional
        Another public plan than the one of `plan`.

    Returns
    -------
    Choice
        The selected features and the ε that is left.

    See Also
    --------
    plan : The public rule.

    Notes
    -----
    Privacy: ε = `epsilon` minus `Choice.epsilon_left`. δ = 0. Relation: `relation`. Sensitivity: 1 for the lift of
    `best_single_feature`, `OF` for `few_statistic`, the range of the count heuristic, and twice these values under
    replace-one.

    The costs add up by composition. It releases the decision whether few features are enough, and if so, these
    features. The noisy test is permute-and-flip between `best_single_feature` and a public bound, whose difference
    changes by at most 1 (2 under replace-one). With one-hot attributes it is permute-and-flip between `few_statistic`
    and 0, whose difference changes by at most `OF` (twice that). The selection is `TopSelector` on the count heuristic,
    which needs no bound on a record's ones.
    """
    steps = plan(schema, epsilon, relation) if steps is None else steps
    everything = np.ones(schema.n_features, dtype=bool)
    if steps.few is False:
        return Choice(everything, False, epsilon, steps)
    counts = contingency(X, codes, schema.n_classes) if counted is None else counted()
    few = True
    if steps.few is None:
        assert schema.n_lower is not None
        # the second candidate is chosen if it exceeds the bound, which is public
        statistics, change = [round(steps.lift * schema.n_lower), best_single_feature(counts)], FACTOR[relation]
        if _is_one_hot(schema):
            statistics, change = [0, few_statistic(counts, schema.n_lower)], OF * FACTOR[relation]
        if rng is None:
            few = bool(noisy_max(statistics, steps.epsilon_look, change))
        else:
            few = bool(PermuteAndFlip(steps.epsilon_look, change).release(statistics, rng=rng))
    left = rest_of(epsilon, steps.epsilon_look)
    if not few or steps.n_features == schema.n_features:
        return Choice(everything, few, left, steps)
    method = "permute-and-flip" if rng is None else steps.method
    choice, left = split_epsilon(left, steps.selection_share)
    selector = TopSelector(choice, steps.n_features, method=method, relation=relation, release=rng is None)
    return Choice(selector.masks(counts, schema, rng=rng)[0], few, left, steps)
