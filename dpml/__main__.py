"""The command line: ``python -m dpml catalogue`` and ``python -m dpml audit``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dpml._validate import RELATIONS
from dpml.catalogue import CATALOGUE, as_table, method
from dpml.exceptions import DpmlError

MARKS = "<!-- catalogue -->\n", "\n<!-- /catalogue -->"


def _as_markdown() -> str:
    lines = ["| method | claim | private | true cost | source |", "|---|---|---|---|---|"]
    for row in as_table().itertuples():
        cells = row.title, row.claim, "yes" if row.private else "**no**", row.cost, row.source
        # a bar of a formula would end the cell
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines)


def _write_into(path: Path) -> int:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        print(f"error: cannot read {path}: {error.strerror}", file=sys.stderr)
        return 2
    start, end = MARKS
    if text.count(start) != 1 or end not in text.split(start)[1]:
        print(f"error: {path} has no part between {start.strip()} and {end.strip()}", file=sys.stderr)
        return 2
    before, rest = text.split(start)
    path.write_text(before + start + _as_markdown() + end + rest.split(end, 1)[1], encoding="utf-8")
    return 0


def _catalogue(arguments: argparse.Namespace) -> int:
    if arguments.into is not None:
        return _write_into(arguments.into)
    if arguments.markdown:
        print(_as_markdown())
        return 0
    table = as_table()
    width = max(map(len, table.index))
    for row in table.itertuples():
        print(f"{row.Index:{width}s}  {'private    ' if row.private else 'NOT private'}  {row.title}: {row.cost}")
    return 0


def _audit(arguments: argparse.Namespace) -> int:
    names = arguments.names or list(CATALOGUE)
    rng = np.random.default_rng(arguments.seed)
    surprises = 0
    for name in names:
        entry = method(name)
        for relation in entry.relations:
            if arguments.relation not in (None, relation):
                continue
            result = entry.audit(arguments.epsilon, relation, sampled=arguments.sampled, rng=rng)
            # what claims ε must hold its true cost, what is marked not private must be caught
            honest = result.epsilon_lower <= entry.true_epsilon(arguments.epsilon) + 1e-9
            expected = honest if entry.private else not result.passed
            surprises += not expected
            how = "exactly" if result.exact else f"at least, from {result.draws:,} draws"
            verdict = "holds" if result.passed else "does not hold"
            note = "" if expected else "  <-- not what the catalogue says"
            print(
                f"{name}, {relation}: a claim of ε = {arguments.epsilon:g} {verdict}; "
                f"ε is {result.epsilon_lower:.4g} {how}{note}"
            )
    return 1 if surprises else 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return 0, or 1 if an audit contradicts the catalogue, or 2 for a wrong call."""
    parser = argparse.ArgumentParser(prog="python -m dpml", description="What privacy costs in classification.")
    commands = parser.add_subparsers(dest="command", required=True)
    catalogue = commands.add_parser("catalogue", help="print every method with its claim and its true cost")
    catalogue.add_argument("--markdown", action="store_true", help="as a Markdown table")
    catalogue.add_argument(
        "--into", type=Path, metavar="PAGE", help="write that table into a page, between its two marks"
    )
    catalogue.set_defaults(run=_catalogue)
    audits = commands.add_parser("audit", help="audit the catalogue's claims on the worst neighbours known")
    audits.add_argument("names", nargs="*", metavar="NAME", help="methods; default: all")
    audits.add_argument("--epsilon", type=float, default=1.0, help="the claim (default 1)")
    audits.add_argument("--relation", choices=RELATIONS, help="default: every relation a method claims")
    audits.add_argument("--sampled", action="store_true", help="from draws even where the ratio is known")
    audits.add_argument("--seed", type=int, default=0)
    audits.set_defaults(run=_audit)
    arguments = parser.parse_args(argv)
    try:
        return arguments.run(arguments)
    except DpmlError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
