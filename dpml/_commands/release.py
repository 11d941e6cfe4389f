"""The commands ``python -m dpml release TABLE SCHEMA`` and ``python -m dpml verify FOLDER``."""

import argparse
import contextlib
import datetime
import sys
from collections.abc import Callable
from typing import Any

from dpml._commands.reading import add_reading_options, read_schema, reading_options
from dpml._commands.signals import sigterm_raised

FINE, DAMAGED, NOT_WRITTEN, REFUSED = 0, 1, 3, 5
MOST_NAMED = 12  # problems of a folder that the line names


def add_command(commands: Any, say: Callable[[str], None]) -> None:
    """Add both commands to a parser's; `say` prints a line."""
    from dpml._validate import RELATIONS

    parser = commands.add_parser(
        "release",
        help="release a model, a synthetic table and a privacy report",
        description="Release a model of a table, its private evaluation, a synthetic table and a privacy report. "
        "The schema "
        "states the public metadata. --preview prints the charges and any problems without opening the table. "
        "--dry-run SEED runs a simulation. Never publish its files.",
    )
    parser.add_argument("table", metavar="TABLE", help="CSV file with one record per line, or Parquet file")
    parser.add_argument("schema", metavar="SCHEMA", help="public metadata as YAML, from Schema.to_yaml")
    parser.add_argument("--label", required=True, help="column with the labels")
    parser.add_argument("--epsilon", type=float, required=True, help="total ε of the release, greater than 0")
    parser.add_argument("--out", metavar="DIR", help="new or empty folder for the files")
    parser.add_argument(
        "--share",
        action="append",
        metavar="PART=SHARE",
        help="share of ε, from 0 to 1, for selection, training, evaluation or publishing. Repeatable (default: "
        "training=0.8 and evaluation=0.2)",
    )
    parser.add_argument(
        "--method", default="auto", help="auto, a classifier, or a method of the catalogue (default auto)"
    )
    parser.add_argument(
        "--relation", choices=RELATIONS, default=RELATIONS[0], help=f"neighbouring relation (default {RELATIONS[0]})"
    )
    parser.add_argument("--features", type=int, metavar="N", help="number of features that the selection keeps")
    parser.add_argument(
        "--records", type=int, metavar="N", help="records of the synthetic table (default: the noisy number)"
    )
    parser.add_argument("--keep-uniform", action="store_true", help="keep uninformative columns of the synthetic table")
    parser.add_argument(
        "--test-share",
        type=float,
        default=0.3,
        help="share of records held out for the evaluation, from 0 to 1 (default 0.3)",
    )
    parser.add_argument(
        "--ledger", metavar="FILE", help="privacy ledger, to which every release of these records is charged"
    )
    parser.add_argument("--total", type=float, metavar="EPSILON", help="privacy budget of the ledger, greater than 0")
    parser.add_argument("--stated-by", metavar="NAME", help="name of the person who states that the metadata is public")
    parser.add_argument("--date", metavar="YYYY-MM-DD", help="date of the privacy report (default: today)")
    parser.add_argument("--preview", action="store_true", help="print the charges and stop")
    parser.add_argument(
        "--on-warning",
        choices=("ask", "refuse", "ignore"),
        default="ask",
        help="response to a warning of the check before the charge, which searches the exact records for a model no "
        "better than the majority-class baseline and for columns that predict the label alone: ask (at a terminal, "
        "otherwise go on), refuse (exit code 5), or ignore, without the check (default ask)",
    )
    parser.add_argument(
        "--dry-run", type=int, metavar="SEED", help="run a simulation with this seed. Never publish its files"
    )
    add_reading_options(parser)
    parser.set_defaults(run=lambda arguments: _release(arguments, say))
    _add_verify(commands, say)


def _release(arguments: argparse.Namespace, say: Callable[[str], None]) -> int:
    """Make the release, and say what was charged however it ends."""
    from dpml.release.folder import FolderNotWritten

    budgets: list[Any] = []
    try:
        with sigterm_raised(), contextlib.ExitStack() as stack:
            return _carry_out(arguments, say, budgets, stack)
    except FolderNotWritten as error:
        print(f"error: cannot write the files: {error}", _charged(arguments, budgets), sep="\n", file=sys.stderr)
        return NOT_WRITTEN
    except BaseException as error:
        # one that came after the charge says so already
        if not any("was charged" in note for note in getattr(error, "__notes__", ())):
            error.add_note(_charged(arguments, budgets))
        raise


def _charged(arguments: argparse.Namespace, budgets: list[Any]) -> str:
    """Return what was charged, and whether the files are in their folder."""
    from pathlib import Path

    from dpml.release.folder import MANIFEST
    from dpml.release.plan import charged_words

    [budget] = budgets or [None]
    if budget is None or not budget.charges_made:
        return "nothing was charged"
    is_whole = (Path(arguments.out) / MANIFEST).exists()
    where = f"the files are in {arguments.out!r}" if is_whole else f"nothing was delivered in {arguments.out!r}"
    return f"{charged_words(arguments.epsilon, budget)}, and {where}"


