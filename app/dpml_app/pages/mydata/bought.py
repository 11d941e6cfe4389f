"""What each part of a release buys with its ε, in a line each: for the person's own eyes, and nothing is released.

The accuracy of a model and the grid of a published table come from study runs at a few ε, and between these are
interpolated. All else follows from the noise.
"""

import math
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

from dpml.classifiers.grid.cells import SHARES
from dpml.evaluation.histogram import N_BINS, noise_scale
from dpml.evaluation.intervals import noise_variance
from dpml.evaluation.multiclass import ACCURACY_SHARE, MANY_CLASSES
from dpml.registry import method
from dpml.release import Plan
from dpml.release.steps import TABLE_SHARE
from dpml.schema import Schema
from dpml.selection import change_range
from dpml.selection.plan import plan as selection_plan
from dpml_app.data.measures import dataset
from dpml_app.jobs import Pool, Task
from dpml_app.pages.mydata import advice
from dpml_app.pages.mydata.published import PUBLISHER
from dpml_app.settings import Shared
from dpml_app.text.phrases import percent

# the usual ones first: a line is there after the first run, and gets better with each
EPSILONS = (0.1, 0.3, 1.0, 0.03, 3.0, 0.01, 10.0)
PARTS, SEED = 2, 0
# a 95 % interval, in standard deviations, and the chance that the worst of the chosen columns is farther off
NORMAL_95, MISS = 1.96, 0.05
RELATION, TEST_SHARE = Plan.relation, Plan.test_share


class Runs(NamedTuple):
    """Of study runs at one ε: accuracies of the model; groups of each column that a grid keeps, and all its counts."""

    accuracies: NDArray[np.float64]
    sizes: tuple[int, ...]
    counts: int


def runs(name: str, epsilon: float) -> Runs:
    """Return what study runs on a session's table reach at one ε."""
    # the first row; the second is of AUCs
    accuracies = [advice.runs(name, "auto", RELATION, epsilon, part)[0] for part in range(PARTS)]
    data = dataset(name)
    facts, label = data.frame_schema, data.card["label"]["name"]
    assert facts is not None
    publisher = method(PUBLISHER, "publisher").make(epsilon, relation=RELATION, schema=facts, random_state=SEED)
    publisher.fit(data.frame.drop(columns=label), data.frame[label].to_numpy())
    taxonomies = {f.name: f.taxonomy for f in facts.features}
    sizes = tuple(taxonomies[column].sizes[level] for column, level in publisher.levels_.items())
    return Runs(np.concatenate(accuracies), sizes, publisher.cell_counts_.size)


def asked(settings: Shared, pool: Pool) -> dict[float, Future]:
    """Ask for the study runs of the table in use, at each ε."""
    table = settings.uploaded.table
    tasks = {} if table is None else {epsilon: Task(runs, (table.name, epsilon)) for epsilon in EPSILONS}
    # in turn with the advice, whose owner is the session
    return {epsilon: pool.submit(task, owner=settings) for epsilon, task in tasks.items()}


def accuracy_reach(epsilon: float, records: float, accuracy: float, n_classes: int) -> float:
    """Return half the 95 % interval of an accuracy that is measured on so many records.

    An accuracy is a share of cells; it has the noise of all cells and the chance of the records (`dpml.evaluation`).
    From five classes on, the noisy numbers of correct and wrong predictions weigh in.

    >>> round(accuracy_reach(1.0, 1500, 0.8, 2), 3), round(accuracy_reach(0.05, 1500, 0.8, 2), 3)
    (0.021, 0.124)
    """
    right, wrong, share = float(N_BINS), float(N_BINS), 1.0
    if n_classes > 2:
        right, wrong, share = n_classes, n_classes * (n_classes - 1), TABLE_SHARE
    if n_classes >= MANY_CLASSES:
        # the inverse variances of two independent sums add up
        right, wrong = (1 / ((1 - ACCURACY_SHARE) ** 2 / cells + ACCURACY_SHARE**2) for cells in (right, wrong))
    cells = (1 - accuracy) ** 2 * right + accuracy**2 * wrong
    noise = noise_variance(noise_scale(share * epsilon, RELATION), 0.0) * cells / records**2
    return NORMAL_95 * math.sqrt(noise + accuracy * (1 - accuracy) / records)


