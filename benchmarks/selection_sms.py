"""Stoddard et al.'s experiment on SMS: private feature selection, then naive Bayes, at ε = 1 under add/remove-one.

    python benchmarks/selection_sms.py [--draws 50] [--csv FILE] [--markdown] [--results]

Shares of ε as in Stoddard et al. 2014, section 5.1: score perturbation spends half on selecting; clusters, threshold
testing and their repairs spend a fifth. Every message is cut to ten words for score perturbation and clusters, and for
their naive Bayes. The number of features k and the threshold τ come from public grids. The best point of a grid is not
a private choice, and the output says so. Stoddard et al.'s methods are compared with the joint mechanism, one shot of
noise, masks, k features drawn at random, and the k best by exact scores, which is not private.

Three classifiers are trained on each selection: naive Bayes as in Stoddard et al. (records cut to ten ones, or to 20
if they do not sample), the row-bounded default of the project, and Antonova's Algorithm 1 as published. F1 compares a
selection with the true set: the k features with the largest exact scores, or all that reach τ.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from result_files import write_results

from dpml.classifiers import BernoulliNB
from dpml.classifiers.naive_bayes import models_from_row_bounded
from dpml.counts import Contingency, contingency, contingency_of_subsamples, release_row_bounded
from dpml.datasets import Dataset, load
from dpml.evaluation import selection_quality
from dpml.selection import (
    MaskSelector,
    NoisyClusterSelector,
    NoisyScoreSelector,
    PublishedSelector,
    SparseVectorSelector,
    TopSelector,
    scores_from_counts,
)
from dpml.studies.accuracy import RowBoundedNBStudy, accuracy_of_selected, majority_accuracy, non_private_nb
from dpml.tuning import BestSelector

EPSILON = 1.0
# Stoddard et al. 2014: r = 10 where records are sampled, and "at most 20 words" where they are not
SAMPLED, STATED = 10, 20
SIZES = (50, 100, 200, 500, 1000, 2000)
COUNTS = (5, 10, 20, 50, 100)
ROW_BOUNDS = (1, 2, 3, 5, 10)
BITS = (0.0005, 0.001, 0.002, 0.005, 0.01)
SHORT = {"total_count": "TC", "difference_count": "DC", "count": "PI", "mutual_information": "IG"}
EXACT, LOT = "exact scores", "drawn by lot"
CLASSIFIERS = ("NB as in Stoddard et al.", "NB row-bounded", "Alg. 1")
SUBSAMPLES = 10

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Row:
    """A method on its grid: `make(point, epsilon)` returns the selector; their naive Bayes cuts records to `ones`."""

    method: str
    score: str
    make: Callable[[Any, float], Any]
    grid: Sequence[float] = SIZES
    share: float = 0.5
    ones: int = SAMPLED
    private: bool = True

    @property
    def name(self) -> str:
        """The method and its score."""
        if self.method == LOT:
            return LOT
        return f"{self.method}, {SHORT[self.score]}" + ("" if self.private else " (NOT private)")

    @property
    def symbol(self) -> str:
        """The symbol of the grid's parameter."""
        return "k" if self.grid is SIZES else "τ"


def perturbed(score: str) -> Row:
    r = SAMPLED if score in ("total_count", "difference_count") else None
    return Row("score perturbation", score, lambda k, e: NoisyScoreSelector(e, k, score, row_bound=r))


def above(score: str) -> Row:
    make = lambda t, e: NoisyScoreSelector(e, None, score, threshold=t, row_bound=SAMPLED)  # noqa: E731
    return Row("score perturbation above τ", score, make, COUNTS)


def top(score: str, method: str) -> Row:
    return Row(method, score, lambda k, e: TopSelector(e, k, score, method=method))


def masks(score: str) -> Row:
    r = SAMPLED if score in ("total_count", "difference_count") else None
    return Row("masks", score, lambda k, e: MaskSelector(e, k, score, row_bound=r))


def clusters(score: str) -> Row:
    return Row("noisy clusters", score, lambda k, e: NoisyClusterSelector(e, k, score, row_bound=SAMPLED), share=0.2)


