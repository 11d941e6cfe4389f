"""The command line: ``python -m dpml`` and the name of a command, which ``python -m dpml --help`` lists.

Exit codes: 0 success; 1 an unexpected audit result, a data file that is missing or damaged, or a released folder that
was changed (the only reasons for 1); 2 a wrong call; 3 the output could not be written; 4 an unexpected error, printed
with its traceback; 5 a release that the owner stopped because of warnings, before anything was charged; 130
interrupted; 143 a sweep or a release that was told to end (SIGTERM).
"""

import argparse
import codecs
import contextlib
import difflib
import importlib
import os
import re
import sys
import traceback
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

# Slow imports, and imports that may fail, are made where they are used: `main` then turns an error into an exit code.
from dpml import __version__
from dpml._commands import data, frontier, laws, papers, reading, release, sweep, verify
from dpml._commands.messages import notes, printable, spell
from dpml.exceptions import DpmlError, InvalidParameter

AS_EXPECTED, SURPRISE, WRONG_CALL, NOT_WRITTEN, UNEXPECTED, INTERRUPTED = 0, 1, 2, 3, 4, 130
ROUNDING = 1e-9
LITERATURE = "To search the literature's algorithms, run `python -m benchmarks.audit_search` in a checkout"


class _CannotWriteError(Exception):
    """Standard output is closed or full."""


class _Parser(argparse.ArgumentParser):
    """A parser that suggests similar names for a misspelt one."""

    def error(self, message: str) -> NoReturn:
        wrong = re.search(r"invalid choice: '([^']*)'", message) or re.search(r"unrecognized arguments: (\S+)", message)
        if wrong:
            options = [option for parser in _parsers(self) for option in parser._option_string_actions]
            known = options if wrong[1].startswith("-") else re.findall(r"[\w-]+", message.partition("choose from")[2])
            message += _near(wrong[1].partition("=")[0], known)
        super().error(message)

    def _print_message(self, message: str, file: Any = None) -> None:
        # argparse ignores an OSError, for instance of a full disk
        if file is sys.stdout:
            _say(message.rstrip("\n"))
        else:
            _complain(message.rstrip("\n"))


