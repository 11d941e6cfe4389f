"""Private ROC curves on 558 SMS, as in Stoddard et al. 2014, section 5.2: each of their methods and our default.

    python benchmarks/roc_sms.py [--draws 100] [--markdown] [--csv FILE]

One tenth of the messages (558, 483 of them ham, which is label 1) is held out, with a fixed seed and stratified by
label. Stoddard et al. do not say which tenth they took (481 ham). Bernoulli naive Bayes without privacy is trained on
the rest and scores them. It is weakened to an AUC near 0.9 and near 0.75 in two ways: by training on the most frequent
words only, or by Gaussian noise of a stated standard deviation, with a fixed seed, on its log-odds. The printed error
is that of Stoddard et al.: the median over draws of the area between the private curve and the true one
(`sklearn.metrics.roc_curve`).

Bold ways are Stoddard et al.'s own (Table 1). The others change one part at a time: all of ε2 for each label instead of
half, the least Cauchy noise, quantiles by the exponential mechanism instead of medians, another strategy for the sums.
"laplace" and "fixed-space" without a number are not private (`published_roc_is_private`), but are included among the
others: for "fixed-space", a public number of thresholds of the same size gives the same error.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import BernoulliNB

from dpml.datasets import load
from dpml.evaluation import (
    area_between,
    private_roc_curve,
    published_roc_curve,
)

Floats = NDArray[np.float64]

EPSILONS = (1.0, 0.5, 0.25, 0.1)
TEST_SHARE, SEED = 0.1, 0
# Numbers of words (None: all) and standard deviations of the noise on the log-odds
WEAKENED = ((None, 0.0), (40, 0.0), (15, 0.0), (None, 18.0), (None, 40.0))
DEFAULTS = ("default, log-odds", "default, probability")
# Goals of the default for the full classifier, for each ε above
GOALS = (0.025, 0.03, 0.03, 0.04)
TABLE_1 = {
    "laplace": (0.218, 0.343, 0.372, 0.442),
    "fixed-space": (0.034, 0.042, 0.079, 0.146),
    "recursive-medians": (0.023, 0.029, 0.054, 0.092),
}


class Scores(NamedTuple):
    """A classifier's scores of the test records, and the exact curve."""

    name: str
    y: NDArray[np.intp]
    log_odds: Floats
    auc: float
    fpr: Floats
    tpr: Floats


Curve = Callable[[Scores, float, np.random.Generator, int], tuple[Floats, Floats, Floats]]


def classifiers() -> list[Scores]:
    """Return the scores of the held-out messages by each classifier."""
    data = load("sms")
    X = sparse.vstack([sparse.csr_matrix(data.X_train), sparse.csr_matrix(data.X_test)]).tocsr()
    y = np.concatenate([data.y_train, data.y_test])
    train, test = train_test_split(np.arange(len(y)), test_size=TEST_SHARE, random_state=SEED, stratify=y)
    commonest = np.argsort(-np.asarray(X[train].sum(axis=0)).ravel(), kind="stable")
    found = []
    for words, noise in WEAKENED:
        columns = commonest[:words]
        joint = BernoulliNB().fit(X[train][:, columns], y[train]).predict_joint_log_proba(X[test][:, columns])
        log_odds = joint[:, 1] - joint[:, 0] + np.random.default_rng(SEED).normal(0.0, noise, len(test))
        fpr, tpr, _ = roc_curve(y[test], log_odds, drop_intermediate=False)
        name = "all words" if words is None else f"{words} commonest words"
        name += f", noise {noise:g} on the log-odds" if noise else ""
        found.append(Scores(name, y[test], log_odds, float(roc_auc_score(y[test], log_odds)), fpr, tpr))
    return found


def default(scores: Scores, epsilon: float, rng: np.random.Generator, draws: int, scale: str) -> Any:
    values = scores.log_odds if scale == "log-odds" else expit(scores.log_odds)
    return private_roc_curve(scores.y, values, epsilon, rng=rng, draws=draws, score_scale=scale)


def as_in_002(
    scores: Scores, epsilon: float, rng: np.random.Generator, draws: int, score_scale: str = "probability", **options
) -> Any:
    values = scores.log_odds if score_scale == "log-odds" else expit(scores.log_odds)
    more = options | {"rng": rng, "draws": draws, "score_scale": score_scale}
    return published_roc_curve(scores.y, values, epsilon, **more)