def _carry_out(
    arguments: argparse.Namespace, say: Callable[[str], None], budgets: list[Any], stack: contextlib.ExitStack
) -> int:

    from dpml.budget import Budget
    from dpml.exceptions import InvalidParameter
    from dpml.release import Plan
    from dpml.release.folder import MANIFEST, HeldFolder, digest
    from dpml.tables import read_table

    secure, date = arguments.dry_run is None, _date(arguments.date)
    schema = read_schema(arguments.schema)
    plan = Plan(
        schema,
        arguments.epsilon,
        shares=_shares(arguments.share),
        n_features=arguments.features,
        method=arguments.method,
        test_share=arguments.test_share,
        n_published=arguments.records,
        relation=arguments.relation,
        keep_uniform=arguments.keep_uniform,
    )
    problems = plan.problems(secure)
    if arguments.preview:
        shown = plan.preview(secure).assign(epsilon=lambda rows: rows["epsilon"].map("{:.6g}".format))
        say(shown.to_string(index=False))
        for problem in problems:
            say(f"problem: {problem}")
        return FINE
    if problems:
        raise problems[0]
    if arguments.out is None:
        raise InvalidParameter("--out", None, "a new or empty folder, unless you pass --preview")
    if (arguments.ledger is None) != (arguments.total is None):
        raise InvalidParameter("--total", arguments.total, "given if and only if --ledger is given")
    held = stack.enter_context(HeldFolder(arguments.out, _size(plan)))
    # a simulation is charged to no ledger
    budget = None
    if secure and arguments.ledger is not None:
        budget = Budget(arguments.total, relation=arguments.relation, path=arguments.ledger)
        budgets.append(budget)
    # a simulation reads the table as a release does
    table = read_table(arguments.table, **reading_options(arguments), schema=schema, release=True)
    if not _accepted(plan, table, arguments, say):
        return REFUSED
    released = plan.run(table, arguments.label, secure=secure, random_state=arguments.dry_run, budget=budget)
    saved = held.write(released.files(date=date, stated_by=arguments.stated_by))
    say(f"{released.status}: ε = {released.spent:.6g} under {released.relation}, in {arguments.out}")
    if budget is not None:
        say(_charged(arguments, budgets))
    say(f"SHA-256 of {MANIFEST}: {digest((saved / MANIFEST).read_bytes())}")
    for row in [] if released.evaluation is None else released.evaluation.to_dict(orient="records"):
        say(f"{row['measure']}: {row['value']:.3f}, 95% confidence interval {row['low']:.3f} to {row['high']:.3f}")
    return FINE


def _accepted(plan: Any, table: Any, arguments: argparse.Namespace, say: Callable[[str], None]) -> bool:
    """Return whether a release goes on after a forecast on the exact records, which is for the owner alone."""
    dry, how = arguments.dry_run is not None, arguments.on_warning
    if how == "ignore":
        return True
    try:
        forecast = plan.forecast(table, arguments.label)
    except Exception:  # no record may end a release; what the call has wrong, `run` says
        return True
    asked = how == "ask" and sys.stdin is not None and sys.stdin.isatty()
    # where nobody can be asked, what is printed may be kept in a log: it has no figure
    exact = dry or asked or how == "refuse"
    if dry:
        say(f"forecast (private, for the owner of the table): {forecast}")
    for warning in forecast.warnings:
        print(f"warning: {warning if exact else warning.short}", file=sys.stderr)
    if dry or not forecast.warnings:
        return True
    if asked:
        print(f"Charge ε = {plan.epsilon:g} and release anyway? [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() in ("y", "yes"):
            return True
    if asked or how == "refuse":
        way = "" if asked else "error: "
        print(f"{way}nothing was charged. To release anyway, pass --on-warning ignore", file=sys.stderr)
        return False
    return True


def _size(plan: Any) -> int:
    """Return the bytes that a release of a plan may need, from public metadata alone."""
    from dpml.release.folder import RESERVED

    n_records = 0 if not plan.shares["publishing"] else plan.n_published or 2 * plan.schema.n_lower
    return int(RESERVED + 25 * n_records * (len(plan.schema.features) + 1))


def _shares(given: list[str] | None) -> dict[str, float] | None:
    from dpml.exceptions import InvalidParameter

    if given is None:
        return None
    shares: dict[str, float] = {}
    for text in given:
        part, _, share = text.partition("=")
        try:
            shares[part] = float(share)
        except ValueError:
            raise InvalidParameter("--share", text, "PART=SHARE, for example training=0.8") from None
    return shares


def _date(text: str | None) -> datetime.date | None:
    from dpml.exceptions import InvalidParameter

    try:
        return None if text is None else datetime.date.fromisoformat(text)
    except ValueError:
        raise InvalidParameter("--date", text, "a date, for example 2026-11-22") from None


def _add_verify(commands: Any, say: Callable[[str], None]) -> None:
    parser = commands.add_parser(
        "verify",
        help="check that the files of a release are unchanged",
        description="Check the files of a release against their manifest, the sums of the ledger, and the versions "
        "of the "
        "libraries. Check that all files state one status, ε, δ and relation. The command reads only regular files "
        "and never loads the model. It does not detect a consistent rewrite of all files, because nothing is signed: "
        "compare the SHA-256 of the manifest with the one from the author of the release.",
    )
    parser.add_argument("folder", metavar="FOLDER", help="folder that `dpml release --out` wrote")
    parser.set_defaults(run=lambda arguments: _verify(arguments, say))


def _verify(arguments: argparse.Namespace, say: Callable[[str], None]) -> int:
    from dpml.release.folder import MANIFEST
    from dpml.release.verification import inspect

    folder = inspect(arguments.folder)
    end = f"SHA-256 of {MANIFEST}: {folder.digest}"
    if folder.problems:
        named = " ".join(folder.problems[:MOST_NAMED])
        rest = len(folder.problems) - MOST_NAMED
        say(f"refused, problems: {len(folder.problems)}. {named}{f' And {rest} more.' if rest > 0 else ''} {end}")
        return DAMAGED
    terms = f"ε = {folder.epsilon:.6g}, δ = {folder.delta:g}, {folder.relation}"
    say(f"{folder.status}, {terms}: all files are unchanged. {end}")
    return FINE
