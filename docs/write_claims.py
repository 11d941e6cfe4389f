"""Write the table of claims into docs/claims.md, as the catalogue prints it: python docs/write_claims.py."""

import contextlib
import io
from pathlib import Path

from dpml.__main__ import main

PAGE = Path(__file__).parent / "claims.md"
START, END = "<!-- catalogue -->\n", "<!-- /catalogue -->\n"


def written(text):
    """Return the page's text with a new table between its two marks."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        main(["catalogue", "--markdown"])
    before, rest = text.split(START)
    return before + START + printed.getvalue() + END + rest.split(END)[1]


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