def published(method: str, title: str, score: str, ones: int = STATED) -> Row:
    # Stoddard et al. 2014, Theorem 2: threshold testing is claimed to cost 2ε, and ε for total counts (Corollary 1)
    part = 0.5 if method == "threshold-testing" and score != "total_count" else 1.0
    r = SAMPLED if method == "clusters" else None
    grid = BITS if score == "mutual_information" else COUNTS
    return Row(
        title,
        score,
        lambda t, e: PublishedSelector(e * part, method, score, threshold=t, row_bound=r),
        grid,
        share=0.2,
        ones=ones,
        private=False,
    )


def sparse(cutoff: int) -> Row:
    return Row(
        f"sparse vector, c = {cutoff}",
        "total_count",
        lambda t, e: SparseVectorSelector(e, t, cutoff),
        COUNTS,
        share=0.2,
        ones=STATED,
    )


PTT, SAME = published("threshold-testing", "PTT", "total_count"), 20


def without_selector(method: str, score: str) -> Row:
    return Row(method, score, lambda k, e: None, share=0.0, private=method == LOT)


ROWS = (
    *(perturbed(score) for score in SHORT),
    above("total_count"),
    published("clusters", "clusters", "total_count", SAMPLED),
    clusters("total_count"),
    clusters("difference_count"),
    *(published("threshold-testing", "PTT", s) for s in ("total_count", "difference_count", "mutual_information")),
    published("noisy-cut", "NoisyCut", "total_count"),
    sparse(10),
    sparse(50),
    *(top(score, "one-shot") for score in ("total_count", "count", "mutual_information")),
    top("count", "joint"),
    *(masks(score) for score in ("total_count", "difference_count", "count", "mutual_information")),
    without_selector(LOT, "total_count"),
    *(without_selector(EXACT, score) for score in SHORT),
)

# Pairs (better, worse) according to Stoddard et al.; the claims on F1 are for every threshold
MERIT = (
    ("all-sampling (Stoddard et al.: r = 10)", "all features (Stoddard et al.: r = 20)"),
    ("score perturbation, TC", "all-sampling (Stoddard et al.: r = 10)"),
    ("all-sampling (Stoddard et al.: r = 10)", "score perturbation, IG"),
    ("clusters, TC (NOT private)", "score perturbation, TC"),
    ("PTT, TC (NOT private)", "clusters, TC (NOT private)"),
    ("PTT, TC (NOT private)", "score perturbation, TC"),
    ("score perturbation, TC", "score perturbation, DC"),
    ("score perturbation, TC", "score perturbation, IG"),
    ("PTT, TC (NOT private)", "PTT, DC (NOT private)"),
    ("PTT, TC (NOT private)", "PTT, IG (NOT private)"),
)
MERIT_F1 = tuple(
    ("PTT, TC (NOT private)", other)
    for other in ("NoisyCut, TC (NOT private)", "clusters, TC (NOT private)", "score perturbation above τ, TC")
)


