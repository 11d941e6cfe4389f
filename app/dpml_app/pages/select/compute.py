"""What the Select page computes, as plain functions of plain values: the server and its workers call the same ones."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dpml.classifiers import BernoulliNB
from dpml.counts import Contingency, contingency, contingency_of_subsamples
from dpml.evaluation import expected_f1, selection_quality
from dpml.registry import method, of_family
from dpml.schema import Schema
from dpml.selection import (
    MaskSelector,
    PublicFacts,
    inclusion_probabilities,
    sample_masks,
    scores_from_counts,
)
from dpml.studies.accuracy import SelectionStudy, accuracy_of_selected
from dpml.tuning import BestSelector
from dpml_app.data.facts import BinaryFacts
from dpml_app.data.measures import dataset, feature_ladder
from dpml_app.data.measures import facts as data_facts
from dpml_app.pages.select.settings import CALIBRATIONS, THRESHOLDS
from dpml_app.work.cache import kept

# what the first plots compare
KINDS = ("mutual_information", "count")
SUBSAMPLES = 10
MOST_SHOWN = 240
RULES = tuple(each.key for each in of_family("selector", "threshold"))
# D·T of the largest mask distribution that is summed for the exact curve: about a second
MOST_STEPS = 4_000_000
Floats = NDArray[np.float64]


@kept(8)
def _counts(name: str, row_bound: int, seed: int) -> Contingency:
    """Return exact counts, of records cut to `row_bound` ones (0: not cut) in independent ways."""
    data = dataset(name)
    train = data.X_train, data.y_train, data.schema.n_classes
    if not row_bound or row_bound >= (data.schema.row_bound or row_bound):
        return contingency(*train)
    return contingency_of_subsamples(*train, row_bound, SUBSAMPLES, rng=np.random.default_rng([seed, row_bound]))


@dataclass(frozen=True, eq=False, kw_only=True)
class SelectFacts(BinaryFacts):
    """Those of the Select page: n records, `on` of which have each feature, and the sensitivity of a feature's score.

    `step` maps (kind, relation) to that.
    """

    n_lower: int
    on: NDArray[np.int64]
    n: NDArray[np.int64]
    step: Mapping[tuple[str, str], float]


def facts(name: str) -> SelectFacts:
    """Return what the page shows of a data set at every setting."""
    data, exact = dataset(name), _counts(name, 0, 0)
    step = {
        (kind, relation): PublicFacts.of(data.schema, relation).sensitivity(kind)
        for kind in KINDS
        for relation in ("add-remove", "replace-one")
    }
    return SelectFacts(**vars(data_facts(name)), n_lower=data.schema.n_lower or 1, on=exact.on, n=exact.n, step=step)


# ---- the mask distribution ----------------------------------------------------------------------------------------


def _mask(kind: str, calibration: str, relation: str, epsilon: float, n_features: int) -> MaskSelector:
    return MaskSelector(epsilon, n_features, kind, calibration=calibration, relation=relation)


def true_cost(name: str, kind: str, calibration: str, relation: str, epsilon: float, n_features: int) -> float:
    """Return the ε that masks drawn with these weights truly cost, which `epsilon` states."""
    schema = dataset(name).schema
    weight = _mask(kind, calibration, relation, epsilon, n_features).weight(schema)
    different = min(n_features, schema.n_features - n_features)
    return weight * different * PublicFacts.of(schema, relation).change_range(kind)


def true_costs(name: str, kind: str, relation: str, epsilon: float, n_features: int) -> dict[str, float]:
    """Return the true cost by each way to weigh a score."""
    return {c: true_cost(name, kind, c, relation, epsilon, n_features) for c in CALIBRATIONS}


def inclusion(name: str, kind: str, calibration: str, relation: str, epsilon: float, n_features: int) -> Floats:
    """Return the exact probability that each feature is in the mask."""
    weight = _mask(kind, calibration, relation, epsilon, n_features).weight(dataset(name).schema)
    return inclusion_probabilities(weight * scores_from_counts(_counts(name, 0, 0), kind), n_features)


def one_set(
    name: str, kind: str, calibration: str, relation: str, epsilon: float, n_features: int, seed: int, draw: int
) -> NDArray[np.bool_]:
    """Return one set that is drawn, for study."""
    weight = _mask(kind, calibration, relation, epsilon, n_features).weight(dataset(name).schema)
    scores = scores_from_counts(_counts(name, 0, 0), kind)
    return sample_masks(weight * scores, n_features, 1, rng=np.random.default_rng([seed, draw]))[0]


def coins(name: str, kind: str, calibration: str, relation: str, epsilon: float, n_features: int) -> Floats:
    """Return each feature's probability in a choice of its own: Antonova's coin, shifted by score T + 1 in rank."""
    weight = _mask(kind, calibration, relation, epsilon, n_features).weight(dataset(name).schema)
    scores = scores_from_counts(_counts(name, 0, 0), kind)
    reference = np.sort(scores)[::-1][min(n_features, len(scores) - 1)]
    return np.asarray(expit(weight * (scores - reference)))


def places(scores: Floats) -> NDArray[np.intp]:
    """Return the features, best exact score first."""
    return np.argsort(-scores, kind="stable")


def shown_ranks(n_total: int, most: int = MOST_SHOWN) -> NDArray[np.intp]:
    """Return the places from 0 that are drawn: all, or the first ones and then geometrically fewer.

    >>> shown_ranks(3).tolist(), len(shown_ranks(10_000)) <= 240
    ([0, 1, 2], True)
    """
    if n_total <= most:
        return np.arange(n_total)
    return np.unique(np.rint(np.geomspace(1, n_total, most)).astype(np.intp)) - 1


def feature(name: str, index: int, relation: str) -> dict[str, Any]:
    """Return the exact counts of one feature, its scores, the range of their changes, and its places."""
    exact = _counts(name, 0, 0)
    public = PublicFacts.of(dataset(name).schema, relation)
    scores = {kind: scores_from_counts(exact, kind) for kind in KINDS}
    return {
        "on": exact.on[:, index],
        "off": exact.off[:, index],
        "score": {kind: float(s[index]) for kind, s in scores.items()},
        "range": {kind: public.change_range(kind) for kind in KINDS},
        "place": {kind: int((s > s[index]).sum()) + 1 for kind, s in scores.items()},
    }


# ---- F1 against a threshold ---------------------------------------------------------------------------------------


def threshold_of(n_lower: int, score: str, share: float) -> float:
    """Return τ in the score's units: of the public number of records, or of the one bit that two classes have.

    >>> threshold_of(5000, "count", 0.04), threshold_of(5000, "mutual_information", 0.04)
    (200.0, 0.04)
    """
    return share if score == "mutual_information" else share * n_lower


def rules_of(score: str) -> tuple[str, ...]:
    """Return the methods that select by a threshold on a score: Stoddard et al.'s clusters are of total counts only."""
    return RULES if score == "total_count" else RULES[:-1]


