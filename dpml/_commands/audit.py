"""The commands ``python -m dpml catalogue`` and ``python -m dpml audit``."""

import argparse
import importlib
import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dpml._commands.messages import complain, near
from dpml.exceptions import DpmlError, InvalidParameter, MissingExtra

Say = Callable[..., None]
AS_EXPECTED, SURPRISE, UNEXPECTED = 0, 1, 4
ROUNDING = 1e-9
LITERATURE = "To search the literature's algorithms, run `python -m benchmarks.audit_search` in a checkout"


def add_command(commands: Any, say: Say) -> None:
    """Add both commands to a parser's; `say` prints a line."""
    from dpml._validate import RELATIONS

    catalogue = commands.add_parser("catalogue", help="list every method with its claim and its actual ε")
    catalogue.add_argument("--markdown", action="store_true", help="print a Markdown table")
    catalogue.set_defaults(run=lambda arguments: _catalogue(arguments, say))
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
    audits.set_defaults(run=lambda arguments: _audit(arguments, say))


def _catalogue(arguments: argparse.Namespace, say: Say) -> int:
    from dpml.registry import as_table

    table = as_table()
    if arguments.markdown:
        say("| method | claim | private | actual ε | source |")
        say("|---|---|---|---|---|")
        for row in table.itertuples():
            cells = row.title, row.claim, "yes" if row.private else "**no**", row.cost, row.source
            # a bar in a formula would end the cell
            say(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
        return AS_EXPECTED
    width = max(map(len, table.index))
    for row in table.itertuples():
        say(f"{row.Index:{width}s}  {'private    ' if row.private else 'NOT private'}  {row.title}: {row.cost}")
    return AS_EXPECTED


def _audit(arguments: argparse.Namespace, say: Say) -> int:
    import numpy as np

    from dpml._validate import check_epsilon, check_integer, check_number

    check_epsilon(arguments.epsilon)
    check_number(arguments.confidence, "confidence", 0.0, 1.0, open_lower=True, open_upper=True)
    check_number(arguments.seconds, "seconds", 0.0, open_lower=True)
    rng = np.random.default_rng(check_integer(arguments.seed, "seed", 0))
    if arguments.search and arguments.table is not None:
        raise InvalidParameter("table", arguments.table, "left out with --search, which looks for its own neighbours")
    run = _search if arguments.search else _check
    return run(arguments, rng, say)


def _check(arguments: argparse.Namespace, rng: Any, say: Say) -> int:
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
                complain(traceback.format_exc())
                say(f"{name}, {relation}: the audit failed: {type(error).__name__}: {error}", flush=True)
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
            say(f"{name}, {relation}: a claim of {claim} {verdict}. {cost}{note}", flush=True)
            if not typed and not arguments.sampled:
                surprises += _refuted_laws(name, relation, arguments.epsilon, rng, say)
    return UNEXPECTED if failures else SURPRISE if surprises else AS_EXPECTED


def _typed(arguments: argparse.Namespace, relation: str) -> Any:
    from dpml.audit.cases import read_neighbours

    return read_neighbours(arguments.table, arguments.record, relation, replaced=arguments.replaced)


def _check_names(names: Sequence[str], *known: Iterable[str]) -> None:
    """Check that all names are known before the first audit begins."""
    all_known = [each for some in known for each in some]
    for name in names:
        if name not in all_known and ":" not in name:
            allowed = "a name that `dpml catalogue` prints" + near(name, all_known)
            raise InvalidParameter("name", name, allowed)


def _relations(entry: Any, arguments: argparse.Namespace) -> Sequence[str]:
    if arguments.relation is None:
        return entry.relations
    if arguments.relation not in entry.relations and arguments.names:
        allowed = f"one that {entry.name} claims: {', '.join(entry.relations)}"
        raise InvalidParameter("relation", arguments.relation, allowed)
    return [relation for relation in entry.relations if relation == arguments.relation]


def _search(arguments: argparse.Namespace, rng: Any, say: Say) -> int:
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
        say(
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
            raise InvalidParameter(parameter, path, allowed + near(part, vars(target)))
        target = getattr(target, part)
    return target


def _own_neighbours(mechanism: Any, arguments: argparse.Namespace) -> Any:
    from dpml.audit.search import Answers

    if arguments.neighbours:
        return _imported(arguments.neighbours, "neighbours")
    if hasattr(mechanism, "neighbours"):
        return mechanism.neighbours
    return Answers(arguments.length, arguments.lower, arguments.upper, each=arguments.each)


def _refuted_laws(name: str, relation: str, epsilon: float, rng: Any, say: Say) -> int:
    """Return how many laws of a method its draws refute, and print them."""
    from dpml.audit.cases import AUDITED

    try:
        refuted = [law for law in AUDITED[name].check_laws(epsilon, relation, rng=rng) if not law.passed]
    except MissingExtra as error:
        say(f"{name}, {relation}: its draws were not tested: {error}")
        return 0
    for law in refuted:
        say(f"{name}, {relation}: draws do not follow the stated distribution: {law}  <--")
    return len(refuted)
