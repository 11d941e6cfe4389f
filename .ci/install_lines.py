"""Check the install lines of all texts: each one installs this project or a known library.

``python .ci/install_lines.py`` lists install lines with an unknown distribution or extra. With ``--wheels FOLDER`` pip
also resolves each distinct line against the wheels in that folder alone: it must choose the wheel of this project.
"""

import argparse
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXTS = (
    *("*.md", "*.yml", "*.yaml", "*.cff", "Dockerfile", ".pre-commit-config.yaml", "deploy/*", ".github/**/*"),
    *("docs/**/*.md", "docs/*.py", "notebooks/*.ipynb", "app/**/*", "dpml/**/*", "data/**/*.md", "benchmarks/**/*"),
)
SUFFIXES = {"", ".md", ".py", ".ipynb", ".yaml", ".yml", ".html", ".js", ".txt", ".cff", ".toml", ".template"}
# distributions of other projects, as these texts install them
KNOWN = {"diffprivlib", "interpret-core", "pre-commit", "scikit-learn", "twine"}
COMMAND = re.compile(
    r"\b(?P<tool>pip3?\s+(?:install|wheel|download)|uv\s+(?:pip\s+install|tool\s+(?:install|run)|add)|uvx|"
    r"pipx\s+(?:install|run)|(?:conda|mamba)\s+install)\s+(?=\S)"
)
# the end of a command inside a sentence, a cell of a table or a string
END = re.compile(r"`|&&|\|\||\s\||;|\)|\s#|\\n|<|, |\.(?=\s|$)(?<!\s\.)|['\"](?=\s*[,)\]}]|$)(?<!\]['\"])")
TAKES_VALUE = {"--find-links", "--index-url", "--wheel-dir", "-r", "-c", "--python", "--target", "-n", "--channel"}
TOKEN = re.compile(r"\"[^\"]*\"|'[^']*'|\S+")
REQUIREMENT = re.compile(r"(?P<name>\.|[A-Za-z0-9][\w.-]*)?(?:\[(?P<extras>[\w, -]+)\])?(?P<version>\s*[=<>~!].*)?")


@dataclass(frozen=True)
class Line:
    """One requirement of one install line."""

    path: str
    number: int
    text: str  # of the requirement, as the line has it

    @property
    def parts(self) -> tuple[str, tuple[str, ...]] | None:
        """Return the name in its normal spelling and the extras; None for a text that is no requirement."""
        found = REQUIREMENT.fullmatch(self.text)
        if not found or not found["name"]:
            return None
        extras = tuple(extra.strip() for extra in (found["extras"] or "").split(",") if extra.strip())
        return re.sub(r"[-_.]+", "-", found["name"]).lower() if found["name"] != "." else ".", extras


def project() -> tuple[str, set[str]]:
    """Return the name of the distribution and its extras."""
    facts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return facts["name"], set(facts["optional-dependencies"])


def requirements(text: str) -> Iterator[str]:
    """Yield the requirements of the install commands in one line of text."""
    text = text.replace('\\"', '"').replace("\\'", "'")
    begin = 0
    while command := COMMAND.search(text, begin):
        ended = END.search(text, command.end())
        begin = ended.start() if ended else len(text)
        skip, one = False, command["tool"].endswith(("uvx", "run"))
        for token in TOKEN.findall(text[command.end() : begin]):
            word = token.strip("\"'`")
            if skip or word.startswith("-"):
                skip = not skip and word in TAKES_VALUE
                continue
            yield word
            if one:  # the words after the tool are its arguments
                break


def install_lines(root: Path = ROOT) -> list[Line]:
    """Return each requirement that a text tells its reader to install."""
    found = []
    paths = sorted({path for pattern in TEXTS for path in root.glob(pattern) if path.is_file()})
    for path in paths:
        name = path.relative_to(root).as_posix()
        if path.suffix not in SUFFIXES or name.startswith(("docs/_build/", "docs/decisions/", "benchmarks/records/")):
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            if re.search(r"\b(install|uvx|pipx run)$", line.rstrip()) and number < len(lines):
                line += " " + lines[number].strip()  # a sentence that is broken inside the command
            found += [Line(name, number, text) for text in requirements(line)]
    return found


def faults(lines: list[Line]) -> Iterator[str]:
    """Yield each line that installs an unknown distribution, or an extra that does not exist."""
    name, extras = project()
    for line in lines:
        where = f"{line.path}:{line.number}: {line.text!r}"
        if line.path == "dpml/exceptions.py" and line.text == "{DISTRIBUTION}[{extra}]":
            continue  # `install_command`, which the tests call with each extra
        if line.parts is None:
            yield f"{where} is no requirement"
        elif line.parts[0] in (name, "."):
            if unknown := set(line.parts[1]) - extras:
                yield f"{where} has an extra that pyproject.toml does not declare: {', '.join(sorted(unknown))}"
        elif line.parts[0] not in KNOWN:
            yield f"{where} is not this project ({name}), and not a library that .ci/install_lines.py knows"


def unresolved(lines: list[Line], wheels: Path, python: str = sys.executable) -> Iterator[str]:
    """Yield the fault if pip does not resolve all requirements of this project to its wheel in a folder."""
    name, extras = project()
    texts = {line.text for line in lines if line.parts and line.parts[0] == name}
    texts |= {name, *(f"{name}[{extra}]" for extra in extras)}
    command = [python, "-m", "pip", "install", "--dry-run", "--no-deps", "--no-index", "--ignore-installed"]
    command += ["--find-links", str(wheels), *sorted(texts)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    chosen = re.findall(r"^Would install (.+)-[^-\s]+$", run.stdout, flags=re.M)
    if run.returncode or [re.sub(r"[-_.]+", "-", found).lower() for found in chosen] != [name]:
        yield f"pip does not resolve each line to the wheel of {name} alone: {run.stdout}{run.stderr}"
    elif "does not provide the extra" in run.stderr:
        yield run.stderr.strip()
    else:
        print(*sorted(texts), run.stdout.splitlines()[-1], sep="\n")


def main() -> int:
    """Check all texts, and with wheels resolve their lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheels", type=Path, help="folder with the wheel of this project")
    options = parser.parse_args()
    lines = install_lines()
    messages = list(faults(lines))
    if options.wheels:
        messages += unresolved(lines, options.wheels)
    print(*messages, sep="\n")
    print(f"{len(lines)} requirements in install lines, {len(messages)} faults")
    return bool(messages)


if __name__ == "__main__":
    sys.exit(main())
