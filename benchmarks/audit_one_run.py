"""What one run certifies of a classifier and of a published table, beside the exact cost: the guesses of canaries.

    python benchmarks/audit_one_run.py [--runs 100] [--results]

The linear classifier gets 1,000 canaries with a column each and no other record, PrivPfC 256 with a cell each beside
40 known records a place, which make the grid worth its cells. Their exact cost for one canary is ε (`python -m dpml
audit`). Each line has the median certified ε over the runs, its quartiles, the share of runs that accuse (at most .05
is allowed), and the seconds of a run.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd
from result_files import write_results

from dpml.auditing import audit_one_run, label_score, row_score
from dpml.classifiers import LinearClassifier
from dpml.publishing import PrivPfC
from dpml.schema import Feature, Schema

WIDE, CELLS = 1000, 256
EPSILONS = (1.0, 3.0, 8.0)
GUESSES = {"LinearClassifier": (50, 200, 1000), "PrivPfC": (16, 64, 256)}


def linear(epsilon: float, X, y, rng):
    return LinearClassifier(epsilon, schema=Schema.binary(WIDE, row_bound=1, n_lower=400), random_state=rng).fit(X, y)


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
        canaries, fit, score = (np.eye(WIDE), rng.integers(2, size=WIDE)), linear, label_score
        known = canaries[0][:0], canaries[1][:0]
    begun = time.process_time()
    lower = [
        audit_one_run(
            lambda X, y: fit(epsilon, X, y, rng), score, *known, canaries, epsilon, n_guesses=n_guesses, rng=rng
        ).epsilon_lower
        for _ in range(n_runs)
    ]
    quarter, median, three = np.quantile(lower, (0.25, 0.5, 0.75))
    facts = {"method": name, "epsilon": epsilon, "guesses": n_guesses, "runs": n_runs}
    seconds = (time.process_time() - begun) / n_runs
    accused = np.mean(np.greater(lower, epsilon))
    return facts | {"median": median, "quarter": quarter, "three_quarters": three, "accused": accused, "s": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--results", action="store_true")
    options = parser.parse_args()
    lines = [runs(n, e, g, options.runs) for n, all_guesses in GUESSES.items() for e in EPSILONS for g in all_guesses]
    result = pd.DataFrame(lines).round(3)
    print(result.to_string(index=False))
    if options.results:
        write_results("audit_one_run", result)


if __name__ == "__main__":
    main()
