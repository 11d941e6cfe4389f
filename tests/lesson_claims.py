"""The claims that lessons make in words: each is computed by the library at the settings of its step.

A claim is written as its name and words behind it ("better-than auto row-bounded"); a word with = changes a setting.
"""

import math
import re

import numpy as np
import pandas as pd
import pytest
from dpml_app.data import measures
from dpml_app.data.default_study import default_runs, non_private, result_of, shipped_results
from dpml_app.jobs import Task
from dpml_app.lessons import figures
from dpml_app.lessons.figures import settings_of
from dpml_app.pages.audit import compute as audit
from dpml_app.pages.audit import lesson as audits
from dpml_app.pages.audit.compute import AuditValues
from dpml_app.pages.evaluate import lesson as curves
from dpml_app.pages.noise import lesson as noise
from dpml_app.pages.publish import compute as publish
from dpml_app.pages.publish import lesson as tables
from dpml_app.pages.select import compute as select
from dpml_app.pages.select.compute import SelectValues
from dpml_app.pages.train import lesson as trained
from dpml_app.pages.train.compute import TrainValues, measured, train_facts

from dpml.audit.cases import AUDITED
from dpml.classifiers.naive_bayes import default_row_bound
from dpml.datasets import NAMES, card
from dpml.mechanisms import boundary
from dpml.publishing import ImportanceWeights
from dpml.publishing.density_ratio import balanced_minimiser
from dpml.schema import Feature, Schema
from dpml.studies.accuracy import RowBoundedNBStudy

PEOPLE = Schema((Feature("age", "categorical", ("young", "old")), Feature("income", "categorical", ("low", "high"))))
CLAIMS = {}


def claim(function):
    CLAIMS[function.__name__.replace("_", "-")] = function
    return function


def data_marks(state, *texts):
    """Return the marks of a test that computes these texts at a state of a page: `data` if files do not ship."""
    names = [state.get("dataset", ""), *re.findall(r"\bdataset=(\w+)", " ".join(texts))]
    return [pytest.mark.data] if any(name in NAMES and card(name)["files"] for name in names) else []


def holds(text, step):
    """Return whether a claim is true at a step's settings."""
    name, *words = text.split()
    settings = settings_of(step.state, dict(word.split("=", 1) for word in words if "=" in word))
    return bool(CLAIMS[name](settings, *[word for word in words if "=" not in word]))


# ---- accuracy -------------------------------------------------------------------------------------------------------


@claim
def all_bias(s):
    own, private = trained.without_noise(s), trained.trained(s, "output")
    s.train_lambda = 1.0
    return abs(own - private) < 0.05 < 10 < trained.without_noise(s) - own


@claim
def bounding_helps_without_noise(s):
    data = measures.dataset(s.dataset)
    study = RowBoundedNBStudy(data, relation=s.relation, row_bound=default_row_bound(data.schema, s.epsilon))
    exact = study(1e9, draws=1, rng=np.random.default_rng(s.seed))["accuracy"].mean()
    return 100 * exact > trained.naive_bayes_without_privacy(s)


@claim
def second_class_loses_most(s):
    """Of all groups that the page names, the second class loses most."""
    known = shipped_results(s.dataset)
    runs = known[Task(default_runs, (s.dataset, s.relation, s.epsilon, s.seed))]
    plain = known[Task(non_private, (s.dataset, s.relation))]
    lost = np.concatenate([plain[of] - runs[of].mean(axis=0) for of in ("recall", "groups")])
    return int(lost.argmax()) == 1


@claim
def beats_in_training(s, first, second):
    """The first method is better by more than three standard errors of the difference."""
    tasks = [measured(method, TrainValues.of(s), s.epsilon) for method in (first, second)]
    a, b = (result_of(task)["accuracy"] for task in tasks)
    return a.mean() - b.mean() > 3 * math.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))


@claim
def vaidya_costs_at_most(s, total):
    """Each number has two releases of ε, each category one, and so have the class counts."""
    known = train_facts(s.dataset)
    return s.epsilon * (2 * known.numeric + known.categorical + 1) <= float(total)


# ---- selection ------------------------------------------------------------------------------------------------------


@claim
def beats(s, first, second):
    """The first selector is better by more than four standard errors of the difference."""
    a, b = (select.accuracy(*SelectValues.of(s).accuracy_key(one, s.n_features)) for one in (first, second))
    error = math.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))
    return a.mean() - b.mean() > 4 * error


