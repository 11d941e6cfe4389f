"""What one run certifies, beside the exact cost: the guesses of canaries, without a trade-off curve and with one.

    python benchmarks/audit_one_run.py [--runs 100] [--results]

Randomised response, counts with Laplace and with normal noise, the linear classifier and logistic regression by noisy
descent get 1,000 canaries with a column each and no other record, PrivPfC 256 with a cell each beside 40 known records
a place, which make the grid worth its cells. Their exact cost for one canary is ε (`python -m dpml audit`), where noise
is normal at δ = 1e-5. The curve is that of the noise, and that of the claim where the release has no such name. Each
line has the median certified ε over the runs by both forms, the quartiles without a curve, the share of runs that
accuse by either form (at most .05 is allowed), and the seconds of a fit with its guesses.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd
from result_files import write_results

from dpml.audit import audit_one_run, certified_epsilon, label_score, row_score
from dpml.classifiers import LinearClassifier, LogisticRegression
from dpml.mechanisms import Gaussian, Laplace
from dpml.publishing import PrivPfC
from dpml.schema import Feature, Schema

WIDE, CELLS = 1000, 256
EPSILONS = (1.0, 3.0, 8.0)
DELTA = 1e-5
SOME, FEW = (50, 200, 1000), (16, 64, 256)
# guesses, and the noise of the release
METHODS = {
    "randomised response": (SOME, "claim"),
    "Laplace counts": (SOME, "laplace"),
    "Gaussian counts": (SOME, "gaussian"),
    "LinearClassifier": (SOME, "claim"),
    "noisy descent": (SOME, "gaussian"),
    "PrivPfC": (FEW, "claim"),
}


def linear(epsilon: float, X, y, rng):
    return LinearClassifier(epsilon, schema=Schema.binary(WIDE, row_bound=1, n_lower=400), random_state=rng).fit(X, y)


def descent(epsilon: float, X, y, rng):
    schema = Schema.binary(WIDE, row_bound=1, n_lower=400)
    options = {"method": "noisy-descent", "delta": DELTA, "schema": schema, "random_state": rng}
    return LogisticRegression(epsilon, **options).fit(X, y)


def counts(noise, X, rng):
    return noise.release(X.sum(axis=0), rng=rng)


def answers(epsilon: float, X, rng):
    inside = X.sum(axis=0) > 0
    return np.where(rng.random(WIDE) < 1 / (1 + np.exp(-epsilon)), inside, ~inside)


COLUMNS = {
    "randomised response": lambda epsilon, X, y, rng: answers(epsilon, X, rng),
    "Laplace counts": lambda epsilon, X, y, rng: counts(Laplace(epsilon), X, rng),
    "Gaussian counts": lambda epsilon, X, y, rng: counts(Gaussian(epsilon, DELTA), X, rng),
}


PLACES = tuple(f"p{i}" for i in range(CELLS))
TABLE = Schema([Feature("place", "categorical", PLACES)], classes=("no", "yes"))


def table(epsilon: float, X, y, rng):
    return PrivPfC(epsilon, schema=TABLE, random_state=rng).fit(X, y)


def runs(name: str, epsilon: float, n_guesses: int, n_runs: int) -> dict[str, object]:
    """Return what many independent audits certify."""
    rng = np.random.default_rng(0)
    if name == "PrivPfC":
        places, labels = pd.DataFrame({"place": PLACES}), np.array(["yes", "no"] * (CELLS // 2))
        known = pd.concat([places] * 40, ignore_index=True), np.tile(labels, 40)
        canaries, fit, score = (places, labels[::-1]), table, row_score
    else:
        canaries, score = (np.eye(WIDE), rng.integers(2, size=WIDE)), label_score
        fit = COLUMNS.get(name, linear if name == "LinearClassifier" else descent)
        if name in COLUMNS:
            score = lambda sums, X, y: X @ sums  # noqa: E731
        known = canaries[0][:0], canaries[1][:0]
    begun = time.process_time()
    delta, curve = DELTA if METHODS[name][1] == "gaussian" else 0.0, METHODS[name][1]
    options = {"delta": delta, "n_guesses": n_guesses, "rng": rng}
    results = [
        audit_one_run(lambda X, y: fit(epsilon, X, y, rng), score, *known, canaries, epsilon, **options)
        for _ in range(n_runs)
    ]
    seconds = (time.process_time() - begun) / n_runs
    lower = [result.epsilon_lower for result in results]
    by_curve = [
        certified_epsilon(len(canaries[1]), n_guesses, result.n_right, delta=delta, curve=curve) for result in results
    ]
    quarter, median, three = np.quantile(lower, (0.25, 0.5, 0.75))
    facts = {"method": name, "epsilon": epsilon, "delta": delta, "guesses": n_guesses, "runs": n_runs}
    facts |= {
        "median": median,
        "quarter": quarter,
        "three_quarters": three,
        "accused": np.mean(np.greater(lower, epsilon)),
    }
    facts |= {"curve": curve, "curve_median": np.median(by_curve)}
    return facts | {"curve_accused": np.mean(np.greater(by_curve, epsilon)), "s": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--results", action="store_true")
    options = parser.parse_args()
    lines = [runs(n, e, g, options.runs) for n, (some, _) in METHODS.items() for e in EPSILONS for g in some]
    result = pd.DataFrame(lines).round(3)
    print(result.to_string(index=False))
    if options.results:
        write_results("audit_one_run", result)


if __name__ == "__main__":
    main()
