"""The checks that lessons name: each recomputes a figure, or a claim, from the library at the settings of its step.

A figure's check is written as its name and words behind it ("accuracy logistic epsilon=1"); a word with = changes a
setting. It is called with the settings and the other words, and returns a number, or a truth for a claim.
"""

import math

import numpy as np
from dpml_app.data import measures
from dpml_app.pages.explore.settings import ExploreSettings
from dpml_app.pages.noise.models import model
from dpml_app.pages.select import compute as select
from lesson_checks import check

from dpml.budget import Budget
from dpml.classifiers.naive_bayes import default_row_bound
from dpml.evaluation.histogram import noise_scale

PLAIN = 1e9  # an ε without noise that one could see


# ---- ε in words -----------------------------------------------------------------------------------------------------


@check
def sure(s):
    """Percent of bets that are won at most, of those at even odds."""
    return 100 / (1 + math.exp(-s.epsilon))


@check
def factor(s):
    return math.exp(s.epsilon)


@check
def mean_noise(s):
    return model(s.noise_mechanism, s.noise_epsilon, s.noise_sensitivity, s.noise_delta, 1 / 6).mean_size


@check
def cells_that_change(s):
    """How much more noise a table of counts needs under replace-one: as many times as cells change."""
    return noise_scale(s.epsilon, "replace-one") / noise_scale(s.epsilon, "add-remove")


@check
def paid(s, what):
    """Charge both parts to a budget of ε and return one of them, or their sum."""
    budget = Budget(s.epsilon)
    for share in (s.selection_share, 1 - s.selection_share):
        budget.spend(share * s.epsilon, label="a look")
    costs = list(budget.ledger["epsilon"])
    return {"first": costs[0], "second": costs[1], "sum": sum(costs)}[what]


# ---- accuracy on Explore --------------------------------------------------------------------------------------------


def drawn(s, method):
    key = ExploreSettings.accuracy_key(s.explore_values(), method, s.epsilon)
    return measures.accuracy(*key)


@check
def accuracy(s, method):
    return 100 * drawn(s, method).mean()


@check
def accuracy_at(s, method, share):
    return 100 * float(np.quantile(drawn(s, method), float(share)))


@check
def guess(s):
    return 100 * measures.facts(s.dataset)["majority"]


@check
def without_privacy(s):
    return 100 * measures.facts(s.dataset)["non_private"]


@check
def without_noise(s, method):
    """The very same model, without its noise."""
    values = s.explore_values()
    if method == "row-bounded" and not values["row_bound"]:
        values["row_bound"] = default_row_bound(measures.dataset(s.dataset).schema, s.epsilon)
    name, method, relation, _, options, _, seed = ExploreSettings.accuracy_key(values, method, s.epsilon)
    return 100 * measures.accuracy(name, method, relation, PLAIN, options, 1, seed).mean()


@check
def cost(s, method):
    """Points between naive Bayes without privacy and a method."""
    return without_privacy(s) - accuracy(s, method)


@check
def cost_of_noise(s, method):
    return without_noise(s, method) - accuracy(s, method)


@check
def lost_to_bias(s, method):
    """Points that a method without noise loses by its λ, against the smallest λ of the control."""
    s.reg_lambda, own = 0.1, s.reg_lambda
    least = without_noise(s, method)
    s.reg_lambda = own
    return least - without_noise(s, method)


@check
def found_of_second_class(s, method, epsilon=None):
    """Percent of the second class that the published method finds, mean over draws."""
    d = measures.dataset(s.dataset)
    study = measures.study(s.dataset, method, s.relation)
    options = {"threshold_percentile": s.threshold_percentile}
    models = study.models(epsilon or s.epsilon, draws=s.draws, rng=np.random.default_rng(s.seed), **options)
    said = models.decision(d.X_test)[:, :, 0] > 0
    return 100 * float(said[:, d.y_test == 1].mean())


@check
def records(s):
    return measures.facts(s.dataset)["n_train"]


@check
def tested(s):
    return measures.facts(s.dataset)["n_test"]


@check
def features(s):
    return measures.facts(s.dataset)["n_features"]


@check
def raised_for_all(s):
    """Percent of features whose on-counts of all classes are raised to the threshold."""
    from dpml_app.pages.train.compute import nb_silenced

    found = nb_silenced(s.dataset, s.relation, s.epsilon, s.threshold_percentile, s.draws, s.seed)
    return 100 * float(found["on"].mean())


# ---- selection ------------------------------------------------------------------------------------------------------


def _range(s, kind):
    return float(np.ptp(measures.facts(s.dataset)[kind]))


@check
def step(s, kind):
    return float(measures.facts(s.dataset)["unit"][kind, s.relation])


@check
def span(s, kind):
    return _range(s, kind)


@check
def steps(s, kind):
    return _range(s, kind) / step(s, kind)


@check
def times_finer(s):
    return steps(s, "count") / steps(s, "mutual_information")


@check
def found(s, chosen_by, judged_by):
    """How many of the T best features by one score a mask by another has on average."""
    paid_for = s.epsilon * s.selection_share
    p = select.inclusion(s.dataset, chosen_by, s.select_calibration, s.relation, paid_for, s.n_features)
    return select.expected_best(measures.facts(s.dataset)[judged_by], p, s.n_features)


@check
def found_blind(s):
    return s.n_features**2 / features(s)


def chosen_accuracy(s, selector):
    key = s.accuracy_key_of(s.select_values(), selector, s.n_features)
    return select.accuracy(*key)


@check
def accuracy_of(s, selector):
    return 100 * chosen_accuracy(s, selector).mean()


@check
def beats(s, first, second):
    """The first selector is better by more than four standard errors of the difference."""
    a, b = chosen_accuracy(s, first), chosen_accuracy(s, second)
    error = math.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))
    return a.mean() - b.mean() > 4 * error


# ---- what a lesson takes over ---------------------------------------------------------------------------------------


@check
def setting(s, name):
    return float(getattr(s, name))


@check
def at_even_odds(s):
    """Percent of bets on a fair coin that are won."""
    return 100 / (1 + math.exp(0))


@check
def held(s, low, high):
    """Percent of draws between two quantiles."""
    return 100 * (float(high) - float(low))


@check
def gain_without_noise(s, method):
    return without_noise(s, method) - guess(s)


# ---- claims in words ------------------------------------------------------------------------------------------------


@check
def a_third_is_left(s, method):
    return 0.28 < (accuracy(s, method) - guess(s)) / gain_without_noise(s, method) < 0.38


@check
def worse_than_guess(s, method):
    draws = drawn(s, method)
    return 100 * (draws.mean() + 2 * draws.std(ddof=1) / math.sqrt(len(draws))) < guess(s)


@check
def found_more_than(s, chosen_by, judged_by):
    return found(s, chosen_by, judged_by) > 2 * found(s, judged_by, judged_by)


@check
def all_bias(s, method):
    return abs(cost_of_noise(s, method)) < 0.05 < 10 < lost_to_bias(s, method)


@check
def a_quarter_is_high(s):
    return 0.24 < float((measures.dataset(s.dataset).y_test == 1).mean()) < 0.26


@check
def without_noise_finds_more(s, method):
    return found_of_second_class(s, method, PLAIN) > 60
