"""Measure experiments of the five papers again: `python -m benchmarks.papers [PAPER] [ITEM ...]`.

Each line has the number measured here, its standard error in brackets, the runs, and the paper's number if it prints
one. Without PAPER, the command lists the experiments. Without ITEM, it measures all experiments of the paper, which
takes hours with the default number of runs. `python -m dpml papers PAPER ITEM` prints the verdict on an item.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Iterator, Sequence

import pandas as pd

from benchmarks.papers import EXPERIMENTS, Measured
from benchmarks.result_files import write_results
from dpml._validate import check_integer
from dpml.exceptions import DataDamaged, DataNotFound, InvalidParameter
from dpml.papers import items


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=__doc__)
    parser.add_argument("paper", nargs="?", metavar="PAPER", help="key of a paper (default: list the experiments)")
    parser.add_argument("items", nargs="*", metavar="ITEM", help="experiments of the paper (default: all)")
    parser.add_argument("--draws", type=int, default=20, help="runs of each measured number, at least 1 (default 20)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the runs, an integer >= 0 (default 0)")
    parser.add_argument("--results", action="store_true", help="replace benchmarks/results/paper_PAPER_ITEM.csv")
    options = parser.parse_args(arguments)
    try:
        check_integer(options.draws, "draws", 1)
        check_integer(options.seed, "seed", 0)
        _check_names(options.paper, options.items)
    except InvalidParameter as error:
        parser.error(str(error))
    if options.paper is None:
        _list_experiments()
        return
    for item in options.items or EXPERIMENTS[options.paper]:
        try:
            _measure(options.paper, item, options.draws, options.seed, options.results)
        except (DataNotFound, DataDamaged) as error:
            sys.exit(f"error: {error}")


def _check_names(paper: str | None, names: Sequence[str]) -> None:
    if paper is None:
        return
    if paper not in EXPERIMENTS:
        raise InvalidParameter("PAPER", paper, f"one of {', '.join(EXPERIMENTS)}")
    for name in names:
        if name not in EXPERIMENTS[paper]:
            raise InvalidParameter("ITEM", name, f"one of {', '.join(EXPERIMENTS[paper])}")


def _list_experiments() -> None:
    for paper, experiments in EXPERIMENTS.items():
        print(paper)
        titles = {item.key: item.title for item in items(paper)}
        width = max(map(len, experiments))
        for name in experiments:
            rows = ", rows with D > 100 only" if name.endswith("-large") else ""
            print(f"  {name:{width}s}  {titles[name.removesuffix('-large')]}{rows}")


def _measure(paper: str, item: str, draws: int, seed: int, results: bool) -> None:
    print(f"{paper} {item}: {draws} draws, seed {seed}, standard errors in brackets", flush=True)
    start = time.process_time()
    rows = list(_print_rows(EXPERIMENTS[paper][item](draws, seed)))
    print(f"{paper} {item}: {time.process_time() - start:.0f} s of processor time", file=sys.stderr)
    if results:
        words = [paper, item, "--draws", str(draws), "--seed", str(seed), "--results"]
        command = shlex.join(["python", "-m", "benchmarks.papers", *words])
        # six digits: more than the runs determine
        write_results(f"paper_{paper}_{item}", pd.DataFrame(rows).round(6), command=command)


def _print_rows(rows: Iterator[Measured]) -> Iterator[Measured]:
    """Print each row when it is measured, and yield it."""
    for row in rows:
        # a single run has no standard error
        spread = ", 1 run" if row.runs == 1 else f" ({row.standard_error:.2g}), {row.runs} runs"
        paper = "" if row.paper is None else f", the paper {row.paper:.4g}"
        print(f"  {row.setting}: {row.ours:.4g}{spread}{paper}", flush=True)
        yield row


if __name__ == "__main__":
    main()
