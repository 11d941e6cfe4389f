"""The checks that lessons name: each recomputes a figure, or a claim, from the library at the settings of its step.

A figure's check is written as its name and words behind it ("accuracy logistic epsilon=1"); a word with = changes a
setting. It is called with the settings and the other words, and returns a number, or a truth for a claim.
"""

import math
import re
from pathlib import Path

import numpy as np
from dpml_app import data, link
from dpml_app.audit import compute as audit
from dpml_app.evaluate import attack
from dpml_app.evaluate import compute as evaluate
from dpml_app.explore.settings import ExploreSettings
from dpml_app.noise import compute as noise
from dpml_app.noise.controls import points_of
from dpml_app.noise.models import model
from dpml_app.noise.points import LOWER, UPPER
from dpml_app.noise.settings import BETA_SHARES
from dpml_app.select import compute as select
from dpml_app.state import Settings

from dpml.budget import Budget
from dpml.catalogue import CATALOGUE
from dpml.classifiers.naive_bayes import default_row_bound
from dpml.evaluation import attack_bound, best_attack_success
from dpml.evaluation.histogram import noise_scale
from dpml.mechanisms import cauchy_scale, smooth_sensitivity
from dpml.mechanisms.smooth import global_sensitivity, local_sensitivity

ROOT = Path(__file__).parents[1]
CHECKS = {}
PLAIN = 1e9  # an ε without noise that one could see
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def numbers(text):
    """Return the numbers of a text as they are written."""
    return [found.rstrip(",") for found in NUMBER.findall(text)]


def says(stated, value):
    """Return whether a number is the value, rounded to its own digits or, from 1,000 on, to three digits."""
    number, digits = float(stated.replace(",", "")), len(stated.partition(".")[2])
    rounded = float(f"{value:.3g}") if abs(value) >= 1000 else value
    return math.isfinite(value) and (round(value, digits) == number or rounded == number)


def settings_of(step, *changes):
    """Return the settings of a step's state, with some changed."""
    settings = Settings()
    given = {**step.state, **dict(change.split("=") for change in changes)}
    assert link.read(settings, given, given) == []
    return settings


def run(check, step):
    """Return what a check finds at a step's settings."""
    name, *words = check.split()
    changes = [w for w in words if "=" in w]
    settings = settings_of(step, *changes)
    return CHECKS[name](settings, *[w for w in words if "=" not in w])


def check(function):
    CHECKS[function.__name__.replace("_", "-")] = function
    return function


# ---- ε in words ------------------------------------------------------------------------------------------------------


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


# ---- accuracy on Explore ---------------------------------------------------------------------------------------------


def drawn(s, method):
    key = ExploreSettings.accuracy_key(s.explore_values(), method, s.epsilon)
    return data.accuracy(*key)


@check
def accuracy(s, method):
    return 100 * drawn(s, method).mean()


@check
def accuracy_at(s, method, share):
    return 100 * float(np.quantile(drawn(s, method), float(share)))


@check
def guess(s):
    return 100 * data.facts(s.dataset)["majority"]


@check
def without_privacy(s):
    return 100 * data.facts(s.dataset)["non_private"]


@check
def without_noise(s, method):
    """The very same model, without its noise."""
    values = s.explore_values()
    if method == "row-bounded" and not values["row_bound"]:
        values["row_bound"] = default_row_bound(data.dataset(s.dataset).schema, s.epsilon)
    name, method, relation, _, options, _, seed = ExploreSettings.accuracy_key(values, method, s.epsilon)
    return 100 * data.accuracy(name, method, relation, PLAIN, options, 1, seed).mean()


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
    d = data.dataset(s.dataset)
    study = data.study(s.dataset, method, s.relation)
    options = {"threshold_percentile": s.threshold_percentile}
    models = study.models(epsilon or s.epsilon, draws=s.draws, rng=np.random.default_rng(s.seed), **options)
    said = models.decision(d.X_test)[:, :, 0] > 0
    return 100 * float(said[:, d.y_test == 1].mean())


@check
def records(s):
    return data.facts(s.dataset)["n_train"]


@check
def tested(s):
    return data.facts(s.dataset)["n_test"]


@check
def features(s):
    return data.facts(s.dataset)["n_features"]


@check
def raised_for_all(s):
    """Percent of features whose on-counts of all classes are raised to the threshold."""
    from dpml_app.train.compute import nb_silenced

    found = nb_silenced(s.dataset, s.relation, s.epsilon, s.threshold_percentile, s.draws, s.seed)
    return 100 * float(found["on"].mean())


# ---- selection -------------------------------------------------------------------------------------------------------


def _range(s, kind):
    return float(np.ptp(data.facts(s.dataset)[kind]))


@check
def step(s, kind):
    return float(data.facts(s.dataset)["unit"][kind, s.relation])


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
    return select.expected_best(data.facts(s.dataset)[judged_by], p, s.n_features)


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


# ---- the audit -------------------------------------------------------------------------------------------------------


