"""Search for violations in algorithms from the literature, and print the bounds found beside the true ε.

``OMP_NUM_THREADS=1 python -m benchmarks.audit_search [NAME ...]`` prints a row for each algorithm of
`benchmarks.literature` at a claim of 1: the true ε on the stated inputs, the lower bound found, its share of the
true ε (or of five times the claim if the true ε is infinite), the counted draws of each data set, and the time.
``--check`` fails if a share is below 0.9, or below 1 for an infinite ε. ``--processor`` measures processor time instead
of wall time, for a busy machine.

``--honest`` runs 100 short searches with seeds 0 to 99 on each algorithm that holds its claim, and counts false
accusations. It fails beyond the 0.999 quantile of the binomial distribution that 95 % confidence allows.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
from scipy import stats

from benchmarks.literature import LITERATURE
from dpml.audit import search

RUNS = 100
GOAL, MULTIPLE = 0.9, 5.0


def power(names, options):
    """Print a row for each algorithm; return how many miss their goal."""
    clock = time.process_time if options.processor else time.perf_counter
    print(f"claim {options.epsilon:g}, confidence 0.95, seed {options.seed}, {clock.__name__}")
    print(f"{'algorithm':24} {'true ε':>8} {'bound':>8} {'share':>6} {'draws':>12} {'pairs':>6} {'seconds':>8}")
    missed = 0
    for name in names:
        found = LITERATURE[name](options.epsilon)
        true = found.true_epsilon()
        result = search(
            found.mechanism,
            found.neighbours,
            options.epsilon,
            seconds=options.seconds,
            rng=np.random.default_rng(options.seed),
            clock=clock,
        )
        share = result.epsilon_lower / (true if np.isfinite(true) else MULTIPLE * options.epsilon)
        missed += share < (GOAL if np.isfinite(true) else 1.0)
        print(
            f"{name:24} {true:8.4f} {result.epsilon_lower:8.4f} {share:6.3f} {result.draws:12,} {result.pairs:6d} "
            f"{result.seconds:8.1f}",
            flush=True,
        )
        if options.verbose:
            print(f"    {found.title} ({found.source}): {found.inputs}")
            print(f"    {np.array(result.data)} and {np.array(result.neighbour)}: {result.event}", flush=True)
    return missed


def honest(names, options):
    """Print how often each algorithm that holds its claim is accused; return how many are accused too often."""
    limit = int(stats.binom.ppf(0.999, RUNS, 0.05))
    print(f"{RUNS} searches of {options.draws:,} draws at 95 %: at most {limit} accusations")
    print(f"{'algorithm':24} {'true ε':>8} {'accused':>8} {'largest bound':>14} {'seconds':>8}")
    failed = 0
    for name in names:
        found = LITERATURE[name](options.epsilon)
        true = found.true_epsilon()
        if true > options.epsilon * (1 + 1e-9):
            continue
        start = time.perf_counter()
        bounds = [
            search(
                found.mechanism,
                found.neighbours,
                options.epsilon,
                seconds=None,
                draws=options.draws,
                rng=np.random.default_rng(seed),
            ).epsilon_lower
            for seed in range(RUNS)
        ]
        accused = sum(bound > options.epsilon for bound in bounds)
        failed += accused > limit
        took = time.perf_counter() - start
        print(f"{name:24} {true:8.4f} {accused:8d} {max(bounds):14.4f} {took:8.1f}", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--honest", action="store_true")
    parser.add_argument("--draws", type=int, default=2_000, help="of each search of --honest")
    parser.add_argument("--processor", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="with the neighbours and the event")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    names = options.names or list(LITERATURE)
    failed = honest(names, options) if options.honest else power(names, options)
    if failed and (options.check or options.honest):
        sys.exit(f"{failed} of the algorithms miss their goal")


if __name__ == "__main__":
    main()
