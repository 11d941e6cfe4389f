"""The checks of the lesson about public tables; `lesson_figures` has the others, and says how to name one."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
from lesson_checks import check

from dpml.auditing import recorded_releases
from dpml.mechanisms import Laplace, boundary
from dpml.publishing import ImportanceWeights, release_answers
from dpml.publishing.weights.density_ratio import balanced_minimiser
from dpml.schema import Feature, Schema

PEOPLE = Schema((Feature("age", "categorical", ("young", "old")), Feature("income", "categorical", ("low", "high"))))


@check
def noise_of_each(s, answers):
    """The scale of the noise on each of several counts that share ε."""
    table = np.zeros((int(answers), 3))

    def call(values):
        return release_answers(values, s.audit_epsilon, rng=np.random.default_rng(0))

    [release] = recorded_releases(call, table, table)
    assert isinstance(release.mechanism, Laplace)
    return release.mechanism.scale


@check
def year_of_importance(s):
    known = (Path(__file__).parents[1] / "docs" / "references.md").read_text(encoding="utf-8")
    assert "| Ji and Elkan 2013 |" in known
    return 2013


@check
def weights_are_post_processing(s):
    """What follows a fit hands nothing to the boundary."""
    model = ImportanceWeights(1.0, random_state=0).fit(np.eye(3)[[0, 1]], np.eye(3))

    class Refused:
        def release(self, mechanism, statistic, rng):
            raise AssertionError("a draw")

        public_randomness = best_of_runs = release

    with boundary.observe(Refused()):
        return len(model.weights(np.eye(3))) == 3 and model.weighted(np.eye(3)).mean([1, 0, 0]) > 0


@check
def cost_of_noise_for_the_length(s):
    """How far β moves between two tables, in units of what noise for the length of a record covers."""
    half, n, reg_lambda = 50, 2000, 0.06
    first, public = np.zeros((n, 2 * half)), np.eye(2 * half)
    second = first.copy()
    first[-1, :half], second[-1, half:] = 1, 1
    moved = np.linalg.norm(
        balanced_minimiser(first, public, reg_lambda) - balanced_minimiser(second, public, reg_lambda)
    )
    return moved * n * reg_lambda / math.sqrt(half)


def _people(n, young_and_rich, seed):
    rng = np.random.default_rng(seed)
    age, income = rng.choice(["young", "old"], n), rng.choice(["low", "high"], n)
    table = pd.DataFrame({"age": age, "income": income})
    return table if young_and_rich else table[~((age == "young") & (income == "high"))]


@check
def moments_answer_better(s):
    """Mean error of ten shares over 20 draws, at ε = 0.1: less than half of that of noise on β."""
    rng = np.random.default_rng(0)
    private, public = ((rng.random((4000, 10)) < p).astype(int) for p in (0.6, 0.4))
    errors = {}
    for method in ("output", "moments"):
        fits = [ImportanceWeights(0.1, method=method, random_state=k).fit(private, public) for k in range(20)]
        found = [fit.weights(public) @ public / len(public) for fit in fits]
        errors[method] = np.abs(np.array(found) - private.mean(axis=0)).mean()
    return errors["moments"] < errors["output"] / 2


@check
def weights_invent_nobody(s):
    private, public = _people(2000, True, 0), _people(2000, False, 1)
    model = ImportanceWeights(s.audit_epsilon, method="moments", schema=PEOPLE, random_state=0).fit(private, public)

    def rich(table):
        return ((table["age"] == "young") & (table["income"] == "high")).to_numpy()

    return model.weighted(public).mean(rich) == 0 and rich(private).mean() > 0.2