def f1(
    rule: str,
    name: str,
    relation: str,
    score: str,
    row_bound: int,
    epsilon: float,
    share: float,
    cutoff: int,
    draws: int,
    seed: int,
) -> Floats:
    """Return F1 of a selection by threshold, for each draw; for masks the exact mean, for each way to cut records.

    The true set is that of the whole records, also where a method sees them cut.
    """
    schema = dataset(name).schema
    assert schema.n_lower is not None
    threshold = threshold_of(schema.n_lower, score, share)
    truth = scores_from_counts(_counts(name, 0, 0), score) >= threshold
    options: dict[str, Any] = {"relation": relation, "row_bound": row_bound or None}
    if rule == "mask":
        # one seed for all, so that the cuts are the same
        return _exact_f1(truth, _counts(name, row_bound, 0), schema, epsilon, score, options)
    if rule == "sparse-vector":
        options["cutoff"] = cutoff
    selector = method(rule, "selector").make(epsilon, score=score, threshold=threshold, **options)
    masks = selector.masks(_counts(name, row_bound, seed), schema, draws=draws, rng=np.random.default_rng(seed))
    return selection_quality(truth, masks)["f1"]


def _exact_f1(truth, counts: Contingency, schema: Schema, epsilon: float, score: str, options: dict) -> Floats:
    T, D = int(truth.sum()), len(truth)
    if T in (0, D):
        return np.ones(1)
    few = min(T, D - T)
    if D * few > MOST_STEPS:
        return np.full(1, np.nan)
    weight = MaskSelector(epsilon, T, score, **options).weight(schema)
    values = []
    for scores in np.atleast_2d(scores_from_counts(counts, score)):
        # choosing T is leaving out D - T, with the weights' signs changed
        p = inclusion_probabilities(weight * scores if few == T else -weight * scores, few)
        values.append(expected_f1(truth, p if few == T else 1 - p))
    return np.array(values)