def audited(s):
    return s.audit_key(s.audit_values())


@check
def impossible_before(s, output):
    """With the first data set an output has probability 0."""
    return audit.exact(audited(s))["outputs"][(float(output),)][0] == 0.0


@check
def chance_after(s, output):
    return 100 * audit.exact(audited(s))["outputs"][(float(output),)][1]


@check
def true_epsilon(s):
    return audit.exact(audited(s))["epsilon"]


@check
def broken_at_any_epsilon(s):
    return math.isinf(audit.exact(audited(s))["epsilon"])


@check
def stands(s):
    return audit.exact(audited(s))["passed"]


@check
def catalogue_says_not_private(s):
    return not CATALOGUE[s.audit_method].private


@check
def shown_by_draws(s):
    return audit.step(audited(s), s.audit_seed, s.audit_confidence, audit.LADDER.index(s.audit_draws))["lower"]


# ---- ROC curves ------------------------------------------------------------------------------------------------------


def judged(s):
    return s.classifier_key(s.evaluate_values())


@check
def area(s):
    fpr, tpr = evaluate.exact_curve(*judged(s))
    return float(np.trapezoid(tpr, fpr))


@check
def labels_found(s):
    who = attack.victims(*judged(s))
    return int((attack.exact_attack(*judged(s)) == evaluate.labels(s.dataset)[who]).sum())


@check
def labels_attacked(s):
    return len(attack.victims(*judged(s)))


@check
def one_step_of_the_curve(s):
    """Percent of the curve's height that one record of the second class is."""
    return 100 / int((evaluate.labels(s.dataset) == 1).sum())


@check
def best_attack(s):
    return 100 * best_attack_success(s.epsilon, s.relation)


@check
def bound_on_attacks(s):
    return 100 * attack_bound(s.epsilon)


@check
def off(s, method):
    """Median area between the private curve and the true one."""
    key = s.curve_key(s.evaluate_values(), method, evaluate.draws_of(method, s.draws), s.epsilon)
    return float(np.median(evaluate.errors(*key)))


@check
def times_as_far(s, method, other):
    return off(s, method) / off(s, other)


# ---- smooth sensitivity ----------------------------------------------------------------------------------------------


def _points(s):
    return points_of(s), LOWER, UPPER


def _beta(s):
    return BETA_SHARES[s.noise_beta] * s.noise_epsilon


@check
def worst_case(s):
    x, low, high = _points(s)
    return global_sensitivity(s.noise_statistic, low, high, len(x), s.noise_relation)


@check
def local(s):
    return local_sensitivity(s.noise_statistic, *_points(s), s.noise_relation)


@check
def smooth(s):
    return smooth_sensitivity(s.noise_statistic, *_points(s), _beta(s), s.noise_relation)


@check
def noise_for_worst_case(s):
    """Mean size of Laplace noise scaled by the global sensitivity."""
    return worst_case(s) / s.noise_epsilon


@check
def noise_width(s):
    """Scale of the Cauchy noise: half of the draws lie within it."""
    return cauchy_scale(s.noise_epsilon, _beta(s)) * smooth(s)


@check
def widths(s):
    return noise_for_worst_case(s) / noise_width(s)


@check
def calibration_costs(s, calibration):
    scale, beta = cauchy_scale(s.noise_epsilon, _beta(s), calibration), _beta(s)
    return float(noise.true_cost(np.array([scale]), np.array([beta]))[0])


@check
def calibration_wastes(s, calibration):
    return cauchy_scale(s.noise_epsilon, _beta(s), calibration) / cauchy_scale(s.noise_epsilon, _beta(s))


# ---- what a lesson takes over ----------------------------------------------------------------------------------------


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
def confidence(s):
    return 100 * s.audit_confidence


@check
def lower_end(s):
    return LOWER


@check
def scale_of(s, calibration):
    return cauchy_scale(s.noise_epsilon, _beta(s), calibration) * s.noise_epsilon


@check
def times_as_on(s, other):
    """How many times as far the histogram's curve is as on another data set."""
    here = off(s, "histogram")
    s.dataset = other
    return here / off(s, "histogram")


@check
def gain_without_noise(s, method):
    return without_noise(s, method) - guess(s)


# ---- claims in words -------------------------------------------------------------------------------------------------


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
def all_labels_found(s):
    return labels_found(s) == labels_attacked(s)


@check
def gives_away_the_number(s):
    return not CATALOGUE["published-roc-fixed-space-alpha"].private


@check
def fifty_points(s):
    return len(points_of(s)) == 50


@check
def gap_is_local(s):
    return abs(local(s) - smooth(s)) < 1e-9


@check
def all_bias(s, method):
    return abs(cost_of_noise(s, method)) < 0.05 < 10 < lost_to_bias(s, method)


@check
def a_quarter_is_high(s):
    return 0.24 < float((data.dataset(s.dataset).y_test == 1).mean()) < 0.26


@check
def without_noise_finds_more(s, method):
    return found_of_second_class(s, method, PLAIN) > 60