class Study:
    """The exact counts, computed once for each cut, and the quality of a selection."""

    def __init__(self, data: Dataset, draws: int, seed: int = 0):
        self.data, self.draws, self.seed = data, draws, seed
        self.exact = contingency(data.X_train, data.y_train, data.schema.n_classes)
        self._cut: dict[int, Contingency] = {}

    def counts(self, ones: int | None) -> Contingency:
        """Return exact counts; of ten random cuts if records are cut."""
        if ones is None:
            return self.exact
        if ones not in self._cut:
            train = self.data.X_train, self.data.y_train, self.data.schema.n_classes
            rng = np.random.default_rng([self.seed, ones])
            self._cut[ones] = contingency_of_subsamples(*train, ones, SUBSAMPLES, rng=rng)
        return self._cut[ones]

    def select(self, row: Row, point: float) -> BoolArray:
        """Return the masks of all draws."""
        rng = np.random.default_rng(self.seed)
        if row.method == EXACT:
            return np.tile(self.truth(row, point), (self.draws, 1))
        if row.method == LOT:
            lots = rng.random((self.draws, self.data.schema.n_features))
            return lots.argsort(axis=1).argsort(axis=1) < point
        selector = row.make(point, EPSILON * row.share)
        return selector.masks(self.counts(selector.row_bound), self.data.schema, draws=self.draws, rng=rng)

    def truth(self, row: Row, point: float) -> BoolArray:
        """Return the true set, with which a selection is compared."""
        values = scores_from_counts(self.exact, row.score)
        if row.symbol == "τ":
            return values >= point
        best = np.zeros(values.size, dtype=bool)
        best[np.argsort(values, kind="stable")[values.size - int(point) :]] = True
        return best

    def accuracy(self, chosen: BoolArray, epsilon: float, ones: int) -> dict[str, list[float]]:
        """Return accuracies of the three classifiers at ε, one for each mask (draws, D)."""
        rng = np.random.default_rng(self.seed)
        return {
            CLASSIFIERS[0]: [self._as_in_002(mask, epsilon, ones, i, rng) for i, mask in enumerate(chosen)],
            CLASSIFIERS[1]: [
                accuracy_of_selected(self.data, mask, BernoulliNB(epsilon, selection="none"), rng) for mask in chosen
            ],
            CLASSIFIERS[2]: [
                accuracy_of_selected(self.data, mask, BernoulliNB(epsilon, method="published"), rng) for mask in chosen
            ],
        }

    def _as_in_002(self, mask: BoolArray, epsilon: float, ones: int, draw: int, rng: np.random.Generator) -> float:
        if not mask.any():
            return majority_accuracy(self.data)
        cut = self.counts(ones)
        table = Contingency(cut.on[draw % len(cut.on)][:, mask], cut.n)
        models = models_from_row_bounded(release_row_bounded(table, epsilon, ones, rng=rng))
        return float(models.accuracy(self.data.X_test[:, np.flatnonzero(mask)], self.data.y_test)[0])


def run(draws: int, seed: int = 0) -> pd.DataFrame:
    """Return one row for each method, grid point, measure and draw."""
    data = load("sms")
    study = Study(data, draws, seed)
    parts = []

    def add(name: str, point: str, measures: dict[str, Any]) -> None:
        for measure, values in measures.items():
            facts = {"row": name, "point": point, "measure": measure, "draw": np.arange(draws)}
            parts.append(pd.DataFrame({**facts, "value": np.broadcast_to(values, (draws,))}))

    add("majority class", "", dict.fromkeys(CLASSIFIERS, majority_accuracy(data)))
    exact = non_private_nb(data).accuracy(data.X_test, data.y_test)[0]
    add("naive Bayes without privacy", "", dict.fromkeys(CLASSIFIERS, exact))
    everything = np.ones((draws, data.schema.n_features), dtype=bool)
    add("all features (Stoddard et al.: r = 20)", "", study.accuracy(everything, EPSILON, STATED))
    sampled = study.accuracy(everything, EPSILON, SAMPLED)
    add("all-sampling (Stoddard et al.: r = 10)", "", {CLASSIFIERS[0]: sampled[CLASSIFIERS[0]]})
    for ones in ROW_BOUNDS:
        bounded = RowBoundedNBStudy(data, row_bound=ones)(EPSILON, draws=draws, rng=np.random.default_rng(seed))
        add("all features, row-bounded", f"r = {ones}", {CLASSIFIERS[1]: bounded["accuracy"]})
    # the classifier of clusters after threshold testing shows how much of their difference comes from cutting
    same = study.select(PTT, SAME)
    add("PTT, TC, and r = 10 (NOT private)", f"τ = {SAME}", study.accuracy(same, EPSILON * (1 - PTT.share), SAMPLED))
    for row in ROWS:
        for point in row.grid:
            chosen, truth = study.select(row, point), study.truth(row, point)
            measures: dict[str, Any] = study.accuracy(chosen, EPSILON * (1 - row.share), row.ones)
            quality = selection_quality(truth, chosen)
            measures |= {"F1": quality["f1"], "selected": chosen.sum(axis=1), "true": truth.sum()}
            add(row.name, f"{row.symbol} = {point:g}", measures)
    rng = np.random.default_rng(seed)
    best = []
    for _ in range(draws):
        model = BestSelector(EPSILON, schema=data.schema, random_state=rng).fit(data.X_train, data.y_train)
        best.append(model.score(data.X_test, data.y_test))
    add("BestSelector", "", {CLASSIFIERS[1]: best})
    return pd.concat(parts, ignore_index=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--csv", help="write every draw to this file")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--results", action="store_true", help="replace results/selection_sms.csv")
    options = parser.parse_args()
    table = run(options.draws)
    if options.csv:
        table.to_csv(options.csv, index=False)
    table["value"] *= np.where(table["measure"].isin([*CLASSIFIERS, "F1"]), 100, 1)
    found = table.groupby(["row", "point", "measure"], sort=False)["value"].agg(["mean", "sem"]).reset_index()
    if options.results:
        names = {"row": "method", "sem": "standard_error"}
        write_results("selection_sms", found.round({"mean": 1, "sem": 1}).rename(columns=names))
    show = _markdown if options.markdown else lambda t: t.to_string(index=False)
    print(f"Best of the grid, not a private choice: percent, mean of {options.draws} draws (standard error)\n")
    print(show(_best(found)))
    print("\nStoddard et al.'s order: first minus second, each at its best point, or at every threshold\n")
    print(show(_merit(found)))
    print("\nEvery point of the grid\n")
    print(show(_all(found)))


