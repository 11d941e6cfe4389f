"""Print the lowest version that pyproject.toml declares of each library that the tests run with, one pin a line.

Newer versions of a library's own requirements come with it, so a bound that no set of packages can meet fails at the
installation, and one that is too low fails in a test: `bash .ci/run full`.
"""

import re
import tomllib
from pathlib import Path


def pins(project: dict) -> list[str]:
    """Return ``name==version`` for each ``name>=version`` of the libraries and of the extra ``test``."""
    requirements = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    for text in requirements:
        if not re.fullmatch(r"[A-Za-z0-9_.-]+>=[0-9.]+(,<[0-9.]+)?", text):
            raise SystemExit(f"{text!r} is not of the form name>=version")
    return [text.partition(",")[0].replace(">=", "==") for text in requirements]


if __name__ == "__main__":
    pyproject = Path(__file__).parents[1] / "pyproject.toml"
    print(*pins(tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]), sep="\n")