def ways() -> dict[str, Curve]:
    """Return every way to draw a curve: the defaults, Stoddard et al.'s own, and those with one part replaced."""
    found: dict[str, Any] = {name: partial(default, scale=name.split(", ")[1]) for name in DEFAULTS}
    found |= {f"**{method}**": partial(as_in_002, method=method) for method in TABLE_1}
    found["laplace, noise for 11"] = partial(as_in_002, method="laplace", halves=False)
    found["laplace, even thresholds, noise for 11"] = partial(as_in_002, method="laplace-fixed", halves=False)
    medians: dict[str, Any] = {"method": "recursive-medians", "halves": False}
    found["fixed-space, all of ε"] = partial(as_in_002, method="fixed-space", halves=False)
    found["fixed-space, all of ε, hierarchy"] = partial(
        as_in_002, method="fixed-space", halves=False, ranges="hierarchy"
    )
    found["fixed-space of 16, all of ε, identity"] = partial(
        as_in_002, method="fixed-space", halves=False, n_thresholds=16, ranges="identity"
    )
    found["medians, all of ε2"] = partial(as_in_002, **medians)
    found["medians, all of ε2, exact noise"] = partial(as_in_002, **medians, calibration="exact")
    exact = medians | {"calibration": "exact"}
    for k in (10, 4):
        for strategy in ("hierarchy", "identity"):
            name = f"medians, all of ε2, exact noise, k = {k}, {strategy}"
            found[name] = partial(as_in_002, **exact, k=k, ranges=strategy)
    for k in (10, 4):
        for strategy in ("privelet", "hierarchy", "identity"):
            more = {"method": "quantiles", "halves": False, "k": k, "ranges": strategy}
            found[f"quantiles, all of ε2, k = {k}, {strategy}"] = partial(as_in_002, **more)
    more = {"method": "quantiles", "halves": False, "k": 4, "ranges": "identity", "score_scale": "log-odds"}
    found["quantiles of log-odds, all of ε2, k = 4, identity"] = partial(as_in_002, **more)
    return found


def areas(scores: Scores, way: Curve, epsilon: float, draws: int) -> Floats:
    """Return the area between the true curve and each private curve."""
    fpr, tpr, _ = way(scores, epsilon, np.random.default_rng([SEED, int(1000 * epsilon)]), draws)
    return np.asarray(area_between(scores.fpr, scores.tpr, fpr, tpr))


def run(draws: int, chosen: dict[str, Curve]) -> pd.DataFrame:
    """Return one row for each classifier, way, ε and draw."""
    parts = []
    for scores in classifiers():
        title = f"{scores.name}, AUC {scores.auc:.3f}"
        for name, way in chosen.items():
            for epsilon in EPSILONS:
                facts = {"classifier": title, "way": name, "epsilon": epsilon, "draw": np.arange(draws)}
                parts.append(pd.DataFrame({**facts, "area": areas(scores, way, epsilon, draws)}))
    return pd.concat(parts, ignore_index=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--csv", help="write every draw to this file")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    table = run(options.draws, ways())
    if options.csv:
        table.to_csv(options.csv, index=False)
    show = _markdown if options.markdown else lambda t: t.to_string(index=False)
    for title, part in table.groupby("classifier", sort=False):
        print(f"\n{title}: median area error of {options.draws} draws (standard error of the median)\n")
        print(show(_medians(part)))
    print("\nDefault less the best other way, medians; the standard error is that of the paired difference\n")
    print(show(_against_default(table)))
    print("\nThe default on the full classifier\n")
    print(show(_goals(table)))


def _standard_error(values: Floats) -> float:
    """Return the bootstrap standard error of the median."""
    rows = np.random.default_rng(SEED).integers(0, len(values), (500, len(values)))
    return float(np.median(values[rows], axis=1).std())


def _medians(part: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for name, mine in part.groupby("way", sort=False):
        row: dict[str, Any] = {"way": name}
        for epsilon, own in mine.groupby("epsilon", sort=False):
            values = own["area"].to_numpy()
            row[f"ε = {epsilon:g}"] = f"{np.median(values):.4f} ({_standard_error(values):.4f})"
        rows.append(row)
        if name.strip("*") in TABLE_1:
            published = {f"ε = {e:g}": f"{v:.3f}" for e, v in zip(EPSILONS, TABLE_1[name.strip("*")], strict=True)}
            rows.append({"way": f"... in Stoddard et al.'s Table 1, SMS ({name.strip('*')})", **published})
    return pd.DataFrame(rows)


def _against_default(table: pd.DataFrame) -> pd.DataFrame:
    """Return, for each case, the difference of medians to the best other way, which is chosen after the fact."""
    rows = []
    for (title, epsilon), part in table.groupby(["classifier", "epsilon"], sort=False):
        by = {name: own["area"].to_numpy() for name, own in part.groupby("way", sort=False)}
        others = [name for name in by if name not in DEFAULTS]
        best = min(others, key=lambda name: np.median(by[name]))
        row: dict[str, Any] = {"classifier": title, "ε": epsilon, "best other way": best}
        row["its error"] = f"{np.median(by[best]):.4f}"
        pick = np.random.default_rng(SEED).integers(0, len(by[best]), (500, len(by[best])))
        for name in DEFAULTS:
            gap = np.median(by[name]) - np.median(by[best])
            # both use the same draws, because they share the seed of the noise
            error = np.std(np.median(by[name][pick], axis=1) - np.median(by[best][pick], axis=1))
            row[name] = f"{gap:+.4f} ({error:.4f})" + (" LOSES" if gap > 2 * error else "")
        rows.append(row)
    return pd.DataFrame(rows)


def _goals(table: pd.DataFrame) -> pd.DataFrame:
    full = table[table["classifier"] == table["classifier"].iloc[0]]
    medians = full.groupby(["way", "epsilon"])["area"].median()
    rows = []
    for name in DEFAULTS:
        reached = {f"ε = {e:g}": f"{medians[name, e]:.4f} (≤ {g:g})" for e, g in zip(EPSILONS, GOALS, strict=True)}
        rows.append({"way": name, **reached})
    return pd.DataFrame(rows)


def _markdown(table: pd.DataFrame) -> str:
    lines = [list(table.columns), ["---"] * len(table.columns), *table.astype(str).to_numpy().tolist()]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    main()