def _best(found: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for name, part in found.groupby("row", sort=False):
        row = {"method": name}
        for measure in (*CLASSIFIERS, "F1"):
            mine = part[part["measure"] == measure]
            first = mine.loc[mine["mean"].idxmax()] if len(mine) else None
            row[measure] = "" if first is None else _cell(first) + (f", {first['point']}" if first["point"] else "")
        rows.append(row)
    return pd.DataFrame(rows)


def _merit(found: pd.DataFrame) -> pd.DataFrame:
    """Return the differences that are at least 0 according to Stoddard et al., with their standard errors."""
    by = {key: part.set_index("point")[["mean", "sem"]] for key, part in found.groupby(["row", "measure"], sort=False)}
    rows = []

    def add(better: str, worse: str, measure: str, points: tuple[str, str]) -> None:
        one, two = by[better, measure].loc[points[0]], by[worse, measure].loc[points[1]]
        gap, error = one["mean"] - two["mean"], float(np.hypot(one["sem"], two["sem"]))
        verdict = "yes" if gap > 2 * error else "no" if gap < -2 * error else "undecided"
        at = " / ".join(dict.fromkeys(point for point in points if point))
        facts = {"better in Stoddard et al.": better, "than": worse, "measure": measure, "at": at}
        rows.append(facts | {"difference": f"{gap:+.1f} ({error:.1f})", "so here": verdict})

    for measure in CLASSIFIERS[:2]:
        for better, worse in MERIT:
            if (better, measure) in by and (worse, measure) in by:
                add(better, worse, measure, tuple(by[name, measure]["mean"].idxmax() for name in (better, worse)))
    for better, worse in MERIT_F1:
        for point in by[better, "F1"].index:
            add(better, worse, "F1", (point, point))
    return pd.DataFrame(rows)


def _all(found: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for (name, point), part in found.groupby(["row", "point"], sort=False):
        if "F1" not in set(part["measure"]):
            continue
        by = part.set_index("measure")
        row = {"method": name, "point": point, "true": f"{by.loc['true', 'mean']:.0f}"}
        row["selected"] = f"{by.loc['selected', 'mean']:.0f}"
        rows.append(row | {measure: _cell(by.loc[measure]) for measure in (*CLASSIFIERS, "F1")})
    return pd.DataFrame(rows)


def _cell(found: pd.Series) -> str:
    return f"{found['mean']:.1f} ({found['sem']:.1f})"


def _markdown(table: pd.DataFrame) -> str:
    lines = [list(table.columns), ["---"] * len(table.columns), *table.astype(str).to_numpy().tolist()]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    main()
