"""The command ``python -m dpml verify FOLDER``."""

import argparse
from collections.abc import Callable
from typing import Any

FINE, DAMAGED = 0, 1
# problems that the line names
MOST_NAMED = 12


def add_command(commands: Any, say: Callable[[str], None]) -> None:
    """Add the command to a parser's; `say` prints a line."""
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