# ---- accuracy against the number of features ------------------------------------------------------------------------


# an ε at which the noise is below what can be seen
NO_NOISE = 1e9


def selector_ladder(n_total: int) -> tuple[int, ...]:
    """Return the numbers of features of the accuracy plot: those of the map, but not all, for that is no choice."""
    return tuple(t for t in feature_ladder(n_total) if t < n_total)


@kept(32)
def _study(selector: str, name: str, relation: str, row_bound: int, seed: int) -> SelectionStudy:
    mechanism = method(selector, "selector").make(1.0, n_features=1, row_bound=row_bound or None)
    return SelectionStudy(dataset(name), mechanism, relation=relation, subsamples=SUBSAMPLES, seed=seed)


def accuracy(
    selector: str,
    name: str,
    relation: str,
    epsilon: float,
    share: float,
    n_features: int,
    row_bound: int,
    draws: int,
    seed: int,
) -> Floats:
    """Return test accuracies of row-bounded naive Bayes on T chosen features; choosing them costs `share` of ε."""
    rng = np.random.default_rng(seed)
    if selector != "exact":
        study = _study(selector, name, relation, row_bound, seed if row_bound else 0)
        return study(epsilon, draws=draws, rng=rng, selection_share=share, n_features=n_features)["accuracy"]
    # the same ε for training, so that only the choice differs
    data = dataset(name)
    order = np.argsort(-scores_from_counts(_counts(name, 0, 0), "mutual_information"), kind="stable")
    mask = np.isin(np.arange(len(order)), order[:n_features])
    model = BernoulliNB(epsilon * (1 - share), relation=relation)
    return np.array([accuracy_of_selected(data, mask, model, rng) for _ in range(draws)])


def best(name: str, relation: str, epsilon: float, draws: int, seed: int) -> Floats:
    """Return test accuracies of `BestSelector`, which chooses T by itself and pays for it."""
    data, rng = dataset(name), np.random.default_rng(seed)
    model = BestSelector(epsilon, relation=relation, schema=data.schema, random_state=rng)
    return np.array([model.fit(data.X_train, data.y_train).score(data.X_test, data.y_test) for _ in range(draws)])


def true_numbers(name: str, score: str) -> NDArray[np.intp]:
    """Return how many features truly reach each threshold."""
    n_lower = dataset(name).schema.n_lower
    assert n_lower is not None
    scores = scores_from_counts(_counts(name, 0, 0), score)
    return np.array([(scores >= threshold_of(n_lower, score, share)).sum() for share in THRESHOLDS])


def expected_best(scores: Floats, p: Floats, n_features: int) -> float:
    """Return how many of the T best features a choice has on average; ties at place T share it.

    >>> expected_best(np.array([3.0, 1.0, 1.0]), np.array([1.0, 0.6, 0.4]), 2)
    1.5
    """
    last = np.sort(scores)[-n_features]
    above, tied = scores > last, scores == last
    return float(p[above].sum() + p[tied].sum() * (n_features - above.sum()) / tied.sum())
