"""Measure experiments of the five papers again: `python -m benchmarks.papers [PAPER] [ITEM ...]`.

Each line has the number measured here, its standard error in brackets, the runs, and the paper's number if it prints
one. Without PAPER, the command lists the experiments. Without ITEM, it measures all experiments of the paper, and with
--all those of all papers. Both take hours with the default number of runs, and minutes with `--draws 1`. Experiments
whose name ends in "-large" have up to 1,048,576 records and 1,500 columns. `python -m dpml papers PAPER ITEM` prints
the verdict on an item.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Sequence

import pandas as pd
from tqdm import tqdm

from benchmarks.papers import EXPERIMENTS, Measured
from benchmarks.result_files import FOLDER, write_results
from dpml._validate import check_integer
from dpml.exceptions import DataDamaged, DataNotFound, InvalidParameter
from dpml.papers import items


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=__doc__)
    parser.add_argument("paper", nargs="?", metavar="PAPER", help="key of a paper (default: list the experiments)")
    parser.add_argument("items", nargs="*", metavar="ITEM", help="experiments of the paper (default: all)")
    parser.add_argument("--all", action="store_true", help="measure all experiments of all papers")
    parser.add_argument("--draws", type=int, default=20, help="runs of each measured number, at least 1 (default 20)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the runs, an integer >= 0 (default 0)")
    parser.add_argument("--results", action="store_true", help="replace benchmarks/results/paper_PAPER_ITEM.csv")
    options = parser.parse_args(arguments)
    try:
        check_integer(options.draws, "draws", 1)
        check_integer(options.seed, "seed", 0)
        _check_names(options.paper, options.items)
        if options.all and options.paper:
            raise InvalidParameter("--all", options.paper, "given without PAPER")
    except InvalidParameter as error:
        parser.error(str(error))
    if options.paper is None and not options.all:
        _list_experiments()
        return
    papers = EXPERIMENTS if options.all else [options.paper]
    chosen = [(paper, item) for paper in papers for item in options.items or EXPERIMENTS[paper]]
    missing = 0
    with tqdm(total=sum(_stored_rows(*pair) for pair in chosen), unit="row", disable=None) as bar:
        for paper, item in chosen:
            bar.set_description(item)
            try:
                _measure(paper, item, options.draws, options.seed, options.results, bar)
            except (DataNotFound, DataDamaged) as error:
                missing += 1
                bar.write(f"error: {error}", file=sys.stderr)
    if missing:
        sys.exit(f"error: {missing} of {len(chosen)} experiments lack their data")


def _stored_rows(paper: str, item: str) -> int:
    """Return the number of rows in the stored results of an experiment, or 1 if it has none."""
    path = FOLDER / f"paper_{paper}_{item}.csv"
    return len(pd.read_csv(path, comment="#")) if path.is_file() else 1


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


def _measure(paper: str, item: str, draws: int, seed: int, results: bool, bar: tqdm) -> None:
    bar.write(f"{paper} {item}: {draws} draws, seed {seed}, standard errors in brackets")
    start, rows = time.process_time(), []
    for row in EXPERIMENTS[paper][item](draws, seed):
        bar.write(_line(row))
        bar.update()
        rows.append(row)
    bar.write(f"{paper} {item}: {time.process_time() - start:.0f} s of processor time", file=sys.stderr)
    if results:
        words = [paper, item, "--draws", str(draws), "--seed", str(seed), "--results"]
        command = shlex.join(["python", "-m", "benchmarks.papers", *words])
        # six digits: more than the runs determine
        write_results(f"paper_{paper}_{item}", pd.DataFrame(rows).round(6), command=command)


def _line(row: Measured) -> str:
    # a single run has no standard error
    spread = ", 1 run" if row.runs == 1 else f" ({row.standard_error:.2g}), {row.runs} runs"
    paper = "" if row.paper is None else f", the paper {row.paper:.4g}"
    return f"  {row.setting}: {row.ours:.4g}{spread}{paper}"


if __name__ == "__main__":
    main()
