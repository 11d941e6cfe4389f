"""The command ``python -m dpml release TABLE SCHEMA``."""

import argparse
import contextlib
import datetime
import sys
from collections.abc import Callable
from typing import Any

from dpml._commands.reading import add_reading_options, read_schema, reading_options
from dpml._commands.signals import sigterm_raised

FINE, NOT_WRITTEN, REFUSED = 0, 3, 5


def add_command(commands: Any, say: Callable[[str], None]) -> None:
    """Add the command to a parser's; `say` prints a line."""
    from dpml._validate import RELATIONS

    parser = commands.add_parser(
        "release",
        help="release a model of a table, a synthetic table, and a statement of what they cost",
        description="Release a model of a table, its measures, a synthetic table, and a statement for a "
        "data-protection officer, from the public facts in a schema. --preview says what will be charged and what "
        "stands against it, without opening the table. --dry-run SEED does everything on demonstration noise.",
    )
    parser.add_argument("table", metavar="TABLE", help="CSV, one record a line, or Parquet")
    parser.add_argument("schema", metavar="SCHEMA", help="the public facts as YAML, of Schema.to_yaml")
    parser.add_argument("--label", required=True, help="the column with the labels")
    parser.add_argument("--epsilon", type=float, required=True, help="of everything together")
    parser.add_argument("--out", metavar="DIR", help="a new or empty folder for the files")
    parser.add_argument(
        "--share",
        action="append",
        metavar="PART=SHARE",
        help="of ε for selection, training, evaluation or publishing; may be given for each (default: training=0.8 and "
        "evaluation=0.2)",
    )
    parser.add_argument("--method", default="auto", help="auto, a classifier, or one of the catalogue (default auto)")
    parser.add_argument("--relation", choices=RELATIONS, default=RELATIONS[0], help=f"default {RELATIONS[0]}")
    parser.add_argument("--features", type=int, metavar="N", help="number of columns that a selection keeps")
    parser.add_argument("--records", type=int, metavar="N", help="of the synthetic table (default: the noisy number)")
    parser.add_argument("--keep-uniform", action="store_true", help="keep columns of it that carry no information")
    parser.add_argument("--test-share", type=float, default=0.3, help="of records held out to evaluate (default 0.3)")
    parser.add_argument("--ledger", metavar="FILE", help="a file that all releases of these people are charged to")
    parser.add_argument("--total", type=float, metavar="EPSILON", help="what that ledger may spend in all")
    parser.add_argument("--stated-by", metavar="NAME", help="who says that the schema's facts are public")
    parser.add_argument("--date", metavar="YYYY-MM-DD", help="on the statement (default: today)")
    parser.add_argument("--preview", action="store_true", help="say what would be charged, and stop")
    parser.add_argument(
        "--on-warning",
        choices=("ask", "refuse", "ignore"),
        default="ask",
        help="before the charge, the exact records are searched for a model that is no better than the majority class "
        "and columns that predict the label alone: ask whether to go on (at a terminal; elsewhere it goes on), refuse "
        "(exit code 5), or ignore them and do not search (default ask)",
    )
    parser.add_argument("--dry-run", type=int, metavar="SEED", help="demonstration noise: not a release")
    add_reading_options(parser)
    parser.set_defaults(run=lambda arguments: _release(arguments, say))


def _release(arguments: argparse.Namespace, say: Callable[[str], None]) -> int:
    """Make the release, and say what was charged however it ends."""
    from dpml.release.files import FolderNotWritten

    budgets: list[Any] = []
    try:
        with sigterm_raised(), contextlib.ExitStack() as stack:
            return _carry_out(arguments, say, budgets, stack)
    except FolderNotWritten as error:
        print(
            f"error: the files could not be written: {error}", _charged(arguments, budgets), sep="\n", file=sys.stderr
        )
        return NOT_WRITTEN
    except BaseException as error:
        # one that came after the charge says so already
        if not any("was charged" in note for note in getattr(error, "__notes__", ())):
            error.add_note(_charged(arguments, budgets))
        raise


def _charged(arguments: argparse.Namespace, budgets: list[Any]) -> str:
    """Return what was charged, and whether the files are in their folder."""
    from pathlib import Path

    from dpml.release.charging import charged_words
    from dpml.release.folder import MANIFEST

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
    from dpml.release.files import HeldFolder
    from dpml.release.folder import MANIFEST, digest
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
        raise InvalidParameter("--out", None, "a new or empty folder; without one, only --preview")
    if (arguments.ledger is None) != (arguments.total is None):
        raise InvalidParameter("--total", arguments.total, "given with --ledger, and only then")
    held = stack.enter_context(HeldFolder(arguments.out, _size(plan)))
    # a demonstration run costs nothing, so it is charged to no ledger
    budget = None
    if secure and arguments.ledger is not None:
        budget = Budget(arguments.total, relation=arguments.relation, path=arguments.ledger)
        budgets.append(budget)
    # a demonstration run reads as the release will
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
        say(f"{row['measure']}: {row['value']:.3f}, 95 % interval {row['low']:.3f} to {row['high']:.3f}")
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
        say(f"forecast, for the owner of the table alone: {forecast}")
    for warning in forecast.warnings:
        print(f"warning: {warning if exact else warning.short}", file=sys.stderr)
    if dry or not forecast.warnings:
        return True
    if asked:
        print(f"Charge ε = {plan.epsilon:g} and release all the same? [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() in ("y", "yes"):
            return True
    if asked or how == "refuse":
        way = "" if asked else "error: "
        print(f"{way}nothing was charged. To release all the same, pass --on-warning ignore", file=sys.stderr)
        return False
    return True


def _size(plan: Any) -> int:
    """Return the bytes that a release of a plan may need, from public facts alone."""
    from dpml.release.files import RESERVED

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
            raise InvalidParameter("--share", text, "PART=SHARE, as in training=0.8") from None
    return shares


def _date(text: str | None) -> datetime.date | None:
    from dpml.exceptions import InvalidParameter

    try:
        return None if text is None else datetime.date.fromisoformat(text)
    except ValueError:
        raise InvalidParameter("--date", text, "a date, as in 2026-11-22") from None