def _parsers(parser: argparse.ArgumentParser) -> Iterable[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.values()


def _near(name: str, known: Iterable[str]) -> str:
    """Return " (did you mean ...?)" with the known names closest to an unknown one, or an empty string."""
    names = list(dict.fromkeys(known))
    by_lower = {each.lower(): each for each in names}
    near = difflib.get_close_matches(name.lower(), by_lower, n=3, cutoff=0.6)
    return f" (did you mean {' or '.join(repr(by_lower[each]) for each in near)}?)" if near else ""


def _prepare(stream: Any) -> None:
    """Let a stream spell out what it cannot show, unless the caller has chosen another error handler."""
    codecs.register_error("dpml.spell", spell)
    if getattr(stream, "errors", None) in ("strict", "surrogateescape", "backslashreplace"):
        stream.reconfigure(errors="dpml.spell")


def _say(text: str = "", *, flush: bool = False) -> None:
    """Print a line on standard output, if there is one."""
    if sys.stdout is None:
        return
    try:
        if text:
            print(printable(text))
        if flush:
            sys.stdout.flush()
    except OSError as error:
        raise _CannotWriteError from error


def _complain(text: str) -> None:
    """Print a line on standard error, if possible."""
    if text and sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(printable(text), file=sys.stderr, flush=True)


# ---- commands ---------------------------------------------------------------------------------------------------


def _catalogue(arguments: argparse.Namespace) -> int:
    from dpml.registry import as_table

    table = as_table()
    if arguments.markdown:
        _say("| method | claim | private | actual ε | source |")
        _say("|---|---|---|---|---|")
        for row in table.itertuples():
            cells = row.title, row.claim, "yes" if row.private else "**no**", row.cost, row.source
            # a bar in a formula would end the cell
            _say(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
        return AS_EXPECTED
    width = max(map(len, table.index))
    for row in table.itertuples():
        _say(f"{row.Index:{width}s}  {'private    ' if row.private else 'NOT private'}  {row.title}: {row.cost}")
    return AS_EXPECTED


def _audit(arguments: argparse.Namespace) -> int:
    import numpy as np

    from dpml._validate import check_epsilon, check_integer, check_number

    check_epsilon(arguments.epsilon)
    check_number(arguments.confidence, "confidence", 0.0, 1.0, open_lower=True, open_upper=True)
    check_number(arguments.seconds, "seconds", 0.0, open_lower=True)
    rng = np.random.default_rng(check_integer(arguments.seed, "seed", 0))
    if arguments.search and arguments.table is not None:
        raise InvalidParameter("table", arguments.table, "left out with --search, which looks for its own neighbours")
    run = _search if arguments.search else _check
    return run(arguments, rng)


def _check(arguments: argparse.Namespace, rng: Any) -> int:
    from dpml.audit.cases import AUDITED

    typed = arguments.table is not None
    names = arguments.names or [name for name, entry in AUDITED.items() if entry.typed or not typed]
    _check_names(names, AUDITED)
    surprises = failures = 0
    for name in names:
        entry = AUDITED[name]
        for relation in _relations(entry, arguments):
            try:
                result = entry.audit(
                    arguments.epsilon,
                    relation,
                    tables=_typed(arguments, relation) if typed else None,
                    sampled=arguments.sampled,
                    rng=rng,
                    confidence=arguments.confidence,
                )
            except (DpmlError, MemoryError, ImportError):  # a wrong call, or an installation without an extra
                raise
            except Exception as error:  # such as the TypeError of a private value where a released one belongs
                failures += 1
                _complain(traceback.format_exc())
                _say(f"{name}, {relation}: the audit failed: {type(error).__name__}: {error}", flush=True)
                continue
            # a private method must stay within its actual ε, and the audit must refute a method marked not private
            honest = result.epsilon_lower <= entry.true_epsilon(arguments.epsilon) + ROUNDING
            expected = honest if entry.private else typed or not result.passed
            surprises += not expected
            how = "exactly" if result.exact else f"at least, from {result.draws:,} draws"
            verdict = "holds" if result.passed else "does not hold"
            note = "" if expected else "  <-- not what the catalogue says"
            claim, needed = f"ε = {arguments.epsilon:g}", ""
            if entry.delta and result.delta_lower is not None:
                claim += f" and δ = {entry.delta:g}"
                needed = f" (δ is {result.delta_lower:.3g} at ε = {arguments.epsilon:g})"
            cost = f"ε is {result.epsilon_lower:.4g} {how}{needed}"
            _say(f"{name}, {relation}: a claim of {claim} {verdict}. {cost}{note}", flush=True)
            if not typed and not arguments.sampled:
                surprises += laws.refuted_laws(name, relation, arguments.epsilon, rng, _say)
    return UNEXPECTED if failures else SURPRISE if surprises else AS_EXPECTED


def _typed(arguments: argparse.Namespace, relation: str) -> Any:
    from dpml.audit.cases import read_neighbours

    return read_neighbours(arguments.table, arguments.record, relation, replaced=arguments.replaced)


def _check_names(names: Sequence[str], *known: Iterable[str]) -> None:
    """Check that all names are known before the first audit begins."""
    all_known = [each for some in known for each in some]
    for name in names:
        if name not in all_known and ":" not in name:
            allowed = "a name that `dpml catalogue` prints" + _near(name, all_known)
            raise InvalidParameter("name", name, allowed)


def _relations(entry: Any, arguments: argparse.Namespace) -> Sequence[str]:
    if arguments.relation is None:
        return entry.relations
    if arguments.relation not in entry.relations and arguments.names:
        allowed = f"one that {entry.name} claims: {', '.join(entry.relations)}"
        raise InvalidParameter("relation", arguments.relation, allowed)
    return [relation for relation in entry.relations if relation == arguments.relation]


def _search(arguments: argparse.Namespace, rng: Any) -> int:
    from dpml.audit import search
    from dpml.audit.cases import AUDITED
    from dpml.audit.search import of_case

    names: Sequence[str] = arguments.names
    if not names:
        allowed = "one or more methods of the catalogue, or module:function. " + LITERATURE
        raise InvalidParameter("name", "", allowed)
    _check_names(names, AUDITED)
    surprises = 0
    targets: list[tuple[str, Any, Any, float, float]] = []
    for name in names:
        if name in AUDITED:
            entry = AUDITED[name]
            for relation in _relations(entry, arguments):
                case = entry.case(arguments.epsilon, relation)
                true = entry.true_epsilon(arguments.epsilon) if entry.private else float("inf")
                pairs = of_case(case.data, case.neighbour)
                targets.append((f"{name}, {relation}", case.sample, pairs, entry.delta, true))
        else:
            mechanism = _imported(name, "name")
            targets.append((name, mechanism, _own_neighbours(mechanism, arguments), arguments.delta, arguments.epsilon))
    for label, mechanism, neighbours, delta, true in targets:
        result = search(
            mechanism,
            neighbours,
            arguments.epsilon,
            delta=delta,
            seconds=arguments.seconds,
            confidence=arguments.confidence,
            rng=rng,
        )
        # only a bound above the truth is surprising: a search that finds nothing proves nothing
        surprising = result.epsilon_lower > true + ROUNDING
        surprises += surprising
        verdict = "was not refuted" if result.passed else "does not hold"
        _say(
            f"{label}: a claim of ε = {arguments.epsilon:g} {verdict}. ε is {result.epsilon_lower:.4g} at least, "
            f"from {result.draws:,} draws in {result.seconds:.0f} s{'  <-- above the expected ε' * surprising}\n"
            f"    neighbours: {_short(result.data)} and {_short(result.neighbour)}, of {result.pairs} tried\n"
            f"    event: {result.event}",
            flush=True,
        )
    return SURPRISE if surprises else AS_EXPECTED


def _short(data: Any) -> str:
    text = " ".join(repr(data.tolist() if hasattr(data, "tolist") else data).split())
    return text if len(text) <= 120 else f"{text[:117]}..."


def _imported(path: str, parameter: str) -> Any:
    """Import and return the object that ``module:name`` names."""
    module, _, name = path.partition(":")
    allowed = "module:name of something that can be imported from here"
    if not module or not name:
        raise InvalidParameter(parameter, path, allowed)
    try:
        target: Any = importlib.import_module(module)
    except ImportError as error:
        raise InvalidParameter(parameter, path, f"{allowed} ({error})") from error
    for part in name.split("."):
        if not hasattr(target, part):
            raise InvalidParameter(parameter, path, allowed + _near(part, vars(target)))
        target = getattr(target, part)
    return target


def _own_neighbours(mechanism: Any, arguments: argparse.Namespace) -> Any:
    from dpml.audit.search import Answers

    if arguments.neighbours:
        return _imported(arguments.neighbours, "neighbours")
    if hasattr(mechanism, "neighbours"):
        return mechanism.neighbours
    return Answers(arguments.length, arguments.lower, arguments.upper, each=arguments.each)


# ---- the call ---------------------------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    from dpml._validate import RELATIONS

    parser = _Parser(
        prog="dpml",
        description="Release, audit and study differentially private classifiers.",
        epilog="Exit codes: 0 success, 1 unexpected audit result, missing or damaged data file, or changed release "
        "folder, 2 wrong call, 3 output not written, 4 unexpected error, 5 release refused because of warnings, "
        "130 interrupted, 143 ended by SIGTERM.",
    )
    parser.add_argument("--version", action="version", version=f"dpml {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    catalogue = commands.add_parser("catalogue", help="list every method with its claim and its actual ε")
    catalogue.add_argument("--markdown", action="store_true", help="print a Markdown table")
    catalogue.set_defaults(run=_catalogue)
    audits = commands.add_parser(
        "audit",
        help="test privacy claims on the worst known neighbouring tables, or search for worse ones",
        description="Test the claims of the catalogue on the worst known neighbouring tables. With --search, try many "
        f"neighbours and events on methods of the catalogue or on any callable. {LITERATURE}.",
    )
    audits.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="methods of the catalogue, or module:function with --search (default: all)",
    )
    audits.add_argument("--epsilon", type=float, default=1.0, help="claimed ε, greater than 0 (default 1)")
    audits.add_argument(
        "--relation", choices=RELATIONS, help="neighbouring relation (default: every relation that the method claims)"
    )
    audits.add_argument(
        "--sampled", action="store_true", help="use samples of noise even where the exact ratio is known"
    )
    audits.add_argument(
        "--confidence",
        type=float,
        default=0.95,
        help="confidence of each bound from samples, between 0 and 1 (default 0.95)",
    )
    audits.add_argument("--seed", type=int, default=0, help="seed of the noise, an integer >= 0 (default 0)")
    typing = audits.add_argument_group("your own neighbouring tables")
    typing.add_argument(
        "--table", help="records joined by dots, each a class n or y and features out of abcd, for example nab.nb.yc"
    )
    typing.add_argument("--record", default="n", help="record by which the neighbouring table differs (default n)")
    typing.add_argument(
        "--replaced", type=int, default=1, help="number of the record that it replaces, from 1 (default 1)"
    )
    searching = audits.add_argument_group("search")
    searching.add_argument("--search", action="store_true", help="search neighbours and events of the named methods")
    searching.add_argument(
        "--seconds", type=float, default=60.0, help="duration of each search in seconds, greater than 0 (default 60)"
    )
    own = audits.add_argument_group("search of module:function, called as function(data, draws=..., rng=...)")
    own.add_argument("--delta", type=float, default=0.0, help="claimed δ, from 0 to 1 (default 0)")
    own.add_argument("--neighbours", metavar="MODULE:NAME", help="pairs of tables, or a domain of dpml.audit.search")
    own.add_argument("--length", type=int, default=5, help="number of query answers, without --neighbours (default 5)")
    own.add_argument("--lower", type=float, default=0.0, help="smallest answer (default 0)")
    own.add_argument("--upper", type=float, default=2.0, help="largest answer (default 2)")
    own.add_argument("--each", action="store_true", help="let every answer change by 1 (default: only one answer)")
    audits.set_defaults(run=_audit)
    sweep.add_command(commands, _say)
    frontier.add_command(commands, _say)
    papers.add_command(commands, _say)
    data.add_command(commands, _say)
    reading.add_command(commands, _say)
    release.add_command(commands, _say)
    verify.add_command(commands, _say)
    return parser


def _run(argv: Sequence[str] | None) -> int:
    try:
        arguments = _parser().parse_args(argv)
    except SystemExit as end:
        # argparse has printed its message, help or version
        code = end.code if isinstance(end.code, int) else AS_EXPECTED
    else:
        code = arguments.run(arguments)
    _say(flush=True)
    return code


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code (listed in the module's docstring)."""
    for stream in (sys.stdout, sys.stderr):
        _prepare(stream)
    try:
        return _run(argv)
    except DpmlError as error:
        _complain("\n".join([f"error: {error}", *notes(error)]))
        return WRONG_CALL
    except _CannotWriteError as error:
        if not isinstance(error.__cause__, BrokenPipeError):  # the reader has closed the pipe
            _complain(f"error: the output could not be written: {error.__cause__}")
        _complain("\n".join(notes(error)))
        return NOT_WRITTEN
    except KeyboardInterrupt as error:
        _complain(". ".join(["interrupted", *notes(error)]))
        return INTERRUPTED
    except SystemExit as end:  # it says no more, unless it has charged something
        _complain(". ".join(["ended by SIGTERM", *notes(end)]) if notes(end) else "")
        raise
    except Exception:
        _complain(traceback.format_exc())
        return UNEXPECTED


def run() -> NoReturn:
    """Run the command line and end the process: the console script ``dpml``."""
    _leave(main())


def _leave(code: int) -> NoReturn:
    """End the process without another attempt to write what could not be written."""
    if code == NOT_WRITTEN and sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


if __name__ == "__main__":
    run()
