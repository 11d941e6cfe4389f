"""Write what commands print into pages of the site, between two marks: python docs/write_claims.py."""

import contextlib
import io
from pathlib import Path

from dpml.__main__ import main

COMMANDS = {
    "reference/claims.md": ["catalogue", "--markdown"],
    "explanation/papers.md": ["papers", "--markdown"],
}
START, END = "<!-- printed -->\n", "<!-- /printed -->\n"


def written(text, command):
    """Return the page's text with what the command prints now between its two marks."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        main(command)
    before, rest = text.split(START)
    return before + START + printed.getvalue() + END + rest.split(END)[1]


if __name__ == "__main__":
    for name, command in COMMANDS.items():
        page = Path(__file__).parent / name
        page.write_text(written(page.read_text(encoding="utf-8"), command), encoding="utf-8")