# ---- the audit ------------------------------------------------------------------------------------------------------


def audited(s):
    return audit.exact(AuditValues.of(s).key())


@claim
def case(s, *numbers):
    """The neighbours of the catalogue have these counts."""
    words = AUDITED[s.audit_method].case(1.0, "add-remove").words.replace(" ", "")
    return all(one in words for one in numbers)


# ---- curves, noise, tables ------------------------------------------------------------------------------------------


@claim
def tells_apart(s, *names):
    levels = tables.released(s)["levels"]
    every = publish.tables(s.dataset).schema.feature_names
    return {name for name, level in zip(every, levels, strict=True) if level} == set(names)


# ---- importance weights ---------------------------------------------------------------------------------------------


@claim
def noise_for_the_length_costs_more(s):
    """How far β moves between two tables, in units of what noise for the length of a record covers."""
    half, n, reg_lambda = 50, 2000, 0.06
    first, public = np.zeros((n, 2 * half)), np.eye(2 * half)
    second = first.copy()
    first[-1, :half], second[-1, half:] = 1, 1
    ends = [balanced_minimiser(table, public, reg_lambda) for table in (first, second)]
    return np.linalg.norm(ends[0] - ends[1]) * n * reg_lambda / math.sqrt(half) > 1.2


@claim
def weights_are_post_processing(s):
    """What follows a fit hands nothing to the boundary."""
    model = ImportanceWeights(1.0, random_state=0).fit(np.eye(3)[[0, 1]], np.eye(3))

    class Refused:
        def release(self, mechanism, statistic, rng):
            raise AssertionError("a draw")

        public_randomness = best_of_runs = release

    with boundary.observe(Refused()):
        return len(model.weights(np.eye(3))) == 3 and model.weighted(np.eye(3)).mean([1, 0, 0]) > 0


def _people(n, young_and_rich, seed):
    rng = np.random.default_rng(seed)
    age, income = rng.choice(["young", "old"], n), rng.choice(["low", "high"], n)
    table = pd.DataFrame({"age": age, "income": income})
    return table if young_and_rich else table[~((age == "young") & (income == "high"))]


@claim
def moments_answer_better(s):
    """Mean error of ten shares over 20 draws, at ε = 0.1: less than half of that of noise on β."""
    rng = np.random.default_rng(0)
    private, public = ((rng.random((4000, 10)) < p).astype(int) for p in (0.6, 0.4))
    errors = {}
    for method in ("output", "moments"):
        fits = [ImportanceWeights(0.1, method=method, random_state=k).fit(private, public) for k in range(20)]
        shares = [fit.weights(public) @ public / len(public) for fit in fits]
        errors[method] = np.abs(np.array(shares) - private.mean(axis=0)).mean()
    return errors["moments"] < errors["output"] / 2


@claim
def weights_invent_nobody(s):
    private, public = _people(2000, True, 0), _people(2000, False, 1)
    model = ImportanceWeights(s.audit_epsilon, method="moments", schema=PEOPLE, random_state=0).fit(private, public)

    def rich(table):
        return ((table["age"] == "young") & (table["income"] == "high")).to_numpy()

    return model.weighted(public).mean(rich) == 0 and rich(private).mean() > 0.2


CLAIMS |= {
    "hardly-more-than-a-guess": lambda s: -2 < figures.FIGURES["default_gain"](s) < 2,
    "a-quarter-is-high": lambda s: 0.24 < float((measures.dataset(s.dataset).y_test == 1).mean()) < 0.26,
    "better-than": lambda s, first, second: trained.trained(s, first) > trained.trained(s, second),
    # with the first data set an output has probability 0
    "impossible-before": lambda s, output: audited(s)["outputs"][(float(output),)][0] == 0.0,
    "broken-at-any-epsilon": lambda s: math.isinf(audits.true_epsilon(s)),
    "stands": lambda s: audited(s)["passed"],
    "catalogue-says-not-private": lambda s: not AUDITED[s.audit_method].private,
    "all-labels-found": lambda s: curves.labels_found(s) == curves.labels_attacked(s),
    "gives-away-the-number": lambda s: not AUDITED["published-roc-fixed-space-alpha"].private,
    # the first curve is nearer to the true one, by medians over draws
    "nearer": lambda s, first, second: curves.off(s, first) < curves.off(s, second),
    "gap-is-local": lambda s: abs(noise.level(s, "local") - noise.level(s, "smooth")) < 1e-9,
}
