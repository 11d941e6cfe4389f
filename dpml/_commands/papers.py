"""The command ``python -m dpml papers [PAPER] [ITEM]``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dpml.exceptions import InvalidParameter

if TYPE_CHECKING:
    from dpml.papers import Item


def add_command(commands: Any, say: Callable[..., None]) -> None:
    """Add the command to a parser's; `say` prints a line."""
    parser = commands.add_parser(
        "papers",
        help="list the verdicts on five papers' figures, theorems and claims, or print one",
        description="Without ITEM, list a verdict for each item. With ITEM, print its details, and the command that "
        "measures or checks it again.",
    )
    parser.add_argument("paper", nargs="?", metavar="PAPER", help="paper, or the beginning of its name (default: all)")
    parser.add_argument("item", nargs="?", metavar="ITEM", help="item, for example fig-4.2")
    parser.add_argument("--markdown", action="store_true", help="print all items as Markdown tables, without ITEM")
    parser.set_defaults(run=lambda arguments: _papers(arguments, say))


def _papers(arguments: argparse.Namespace, say: Callable[..., None]) -> int:
    paper = None if arguments.paper is None else _paper(arguments.paper)
    if arguments.item is None:
        (_tables if arguments.markdown else _list)(paper, say)
    else:
        assert paper is not None  # argparse fills the arguments in order
        _show(paper, arguments.item, say)
    return 0


def _paper(given: str) -> str:
    """Return the key of the only paper that begins so."""
    from dpml.papers import papers

    keys = [paper.key for paper in papers()]
    fitting = [key for key in keys if key.startswith(given)] if given else []
    if len(fitting) != 1:
        raise InvalidParameter("paper", given, f"the beginning of one of {', '.join(keys)}")
    return fitting[0]


def _list(chosen: str | None, say: Callable[..., None]) -> None:
    from dpml.papers import items, papers

    for paper in papers():
        if chosen in (None, paper.key):
            rows = list(items(paper.key))
            say(f"{paper.key}: {paper.title} ({paper.authors})")
            width = max(len(item.key) for item in rows)
            for item in rows:
                say(f"  {item.key:{width}s}  {item.verdict:22s}  {item.title}")
            say(f"  {_counts(rows)}")
    if chosen is None:
        say(f"All papers: {_total()}")


def _tables(chosen: str | None, say: Callable[..., None]) -> None:
    """Print a section for each paper, its headline claims first."""
    from dpml.papers import items, papers

    if chosen is None:
        say(f"All papers: {_total()}.\n")
    for paper in papers():
        if chosen in (None, paper.key):
            rows = sorted(items(paper.key), key=lambda item: item.kind != "claim")
            say(f"## {paper.authors}\n\n*{paper.title}*, `{paper.key}`. {_counts(rows)}.\n")
            say("| item | | the paper | here | verdict |\n|---|---|---|---|---|")
            for item in rows:
                texts = (item.title, item.printed, item.ours, f"**{item.verdict}**. {item.why}")
                say(f"| `{item.key}` | {' | '.join(text.replace('|', '&#124;') for text in texts)} |")
            say("")
            for item in rows:
                if item.tried:
                    change = f"Would change the verdict: {item.would_change}"
                    say(f"- `{item.key}`. Tried: {item.tried} Not tried: {item.untried} {change}")
            say("")


def _counts(rows: Sequence[Item]) -> str:
    from dpml.papers import VERDICTS

    counts = {verdict: sum(item.verdict == verdict for item in rows) for verdict in VERDICTS}
    return f"{len(rows)} rows: {', '.join(f'{count} {verdict}' for verdict, count in counts.items() if count)}"


def _total() -> str:
    from dpml.papers import items

    rows = list(items())
    repeated = sum(item.command.startswith(("python -m benchmarks.papers ", "python -m dpml audit ")) for item in rows)
    return f"{_counts(rows)}. `python -m benchmarks.papers` repeats {repeated} of them"


def _show(paper: str, key: str, say: Callable[..., None]) -> None:
    from dpml.papers import items

    rows = {item.key: item for item in items(paper)}
    if key not in rows:
        raise InvalidParameter("item", key, f"one that `dpml papers {paper}` prints")
    item = rows[key]
    say(f"{paper} {key}: {item.title}")
    for title, text in (
        ("verdict", f"{item.verdict}. {item.why}"),
        ("the paper", item.printed),
        ("here", item.ours),
        ("tried", item.tried),
        ("not tried", item.untried),
        ("change", item.would_change),
        ("names", ", ".join(item.names)),
        ("card", item.card),
        ("notebook", item.notebook and f"notebooks/{item.notebook}.ipynb"),
        ("command", item.command),
    ):
        if text:
            say(f"  {title:10s} {text}")
    if not item.command.startswith("python -m dpml "):
        say("  The command needs a checkout of the repository. Run it in the top folder.")
