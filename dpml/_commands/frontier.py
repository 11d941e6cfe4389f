"""The command ``python -m dpml frontier NAME|DIR``."""

import argparse
from collections.abc import Callable
from typing import Any


def add_command(commands: Any, say: Callable[[str], None]) -> None:
    """Add the command to a parser's; `say` prints a line."""
    parser = commands.add_parser(
        "frontier",
        help="print the best method and settings at each ε, or the ε that an accuracy needs",
        description="Print the best method and settings at each ε, for a study that ships with dpml or for the "
        "folder of a "
        "sweep. This is a simulation on known data: a choice made on private data is a release of its own. "
        "The even runs choose the best candidate, and the odd runs give its mean and se. share is how often it is "
        "best when the runs are resampled. equal is the number of candidates within two standard errors of it. The "
        "AUC is printed beside the accuracy if the sweep measured it.",
    )
    parser.add_argument(
        "where", metavar="NAME|DIR", help="data set with a standard study, or the --out folder of a sweep"
    )
    parser.add_argument(
        "--wanted", type=float, metavar="VALUE", help="print the ε that reaches this value, for example 0.85"
    )
    parser.add_argument(
        "--measure", default="accuracy", help="accuracy, or auc if the sweep measured it (default accuracy)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the resampling, an integer >= 0 (default 0)")
    parser.set_defaults(run=lambda arguments: _frontier(arguments, say))


def _frontier(arguments: argparse.Namespace, say: Callable[[str], None]) -> int:
    import numpy as np

    from dpml._validate import check_integer, check_number
    from dpml.studies import best_needed, frontier

    table, origin = _table(arguments.where)
    measure, seed = arguments.measure, check_integer(arguments.seed, "seed", 0)
    if arguments.wanted is not None:
        wanted = check_number(arguments.wanted, "wanted", 0.0, 1.0)
        results = best_needed(table, wanted, measure=measure)
    else:
        results = frontier(table, measure=measure, rng=np.random.default_rng(seed))
    asked = ("data", "relation", "target")
    dull = [name for name in asked if name in results and results[name].nunique() == 1]
    plain = results.drop(columns=dull).dropna(axis="columns", how="all")
    say(", ".join([*(f"{name} {results[name].iloc[0]}" for name in dull), origin]))
    say(plain.to_string(index=False, float_format=lambda value: f"{value:.4g}", na_rep=""))
    if arguments.wanted is not None and np.isinf(results["epsilon"]).any():
        say("inf: no tested ε reaches the value. The method is the best at the largest ε")
    return 0


def _table(where: str) -> tuple[Any, str]:
    """Return a table of draws and its origin."""
    from pathlib import Path

    from dpml.exceptions import InvalidParameter
    from dpml.sweep import STANDARD, standard_study, stored

    if where in STANDARD:
        study = standard_study(where)
        versions = ", ".join(f"{name} {number}" for name, number in study.made_with.items())
        return study.table, f"made by {study.command} with {versions}"
    if not Path(where).is_dir():
        raise InvalidParameter("where", where, f"one of {', '.join(STANDARD)}, or the folder of a sweep")
    return stored(where), f"draws of {where}"