def column_distance(epsilon: float, records: int, size: int, counts: int) -> float:
    """Return the expected total variation distance of a published column of so many groups, at most.

    A group's share has the noise of its part of the grid's counts, and the chance of the records that are drawn, which
    is largest for groups of one size. Both are nearly normal, with mean size σ·√(2/π).

    >>> round(column_distance(1.0, 5000, 4, 32), 4)
    0.01
    """
    scale = noise_scale(SHARES[2] * epsilon, RELATION)
    variance = noise_variance(scale, 0.0) * counts / size / records**2 + (1 - 1 / size) / size / records
    return min(size / 2 * math.sqrt(2 / math.pi * variance), 1.0)


def selection_reach(epsilon: float, n_features: int, n_kept: int) -> float:
    """Return how many records' score, at most, the worst of the chosen columns is below the best that was left.

    With a chance of 95 %: each choice has an equal part of ε and is no worse than that of the exponential mechanism
    (McKenna and Sheldon 2020), whose chosen score is t below the best with a chance of at most D·exp(-εt/R).

    >>> round(selection_reach(0.1, 100, 3))
    261
    """
    few = min(n_kept, n_features - n_kept)
    span = change_range("count", RELATION, n_features)
    return few * span / epsilon * math.log(n_features * few / MISS) if few else 0.0


@dataclass
class Bought:
    """What a table's ε buys, as far as it is known: `known` has the study runs at each ε, `waiting`: more will come."""

    schema: Schema
    records: int
    known: dict[float, Runs] = field(default_factory=dict)
    waiting: bool = True

    def lines(self, whole: float, epsilons: Mapping[str, float]) -> dict[str, str]:
        """Return a line for each part that has an ε, of a release that has `whole` together."""
        lines, level = {}, None
        unknown = "estimating…" if self.waiting else "no estimate for this table"
        if epsilons.get("selection"):
            kept = selection_plan(self.schema, whole, RELATION).n_features
            reach = selection_reach(epsilons["selection"], self.schema.n_features, kept)
            lines["selection"] = (
                f"keeps {kept} of {self.schema.n_features} columns, each within {reach:,.0f} records of the score of "
                "any column left out"
            )
        if epsilons.get("training"):
            lines["training"] = unknown
            if self.known:
                level, low, high = self._accuracy(epsilons["training"])
                # the study runs choose no columns
                more = ", using all columns" if "selection" in lines else ""
                lines["training"] = f"a model with {percent(level)} accuracy ({percent(low)} to {percent(high)}){more}"
        if epsilons.get("evaluation"):
            # an accuracy of a half is the hardest to measure
            records, C = max(TEST_SHARE * self.records, 1), self.schema.n_classes
            reach = accuracy_reach(epsilons["evaluation"], records, 0.5 if level is None else level, C)
            lines["evaluation"] = f"accuracy measured to ±{100 * min(reach, 1.0):.1f} percentage points"
        if epsilons.get("publishing"):
            lines["publishing"] = unknown
            if self.known:
                kept, distance = self._published(epsilons["publishing"])
                columns = f"{kept} of {self.schema.n_features} columns, mean error {percent(distance)} each"
                lines["publishing"] = f"a synthetic table with {columns if kept else 'no usable column'}"
        return lines

    def _between(self, epsilon: float, values: Mapping[float, float]) -> float:
        known = sorted(values)
        return float(np.interp(math.log(epsilon), np.log(known), [values[each] for each in known]))

    def _accuracy(self, epsilon: float) -> tuple[float, float, float]:
        """Return the mean of runs, and where 90 % of them lie; none falls as ε rises."""
        known = sorted(self.known)
        every = [self.known[each].accuracies for each in known]
        rows = [[r.mean() for r in every], *([np.quantile(r, q) for r in every] for q in (0.05, 0.95))]
        level, low, high = (
            self._between(epsilon, dict(zip(known, isotonic_regression(row), strict=True))) for row in rows
        )
        return level, low, high

    def _published(self, epsilon: float) -> tuple[int, float]:
        """Return how many columns a grid keeps, and their mean distance."""
        kept = {each: len(one.sizes) for each, one in self.known.items()}
        distances = {
            each: math.log(np.mean([column_distance(each, self.records, s, one.counts) for s in one.sizes] or [1.0]))
            for each, one in self.known.items()
        }
        return round(self._between(epsilon, kept)), math.exp(self._between(epsilon, distances))
