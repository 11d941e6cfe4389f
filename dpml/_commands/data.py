"""The command ``python -m dpml data list|fetch|check``."""

import argparse
from collections.abc import Callable, Iterable
from typing import Any

from dpml.exceptions import DataDamaged, DataNotFound, InvalidParameter

FINE, WRONG = 0, 1


def add_command(commands: Any, say: Callable[[str], None]) -> None:
    """Add the command to a parser's; `say` prints a line."""
    parser = commands.add_parser("data", help="list, download or check data sets")
    actions = parser.add_subparsers(dest="action", required=True)
    for name, run, words in (
        ("list", _list, "list every data set and the state of its files"),
        ("fetch", _fetch, "download the files that are missing"),
        ("check", _check, "compare local files with the published checksums"),
    ):
        action = actions.add_parser(name, help=words)
        action.add_argument("names", nargs="*", metavar="NAME", help="data sets (default: all)")
        action.add_argument("--folder", help="folder of the data files (default: DPML_DATA, or the user's cache)")
        action.set_defaults(run=lambda arguments, run=run: run(arguments, say))


def _names(arguments: argparse.Namespace) -> Iterable[str]:
    from dpml.datasets import NAMES

    for name in arguments.names:
        if name not in NAMES:
            raise InvalidParameter("name", name, f"one of {', '.join(NAMES)}")
    return arguments.names or NAMES


def _files(arguments: argparse.Namespace) -> list[str]:
    """Return the files of the data sets, each once: some sets share one."""
    from dpml.datasets import card

    return list(dict.fromkeys(file for name in _names(arguments) for file in card(name)["files"]))


def _list(arguments: argparse.Namespace, say: Callable[[str], None]) -> int:
    from dpml.datasets import card, data_folder

    folder = data_folder(arguments.folder)
    for name in _names(arguments):
        facts = card(name)
        missing = [file for file in facts["files"] if not (folder / file).is_file()]
        state = "is made by the library" if not facts["files"] else "is missing" if missing else "is here"
        say(f"{name:14s} {state:23s} {facts['title']}")
    say(f"folder of the files: {folder}")
    return FINE


def _fetch(arguments: argparse.Namespace, say: Callable[[str], None]) -> int:
    from dpml.datasets._files import find

    wrong = 0
    for file in _files(arguments):
        try:
            say(f"{file}: {find(file, arguments.folder)}")
        except (DataNotFound, DataDamaged) as error:
            wrong += 1
            say(f"{file}: {error}")
    return WRONG if wrong else FINE


def _check(arguments: argparse.Namespace, say: Callable[[str], None]) -> int:
    from dpml.datasets._files import FILES, data_folder, problem_of

    folder, wrong = data_folder(arguments.folder), 0
    for file in _files(arguments):
        path = folder / file
        problem = problem_of(path, FILES[file].sha256) if path.is_file() else "it is missing"
        wrong += bool(problem)
        say(f"{file}: {problem or 'as published'}")
    return WRONG if wrong else FINE
