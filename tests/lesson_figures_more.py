"""The checks of lessons about audits, curves and noise; `lesson_figures` has the others, and says how to name one."""

import math

import numpy as np
from dpml_app.pages.audit import compute as audit
from dpml_app.pages.audit.settings import AuditValues
from dpml_app.pages.evaluate import attack
from dpml_app.pages.evaluate import compute as evaluate
from dpml_app.pages.evaluate.settings import EvaluateValues
from dpml_app.pages.noise import compute as noise
from dpml_app.pages.noise.controls import points_of
from dpml_app.pages.noise.points import LOWER, UPPER
from dpml_app.pages.noise.settings import BETA_SHARES
from dpml_app.pages.train.settings import TrainValues
from dpml_app.pages.train.tasks import measured
from lesson_checks import check

from dpml.catalogue import CATALOGUE
from dpml.evaluation import attack_bound, best_attack_success
from dpml.mechanisms import cauchy_scale, smooth_sensitivity
from dpml.mechanisms.smooth import global_sensitivity, local_sensitivity

# ---- the audit ------------------------------------------------------------------------------------------------------


def audited(s):
    return AuditValues.of(s).key()


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


# ---- ROC curves -----------------------------------------------------------------------------------------------------


def judged(s):
    return EvaluateValues.of(s).classifier_key()


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
    key = EvaluateValues.of(s).curve_key(method, evaluate.draws_of(method, s.draws), s.epsilon)
    return float(np.median(evaluate.errors(*key)))


@check
def times_as_far(s, method, other):
    return off(s, method) / off(s, other)


# ---- smooth sensitivity ---------------------------------------------------------------------------------------------


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


# ---- what a lesson takes over, and claims in words ------------------------------------------------------------------


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


# ---- which model? ----------------------------------------------------------------------------------------------------


def of_method(s, method):
    chunk = measured(method, TrainValues.of(s), s.epsilon)
    return 100 * chunk.function(*chunk.arguments)["accuracy"].mean()


@check
def trained_here(s, method):
    """Percent that a method of the page is right for."""
    return of_method(s, method)


@check
def begun_with(s):
    return of_method(s, "auto")


@check
def better_than(s, method):
    """Whether the default classifier is right more often than a method."""
    return of_method(s, "auto") > of_method(s, method)
