"""The command ``python -m dpml verify FOLDER``."""

import argparse
from collections.abc import Callable
from typing import Any

FINE, DAMAGED = 0, 1


def add_command(commands: Any, say: Callable[[str], None]) -> None:
    """Add the command to a parser's; `say` prints a line."""
    parser = commands.add_parser(
        "verify",
        help="check that the folder of a release is as it was written",
        description="Check the files of a release against their manifest, the sums of the ledger, whether the files "
        "contradict each other, and the versions of the libraries. The model is not loaded.",
    )
    parser.add_argument("folder", metavar="FOLDER", help="of `release --out`")
    parser.set_defaults(run=lambda arguments: _verify(arguments, say))


def _verify(arguments: argparse.Namespace, say: Callable[[str], None]) -> int:
    from pathlib import Path

    from dpml.release.folder import MANIFEST, digest, verify

    problems = verify(arguments.folder)
    for problem in problems:
        say(problem)
    say(
        f"{'problems: ' + str(len(problems)) if problems else 'all is as it was written'}; SHA-256 of {MANIFEST}: "
        f"{digest((Path(arguments.folder) / MANIFEST).read_bytes())}"
    )
    return DAMAGED if problems else FINE
