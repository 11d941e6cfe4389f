"""Make experiments of the five papers again: the paper's number, ours and its standard error.

    python benchmarks/paper_experiments.py PAPER [ITEM ...] [--draws 20] [--seed 0] [--results]

With `--results` the rows of each item replace results/paper_PAPER_ITEM.csv.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator

import pandas as pd
from result_files import write_results

from dpml.papers.experiments import EXPERIMENTS, Measured

SCRIPT = "paper_experiments"


def printed(rows: Iterator[Measured]) -> Iterator[Measured]:
    """Print each row as it comes, and hand it on."""
    for row in rows:
        paper = "" if row.paper is None else f"{row.paper:g}"
        print(f"{row.ours:10.4g} ±{row.standard_error:7.3g} ({row.runs:3d})  {paper:>8}  {row.setting}", flush=True)
        yield row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paper", choices=list(EXPERIMENTS))
    parser.add_argument("items", nargs="*", help="default: all of the paper")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", action="store_true")
    options = parser.parse_args()
    for item in options.items or EXPERIMENTS[options.paper]:
        start = time.process_time()
        rows = list(printed(EXPERIMENTS[options.paper][item](options.draws, options.seed)))
        print(f"{options.paper} {item}: {time.process_time() - start:.0f} s of the processor", file=sys.stderr)
        if options.results:
            sys.argv[1:] = [
                options.paper,
                item,
                "--draws",
                str(options.draws),
                "--seed",
                str(options.seed),
                "--results",
            ]
            # six digits: more than the runs determine
            write_results(f"paper_{options.paper}_{item}", pd.DataFrame(rows).round(6), SCRIPT)


if __name__ == "__main__":
    main()
