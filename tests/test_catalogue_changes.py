"""Changes of the library that the exact audits of the catalogue must see."""

import importlib
from dataclasses import replace

import pytest

from dpml.catalogue import CATALOGUE

# ---- changes of the library that the exact audits must see ----------------------------------------------------------


def tripled(original):
    """Return the function with three times its ε, the first number that it takes by position."""

    def changed(*arguments, **options):
        at = next(i for i, a in enumerate(arguments) if isinstance(a, float))
        return original(*arguments[:at], 3 * arguments[at], *arguments[at + 1 :], **options)

    return changed


def for_add_remove(original):
    return lambda *arguments, **options: original(*arguments, **{**options, "relation": "add-remove"})


def twice(original):
    def changed(*arguments, **options):
        original(*arguments, **options)
        return original(*arguments, **options)

    return changed


def scaled(factor):
    """Return a change of a function of numbers: its result, or the first number of it, times a factor."""

    def change(original):
        def changed(*arguments, **options):
            found = original(*arguments, **options)
            return (found[0] * factor, *found[1:]) if isinstance(found, tuple) else found * factor

        return changed

    return change


def keeps_all(original):
    """Return `choose_features` that leaves all of ε to the classifier."""

    def changed(X, codes, schema, epsilon, **options):
        return replace(original(X, codes, schema, epsilon, **options), epsilon_left=epsilon)

    return changed


def large_inner_budgets(original):
    def changed(*arguments):
        steps, shares = original(*arguments)
        for step in steps:
            step.epsilon *= 2
        return steps, [2 * share for share in shares]

    return changed


def retrains_twice(original):
    def changed(*arguments, **options):
        costs = original(*arguments, **options)
        return {**costs, "retrain": 2 * costs["retrain"]}

    return changed


def weights_doubled(original):
    def changed(*arguments):
        *before, weight, rng = arguments
        return original(*before, 2 * weight, rng)

    return changed


NB, RELEASE = "dpml.classifiers.naive_bayes.bernoulli", "release_row_bounded"
CHANGES = {
    "ε tripled in a fit": ("nb-row-bounded", f"{NB}.{RELEASE}", tripled),
    "ε tripled in a fit that clips": ("nb-row-bounded-clip", f"{NB}.{RELEASE}", tripled),
    "ε tripled in a release": ("nb-row-bounded-release", f"{NB}.{RELEASE}", tripled),
    "a release more": ("nb-row-bounded", f"{NB}.{RELEASE}", twice),
    "the other relation's noise": ("nb-published", f"{NB}.release_published", for_add_remove),
    "the other relation's range": ("mask-count", "dpml.selection._base.PublicFacts.mask_weight", scaled(2.0)),
    "ε tripled in the one shot": ("top-one-shot", "dpml.selection.top.one_shot", tripled),
    "sensitivity of a query halved": (
        "sparse-vector-selection",
        "dpml.selection._base.PublicFacts.sensitivity",
        scaled(0.5),
    ),
    "sensitivity of noisy scores halved": (
        "score-perturbation",
        "dpml.selection._base.PublicFacts.l1_sensitivity",
        scaled(0.5),
    ),
    "ε tripled in the search behind PrivLocal": (
        "priv-local",
        "dpml.classifiers.local_search._search.epsilon_share",
        scaled(3.0),
    ),
    "range of a neighbourhood halved": (
        "priv-local",
        "dpml.classifiers.local_search._search.neighbourhood_range",
        scaled(0.5),
    ),
    "ε tripled in predict": (
        "nb-private-prediction",
        "dpml.classifiers.naive_bayes.private_prediction.release_labels",
        tripled,
    ),
    "range of a label halved": (
        "nb-private-prediction",
        "dpml.classifiers.naive_bayes.private_prediction.score_range",
        scaled(0.5),
    ),
    "ε tripled in the moments": (
        "mixed-nb-smooth-cauchy",
        "dpml.classifiers.naive_bayes.mixed.release_moments",
        tripled,
    ),
    "ε tripled in an objective": ("svc-objective", "dpml.classifiers.linear._weights.release_objective", tripled),
    "ε tripled on a minimiser": ("svc-output", "dpml.classifiers.linear._weights.release_output", tripled),
    "σ of descent halved": ("svc-noisy-descent", "dpml.classifiers.linear.descent.descent_noise", scaled(0.5)),
    "sensitivity of coefficients halved": (
        "functional-fit",
        "dpml.classifiers.linear.functional.functional_sensitivity",
        scaled(0.5),
    ),
    "the other relation's histogram": ("evaluation", "dpml.evaluation.release.release_counts", for_add_remove),
    "all of ε twice in BestSelector": ("best-selector", "dpml.tuning.best_selector.choose_features", keeps_all),
    "a search that retrains for twice its share": (
        "search-permute-and-flip",
        "dpml.tuning.search.search_costs",
        retrains_twice,
    ),
    "inner budgets of twice the share": (
        "cross-validation",
        "dpml.evaluation.cross_validation._spenders",
        large_inner_budgets,
    ),
    "the sensitivity of a wavelet halved": ("ranges-privelet", "dpml.mechanisms.ranges.Privelet._moved", scaled(0.5)),
    "factor of random stopping": ("search-random-stopping", "dpml.tuning.plan.equal_share", scaled(2.0)),
    "the number of records that are left": (
        "svc-noisy-descent-clip",
        "dpml.schema.Schema.public_count",
        lambda original: lambda *arguments: None,
    ),
    "range of a grid's quality halved": ("privpfc", "dpml.classifiers.grid.cells.quality_range", scaled(0.5)),
    "ε tripled in the choice of a grid": ("privpfc-release", "dpml.mechanisms.source.noisy_max", tripled),
    "ε tripled in a published table": ("privpfc-classifier", "dpml.classifiers.grid.cells.release_grid", tripled),
    "range of a specialisation halved": ("diffgen", "dpml.publishing.tables.diffgen.specialisation_range", scaled(0.5)),
    "range of discernibility a fifth": (
        "pph",
        "dpml.publishing.tables.pph.DISCERNIBILITY_RANGE",
        lambda number: 0.2 * number,
    ),
    "range of dependence a tenth": ("privbayes", "dpml.publishing.tables.privbayes.dependence_range", scaled(0.1)),
    "range of a split halved": ("diffp-c45", "dpml.classifiers.tree.growth.split_range", scaled(0.5)),
    "shares of ε that add up to more": (
        "uniform-grid",
        "dpml.publishing.tables.uniform.divided",
        lambda original: lambda *arguments: [2 * part for part in original(*arguments)],
    ),
    "weight of a cut doubled": (
        "quantile-thresholds",
        "dpml.evaluation.roc.thresholds.exponential_cut",
        weights_doubled,
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_the_library_fails_an_exact_audit(change, monkeypatch):
    name, path, changed = CHANGES[change]
    entry = CATALOGUE[name]
    assert all(entry.audit(1.0, r).epsilon_lower <= entry.true_epsilon(1.0) + 1e-9 for r in entry.relations)
    owner, _, attribute = path.rpartition(".")
    try:
        owner = importlib.import_module(owner)
    except ModuleNotFoundError:
        module, _, kind = owner.rpartition(".")
        owner = getattr(importlib.import_module(module), kind)
    monkeypatch.setattr(owner, attribute, changed(getattr(owner, attribute)))
    assert any(entry.audit(1.0, r).epsilon_lower > entry.true_epsilon(1.0) * 1.01 for r in entry.relations)
